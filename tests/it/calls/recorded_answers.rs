//! A step receives exactly the recorded answer of a call, whatever its type, size and position.

use serde_json::{Value, json};

use crate::support::kills::run_until_killed;
use crate::support::program::assert_completed;
use crate::support::test_env::{TestEnv, step};

/// Creates an environment in which the output of the witness tools has the limit `output`.
fn env_with_output_limit(output: &str) -> TestEnv {
    let place = TestEnv::witness("atomic").fresh_copy();
    let file = place.dir.join("latch.toml");
    let config = std::fs::read_to_string(&file).expect("the configuration was written");
    let limits = format!("limits = {{ output = {output:?} }}\n");
    let config = config.replace("name = \"witness", &format!("{limits}name = \"witness"));
    std::fs::write(&file, config).expect("writable");
    place
}

/// Returns the lines of the evidence of the only job.
fn evidence_lines(place: &TestEnv) -> Vec<Value> {
    let job = place.only_job()["job_id"].as_str().expect("an id").to_owned();
    let exported = place.latch(&["job", "export", &job, "--out", "-"]);
    assert_eq!(exported.code, 0, "{}", exported.stderr);
    exported.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// Returns the payload stored under this label.
fn payload_labelled(evidence: &[Value], label: &str) -> Value {
    let of_label = |line: &&Value| line["record"] == "payload" && line["label"] == label;
    let line = evidence.iter().find(of_label).unwrap_or_else(|| panic!("no payload is stored for {label}"));
    serde_json::from_str(line["content"]["text"].as_str().expect("text")).expect("JSON")
}

/// Returns the answers in the effect store with their slots.
fn recorded_answers(evidence: &[Value]) -> Vec<(String, Value)> {
    let texts = evidence.iter().filter(|line| line["record"] == "effect").map(|line| line["content"]["text"].as_str());
    let effects = texts.map(|text| serde_json::from_str::<Value>(text.expect("text")).expect("JSON"));
    effects.map(|effect| (effect["slot"].as_str().expect("a slot").to_owned(), effect["answer"].clone())).collect()
}

/// I3, I19, I180: a step runs again after a crash and gets the recorded answers unchanged. The answers contain values
/// of every unusual type, and one answer is larger than 1 MiB.
#[test]
fn injected_answer_equals_the_recorded_one() {
    let large = json!([{ "$ref": "p#" }, { "$ref": "p#" }]);
    let notes = [
        json!(null),
        json!(""),
        json!([]),
        json!({}),
        json!(false),
        json!(0),
        json!(1e300),
        json!(9_007_199_254_740_991_i64),
        json!("Grüße 🦀 \u{2028}\u{0}\u{7f}\\\"e\u{301}é"),
        json!({ "": { "\u{1F600}": [[], [null], {}] }, "z": 1, "a": 2 }),
        large,
        json!("last"),
    ];
    let calls: Vec<_> =
        notes.iter().map(|note| json!({ "operator": "Effect.Opaque", "args": { "note": note } })).collect();
    let text = "0123456789abcdef".repeat(37_000);
    let place = env_with_output_limit("4MiB").with_approved(vec!["d"]);
    let place = place.with_plan(&[
        step("p", "Driver.Pure", &[], json!(text)),
        step("d", "Driver.Run", &["p"], json!({ "calls": calls })),
    ]);
    // The process is killed after all calls except the last were answered.
    run_until_killed(&place, &place.run_args(), "execute:before:12");
    place.finish_with_observed_effects();
    let evidence = evidence_lines(&place);
    let recorded = recorded_answers(&evidence);
    let output = payload_labelled(&evidence, "output/d");
    let answers = output["answers"].as_array().expect("a list");
    assert_eq!((answers.len(), place.effect_counts_by_job().len()), (12, 12));
    for (n, answer) in answers.iter().enumerate().take(11) {
        let slot = format!("d/{n}");
        let (_, effect) = recorded.iter().find(|(of, _)| *of == slot).expect("the answer was recorded");
        let result = effect["ok"]["result"].as_str().expect("text");
        assert_eq!(serde_json::from_str::<Value>(result).expect("JSON"), answer["ok"], "{slot}");
        let note = if n == 10 { &json!([text, text]) } else { &notes[n] };
        assert_eq!(&answer["ok"]["note"], note, "{slot}");
        assert!(n != 10 || result.len() > 1 << 20, "{} bytes", result.len());
        // Each execution creates a file with a random name and answers with this name. The file with the recorded name
        // exists, so a real execution gave the recorded answer.
        let file = answer["ok"]["file"].as_str().expect("a name");
        assert!(place.dir.join("effects").join(file).exists(), "{file}");
    }
}

/// I3, I182: a step makes several calls concurrently. The step gets the answers in the order of its list, even if the
/// calls end in another order. The order also holds if the process is killed when only some answers are recorded.
#[test]
fn concurrent_calls_answer_in_argument_order() {
    let call = |n: u32| {
        let operator = ["Effect.Read", "Effect.Keyed", "Effect.Queryable"][n as usize % 3];
        // The later a call is in the list, the sooner it ends.
        json!({ "operator": operator, "args": { "note": n, "after_ms": 20 * (8 - n) } })
    };
    let calls: Vec<_> = (0..8).map(call).collect();
    let template = TestEnv::witness("atomic").with_approved(vec!["d"]);
    for point in [None, Some("execute:after:1"), Some("execute:after:5"), Some("group_write:after:9")] {
        let place =
            template.fresh_copy().with_plan(&[step("d", "Driver.Run", &[], json!({ "calls": calls, "all": true }))]);
        if let Some(point) = point {
            run_until_killed(&place, &place.run_args(), point);
        }
        place.finish_with_observed_effects();
        let output = payload_labelled(&evidence_lines(&place), "output/d");
        let notes: Vec<_> =
            output["answers"].as_array().expect("a list").iter().map(|a| a["ok"]["note"].clone()).collect();
        assert_eq!(notes, (0..8).map(|n| json!(n)).collect::<Vec<_>>(), "{point:?}: {output}");
    }
}

/// I1, I183: if a step fails, the effects of its siblings are neither lost nor repeated.
#[test]
fn failed_step_keeps_the_effects_of_its_siblings() {
    let place = TestEnv::witness("atomic").fresh_copy().with_approved(vec!["o", "k"]).with_plan(&[
        step("o", "Effect.Opaque", &[], json!({ "note": 1, "after_ms": 100 })),
        step("f", "Effect.Opaque", &[], json!({ "note": 2 })),
        step("k", "Effect.Keyed", &[], json!({ "note": 3 })),
        step("g", "Effect.Opaque", &["f"], json!({ "note": 4 })),
    ]);
    let parked = place.latch(&place.run_args());
    assert_eq!(parked.code, 3, "{} {}", parked.stdout, parked.stderr);
    let job = parked.json()["job_id"].as_str().expect("an id").to_owned();
    assert_eq!(place.latch(&["job", "reject", &job, "f", "--reason", "no"]).code, 0);
    let failed = place.latch(&["resume", &job, "--json"]);
    let response = failed.json();
    assert_eq!((failed.code, &response["state"]), (3, &json!("PARTIAL")), "{response:#}");
    let world = place.effect_counts();
    assert_eq!((world.len(), world["o"], world["k"], world["applied k"]), (3, 1, 1, 1), "{world:?}");
    let of =
        |id: &str| response["steps"].as_array().expect("a list").iter().find(|step| step["step_id"] == id).cloned();
    for id in ["o", "k"] {
        assert_eq!(of(id).expect("a step")["result_type"], "side_effect_committed", "{response:#}");
    }
}

/// I3, I190: a call whose answer is too large is in doubt, and the beginning of the answer is stored.
#[test]
fn oversized_answer_leaves_the_call_in_doubt_and_stores_its_beginning() {
    let place = env_with_output_limit("96KiB").with_approved(vec!["o"]);
    let note = "é".repeat(60_000);
    let place = place.with_plan(&[step("o", "Effect.Opaque", &[], json!({ "note": note }))]);
    let parked = place.latch(&place.run_args());
    let response = parked.json();
    assert_eq!(
        (parked.code, &response["blocked_on"]["reason_code"]),
        (3, &json!("INDETERMINATE_EFFECT")),
        "{response:#}"
    );
    assert_eq!(place.effect_counts()["o"], 1);
    let left = payload_labelled(&evidence_lines(&place), "kept/o/1");
    let kept = left["kept"].as_str().expect("text");
    assert!((65_533..=65_536).contains(&kept.len()), "{} bytes", kept.len());
    assert!(kept.starts_with("{\"file\":\"opaque.") && kept.ends_with('é'), "cut between characters");
    let job = response["job_id"].as_str().expect("an id");
    assert_eq!(place.resolve_as_observed(job, "o").code, 0);
    assert_completed(&place.latch(&["resume", job, "--json"]));
    assert_eq!(place.effect_counts()["o"], 1);
}
