//! Tests of the evidence files of simulated jobs. Every exported file verifies, and no modified file verifies.

use serde_json::{Value, json};

use crate::decide::tests::support::evidence::{assert_verifies, export, export_with, record, verify};
use crate::decide::tests::support::{CrashPoint, Sim, step};
use crate::evidence;
use crate::evidence::forge::{build_file, parse_records};
use crate::evidence::{Export, ProblemKind, Trust, VerifyReport, Withhold};
use crate::model::effect::{Answer, Effect, Provenance};
use crate::model::error::{Code, Failure};
use crate::model::ids::Hash;
use crate::model::person::PublicKey;
use crate::response::response;
use crate::storage::{InboxRequest, ManualVerdict};

/// Returns a finished job with one world-changing call.
fn small(payload: &Value) -> Sim {
    let mut sim = Sim::new(crate::model::mode::Mode::AutoExec, vec![step("b", "Opaque", &[], payload.clone())]);
    sim.process(None).expect("no crash is injected");
    sim
}

fn all_kinds() -> Sim {
    let calls = json!({ "calls": ["Read", "Opaque", "Keyed", "Queryable"] });
    let steps = vec![
        step("a", "Read", &[], json!({})),
        step("b", "Opaque", &["a"], json!({ "x": { "$ref": "a#" } })),
        step("k", "Keyed", &["a"], json!({})),
        step("c", "Script", &["b"], calls),
    ];
    Sim::new(crate::model::mode::Mode::AutoExec, steps)
}

fn codes(report: &VerifyReport) -> Vec<&str> {
    report.not_checked.iter().map(|note| note.code).collect()
}

/// I29: wherever a process dies, the evidence left behind verifies, and so does the evidence of the resumed
/// job.
#[test]
fn evidence_of_every_crash_verifies() {
    let crash_points = (0..40)
        .map(CrashPoint::Write)
        .chain((0..8).flat_map(|n| [CrashPoint::BeforeExecute(n), CrashPoint::AfterExecute(n)]));
    let mut died = 0;
    for crash in crash_points {
        let mut sim = all_kinds();
        died += u32::from(sim.process(Some(crash)).is_err());
        for round in 0..20 {
            let report = verify(&export(&sim));
            assert!(report.intact, "{crash:?}, round {round}: {:#?}", report.problems);
            let durable = sim.durable();
            if durable.job.state.is_terminal() {
                break;
            }
            if let Some(blocked) = response(&durable).blocked_on {
                let happened = sim.executions_by_slot.contains_key(&blocked.slot);
                let verdict =
                    if happened { ManualVerdict::Applied("\"done\"".into()) } else { ManualVerdict::NotApplied };
                sim.resolve(blocked.slot, verdict);
            }
            sim.process(None).expect("no crash is injected");
        }
        assert_eq!(sim.durable().job.state, crate::model::job::JobState::Completed, "{crash:?}");
    }
    assert!(died > 20, "the cuts are reached: {died}");
}

/// I29: the evidence of cancelled, failed and gated jobs verifies.
#[test]
fn evidence_of_jobs_that_do_not_complete_verifies() {
    let steps = vec![step("a", "Opaque", &[], json!({})), step("b", "Script", &[], json!({ "calls": ["Opaque"] }))];
    let mut gated = Sim::new(crate::model::mode::Mode::HumanGated, steps);
    gated.process(None).expect("it stops at its gate");
    assert!(verify(&export(&gated)).intact);
    let redacted = export_with(&gated, &Withhold::Everything, None);
    let report = verify(&redacted);
    assert!(report.intact, "what waits is named, not shown: {:#?}", report.problems);
    assert!(!String::from_utf8_lossy(&redacted).contains("\"k\":0"), "nor are its arguments");
    gated.send_request(InboxRequest::Cancel);
    gated.process(None).expect("it is cancelled");
    let report = verify(&export(&gated));
    assert!(report.intact, "{:#?}", report.problems);
    assert_eq!(report.state, Some(crate::model::job::JobState::Cancelled));

    let failure = crate::model::error::Failure::new(crate::model::error::Code::AuthForbidden, "no");
    let mut failing = all_kinds();
    failing.script.insert("Keyed".into(), vec![crate::model::effect::Answer::NotApplied(failure)]);
    failing.process(None).expect("no crash is injected");
    let report = verify(&export(&failing));
    assert!(report.intact, "{:#?}", report.problems);
    assert_eq!(report.state, Some(crate::model::job::JobState::Partial));
    let notes = codes(&report);
    assert!(notes.contains(&"unsigned") && notes.contains(&"unverified_effects"), "{notes:?}");
}

