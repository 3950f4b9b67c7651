//! Histories of real jobs, replayed on the components that made them. Each history is replayed unchanged,
//! and then with one mutation at a time.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use latchwork_core::model::manifest::WasiMode;
use latchwork_engine::Plugin;
use latchwork_tooling::history;
use latchwork_tooling::history::{
    History, HistoryEntry, MutationFinding, MutationKind, MutationVerdict, RecordedEnd, RecordedHostCall, StepRun,
};

use crate::support::checkout;
use crate::support::plugins::built_guests::guest;
use crate::support::plugins::engine::engine;
use crate::support::test_env::{TestEnv, build_plugin};

/// Returns the golden flow's history, read from an export of the job.
fn golden_history() -> History {
    let place = TestEnv::golden("atomic").fresh_copy();
    let ran = place.latch(&place.run_args());
    assert_eq!(ran.code, 0, "{} {}", ran.stdout, ran.stderr);
    let id = ran.json()["job_id"].as_str().unwrap().to_owned();
    assert_eq!(place.latch(&["job", "export", &id, "--out", "e.jsonl"]).code, 0);
    let file = std::fs::read(place.dir.join("e.jsonl")).unwrap();
    let mut changed = file.clone();
    let at = changed.len() / 2;
    changed[at] ^= 1;
    assert!(History::read(&changed).is_err(), "a changed file is refused");
    History::read(&file).unwrap()
}

fn funding_plugin() -> Arc<Plugin> {
    let folder = checkout::copy().join("example-plugins/funding-rust");
    let component = std::fs::read(build_plugin(&folder)).unwrap();
    history::load_component(engine(), &component, WasiMode::None).unwrap()
}

fn describe_findings(findings: &[MutationFinding]) -> Vec<String> {
    findings.iter().map(|finding| format!("{}: {:?}", finding.description, finding.verdict)).collect()
}

/// I74: in the golden flow (see `TestEnv::golden`), every mutation that drops, duplicates or changes a call, an event
/// or an output is found. Mutations of other kinds may have no effect on the steps: swaps of two entries, and changes
/// of an answer, a time or an input. `golden.txt` lists the mutations without an effect.
#[tokio::test(flavor = "multi_thread")]
async fn every_mutation_of_the_golden_flow_is_found() {
    let (history, plugin) = (golden_history(), funding_plugin());
    assert!(history.runs.len() >= 3 && history.entries.len() >= 2, "{history:#?}");
    let findings = history.examine(&plugin).await.unwrap();
    let kinds: BTreeSet<String> = findings.iter().map(|finding| format!("{:?}", finding.kind)).collect();
    for kind in ["Drop", "Duplicate", "Operator", "Args", "Answer", "Time", "Input", "Output"] {
        assert!(kinds.contains(kind), "{kind} is tried: {kinds:?}");
    }
    for finding in &findings {
        assert!(!finding.is_missed, "{}", finding.description);
        let may_be_unseen = matches!(
            finding.kind,
            MutationKind::Answer | MutationKind::Time | MutationKind::Input | MutationKind::Swap
        );
        let found = matches!(finding.verdict, MutationVerdict::Diverged(_));
        assert!(found || may_be_unseen, "{}: {:?}", finding.description, finding.verdict);
    }
    let found = findings.iter().filter(|finding| matches!(finding.verdict, MutationVerdict::Diverged(_))).count();
    let unseen: Vec<_> =
        findings.iter().filter(|finding| !matches!(finding.verdict, MutationVerdict::Diverged(_))).cloned().collect();
    // `golden.txt` lists the mutations that have no effect on the golden flow's steps, one per line.
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("it/evidence/history/golden.txt");
    let equivalent = std::fs::read_to_string(&file).unwrap();
    assert_eq!(
        describe_findings(&unseen).join("\n"),
        equivalent.trim_end(),
        "{found} others were found; see {}",
        file.display()
    );
}

/// Returns a history that an author has written by hand, without a job.
fn handwritten_history() -> History {
    let run =
        |id: &str, input: &str, output: &str| StepRun::new(id, "Hostile.Do", input, RecordedEnd::Output(output.into()));
    let entry = |id: &str, asked| HistoryEntry { step_id: id.into(), host_call: asked };
    let runs = vec![
        run("calls", r#"{"do":"call-all","n":2}"#, r#"{"answers":["true","[]"]}"#),
        run("tells", r#"{"do":"emit"}"#, r#"{"emitted":1}"#),
        run("draws", r#"{"do":"good"}"#, "{}"),
    ];
    let entries = vec![
        entry("calls", RecordedHostCall::call("Some.Tool", "0", Ok("true".into()))),
        entry("tells", RecordedHostCall::Event { name: "happened".into(), payload: "{}".into() }),
        entry("calls", RecordedHostCall::call("Some.Tool", "1", Ok("[]".into()))),
    ];
    History { job_id: "job_1".into(), runs, entries }
}

/// I74: only two kinds of mutation are not found. In the first kind, a call of one step and an event of another step
/// are swapped. In the second kind, the time of an answer is changed, and no step reads this time. Every other mutation
/// is found and located.
#[tokio::test(flavor = "multi_thread")]
async fn handwritten_history_is_accepted_and_its_mutations_are_found() {
    let plugin =
        history::load_component(engine(), &std::fs::read(guest("hostile-step")).unwrap(), WasiMode::None).unwrap();
    let mut history = handwritten_history();
    let divergence = history.examine(&plugin).await.unwrap_err();
    assert_eq!(
        (divergence.at.as_str(), divergence.recorded.as_str()),
        ("draws", "{}"),
        "the drawn value is not known yet"
    );
    history.runs[2].end = RecordedEnd::Output(divergence.found.clone());

    let findings = history.examine(&plugin).await.unwrap();
    assert!(findings.iter().all(|finding| !finding.is_missed));
    let unseen: Vec<_> =
        findings.iter().filter(|finding| !matches!(finding.verdict, MutationVerdict::Diverged(_))).collect();
    let unseen: Vec<_> = unseen.iter().map(|finding| (finding.description.as_str(), &finding.verdict)).collect();
    assert_eq!(
        unseen,
        [
            ("the call calls/0 of Some.Tool changes places with the event tells:e0, happened", &MutationVerdict::Same),
            ("the call calls/0 of Some.Tool: answered an hour later", &MutationVerdict::Independent),
            ("the event tells:e0, happened changes places with the call calls/1 of Some.Tool", &MutationVerdict::Same),
            ("the call calls/1 of Some.Tool: answered an hour later", &MutationVerdict::Independent),
        ]
    );

    for change in [
        |run: &mut StepRun| run.seed = [7; 32],
        |run: &mut StepRun| run.started_us += 1,
        |run: &mut StepRun| run.context.step_id = "other".into(),
    ] {
        let mut other = history.clone();
        change(&mut other.runs[2]);
        let found = other.play(&plugin).await.expect("the output depends on seed, start time and step id");
        assert_eq!((found.at.as_str(), found.what.as_str()), ("draws", "output"));
    }
}
