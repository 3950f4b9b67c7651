//! Actions shared by jobs, one job per request, and retries of failed jobs. The tests use real processes and
//! components, and count effects as files.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::program::{CommandOutput, command_output, latch_command};
use crate::support::test_env::TestEnv;

const ALL_EFFECTS: [&str; 4] = ["read_only", "internal_write", "external_write", "external_send"];

/// Writes a plan of one step whose idempotency template names the field `note`.
fn write_plan(place: &TestEnv, file: &str, name: &str, payload: Value) {
    let step = json!({
        "step_id": "a", "kind": "operator", "name": name, "payload": payload, "effects": ALL_EFFECTS, "policy_tags": [],
        "cache_policy": "never", "idempotency_template": if name == "Driver.Run" { "driver" } else { "keys:{note}" },
    });
    let plan = json!({ "plan_id": file, "schema_version": "1.0", "steps": [step] });
    std::fs::write(place.dir.join(file), plan.to_string()).expect("writable");
}

fn run_args<'a>(file: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["run", file, "--json", "--actor", "ada", "--approve", "a"], more].concat()
}

fn run_file(place: &TestEnv, file: &str, more: &[&str]) -> CommandOutput {
    place.latch(&run_args(file, more))
}

/// Returns the number of executions of all jobs.
fn execution_count(place: &TestEnv) -> usize {
    let names = std::fs::read_dir(place.dir.join("effects")).expect("the world exists");
    names.filter(|entry| !entry.as_ref().unwrap().file_name().to_string_lossy().starts_with("applied")).count()
}

fn job_id(response: &Value) -> String {
    response["job_id"].as_str().expect("a response names its job").to_owned()
}

fn events_of(place: &TestEnv, job: &str) -> Vec<Value> {
    let printed = place.latch(&["job", "events", job, "--json"]);
    assert_eq!(printed.code, 0, "{}", printed.stderr);
    printed.json()["events"].as_array().expect("a list").clone()
}

fn event_types(place: &TestEnv, job: &str) -> Vec<String> {
    events_of(place, job).iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect()
}

/// Returns the job's state as stored. A request to a parked job changes this state immediately, before a worker claims
/// the job.
fn stored_state(place: &TestEnv, job: &str) -> String {
    let jobs = place.latch(&["job", "list", "--json"]).json()["jobs"].as_array().expect("a list").clone();
    let found = jobs.iter().find(|found| found["job_id"] == job).expect("the job is listed");
    found["state"].as_str().expect("a state").to_owned()
}

fn assert_replays(place: &TestEnv, job: &str) {
    let replay = place.latch(&["job", "replay", job, "--every-prefix", "--json"]);
    assert_eq!((replay.code, &replay.json()["divergence"]), (0, &Value::Null), "{} {}", replay.stdout, replay.stderr);
}

/// I21: a second call of the same action gets the result of the first call. The test makes such calls in two jobs, and
/// concurrently in one step.
#[test]
fn same_action_is_executed_once() {
    let place = TestEnv::witness("atomic").fresh_copy();
    write_plan(&place, "tool.json", "Effect.Opaque", json!({ "note": "one" }));
    let first = run_file(&place, "tool.json", &[]);
    assert_eq!((first.code, execution_count(&place)), (0, 1), "{}", first.stderr);
    for _ in 0..2 {
        let again = run_file(&place, "tool.json", &["--new"]);
        let response = again.json();
        assert_eq!((again.code, execution_count(&place)), (0, 1), "{}", again.stderr);
        assert_eq!(
            response["steps"][0]["notes"],
            json!([format!("a: receipt returned from {} a", job_id(&first.json()))]),
            "{response:#}"
        );
        assert_eq!(response["steps"][0]["result_type"], "success", "this job changed nothing");
        let names = event_types(&place, &job_id(&response));
        assert!(names.iter().any(|name| name == "action_reused"), "{names:?}");
        assert!(!names.iter().any(|name| name == "gate_requested"), "a completed action needs no approval");
        assert_replays(&place, &job_id(&response));
    }
    write_plan(&place, "tool.json", "Effect.Opaque", json!({ "note": "two" }));
    assert_eq!((run_file(&place, "tool.json", &["--new"]).code, execution_count(&place)), (0, 2), "another action");

    let call =
        |note: &str, key: &str| json!({ "operator": "Effect.Keyed", "args": { "note": note }, "action_key": key });
    let inside = json!({ "calls": [call("x", "k1"), call("x", "k1"), call("y", "k2")], "all": true });
    write_plan(&place, "all.json", "Driver.Run", inside);
    let first = run_file(&place, "all.json", &[]);
    assert_eq!((first.code, execution_count(&place)), (0, 4), "two distinct actions: {}", first.stderr);
    let response = first.json();
    assert_eq!(
        response["steps"][0]["notes"],
        json!([format!("a/1: receipt returned from {} a/0", job_id(&response))]),
        "the second call gets the first one's receipt: {response:#}"
    );
    assert_replays(&place, &job_id(&response));
    let later = json!({ "calls": [call("x", "k1"), call("z", "k2")] });
    write_plan(&place, "later.json", "Driver.Run", later);
    let later = run_file(&place, "later.json", &[]);
    let earlier = job_id(&response);
    let response = later.json();
    assert_eq!((later.code, execution_count(&place)), (0, 4), "{}", later.stderr);
    assert_eq!(response["steps"][0]["notes"], json!([format!("a/0: receipt returned from {earlier} a/0")]));
    let output = &response["steps"][0];
    let finished = events_of(&place, &job_id(&response));
    let refused = finished.iter().filter(|event| event["code"] == "INVALID_INPUT").count();
    assert_eq!(refused, 1, "other arguments under a known key: {output:#}");
    assert_replays(&place, &job_id(&response));
}

