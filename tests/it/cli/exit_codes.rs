//! Exit codes of the commands about a job, and next actions that can be typed as printed.

use serde_json::{Value, json};

use crate::support::program;
use crate::support::test_env::{TestEnv, step, wait};

/// Creates an environment with one gated call. With `with_read`, a read call runs before the gated call. A rejection
/// then leaves the job partly done.
fn gated_env(with_read: bool) -> TestEnv {
    let send = |after: &[&str]| step("o", "Effect.Opaque", after, json!({ "note": 1 }));
    let plan = match with_read {
        true => vec![step("r", "Effect.Read", &[], json!({ "note": 2 })), send(&["r"])],
        false => vec![send(&[])],
    };
    TestEnv::witness("atomic").fresh_copy().with_plan(&plan)
}

fn submit(place: &TestEnv) -> String {
    let ran = place.latch(&["run", "plan.json", "--json", "--actor", "ada"]);
    assert_eq!((ran.code, &ran.json()["status"]), (3, &json!("partial")), "{} {}", ran.stdout, ran.stderr);
    ran.json()["job_id"].as_str().unwrap().to_owned()
}

fn resume(place: &TestEnv, id: &str) -> (i32, String, String) {
    let ran = place.latch(&["resume", id, "--json"]);
    let response = ran.json();
    let text = |key: &str| response[key].as_str().unwrap_or_default().to_owned();
    (ran.code, text("state"), text("status"))
}

fn events_of_type(place: &TestEnv, id: &str, kind: &str) -> Vec<Value> {
    let listed = place.latch(&["job", "events", id, "--json"]).json();
    listed["events"].as_array().unwrap().iter().filter(|event| event["type"] == kind).cloned().collect()
}

/// The exit code is 0 for a completed job, 1 for a failed job, and 3 for a job that stopped safely and needs a person.
/// A command about several jobs exits with the highest of their codes.
#[test]
fn exit_code_follows_the_job_state() {
    let owned = |code, state: &str, status: &str| (code, state.to_owned(), status.to_owned());
    let place = gated_env(false);
    let id = submit(&place);
    let left = place.latch(&["resume", "--json"]);
    assert_eq!(
        (left.code, &left.json()["jobs"][0]["state"]),
        (3, &json!("PARKED")),
        "the parked job is listed: {}",
        left.stdout
    );
    assert_eq!(resume(&place, &id), owned(3, "PARKED", "partial"));
    assert_eq!(place.latch(&["job", "cancel", &id]).code, 0, "cancelling succeeds");
    assert_eq!(resume(&place, &id), owned(1, "CANCELLED", "cancelled"));
    assert_eq!(place.latch(&["job", "show", &id]).code, 0, "showing a job succeeds");
    assert_eq!(place.latch(&["resume"]).code, 0, "no open job is left");

    for (with_read, expected) in [(false, owned(1, "FAILED", "failed")), (true, owned(3, "PARTIAL", "partial"))] {
        let place = gated_env(with_read);
        let id = submit(&place);
        assert_eq!(place.latch(&["job", "reject", &id, "o", "--reason", "no"]).code, 0);
        assert_eq!(resume(&place, &id), expected);
        assert!(place.effect_counts().is_empty());
    }

    let signal = json!({ "wait_kind": "signal", "correlation_key": "k", "timeout": "90s" });
    let place = TestEnv::witness("atomic").fresh_copy().with_plan(&[wait("s", signal)]);
    let ran = place.latch(&["run", "plan.json", "--json"]);
    let response = ran.json();
    assert_eq!((ran.code, &response["state"], &response["status"]), (3, &json!("WAITING"), &json!("partial")));
    let id = response["job_id"].as_str().unwrap();
    assert_eq!(events_of_type(&place, id, "job_waiting").len(), 1);
    assert_eq!(place.latch(&["job", "cancel", id]).code, 0);
}

