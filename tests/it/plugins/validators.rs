//! Validators that run before a step starts. The tests use real processes with a real component, and
//! validators that an embedding program adds.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};

use latchwork::validate::{
    NoOp, Sandbox, SandboxEnd, SandboxHostCall, SandboxRun, Static, StepValidator, ValidationRequest, Validators,
};

use crate::support::plugins::built_guests::guest;
use crate::support::program;
use crate::support::test_env::{TestEnv, step};

/// Creates an environment with a step that executes the script in its input and declares itself pure.
fn env_with_scripted_step(run: &str, what: &Value) -> TestEnv {
    let config =
        format!("[validators]\nrun = [{run}]\n[[plugin]]\nname = \"hostile\"\nsource = {:?}\n", guest("hostile-step"));
    let place = TestEnv::configured(&config, vec![]);
    let mut one = step("s", "Hostile.Do", &[], what.clone());
    one["effects"] = json!(["produce_outcome"]);
    place.with_plan(&[one])
}

fn events(place: &TestEnv, id: &str) -> Vec<Value> {
    place.latch(&["job", "events", id, "--json"]).json()["events"].as_array().unwrap().clone()
}

/// I191: a step that declares itself pure but reads its clock is not executed, and the error names the reason.
#[test]
fn impure_step_is_not_executed() {
    let ran = env_with_scripted_step("", &json!({ "do": "good" })).latch(&["run", "plan.json", "--json"]);
    assert_eq!(ran.code, 0, "no validator runs by default: {}", ran.stdout);
    let place = env_with_scripted_step("\"static\", \"sandbox\"", &json!({ "do": "good" }));
    let ran = place.latch(&["run", "plan.json", "--json"]);
    assert_eq!(ran.code, 1, "{} {}", ran.stdout, ran.stderr);
    let response = ran.json();
    assert_eq!(response["failed"][0]["reason_code"], "CONTRACT_VIOLATION", "{response:#}");
    let message = response["failed"][0]["message"].as_str().unwrap();
    assert!(message.contains("\"sandbox\"") && message.contains("another clock"), "{message}");
    let id = response["job_id"].as_str().unwrap();
    let events = events(&place, id);
    assert!(events.iter().all(|event| event["type"] != "step_started"), "the step is not executed");
    let replay = place.latch(&["job", "replay", id, "--every-prefix", "--json"]);
    assert_eq!((replay.code, &replay.json()["divergence"]), (0, &json!(null)), "{}", replay.stdout);
    let exported = place.latch(&["job", "export", id, "--out", "e.jsonl"]);
    assert_eq!(exported.code, 0, "{}", exported.stderr);
    let verified = place.latch(&["verify", "e.jsonl"]);
    assert_eq!(verified.code, 0, "{}", verified.stdout);
}

/// A step that behaves the same in both sandbox runs is executed, even if it fails or traps in the sandbox. A run that
/// exhausts its memory or its stack does not affect other runs.
#[test]
fn pure_step_is_executed_whatever_its_result() {
    for (what, code) in [
        (json!({ "do": "emit", "n": 3 }), "COMPLETED"),
        (json!({ "do": "trap" }), "PLUGIN_TRAP"),
        (json!({ "do": "error" }), "INVALID_INPUT"),
        (json!({ "do": "allocate" }), "MEMORY_LIMIT"),
        (json!({ "do": "recurse" }), "STACK_OVERFLOW"),
    ] {
        let place = env_with_scripted_step("\"no-op\", \"static\", \"sandbox\"", &what);
        let response = place.latch(&["run", "plan.json", "--json"]).json();
        let came_to = response["failed"][0]["reason_code"].as_str().or(response["state"].as_str());
        assert_eq!(came_to, Some(code), "{what}: {response:#}");
        let started = |event: &&Value| event["type"] == "step_started";
        assert_eq!(events(&place, response["job_id"].as_str().unwrap()).iter().filter(started).count(), 1);
    }
}

