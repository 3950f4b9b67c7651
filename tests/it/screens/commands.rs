//! Screens of all commands, one line per screen.

use serde_json::json;

use super::snapshot::{Screen, Stage, compare_screens};
use crate::support::checkout;
use crate::support::plans::bookings;
use crate::support::test_env::{TestEnv, build_plugin, step};

/// Environment with one read call and one gated call.
fn environment() -> TestEnv {
    let read = step("read", "Effect.Read", &[], json!({ "note": 1 }));
    let send =
        step("send-a-message-to-everybody", "Effect.Opaque", &["read"], json!({ "note": 2, "text": "Dear Ada" }));
    let mut place = TestEnv::witness("atomic").with_plan(&[read, send]);
    place.skip_replay_of_many_jobs();
    place
}

fn screen_stage(place: &TestEnv) -> Stage {
    let job = place.only_job()["job_id"].as_str().unwrap_or("job_00000000000000000000000000").to_owned();
    Stage { dir: place.dir.clone(), job }
}

/// I132.
#[test]
fn commands_without_a_job_print_their_recorded_screens() {
    let place = environment();
    std::fs::write(place.dir.join("bad.json"), r#"{ "plan_id": "p", "steps": [{ "step_id": "a b" }] }"#).unwrap();
    const SCREENS: &[Screen] = &[
        ("help", "--help", &[]),
        ("help-run", "run --help", &[]),
        ("help-resume", "resume --help", &[]),
        ("help-worker", "worker --help", &[]),
        ("help-job", "job --help", &[]),
        ("help-plan", "plan --help", &[]),
        ("help-plugin", "plugin --help", &[]),
        ("help-verify", "verify --help", &[]),
        ("help-bench", "bench --help", &[]),
        ("no-such-command", "frobnicate", &[]),
        ("run-no-file", "run nofile", &[]),
        ("run-refused", "run bad.json", &[]),
        ("plan-check", "plan check plan.json", &[]),
        ("plan-check-refused", "plan check bad.json", &[]),
        ("job-list-empty", "job list", &[]),
        ("job-show-unknown", "job show job_00000000000000000000000000", &[]),
        ("resume-nothing", "resume", &[]),
        ("explain", "explain L0003", &[]),
        ("explain-all", "explain", &[]),
        ("explain-unknown", "explain INDETERMINATE", &[]),
        ("plugin-list", "plugin list", &[]),
        ("plugin-prune", "plugin prune", &[]),
        ("plugin-build-no-recipe", "plugin build effects", &[]),
        ("plugin-inspect-no-file", "plugin inspect nofile.wasm", &[]),
        ("verify-no-file", "verify nofile", &[]),
        ("key-new", "key new signing.key", &[]),
        ("help-call", "call --help", &[]),
        ("help-dev", "dev --help", &[]),
        ("help-init", "init --help", &[]),
        ("help-schema", "schema --help", &[]),
        ("help-doctor", "doctor --help", &[]),
        ("schema-unknown", "schema plans", &[]),
        ("plan-check-explain", "plan check short.json --explain", &[]),
        ("init-in-a-folder", "init effects --lang rust", &[]),
        ("call-read", "call Effect.Read {\"note\":1}", &[]),
        ("call-unknown", "call Effect.Raed {\"note\":1}", &[]),
        ("call-no-effect", "call Effect.Opaque {\"note\":1}", &[]),
        ("dev-no-plan", "dev noplan.json", &[]),
        ("plugin-new", "plugin new greeter --kind tool --lang rust", &[]),
        ("plugin-check", "plugin check read.wasm", &[]),
        ("worker-idle", "worker --until-idle", &[]),
    ];
    let read = build_plugin(&checkout::copy().join("tests/guests-effects/witness"));
    std::fs::copy(read, place.dir.join("read.wasm")).unwrap();
    let short =
        json!({ "plan_id": "p", "schema_version": "1.0", "steps": [{ "step_id": "r", "name": "Effect.Read" }] });
    std::fs::write(place.dir.join("short.json"), short.to_string()).unwrap();
    compare_screens(&screen_stage(&place), SCREENS);
}

/// I132.
#[test]
fn run_commands_print_their_recorded_screens() {
    const APPROVE: &str = "approve? [y]es, [n]o";
    const SCREENS: &[Screen] = &[
        ("run-detached", "run plan.json --detach", &[]),
        ("run-approved", "run plan.json", &[(APPROVE, "y")]),
        ("run-refused-by-a-person", "run plan.json", &[(APPROVE, "n"), ("why?", "too early")]),
        ("run-later", "run plan.json", &[(APPROVE, "later")]),
        ("run-dry", "run plan.json --mode DRY_RUN", &[]),
        ("call-gated", "call Effect.Opaque {\"note\":3} --effect external_send", &[(APPROVE, "y")]),
    ];
    let place = environment();
    compare_screens(&screen_stage(&place), SCREENS);
}

/// I132.
#[test]
fn commands_on_a_parked_job_print_their_recorded_screens() {
    const SCREENS: &[Screen] = &[
        ("job-show-parked", "job show JOB", &[]),
        ("job-approve", "job approve JOB send-a-message-to-everybody", &[]),
        ("job-approve-no-gate", "job approve JOB read", &[]),
        ("job-reject", "job reject JOB send-a-message-to-everybody --reason no", &[]),
        ("job-signal-unknown", "job signal JOB reply", &[]),
        ("job-resolve-refused", "job resolve JOB read --not-applied", &[]),
        ("job-confirm-refused", "job confirm JOB read", &[]),
        ("job-retry-refused", "job retry JOB", &[]),
        ("job-list", "job list", &[]),
        ("job-events", "job events JOB", &[]),
        ("job-wait-too-short", "job wait JOB --timeout 1ms", &[]),
        ("job-output-none", "job output JOB send-a-message-to-everybody", &[]),
        ("job-undo-refused", "job undo JOB", &[]),
        ("job-cancel", "job cancel JOB --reason no", &[]),
        ("resume-job", "resume JOB", &[("approve? [y]es, [n]o", "y")]),
    ];
    let place = environment();
    assert_eq!(place.latch(&["run", "plan.json", "--actor", "ada"]).code, 3);
    compare_screens(&screen_stage(&place), SCREENS);
}

/// I132.
#[test]
fn commands_on_a_completed_job_print_their_recorded_screens() {
    const SCREENS: &[Screen] = &[
        ("job-show-completed", "job show JOB", &[]),
        ("run-attached", "run plan.json", &[]),
        ("job-costs", "job costs", &[]),
        ("job-replay", "job replay JOB", &[]),
        ("job-cancel-refused", "job cancel JOB", &[]),
        ("job-fork-unknown-step", "job fork JOB --at nostep", &[]),
        ("verify", "verify exported.jsonl", &[]),
        ("job-events-completed", "job events JOB", &[]),
        ("follow-completed", "job events JOB --follow", &[]),
        ("job-list-completed", "job list", &[]),
        ("job-output", "job output JOB read", &[]),
        ("job-wait", "job wait JOB", &[]),
        ("job-undo-impossible", "job undo JOB", &[]),
        ("job-export", "job export JOB --out again.jsonl", &[]),
        ("job-export-over-a-file", "job export JOB --out exported.jsonl", &[]),
    ];
    let place = environment();
    let args = ["run", "plan.json", "--actor", "ada", "--approve", "send-a-message-to-everybody"];
    assert_eq!(place.latch(&args).code, 0);
    let stage = screen_stage(&place);
    assert_eq!(place.latch(&["job", "export", &stage.job, "--out", "exported.jsonl"]).code, 0);
    compare_screens(&stage, SCREENS);
}

/// I132.
#[test]
fn undo_commands_print_their_recorded_screens() {
    const SCREENS: &[Screen] =
        &[("job-undo", "job undo JOB", &[]), ("job-undo-detached", "job undo JOB --detach", &[])];
    let mut place = TestEnv::undo("atomic");
    place.skip_replay_of_many_jobs();
    let mut steps = bookings::bookings();
    steps.truncate(2);
    bookings::write_plan(&place, "keep", &steps);
    let ran = bookings::run_plan(&place, &[]);
    assert_eq!(ran.code, 0, "{} {}", ran.stdout, ran.stderr);
    compare_screens(&screen_stage(&place), SCREENS);
}
