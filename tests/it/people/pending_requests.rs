//! Acknowledged requests that are not applied yet are shown, and no command is offered that contradicts them.

use serde_json::{Value, json};

use crate::support::program::latch_command;
use crate::support::test_env::{TestEnv, step};

fn submit_gated(place: &TestEnv) -> String {
    let ran = place.latch(&["run", "plan.json", "--json", "--actor", "ada"]);
    assert_eq!(ran.code, 3, "{} {}", ran.stdout, ran.stderr);
    ran.json()["job_id"].as_str().unwrap().to_owned()
}

fn show_job(place: &TestEnv, id: &str) -> (Value, String) {
    let displayed = place.latch(&["job", "show", id, "--json"]).json();
    (displayed, place.latch(&["job", "show", id]).stdout)
}

/// I107: after a rejection no approval is offered, and a later approval is refused with the reason.
#[test]
fn pending_rejection_is_displayed_and_contradicting_commands_are_refused() {
    let place = TestEnv::witness("atomic").with_plan(&[step("o", "Effect.Opaque", &[], json!({ "note": 1 }))]);
    let id = submit_gated(&place);
    let reject = place.latch(&["job", "reject", &id, "o", "--actor", "bob", "--reason", "too dear"]);
    assert_eq!(reject.code, 0, "{}", reject.stderr);
    let (displayed, text) = show_job(&place, &id);
    let pending = &displayed["pending"][0];
    assert_eq!((&pending["asked"], &pending["slot"], &pending["by"]), (&json!("reject"), &json!("o"), &json!("bob")));
    assert_eq!(displayed["next_actions"], json!([format!("latch resume {id}")]), "{displayed:#}");
    assert!(text.contains("o: rejected by bob (too dear); applied when the job continues"), "{text}");
    assert!(!text.contains("wants to execute"), "no decision is open: {text}");
    let approve = place.latch(&["job", "approve", &id, "o", "--actor", "eve"]);
    assert_eq!(approve.code, 2, "{}", approve.stdout);
    assert!(approve.stderr.contains("already rejected by bob (too dear)"), "{}", approve.stderr);
    let done = place.latch(&["resume", &id, "--json"]).json();
    assert_eq!(done["failed"][0]["reason_code"], "GATE_REJECTED", "{done:#}");
    assert!(place.effect_counts().is_empty());
    assert_eq!(show_job(&place, &id).0.get("pending"), None, "the request was applied");
}

/// I107: acknowledged approvals are counted even before they are applied to the job.
#[test]
fn approvals_are_counted_before_they_are_applied() {
    let place = TestEnv::witness("atomic").with_plan(&[step("o", "Effect.Opaque", &[], json!({ "note": 1 }))]);
    let place = place.configure("[policy.default.gate]\nquorum = 2");
    let id = submit_gated(&place);
    let approve = |actor: &str| place.latch(&["job", "approve", &id, "o", "--actor", actor]);
    let first = approve("bob");
    assert!(first.code == 0 && first.stdout.contains("approved by 1 of 2"), "{}", first.stdout);
    assert!(
        show_job(&place, &id).0["next_actions"].to_string().contains("latch job approve"),
        "one more approval is needed"
    );
    assert!(approve("eve").stdout.contains("approved; next"), "the quorum is reached");
    assert_eq!(show_job(&place, &id).0["next_actions"], json!([format!("latch resume {id}")]));
    let refused = place.latch(&["job", "reject", &id, "o", "--actor", "kim"]);
    assert!(refused.code == 2 && refused.stderr.contains("already approved"), "{}", refused.stderr);
    assert_eq!(place.latch(&["resume", &id]).code, 0);
    assert_eq!(place.effect_counts().get("o"), Some(&1));
}

/// I107, I46: a second resolution of a call is refused if it contradicts the first resolution. No conflict is recorded.
#[test]
fn contradicting_second_resolution_is_refused() {
    let place = TestEnv::witness("atomic").with_plan(&[step("o", "Effect.Opaque", &[], json!({}))]);
    let place = place.with_approved(vec!["o"]);
    let killed = latch_command(&place.dir, &place.run_args()).env("LATCH_CRASH_AT", "execute:after").output().unwrap();
    assert_eq!(killed.status.code(), None, "the process is killed");
    let listed = place.latch(&["job", "list", "--json"]).json();
    let id = listed["jobs"][0]["job_id"].as_str().unwrap().to_owned();
    assert_eq!(place.latch(&["resume", &id]).code, 3);
    let resolve = |args: &[&str]| place.latch(&[&["job", "resolve", &id, "o"], args].concat());
    assert_eq!(resolve(&["--not-applied", "--reason", "not there"]).code, 0);
    let second = resolve(&["--abort"]);
    assert_eq!(second.code, 2, "{}", second.stdout);
    assert!(second.stderr.contains("o is already resolved as not applied"), "{}", second.stderr);
    assert_eq!(resolve(&["--not-applied"]).code, 0, "repeating the same resolution is accepted");
    let (displayed, text) = show_job(&place, &id);
    assert_eq!(displayed["next_actions"], json!([format!("latch resume {id}")]), "{displayed:#}");
    assert!(text.contains("resolved as not applied"), "{text}");
    let done = place.latch(&["resume", &id, "--json"]).json();
    assert_eq!((&done["state"], done.get("contradicted")), (&json!("COMPLETED"), None), "{done:#}");
}