/// I24, I29: a job retry repeats a call that had failed finally. The repeat does not count as a second execution,
/// because the event `job_reopened` lists the call. If the call is missing from a forged list, the repeat counts as a
/// second execution.
#[test]
fn evidence_of_retried_jobs_verifies() {
    let no = || crate::model::error::Failure::new(crate::model::error::Code::AuthForbidden, "no");
    let mut sim = all_kinds();
    sim.script.insert("Keyed".into(), vec![crate::model::effect::Answer::NotApplied(no())]);
    sim.process(None).expect("no crash is injected");
    sim.send_request(InboxRequest::Retry);
    sim.process(None).expect("no crash is injected");
    assert_eq!(sim.durable().job.state, crate::model::job::JobState::Completed);
    assert_verifies(&sim);
    let report = forged(&sim, |records| {
        let at = find(records, "job_reopened");
        records[at].1["event"]["calls"] = json!([]);
    });
    assert!(report.problems.iter().any(|p| p.kind == ProblemKind::DoubleExecution), "{:#?}", report.problems);
}

/// Changes the byte at `at` in two ways, one at a time. Each change is found and located in `line`.
fn check_changes_of_byte(file: &[u8], at: usize, line: u64) {
    for other in [file[at] ^ 1, b'\n'] {
        if other == file[at] {
            continue;
        }
        let mut changed = file.to_vec();
        changed[at] = other;
        let report = verify(&changed);
        let first = report.problems.first().unwrap_or_else(|| panic!("byte {at} changed to {other} is not found"));
        assert_eq!(first.line, line, "byte {at} changed to {other}: {first}");
        // Further problems are consequences of the damage. They are reported at most two lines after the damaged
        // line.
        assert!(report.problems.iter().all(|p| p.line <= line + 2), "byte {at}: {:#?}", report.problems);
    }
}

/// I29: each byte of the file is changed. Each change is found and located in the line of the changed byte.
#[test]
fn every_changed_byte_is_found_in_its_line() {
    let file = export(&small(&json!({})));
    assert!(file.len() < 16_000, "small enough to try everything: {} bytes", file.len());
    let mut line = 1;
    let lines: Vec<u64> = file.iter().map(|byte| (line, line += u64::from(*byte == b'\n')).0).collect();
    // A second thread changes half of the bytes.
    std::thread::scope(|scope| {
        scope.spawn(|| (0..file.len()).step_by(2).for_each(|at| check_changes_of_byte(&file, at, lines[at])));
        (1..file.len()).step_by(2).for_each(|at| check_changes_of_byte(&file, at, lines[at]));
    });
}