/// If a step makes a call in the sandbox, the sandbox run ends and the call is not executed.
#[test]
fn sandbox_run_stops_at_the_first_call() {
    let place = TestEnv::witness("atomic").fresh_copy().configure("[validators]\nrun = [\"sandbox\"]").with_plan(&[step(
        "d",
        "Driver.Run",
        &[],
        json!({ "calls": [{ "operator": "Effect.Opaque", "args": {} }, { "operator": "Effect.Opaque", "args": {} }] }),
    )]);
    let ran = place.latch(&["run", "plan.json", "--json"]);
    assert_eq!((ran.code, &ran.json()["blocked_on"]["slot"]), (3, &json!("d/0")), "{}", ran.stdout);
    assert!(place.effect_counts().is_empty(), "{:?}", place.effect_counts());
}

/// Validator of an embedding program. It counts its calls, runs the step in the sandbox and refuses unexpected
/// behaviour.
struct CountingValidator(AtomicU32);

#[async_trait::async_trait]
impl StepValidator for CountingValidator {
    fn name(&self) -> &'static str {
        "counting"
    }
    async fn validate_step(&self, request: &ValidationRequest<'_>) -> Result<(), String> {
        self.0.fetch_add(1, Ordering::Relaxed);
        let run = request.run_in_sandbox(request.conditions()).await.expect("the plugin is a step plugin");
        let announced = vec![SandboxHostCall::Emit("happened".into(), "{}".into())];
        let expected = SandboxRun { host_calls: announced, ended: SandboxEnd::Output("{\"emitted\":1}".into()) };
        if run == expected { Ok(()) } else { Err(format!("unexpected sandbox run: {run:?}")) }
    }
}

/// An embedding program can add validators. They run after the configured validators.
#[tokio::test]
async fn embedding_program_can_add_a_validator() {
    use latchwork::builder::Stores;
    use latchwork::config::{Config, LoadOptions};
    use latchwork::host::{Host, SubmitResult};
    use latchwork::runtime::NoObserver;
    use latchwork::submit::Submission;
    use latchwork_core::memory::{ManualClock, Memory};
    for (what, state) in [("emit", "COMPLETED"), ("good", "FAILED")] {
        let place = env_with_scripted_step("\"static\"", &json!({ "do": what }));
        let (dir, compiled) = (place.dir.as_path(), program::compile_cache_dir());
        let options = LoadOptions { cwd: dir, config: None, db: None, plan_folder: None, env: &|_| None };
        let config = Config::load(&options).unwrap().with_cache_dir(compiled);
        let memory = Arc::new(Memory::new(Arc::new(ManualClock::default()), 0));
        let stores = Stores::new(memory, latchwork_core::storage::Owner::unlocked("test"));
        let counting = Arc::new(CountingValidator(AtomicU32::new(0)));
        let builder = Host::builder(stores).config(config);
        let host = builder.validator(Arc::new(NoOp)).validator(counting.clone()).start().unwrap();
        let plan = host.check(&std::fs::read(dir.join("plan.json")).unwrap()).unwrap();
        let submission = Submission::of_plan(plan, "ada");
        let SubmitResult::New(claim) = host.submit(submission).await.unwrap() else { panic!("the job is new") };
        let response = host.drive(claim, Arc::new(NoObserver)).await.unwrap();
        assert_eq!(response.state.as_str(), state, "{response:#?}");
        assert_eq!(counting.0.load(Ordering::Relaxed), 1, "asked once, before the step starts");
        if state == "FAILED" {
            assert!(response.failed[0].message.contains("\"counting\""), "{:?}", response.failed);
        }
    }
    let all = Validators(vec![Arc::new(NoOp), Arc::new(Static), Arc::new(Sandbox)]);
    assert_eq!(format!("{all:?}"), "[\"no-op\", \"static\", \"sandbox\"]");
}