/// A next action names the configuration and the database of the command that printed the action. The action then finds
/// the same job.
#[test]
fn next_actions_name_config_and_database() {
    let place = gated_env(false);
    std::fs::create_dir(place.dir.join("sub")).unwrap();
    let ran = program::run_latch(
        &place.dir.join("sub"),
        &["run", "../plan.json", "--json", "--config", "../latch.toml", "--db", "sqlite://other.db"],
    );
    let response = ran.json();
    let id = response["job_id"].as_str().unwrap_or_else(|| panic!("{} {}", ran.stdout, ran.stderr));
    let next = response["next_actions"][0].as_str().unwrap();
    let ends = next.ends_with("latch.toml --db sqlite://other.db");
    assert!(next.starts_with(&format!("latch job approve {id} o --config ")) && ends, "{next}");
    let typed: Vec<&str> = next.split(' ').skip(1).collect();
    let approved = program::run_latch(&place.dir.join("sub"), &typed);
    assert_eq!(approved.code, 0, "{}", approved.stderr);
    let id = submit(&place);
    let displayed = place.latch(&["job", "show", &id, "--json"]).json();
    assert_eq!(displayed["next_actions"][0], json!(format!("latch job approve {id} o")), "and nothing else");
    assert_eq!(place.latch(&["job", "cancel", &id]).code, 0);
}

#[test]
fn relaxed_durability_is_reported_in_every_response() {
    let read = [step("r", "Effect.Read", &[], json!({ "note": 1 }))];
    for (line, expected) in [("", Value::Null), ("durability = \"relaxed\"", json!("relaxed"))] {
        let place = TestEnv::witness("atomic").fresh_copy().with_plan(&read);
        let file = place.dir.join("latch.toml");
        let config = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, format!("{line}\n{config}")).unwrap();
        let ran = place.latch(&["run", "plan.json", "--json"]);
        assert_eq!((ran.code, &ran.json()["durability"]), (0, &expected), "{} {}", ran.stdout, ran.stderr);
        let id = ran.json()["job_id"].as_str().unwrap().to_owned();
        assert_eq!(place.latch(&["job", "show", &id, "--json"]).json()["durability"], expected);
        assert_eq!(place.latch(&["job", "show", &id]).stdout.contains("durability relaxed"), !line.is_empty());
    }
}

/// I20: an approval that is given in advance must name a step of the plan. An approver may state a reason.
#[test]
fn approval_requires_an_existing_step_and_stores_the_reason() {
    let place = gated_env(false);
    let refused = place.latch(&["run", "plan.json", "--json", "--approve", "nobody"]);
    let error = refused.json()["error"].clone();
    assert_eq!(refused.code, 2, "{} {}", refused.stdout, refused.stderr);
    assert!(error["message"].as_str().unwrap().contains("nobody"), "{error}");
    assert_eq!(place.only_job(), Value::Null, "nothing was submitted");
    let id = submit(&place);
    assert_eq!(place.latch(&["job", "approve", &id, "o", "--actor", "bob", "--reason", "it is due"]).code, 0);
    assert_eq!(resume(&place, &id).0, 0);
    let approved = &events_of_type(&place, &id, "gate_approved")[0];
    assert_eq!((&approved["actor"], &approved["reason"]), (&json!("bob"), &json!("it is due")), "{approved:#}");
}

/// I22: a label of the plan, such as `plan_id`, does not identify a request. If only a label is changed, the submission
/// is refused, because the same request exists with a different plan.
#[test]
fn changed_label_is_not_a_new_request() {
    let place = gated_env(false);
    let id = submit(&place);
    for label in ["plan_id", "intent_id"] {
        let file = place.dir.join("plan.json");
        let text = std::fs::read_to_string(&file).unwrap();
        let mut plan: Value = serde_json::from_str(&text).unwrap();
        plan[label] = json!("another");
        std::fs::write(place.dir.join("other.json"), plan.to_string()).unwrap();
        let refused = place.latch(&["run", "other.json", "--json", "--actor", "ada"]);
        assert_eq!(
            (refused.code, &refused.json()["error"]["code"]),
            (2, &json!("L0013")),
            "{label}: {}",
            refused.stdout
        );
        assert!(refused.stdout.contains(&id), "{}", refused.stdout);
    }
    assert_eq!(place.latch(&["job", "cancel", &id]).code, 0);
}