/// I29: missing, duplicated and moved lines are found, and so is a truncated file.
#[test]
fn moved_and_missing_lines_are_found_in_their_place() {
    let file = export(&small(&json!({})));
    let lines: Vec<&[u8]> = file.split_inclusive(|byte| *byte == b'\n').collect();
    for n in 0..lines.len() {
        let without: Vec<u8> = [&lines[..n], &lines[n + 1..]].concat().concat();
        let report = verify(&without);
        let at = (n + 1).min(lines.len() - 1) as u64;
        assert_eq!(
            report.problems.first().map(|p| (p.line, p.kind)),
            Some((at, ProblemKind::MissingLines)),
            "without {n}"
        );

        let twice: Vec<u8> = [&lines[..=n], &lines[n..]].concat().concat();
        let report = verify(&twice);
        assert_eq!(report.problems.first().map(|p| p.line), Some(n as u64 + 2), "{n} twice: {:#?}", report.problems);

        if n + 1 < lines.len() {
            let mut swapped = lines.clone();
            swapped.swap(n, n + 1);
            let report = verify(&swapped.concat());
            assert_eq!(report.problems.first().map(|p| p.line), Some(n as u64 + 1), "{n} swapped");
        }
        let truncated = lines[..n].concat();
        if n == 0 {
            assert!(evidence::verify(&truncated, None, &|_, _, _| true).is_err(), "nothing is no evidence");
        } else {
            let report = verify(&truncated);
            assert_eq!(report.problems.first().map(|p| p.line), Some(n as u64), "cut to {n} lines");
        }
    }
    let truncated = verify(&file[..file.len() - 1]);
    assert_eq!(truncated.problems.first().map(|p| p.line), Some(lines.len() as u64));
}

/// I29: an event of another job breaks the chain at its place.
#[test]
fn an_event_of_another_job_is_found() {
    let (ours, theirs) = (export(&small(&json!({ "n": 1 }))), export(&small(&json!({ "n": 2 }))));
    let split = |file: &[u8]| -> Vec<Vec<u8>> { file.split_inclusive(|b| *b == b'\n').map(<[u8]>::to_vec).collect() };
    let (ours, theirs) = (split(&ours), split(&theirs));
    for n in 3..10 {
        let mut mixed = ours.clone();
        mixed[n] = theirs[n].clone();
        let report = verify(&mixed.concat());
        let kinds: Vec<_> = report.problems.iter().map(|p| (p.line, p.kind)).collect();
        assert!(kinds.contains(&(n as u64 + 1, ProblemKind::Chain)), "{n}: {kinds:?}");
    }
}

/// Splitting a valid file into its records and building a file from them gives the same file.
#[test]
fn parsing_and_rebuilding_a_file_keeps_it_valid() {
    let file = export(&small(&json!({})));
    assert_eq!(build_file(parse_records(&file)), file);
}

fn forged(sim: &Sim, change: impl FnOnce(&mut Vec<(String, Value)>)) -> VerifyReport {
    let mut records = parse_records(&export(sim));
    change(&mut records);
    verify(&build_file(records))
}

fn find(records: &[(String, Value)], kind: &str) -> usize {
    records.iter().position(|(record, fields)| record == "event" && fields["event"]["type"] == kind).expect("there")
}

/// I30, I170: a forger adds a second execution to one record and recomputes every hash. The other records contradict
/// the forged record.
#[test]
fn forged_double_execution_is_found() {
    let sim = small(&json!({}));
    let has = |report: &VerifyReport, kind: ProblemKind| report.problems.iter().any(|problem| problem.kind == kind);

    // Only the log contains a second try, which starts and is answered before the commit.
    let report = forged(&sim, |records| {
        let at = find(records, "command_committed");
        let (started, finished) = (find(records, "tool_invocation_started"), find(records, "tool_invocation_finished"));
        let (mut started, mut finished) = (records[started].clone(), records[finished].clone());
        started.1["event"]["try"] = 2.into();
        finished.1["event"]["try"] = 2.into();
        records.splice(at..at, [started, finished]);
    });
    assert!(has(&report, ProblemKind::DoubleExecution), "{:#?}", report.problems);
    let ledger = report.problems.iter().find(|p| p.message.contains("number of executions")).expect("the row says one");
    assert_eq!((ledger.expected.as_str(), ledger.found.as_str()), ("try 2 (events)", "try 1 (ledger)"));

    // Only the log contains a second try, which starts after the final answer was committed.
    let report = forged(&sim, |records| {
        let at = find(records, "command_committed") + 1;
        let mut started = records[find(records, "tool_invocation_started")].clone();
        started.1["event"]["try"] = 2.into();
        records.insert(at, started);
    });
    assert!(has(&report, ProblemKind::DoubleExecution) && has(&report, ProblemKind::Illegal), "{:#?}", report.problems);

    // Only the ledger row states a second try.
    let report = forged(&sim, |records| {
        let row = records.iter_mut().find(|(record, _)| record == "ledger").expect("there");
        row.1["try"] = 2.into();
    });
    assert!(has(&report, ProblemKind::DoubleExecution), "{:#?}", report.problems);

    // Only the effect store contains an effect of a second try.
    let report = forged(&sim, |records| {
        let at = records.iter().position(|(record, _)| record == "effect").expect("there");
        let mut again = records[at].clone();
        again.1["try"] = 2.into();
        records.insert(at + 1, again);
    });
    assert!(has(&report, ProblemKind::DoubleExecution), "{:#?}", report.problems);
}

