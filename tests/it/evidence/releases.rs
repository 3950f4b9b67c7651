//! Evidence of jobs from earlier releases, with the components that produced it. Each release has a folder in
//! `tests/releases`. Run this test with `LATCH_TEST_RECORD=1` before a release to write the folder of the release.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::plans::bookings::{bookings, write_plan};
use crate::support::program::run_latch;
use crate::support::test_env::{TestEnv, copy_tree, step, wait};

fn releases_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("releases")
}

fn submit_job(place: &TestEnv, more: &[&str]) -> String {
    let ran = place.latch(&[&["run", "plan.json", "--json", "--actor", "ada"], more].concat());
    ran.json()["job_id"].as_str().expect("a response names its job").to_owned()
}

fn assert_latch_ok(place: &TestEnv, args: &[&str]) {
    let ran = place.latch(args);
    assert_eq!(ran.code, 0, "{args:?}: {} {}", ran.stdout, ran.stderr);
}

/// Returns the environment and the id of a completed job of the golden flow (see `TestEnv::golden`).
fn finished_golden_flow() -> (TestEnv, String) {
    let place = TestEnv::golden("atomic").fresh_copy();
    let ran = place.latch(&place.run_args());
    assert_eq!(ran.code, 0, "{} {}", ran.stdout, ran.stderr);
    let id = ran.json()["job_id"].as_str().expect("an id").to_owned();
    (place, id)
}

/// Returns a cancelled job whose calls were undone. Some calls are steps of the plan, and one is made inside
/// a step.
fn cancelled_job() -> (TestEnv, String) {
    let place = TestEnv::undo("atomic").fresh_copy();
    write_plan(&place, "keep", &bookings());
    let id = submit_job(&place, &[]);
    place.latch(&["job", "cancel", &id, "--json", "--actor", "bob", "--reason", "enough"]);
    place.latch(&["resume", &id, "--json"]);
    (place, id)
}

/// Returns a job with calls of every class, a signal, a timer and approvals.
fn job_with_waits_and_approvals() -> (TestEnv, String) {
    let call = |operator: &str, note: u32| json!({ "operator": operator, "args": { "note": note } });
    let calls = [call("Effect.Read", 1), call("Effect.Opaque", 2), call("Effect.Keyed", 3)];
    let mut last = step("l", "Driver.Run", &["s", "t"], json!({ "calls": calls, "got": { "$ref": "s#/text" } }));
    last["gate"] = json!("human_confirm");
    let signal = json!({ "wait_kind": "signal", "correlation_key": "reply" });
    let timer = json!({ "wait_kind": "timer", "duration": "1ms" });
    let place = TestEnv::witness("staged").fresh_copy().with_plan(&[wait("s", signal), wait("t", timer), last]);
    let id = submit_job(&place, &[]);
    assert_latch_ok(&place, &["job", "signal", &id, "reply", "--payload", r#"{ "text": "Grüße" }"#]);
    for slot in ["l", "l/1", "l/2"] {
        place.latch(&["resume", &id]);
        assert_latch_ok(&place, &["job", "approve", &id, slot, "--actor", "bob", "--reason", "seen"]);
    }
    place.latch(&["resume", &id]);
    (place, id)
}

/// Returns the paths of the step components that the job pinned.
fn pinned_components(place: &TestEnv, file: &Path) -> Vec<PathBuf> {
    let text = std::fs::read_to_string(file).expect("readable");
    let header: Value = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON"))
        .find_map(|line| line.pointer("/event/operators").cloned())
        .expect("the first event lists the pinned operators");
    let operators = header.as_object().expect("a map").values();
    let steps = operators.filter(|operator| operator["kind"] == "step").map(|of| of["digest"].as_str().expect("hex"));
    let digests: BTreeSet<&str> = steps.collect();
    digests.iter().map(|digest| place.dir.join(format!(".latch/components/{digest}.wasm"))).collect()
}

fn record_release(to: &Path) {
    std::fs::create_dir_all(to.join("components")).expect("writable");
    for (name, (place, id)) in
        [("golden", finished_golden_flow()), ("cancelled", cancelled_job()), ("waited", job_with_waits_and_approvals())]
    {
        let file = to.join(format!("{name}.evidence.jsonl"));
        assert_latch_ok(&place, &["job", "export", &id, "--out", file.to_str().expect("text")]);
        for component in pinned_components(&place, &file) {
            std::fs::copy(&component, to.join("components").join(component.file_name().expect("named"))).expect("kept");
        }
    }
}

/// I19, I43: evidence from every earlier release verifies. The current engine executes the recorded steps again, gets
/// the same bytes, and reports no divergence.
#[test]
fn evidence_of_earlier_releases_verifies_and_reexecutes() {
    if std::env::var_os("LATCH_TEST_RECORD").is_some() {
        record_release(&releases_dir().join(env!("CARGO_PKG_VERSION")));
    }
    let mut files = 0;
    for release in std::fs::read_dir(releases_dir()).expect("there").map(|entry| entry.expect("readable").path()) {
        let empty = tempfile::tempdir().expect("room");
        copy_tree(&release, empty.path());
        for (name, state, runs) in
            [("golden", "COMPLETED", 4), ("cancelled", "CANCELLED", 1), ("waited", "COMPLETED", 1)]
        {
            let file = format!("{name}.evidence.jsonl");
            let verified = run_latch(empty.path(), &["verify", "--json", &file, "--plugins", "components"]);
            assert_eq!(verified.code, 0, "{release:?} {name}: {} {}", verified.stdout, verified.stderr);
            let report = verified.json();
            assert_eq!(report["state"], state, "{release:?} {name}");
            assert!(report["steps_reexecuted"].as_u64() >= Some(runs), "{release:?} {name}: {report:#}");
            files += 1;
        }
    }
    assert!(files >= 3, "there is evidence of earlier releases");
}