/// I14, I21: two jobs start the same action at the same moment. One job executes the action. The other job waits and is
/// woken.
#[test]
fn concurrent_jobs_with_the_same_action_execute_it_once() {
    for before_ms in [0, 1_500] {
        let place = TestEnv::witness("atomic").fresh_copy();
        write_plan(&place, "p.json", "Effect.Opaque", json!({ "note": "one", "before_ms": before_ms }));
        let spawn = |new: &str| {
            let mut command = latch_command(&place.dir, &run_args("p.json", &[new]));
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("latch starts")
        };
        let jobs =
            [spawn("--new"), spawn("--new")].map(|child| command_output(child.wait_with_output().expect("it ends")));
        for job in &jobs {
            assert!(matches!(job.code, 0 | 3), "{}", job.stderr);
        }
        for waiting in jobs.iter().filter(|job| job.code == 3).map(CommandOutput::json) {
            assert_eq!(waiting["blocked_on"]["reason_code"], "ACTION_IN_PROGRESS", "{waiting:#}");
            assert!(waiting["blocked_on"]["holder"]["job_id"].as_str() != waiting["job_id"].as_str());
            let next = waiting["next_actions"][0].as_str().unwrap_or_default().to_owned();
            assert!(next.contains("latch job show job_"), "{next}");
        }
        if before_ms > 0 {
            assert!(jobs.iter().any(|job| job.code == 3), "one job finds the action in progress");
        }
        let resumed = place.latch(&["resume", "--json"]);
        assert_eq!(resumed.code, 0, "{} {}", resumed.stdout, resumed.stderr);
        let listed = place.latch(&["job", "list", "--state", "COMPLETED", "--json"]);
        assert_eq!(listed.json()["jobs"].as_array().map(Vec::len), Some(2), "both jobs are completed");
        assert_eq!(execution_count(&place), 1, "one job executed the action");
    }
}

fn kill_during_call(place: &TestEnv, file: &str, after: &str) {
    let mut command = latch_command(&place.dir, &run_args(file, &["--new"]));
    let output = command.env("LATCH_CRASH_AT", format!("execute:{after}:1")).output().expect("latch runs");
    use std::os::unix::process::ExitStatusExt;
    assert_eq!(output.status.signal(), Some(9), "the process is killed during the call");
}

