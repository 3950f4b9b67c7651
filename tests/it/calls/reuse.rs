//! Results of earlier jobs are reused if the rules of safe reuse permit it.

use serde_json::{Value, json};

use crate::support::program::latch_command;
use crate::support::test_env::TestEnv;

fn run_args<'a>(file: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["run", file, "--json", "--actor", "ada"], more].concat()
}

fn job_id(response: &Value) -> String {
    response["job_id"].as_str().expect("a response names its job").to_owned()
}

/// Returns step, verdict and reason of every decision about reuse.
fn reuse_decisions(place: &TestEnv, job: &str) -> Vec<(String, bool, String)> {
    let listed = place.latch(&["job", "events", job, "--json"]).json();
    let events = listed["events"].as_array().expect("a list").clone();
    let decided = events.iter().filter(|event| event["type"] == "reuse_decided");
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    decided.map(|e| (text(&e["step_id"]), e["reused"] == true, text(&e["reason"]))).collect()
}

fn assert_replays(place: &TestEnv, job: &str) {
    let replay = place.latch(&["job", "replay", job, "--every-prefix", "--json"]);
    assert_eq!((replay.code, &replay.json()["divergence"]), (0, &Value::Null), "{} {}", replay.stdout, replay.stderr);
}

fn message_count(place: &TestEnv) -> usize {
    std::fs::read_dir(place.dir.join("outbox/new")).map_or(0, Iterator::count)
}

/// I21, I23: a second golden flow with equal inputs reuses the drafts of the first job. The write of the first job is
/// not repeated, and the second job gets the receipt of that write. If a person also rejects the letter of the second
/// job, the drafts of this job are kept.
#[test]
fn second_request_reuses_drafts_and_survives_a_rejection() {
    let place = TestEnv::golden("atomic").fresh_copy();
    let first = place.latch(&run_args("plan.json", &["--approve", "s5"])).json();
    assert_eq!(first["blocked_on"]["step_id"], "s6", "{first:#}");
    let refuse = |job: &str| {
        assert_eq!(place.latch(&["job", "reject", job, "s6", "--reason", "not today"]).code, 0);
        place.latch(&["resume", job, "--json"]).json()
    };
    assert_eq!(refuse(&job_id(&first))["state"], "PARTIAL");

    let second = place.latch(&run_args("plan.json", &["--new"])).json();
    let job = job_id(&second);
    let drafts = ["s1", "s2", "s3", "s4"].map(|step| (step.to_owned(), true, "safe".to_owned()));
    assert_eq!(reuse_decisions(&place, &job), drafts);
    assert_eq!(second["blocked_on"]["step_id"], "s6", "the effect of s5 is not repeated: {second:#}");
    assert_eq!(
        second["steps"][4]["notes"],
        json!([format!("s5: receipt returned from {} s5", job_id(&first))]),
        "{second:#}"
    );
    let phrase = format!("result reused from {} s1", job_id(&first));
    assert_eq!(second["steps"][0]["notes"], json!([phrase]), "{second:#}");
    assert!(place.latch(&["job", "events", &job]).stdout.contains(&phrase));
    let refused = refuse(&job);
    assert_eq!((&refused["status"], &refused["state"]), (&json!("partial"), &json!("PARTIAL")));
    let previews = |response: &Value| {
        response["outcomes"].as_array().unwrap().iter().map(|o| o["preview"].clone()).collect::<Vec<_>>()
    };
    assert!(previews(&refused).len() >= 4, "{refused:#}");
    assert_eq!(previews(&refused)[..4], previews(&first)[..4], "the drafts are the first ones");
    assert_eq!(message_count(&place), 0);
    assert_replays(&place, &job);

    // A message that was sent is not sent again.
    for _ in 0..2 {
        let sent = place.latch(&run_args("plan.json", &["--new", "--approve", "s5", "--approve", "s6"]));
        assert_eq!((sent.code, message_count(&place)), (0, 1), "{}", sent.stderr);
        assert_replays(&place, &job_id(&sent.json()));
    }
}

/// I23: a job that is killed while it reuses results or receipts ends with the same result.
#[test]
fn job_killed_during_reuse_ends_with_the_same_result() {
    for commit in ["atomic", "staged"] {
        let place = TestEnv::golden(commit).fresh_copy();
        let first = place.latch(&run_args("plan.json", &["--approve", "s5", "--approve", "s6"]));
        assert_eq!(first.code, 0, "{}", first.stderr);
        for (name, nth) in [("reusable_read", 2), ("payload_read", 2), ("action_read", 2), ("group_write", 1)] {
            for side in ["before", "after"] {
                let args = run_args("plan.json", &["--new", "--approve", "s5", "--approve", "s6"]);
                let mut command = latch_command(&place.dir, &args);
                let output =
                    command.env("LATCH_CRASH_AT", format!("{name}:{side}:{nth}")).output().expect("latch runs");
                assert_eq!(output.status.code(), None, "{commit}: {name} is reached");
                assert_eq!(place.latch(&["resume"]).code, 0, "{commit}, {side} {name}");
            }
        }
        let jobs = place.latch(&["job", "list", "--json"]).json()["jobs"].as_array().unwrap().clone();
        for job in jobs {
            assert_eq!(job["state"], "COMPLETED", "{commit}: {job:#}");
            let displayed = place.latch(&["job", "show", &job_id(&job), "--json"]).json();
            assert_eq!(
                displayed["outcomes"].as_array().map(Vec::len),
                first.json()["outcomes"].as_array().map(Vec::len)
            );
        }
        assert_eq!(message_count(&place), 1, "{commit}");
    }
}