/// I30: a worker that has lost its lease may still store an effect that no event mentions. An effect with the try
/// number 0 is a receipt or a refusal, not an execution.
#[test]
fn answer_without_events_is_not_an_execution() {
    let stray = |try_no: u32, provenance: Provenance, answer: Option<Answer>| {
        let mut sim = Sim::new(crate::model::mode::Mode::AutoExec, vec![step("b", "Opaque", &[], json!({}))]);
        sim.send_request(InboxRequest::Cancel);
        sim.process(None).expect("the process is not killed");
        let done = small(&json!({})).effects.pop().expect("an answer");
        let answer = answer.unwrap_or(done.answer);
        sim.effects.push(Effect { try_no, provenance, answer, ..done });
        verify(&export(&sim))
    };
    let refused = || Some(Answer::NotApplied(Failure::new(Code::GateRejected, "no")));
    for report in [stray(0, Provenance::Reused, None), stray(0, Provenance::Executed, refused())] {
        assert!(report.intact, "{:#?}", report.problems);
    }
    for report in [stray(0, Provenance::Executed, None), stray(1, Provenance::Reused, None)] {
        assert!(
            report.problems.iter().any(|problem| problem.kind == ProblemKind::DoubleExecution),
            "{:#?}",
            report.problems
        );
    }
}

/// I30, I187: a single record is changed, and every hash is recomputed. Another record contradicts the changed
/// record.
#[test]
fn forgeries_are_contradicted_by_other_stores() {
    type Change = fn(&mut Vec<(String, Value)>);
    let cases: [(&str, ProblemKind, Change); 14] = [
        ("a row with other arguments", ProblemKind::Ledger, |r| {
            row(r)["args_hash"] = Hash::of(&[b"x"]).to_hex().into()
        }),
        ("a row with another result", ProblemKind::Ledger, |r| {
            row(r)["result_hash"] = Hash::of(&[b"x"]).to_hex().into()
        }),
        ("a row in another state", ProblemKind::Ledger, |r| row(r)["state"] = "FAILED_FINAL".into()),
        ("a row with another first attempt", ProblemKind::Ledger, |r| row(r)["first_attempt"] = 2.into()),
        ("no row", ProblemKind::Ledger, |r| r.retain(|(record, _)| record != "ledger")),
        ("no effect", ProblemKind::Payload, |r| r.retain(|(record, _)| record != "effect")),
        ("another answer", ProblemKind::Payload, |r| {
            let effect = of_kind(r, "effect");
            let text = effect["content"]["text"].as_str().expect("included").replace("done", "gone");
            effect["content"]["text"] = text.into();
        }),
        ("another input", ProblemKind::Payload, |r| {
            let input = r.iter_mut().find(|(_, fields)| fields["label"] == "input/b").expect("there");
            input.1["content"]["text"] = "[]".into();
        }),
        ("a job row in another state", ProblemKind::Header, |r| of_kind(r, "header")["job"]["state"] = "FAILED".into()),
        ("a finished job woken by nothing", ProblemKind::Header, |r| {
            of_kind(r, "header")["job"]["state"] = "PENDING".into()
        }),
        ("a finished job that runs", ProblemKind::Header, |r| of_kind(r, "header")["job"]["state"] = "RUNNING".into()),
        ("another component", ProblemKind::Header, |r| {
            of_kind(r, "header")["plugins"][0]["digest"] = Hash::of(&[b"x"]).to_hex().into();
        }),
        ("another response", ProblemKind::Response, |r| of_kind(r, "response")["response"]["status"] = "failed".into()),
        ("an ending that was cut", ProblemKind::Header, |r| {
            let at = find(r, "job_completed");
            r.remove(at);
        }),
    ];
    for (what, kind, change) in cases {
        let report = forged(&small(&json!({})), change);
        assert!(report.problems.iter().any(|problem| problem.kind == kind), "{what}: {:#?}", report.problems);
    }
}