/// I21: a call keeps its action key if it is in doubt or if a person gave it up. A call that certainly
/// changed nothing releases its key.
#[test]
fn call_in_doubt_or_lost_keeps_its_action_key() {
    for (verdict, done, code) in [("--applied", 1, Some(0)), ("--not-applied", 1, Some(0)), ("--abort", 0, None)] {
        let place = TestEnv::witness("atomic").fresh_copy();
        write_plan(&place, "p.json", "Effect.Opaque", json!({ "note": "one" }));
        let side = if verdict == "--applied" { "after" } else { "before" };
        kill_during_call(&place, "p.json", side);
        let first = place.only_job()["job_id"].as_str().unwrap().to_owned();
        let second = run_file(&place, "p.json", &["--new"]).json();
        assert_eq!(second["blocked_on"]["reason_code"], "ACTION_IN_PROGRESS", "{verdict}: {second:#}");
        let resumed = place.latch(&["resume", &first, "--json"]);
        assert_eq!(resumed.code, 3, "{}", resumed.stderr);
        assert_eq!(stored_state(&place, &job_id(&second)), "PARKED", "{verdict}: the call is not resolved yet");
        std::fs::write(place.dir.join("r.json"), r#"{"file":null,"note":"one"}"#).expect("writable");
        let mut resolve = vec!["job", "resolve", &first, "a", verdict];
        resolve.extend((verdict == "--applied").then_some("r.json"));
        assert_eq!(place.latch(&resolve).code, 0);
        place.latch(&["resume"]);
        place.latch(&["resume"]);
        let end = place.latch(&["job", "show", &job_id(&second), "--json"]);
        if let Some(code) = code {
            assert_eq!((end.json()["state"].clone(), code), (json!("COMPLETED"), 0), "{verdict}: {}", end.stdout);
        } else {
            assert_eq!(end.json()["state"], "PARKED", "a lost call may have happened: {}", end.stdout);
        }
        assert_eq!(execution_count(&place), done, "{verdict}");
    }
}

/// I21: a second job that gets the receipt of the first job never executes the action, even if the second job is
/// killed. The test kills the second job at several statements, in both commit modes.
#[test]
fn job_killed_while_receiving_a_receipt_never_executes_the_action() {
    for commit in ["atomic", "staged"] {
        let place = TestEnv::witness(commit).fresh_copy();
        write_plan(&place, "p.json", "Effect.Opaque", json!({ "note": "one" }));
        assert_eq!(run_file(&place, "p.json", &[]).code, 0);
        for name in ["action_read", "group_read", "group_write", "effects_insert", "commit"] {
            for side in ["before", "after"] {
                for nth in 1.. {
                    let mut command = latch_command(&place.dir, &run_args("p.json", &["--new"]));
                    let output = command.env("LATCH_CRASH_AT", format!("{name}:{side}:{nth}")).output().unwrap();
                    let ended = output.status.code();
                    place.latch(&["resume"]);
                    if ended.is_some() {
                        break;
                    }
                }
            }
        }
        let open = place.latch(&["job", "list", "--open", "--json"]);
        assert_eq!(open.json()["jobs"], json!([]), "{commit}: every job has ended");
        let failed = place.latch(&["job", "list", "--state", "FAILED", "--json"]);
        assert_eq!(failed.json()["jobs"], json!([]), "{commit}");
        assert_eq!(execution_count(&place), 1, "{commit}");
    }
}

fn write_request(place: &TestEnv, file: &str, change: impl FnOnce(&mut Value)) {
    let mut whole = json!({
        "intent": { "type": "letter", "payload": { "to": "ada" }, "contexts": [{ "name": "cv", "text": "one" }] },
        "mode": "HUMAN_GATED",
        "plan": { "plan_id": "p", "schema_version": "1.0", "steps": [{
            "step_id": "a", "kind": "operator", "name": "Effect.Opaque", "payload": { "note": "n" }, "effects": ALL_EFFECTS,
            "policy_tags": [], "cache_policy": "never", "idempotency_template": "letter:{cv}",
            "hashes": { "cv": { "$context": "cv" } },
        }] },
    });
    change(&mut whole);
    std::fs::write(place.dir.join(file), whole.to_string()).expect("writable");
}

/// I22: equal requests are one job. Contexts, mode and request id are part of the request. A request that
/// differs only in its plan is refused.
#[test]
fn same_request_is_the_same_job() {
    let place = TestEnv::witness("atomic").fresh_copy();
    let submit = |change: &dyn Fn(&mut Value)| {
        write_request(&place, "r.json", change);
        run_file(&place, "r.json", &[])
    };
    let first = submit(&|_| {});
    assert_eq!(first.code, 0, "{}", first.stderr);
    let first_id = job_id(&first.json());
    let same = submit(&|_| {});
    assert_eq!((same.code, job_id(&same.json())), (0, first_id.clone()));
    assert!(same.stderr.contains("attached to"), "{}", same.stderr);
    let others: [&dyn Fn(&mut Value); 4] = [
        &|whole| whole["intent"]["contexts"][0]["text"] = json!("two"),
        &|whole| whole["mode"] = json!("DRY_RUN"),
        &|whole| whole["request_id"] = json!("again"),
        &|whole| whole["intent"]["payload"]["to"] = json!("bob"),
    ];
    let mut ids = std::collections::BTreeSet::from([first_id.clone()]);
    for other in others {
        let other = submit(other);
        assert_eq!(other.code, 0, "{}", other.stderr);
        assert!(ids.insert(job_id(&other.json())), "another request is another job");
    }
    // The idempotency template contains the context, so requests with different texts of the context are
    // different actions.
    assert_eq!(execution_count(&place), 2);
    let refused = submit(&|whole| whole["plan"]["steps"][0]["payload"]["note"] = json!("other"));
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    let printed = &refused.stdout;
    assert!(
        printed.contains(&first_id) && printed.contains("different plan") && printed.contains("L0013"),
        "{printed}"
    );
    let located = submit(&|whole| whole["intent"]["contexts"][0]["name"] = json!("vc"));
    assert_eq!(located.code, 2);
    let problem = &located.json()["error"]["problems"][0];
    assert!(located.stdout.contains("P027") && located.stdout.contains("/plan/steps/0/hashes/cv"), "{problem:#}");
}

/// I22: the same request under another policy is another job. The new policy may forbid what the earlier policy
/// permitted.
#[test]
fn same_request_under_another_policy_is_another_job() {
    let place = TestEnv::witness("atomic").fresh_copy();
    write_request(&place, "r.json", |_| {});
    let first = job_id(&run_file(&place, "r.json", &[]).json());
    assert_eq!(job_id(&run_file(&place, "r.json", &[]).json()), first);
    let place = place.configure("[policy.default.gate]\ntags = [\"money\"]");
    let ran = run_file(&place, "r.json", &[]);
    assert_eq!(ran.code, 0, "{} {}", ran.stdout, ran.stderr);
    assert_ne!(job_id(&ran.json()), first);
    assert_eq!(execution_count(&place), 1, "the action was executed once");
}

/// I24: a retry is offered for a failed job and repeats the failed calls. For a job that cannot be retried, the command
/// names the reason.
#[test]
fn failed_job_is_retried_in_place() {
    let place = TestEnv::witness("atomic").fresh_copy();
    write_plan(&place, "p.json", "Effect.Opaque", json!({ "note": "one" }));
    let gated = place.latch(&["run", "p.json", "--json", "--actor", "ada"]).json();
    let job = job_id(&gated);
    assert_eq!(place.latch(&["job", "retry", &job]).code, 2, "an open job cannot be retried");
    assert_eq!(place.latch(&["job", "reject", &job, "a", "--reason", "not yet"]).code, 0);
    let failed = place.latch(&["resume", &job, "--json"]).json();
    assert_eq!(failed["state"], "FAILED", "{failed:#}");
    let attached = place.latch(&["run", "p.json", "--json", "--actor", "ada"]).json();
    let next = attached["next_actions"][0].as_str().unwrap_or_default().to_owned();
    assert!(next.contains(&format!("latch job retry {job}")), "{attached:#}");
    let again = place.latch(&["job", "retry", &job, "--reason", "now", "--json"]);
    assert_eq!(again.code, 3, "the gate is asked again: {}", again.stderr);
    assert_eq!((again.json()["job_id"].as_str(), execution_count(&place)), (Some(job.as_str()), 0));
    assert_eq!(place.latch(&["job", "approve", &job, "a"]).code, 0);
    assert_eq!(place.latch(&["resume", &job]).code, 0);
    assert_eq!(execution_count(&place), 1);
    assert!(event_types(&place, &job).iter().any(|name| name == "job_reopened"));
    assert_replays(&place, &job);
    let refused = place.latch(&["job", "retry", &job, "--json"]);
    assert_eq!(refused.code, 2);
    assert!(refused.stdout.contains("COMPLETED") && refused.stdout.contains("L0015"), "{}", refused.stdout);
    assert_eq!(place.latch(&["job", "retry", "job_01ARZ3NDEKTSV4RRFFQ69G5FAV"]).code, 2);
}

/// I24: if a person gave up a call, a retry puts the call in doubt again and never executes the call. This holds
/// wherever the retry is killed.
#[test]
fn retry_never_executes_a_lost_call() {
    for commit in ["atomic", "staged"] {
        let place = TestEnv::witness(commit).fresh_copy();
        write_plan(&place, "p.json", "Effect.Opaque", json!({ "note": "one" }));
        kill_during_call(&place, "p.json", "after");
        let job = place.only_job()["job_id"].as_str().unwrap().to_owned();
        place.latch(&["resume", &job]);
        assert_eq!(place.latch(&["job", "resolve", &job, "a", "--abort"]).code, 0);
        place.latch(&["resume", &job]);
        assert_eq!(place.only_job()["state"], "FAILED");
        for name in ["inbox_insert", "claim_take", "group_write"] {
            for side in ["before", "after"] {
                let mut retry = latch_command(&place.dir, &["job", "retry", &job]);
                retry.env("LATCH_CRASH_AT", format!("{name}:{side}:1")).output().expect("latch runs");
                place.latch(&["resume"]);
                if place.only_job()["state"] == "FAILED" {
                    place.latch(&["job", "retry", &job]);
                }
                assert_eq!(place.only_job()["state"], "PARKED", "{commit}, killed {side} {name}");
                assert_eq!(place.latch(&["job", "resolve", &job, "a", "--abort"]).code, 0);
                place.latch(&["resume", &job]);
                assert_eq!((place.only_job()["state"].clone(), execution_count(&place)), (json!("FAILED"), 1));
            }
        }
        place.latch(&["job", "retry", &job]);
        std::fs::write(place.dir.join("r.json"), r#"{"file":null,"note":"one"}"#).expect("writable");
        assert_eq!(place.latch(&["job", "resolve", &job, "a", "--applied", "r.json"]).code, 0);
        assert_eq!(place.latch(&["resume", &job]).code, 0);
        assert_eq!(execution_count(&place), 1);
        assert_replays(&place, &job);
    }
}

/// If a job waits for an action of another job, the end of the action makes the waiting job claimable. A running worker
/// then continues this job, and no command is needed.
#[test]
fn end_of_the_action_wakes_the_waiting_job() {
    let place = TestEnv::witness("atomic").fresh_copy();
    write_plan(&place, "p.json", "Effect.Opaque", json!({ "note": "one", "before_ms": 2_000 }));
    let first =
        latch_command(&place.dir, &run_args("p.json", &["--new"])).stdout(Stdio::null()).spawn().expect("latch starts");
    let is_there = || place.latch(&["job", "list", "--json"]).json()["jobs"] != json!([]);
    assert!((0..500).any(|_| is_there()), "the first job was submitted");
    let second = run_file(&place, "p.json", &["--new"]);
    assert!(matches!(second.code, 0 | 3), "{}", second.stderr);
    let mut first = first;
    assert!(first.wait().expect("it ends").success());
    let state = stored_state(&place, &job_id(&second.json()));
    assert!(["PENDING", "COMPLETED"].contains(&state.as_str()), "the end of the action woke the job: {state}");
    assert_eq!(place.latch(&["resume"]).code, 0);
    assert_eq!(execution_count(&place), 1);
}

/// An event that a step emits keeps its id each time it is shown.
#[test]
fn emitted_event_keeps_its_id() {
    let place = TestEnv::golden("atomic").fresh_copy();
    let ran = place.latch(&["run", "plan.json", "--json", "--actor", "ada"]);
    let id = ran.json()["job_id"].as_str().unwrap().to_owned();
    let printed = || {
        let events = place.latch(&["job", "events", &id, "--json"]).json()["events"].as_array().unwrap().clone();
        let ids = events.iter().filter_map(|event| {
            let is_announced = event["type"] == "async_event_emitted";
            assert_eq!(is_announced, event["event_id"].is_string(), "{event:#}");
            let (step, n) = (event["step_id"].as_str()?, event["n"].as_u64()?);
            is_announced.then(|| (event["event_id"].as_str().unwrap().to_owned(), format!("latch:{id}:{step}:e{n}")))
        });
        ids.collect::<Vec<_>>()
    };
    let first = printed();
    assert!(!first.is_empty() && first.iter().all(|(found, expected)| found == expected), "{first:?}");
    place.latch(&["resume", &id]);
    assert_eq!(printed(), first);
    let text = place.latch(&["job", "events", &id]).stdout;
    assert!(first.iter().all(|(event_id, _)| text.contains(event_id.as_str())), "{text}");
}

/// I21, I188: the same key text in another tenant names another action.
#[test]
fn action_key_is_separate_per_tenant() {
    let place = TestEnv::witness("atomic").fresh_copy();
    write_plan(&place, "tool.json", "Effect.Opaque", json!({ "note": "one" }));
    for (tenant, acts) in [("ours", 1), ("theirs", 2), ("ours", 2), ("theirs", 2)] {
        let ran = run_file(&place, "tool.json", &["--new", "--tenant", tenant]);
        assert_eq!((ran.code, execution_count(&place)), (0, acts), "{tenant}: {} {}", ran.stdout, ran.stderr);
    }
}