fn write_cached_plan(place: &TestEnv, file: &str, name: &str, change: impl FnOnce(&mut Value)) {
    let mut step = json!({
        "step_id": "a", "kind": "operator", "name": name, "payload": { "note": "n" }, "effects": ["read_only"],
        "policy_tags": [], "cache_policy": { "ttl_seconds": 3600 }, "idempotency_template": "cached",
    });
    change(&mut step);
    let plan = json!({ "plan_id": file, "schema_version": "1.0", "steps": [step] });
    std::fs::write(place.dir.join(file), plan.to_string()).expect("writable");
}

fn reuse_verdicts(place: &TestEnv, file: &str) -> Vec<(bool, String)> {
    let ran = place.latch(&run_args(file, &["--new"]));
    assert_eq!(ran.code, 0, "{} {}", ran.stdout, ran.stderr);
    let job = job_id(&ran.json());
    assert_replays(place, &job);
    reuse_decisions(place, &job).into_iter().map(|(_, reused, reason)| (reused, reason)).collect()
}

/// I23: an external tool's answer is reused only within its time to live, and never from a dry run.
#[test]
fn external_answer_is_reused_within_its_time_to_live() {
    let place = TestEnv::witness("atomic").fresh_copy();
    write_cached_plan(&place, "p.json", "Effect.Read", |_| {});
    assert_eq!(place.latch(&run_args("p.json", &["--mode", "DRY_RUN"])).code, 0);
    assert_eq!(reuse_verdicts(&place, "p.json"), [], "a dry run stores no reusable result");
    assert_eq!(reuse_verdicts(&place, "p.json"), [(true, "within_ttl".to_owned())]);
    assert_eq!(reuse_verdicts(&place, "p.json"), [(true, "within_ttl".to_owned())], "a reused result keeps its origin");
    let facts = |step: &mut Value| step["time_sensitive"] = json!(true);
    write_cached_plan(&place, "facts.json", "Effect.Read", facts);
    assert_eq!(reuse_verdicts(&place, "facts.json"), [(false, "unverified".to_owned())]);
    write_cached_plan(&place, "other.json", "Effect.Read", |step| step["payload"]["note"] = json!("m"));
    assert_eq!(reuse_verdicts(&place, "other.json"), [], "another input");
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    write_cached_plan(&place, "old.json", "Effect.Read", |step| step["cache_policy"]["ttl_seconds"] = json!(1));
    assert_eq!(reuse_verdicts(&place, "old.json"), [(false, "too_old".to_owned())]);
    write_cached_plan(&place, "safe.json", "Effect.Read", |step| step["cache_policy"] = json!("use_if_safe"));
    let refused = place.latch(&run_args("safe.json", &[]));
    assert_eq!(refused.code, 2, "an external answer without a time to live");
}

/// I23: a result is reused only if its sensitivity and its plugin version fit the plan.
#[test]
fn reuse_requires_fitting_sensitivity_and_version() {
    let place = TestEnv::witness("atomic").fresh_copy();
    let draft = |sensitivity: &str| json!({ "type": "Text.Draft", "sensitivity": sensitivity });
    let safe = |step: &mut Value| step["cache_policy"] = json!("use_if_safe");
    write_cached_plan(&place, "p.json", "Driver.Pure", |step| {
        safe(step);
        step["outcome"] = draft("team");
    });
    assert_eq!(reuse_verdicts(&place, "p.json"), []);
    write_cached_plan(&place, "secret.json", "Driver.Pure", |step| {
        safe(step);
        step["outcome"] = draft("secret");
    });
    assert_eq!(reuse_verdicts(&place, "secret.json"), [(false, "sensitivity".to_owned())]);
    write_cached_plan(&place, "new.json", "Driver.Pure", |step| {
        safe(step);
        step["outcome"] = draft("secret");
        step["reuse"] = json!({ "plugin": ">=2" });
    });
    assert_eq!(reuse_verdicts(&place, "new.json"), [(false, "plugin_version".to_owned())]);
    write_cached_plan(&place, "invoice.json", "Driver.Pure", |step| {
        safe(step);
        step["outcome"] = json!({ "type": "Invoice" });
    });
    assert_eq!(reuse_verdicts(&place, "invoice.json"), []);
    assert_eq!(reuse_verdicts(&place, "invoice.json"), [], "no decision is recorded for a type that is never reused");
}

/// I23, I188: a result of one tenant's job is never reused for another tenant.
#[test]
fn result_of_another_tenant_is_not_reused() {
    let place = TestEnv::witness("atomic").fresh_copy();
    write_cached_plan(&place, "p.json", "Effect.Read", |_| {});
    assert_eq!(reuse_verdicts(&place, "p.json"), []);
    let other = place.latch(&run_args("p.json", &["--tenant", "acme"]));
    assert_eq!(other.code, 0, "{} {}", other.stdout, other.stderr);
    assert_eq!(reuse_decisions(&place, &job_id(&other.json())), []);
    assert_eq!(reuse_verdicts(&place, "p.json"), [(true, "within_ttl".to_owned())], "the tenant's own result is found");
}