fn of_kind<'a>(records: &'a mut [(String, Value)], kind: &str) -> &'a mut Value {
    &mut records.iter_mut().find(|(record, _)| record == kind).expect("there").1
}

fn row(records: &mut [(String, Value)]) -> &mut Value {
    of_kind(records, "ledger")
}

/// I30: a send without approval is found although every hash is correct.
#[test]
fn a_call_without_its_approval_is_found() {
    let mut sim = Sim::new(crate::model::mode::Mode::HumanGated, vec![step("b", "Opaque", &[], json!({}))]);
    sim.process(None).expect("it stops at its gate");
    let gate_hash = sim.durable().job.gates.values().next().expect("a gate").hash;
    sim.send_request(InboxRequest::Approve { slot: "b".into(), gate_hash });
    sim.process(None).expect("it completes");
    assert!(verify(&export(&sim)).intact);
    for gone in ["gate_approved", "gate_requested"] {
        let report = forged(&sim, |records| {
            let at = find(records, gone);
            records.remove(at);
        });
        assert!(
            report.problems.iter().any(|p| p.kind == ProblemKind::Permission),
            "without {gone}: {:#?}",
            report.problems
        );
    }
}

/// I31: a withheld payload is not in the file and cannot be guessed from the file. The rest of the file verifies.
#[test]
fn withheld_payloads_leave_no_trace_but_their_hashes() {
    let sim = {
        let mut sim = all_kinds();
        let output = crate::model::effect::Output {
            result: "\"canary-4711\"".into(),
            receipt: Some("\"canary-receipt\"".into()),
            state_changes: vec![],
            usage: None,
        };
        sim.script.insert("Read".into(), vec![crate::model::effect::Answer::Ok(output)]);
        sim.process(None).expect("no crash is injected");
        sim
    };
    let secret = sim.record.secret.to_hex();
    let open = String::from_utf8(export(&sim)).expect("text");
    assert!(open.contains("canary-4711") && open.contains("canary-receipt"));
    assert!(!open.contains(&secret), "the job's secret is in no file");

    let all = export_with(&sim, &Withhold::Everything, None);
    let report = verify(&all);
    assert!(report.intact, "{:#?}", report.problems);
    assert!(codes(&report).contains(&"withheld"));
    let text = String::from_utf8(all).expect("text");
    assert!(!text.contains("canary") && !text.contains("\"salt\"") && !text.contains(&secret));

    // A payload with the same bytes as a withheld payload is withheld too. Withholding `output/a` therefore also
    // withholds the answer of the tool, which has the same bytes.
    let some = export_with(&sim, &Withhold::Labels(vec!["output/a".into(), "input/b".into()]), None);
    let report = verify(&some);
    assert!(report.intact, "{:#?}", report.problems);
    let text = String::from_utf8(some).expect("text");
    assert!(!text.contains("canary"), "the answer, its output and the derived input are withheld");
    for (label, is_readable) in [("answer/a/1", false), ("output/a", false), ("args/b", false), ("input/a", true)] {
        let salt = crate::model::keys::payload_salt(&sim.record.secret, label).to_hex();
        assert_eq!(text.contains(&salt), is_readable, "the salt of {label}");
    }
    let record = record(&sim);
    let withhold = Withhold::Labels(vec!["answer/absent".into()]);
    let export = Export {
        record: &record,
        effects: &sim.effects,
        withhold: &withhold,
        program: "",
        exported_us: 0,
        signer: None,
    };
    assert!(evidence::write(&export).is_err(), "a label that is none is refused");
}

/// I31: the hash of a withheld payload cannot be changed. The chain of events contains this hash.
#[test]
fn a_withheld_payload_cannot_be_exchanged() {
    let mut records = parse_records(&export_with(&small(&json!({})), &Withhold::Everything, None));
    of_kind(&mut records, "payload")["hash"] = Hash::of(&[b"x"]).to_hex().into();
    let report = verify(&build_file(records));
    assert!(report.problems.iter().any(|problem| problem.kind == ProblemKind::Payload), "{:#?}", report.problems);
}

/// I29: a signature is valid only for its file and its key. If trusted keys are given, only signatures of these keys
/// are accepted.
#[test]
fn signatures_are_checked_and_cannot_be_removed() {
    let (key, other) = (PublicKey([7; 32]), PublicKey([8; 32]));
    // The host implements real signatures. Here a hash of key and message replaces the signature.
    let sign = |key: &PublicKey, message: &[u8]| {
        let mut signature = [0; 64];
        signature[..32].copy_from_slice(&Hash::of(&[&key.0, message]).0);
        signature
    };
    let is = |key: &PublicKey, message: &[u8], signature: &[u8; 64]| sign(key, message) == *signature;
    let verify = |file: &[u8], trust: Option<&Trust>| evidence::verify(file, trust, &is).expect("evidence").report;
    let trust = |key: &PublicKey| Trust::parse(&format!("# ours\n\n{key} ada\n")).expect("a key");

    let mut file = export_with(&small(&json!({})), &Withhold::Nothing, Some(key));
    let unsigned = file.clone();
    let signature = sign(&key, &evidence::message(&file));
    evidence::append_signature(&mut file, key, signature);

    let report = verify(&file, Some(&trust(&key)));
    assert!(report.intact && report.signature.trusted, "{:#?}", report.problems);
    assert_eq!(report.signature.name.as_deref(), Some("ada"));
    assert!(!codes(&report).contains(&"unsigned"));
    let unknown = verify(&file, None);
    assert!(unknown.intact && unknown.signature.valid && !unknown.signature.trusted);
    assert!(codes(&unknown).contains(&"untrusted_key"));

    let found = |file: &[u8], trust: Option<&Trust>, kind: ProblemKind| {
        let report = verify(file, trust);
        !report.intact && report.problems.iter().any(|problem| problem.kind == kind)
    };
    let wrong = |file: &[u8], trust: Option<&Trust>| found(file, trust, ProblemKind::Signature);
    assert!(found(&file, Some(&trust(&other)), ProblemKind::Trust), "the signer is not trusted");
    assert!(wrong(&unsigned, None), "the signature was cut off, and the header names its key");
    let unsigned = export(&small(&json!({})));
    assert!(found(&unsigned, Some(&trust(&key)), ProblemKind::Trust), "a signature was asked for");
    let mut forged = unsigned.clone();
    evidence::append_signature(&mut forged, key, [1; 64]);
    assert!(wrong(&forged, Some(&trust(&key))), "another signature");
    let mut forged = unsigned;
    let signature = sign(&other, &evidence::message(&forged));
    evidence::append_signature(&mut forged, other, signature);
    assert!(wrong(&forged, None), "another key than the header names");
    assert_eq!(Trust::parse("ed25519:00\nx\n"), Err(vec![1, 2]));
    assert_eq!(Trust::parse("# none\n"), Err(vec![]));
}

#[test]
fn other_files_are_reported_as_not_evidence() {
    for file in [&b""[..], b"hello", b"{}\n{}\n", b"{\"record\":\"header\"}\n"] {
        assert!(evidence::verify(file, None, &|_, _, _| true).is_err(), "{file:?}");
    }
    let mut records = parse_records(&export(&small(&json!({}))));
    records[0].1["schema"] = "latchwork.evidence/3".into();
    let error = evidence::verify(&build_file(records), None, &|_, _, _| true).unwrap_err();
    assert!(error.contains("latchwork.evidence/1") && error.contains("latchwork.evidence/2"), "{error}");
}
