//! Jobs that have diverged, the three ways to continue them, and forks. The tests use real processes,
//! components and databases.

use std::path::Path;

use serde_json::{Value, json};

use latchwork_core::decide;
use latchwork_core::event::{Body, RefusedCall};
use latchwork_core::model::effect::{Answer, Effect, Provenance};
use latchwork_core::model::error::{Code, Failure};
use latchwork_core::model::ids::{Hash, JobId, Operator, Slot};
use latchwork_core::state::{Durable, label};
use latchwork_core::storage::{AttemptEnd, BatchKind, Draft, EffectStore, Journal, LeaseRequest, Record};
use latchwork_store::{Database, OpenOptions, OwnerLock, StoreClock};

use crate::support::test_env::TestEnv;

fn world_changing_step(id: &str, name: &str, depends_on: &[&str], payload: Value) -> Value {
    json!({
        "step_id": id, "kind": "operator", "name": name, "payload": payload, "depends_on": depends_on,
        "effects": ["read_only", "internal_write", "external_write", "external_send"], "policy_tags": [], "gate": "none", "cache_policy": "never",
        "idempotency_template": id,
    })
}

fn env_with_steps(steps: &[Value]) -> TestEnv {
    let place = TestEnv::witness("atomic").fresh_copy();
    let plan = json!({ "plan_id": "forked", "schema_version": "1.0", "steps": steps });
    std::fs::write(place.dir.join("plan.json"), plan.to_string()).expect("writable");
    place
}

fn run_plan(place: &TestEnv) -> Value {
    let ran = place.latch(&["run", "plan.json", "--json", "--actor", "ada"]);
    assert!(matches!(ran.code, 0 | 3), "{} {}", ran.stdout, ran.stderr);
    ran.json()
}

fn job_id(response: &Value) -> String {
    response["job_id"].as_str().expect("a response names its job").to_owned()
}

fn approve_and_resume(place: &TestEnv, job: &str, slot: &str) -> Value {
    let ran = place.latch(&["job", "approve", job, slot, "--actor", "bob"]);
    assert_eq!(ran.code, 0, "{} {}", ran.stdout, ran.stderr);
    place.latch(&["resume", job, "--json"]).json()
}

fn fork_job(place: &TestEnv, job: &str, more: &[&str]) -> Value {
    let ran = place.latch(&[&["job", "fork", job, "--json", "--actor", "ada"], more].concat());
    assert!(matches!(ran.code, 0 | 3), "{} {}", ran.stdout, ran.stderr);
    ran.json()
}

fn assert_replays(place: &TestEnv, job: &str) {
    let replay = place.latch(&["job", "replay", job, "--every-prefix", "--json"]);
    assert_eq!((replay.code, &replay.json()["divergence"]), (0, &Value::Null), "{} {}", replay.stdout, replay.stderr);
}

fn step_notes(response: &Value) -> Vec<String> {
    let steps = response["steps"].as_array().expect("a list");
    steps.iter().map(|step| step["notes"][0].as_str().unwrap_or_default().to_owned()).collect()
}

/// Adds calls to the log of a parked job, as if another version of the job's step had made them.
async fn write_foreign_history(dir: &Path, job: &JobId) {
    let clock = StoreClock::new().expect("the clock is readable");
    let store = Database::open(OpenOptions::new(dir.join("latch.db"))).await.expect("it opens");
    let lock = OwnerLock::acquire(&OpenOptions::new(dir.join("latch.db")).owner_dir, "other", "other", &clock)
        .expect("a lock");
    let claimer = LeaseRequest { owner: lock.owner().clone(), lease_ms: 5_000 };
    store
        .put_inbox(job, "ada", None, latchwork_core::storage::InboxRequest::Continue)
        .await
        .expect("the request is stored");
    let claim = store.claim_job(job, &claimer).await.expect("it answers").expect("the job is not claimed");
    let record = store.load(job).await.expect("it answers").expect("the job exists");
    let inbox = record.inbox.iter().map(|row| row.id).collect();
    let effects = store.effects(job).await.expect("it answers");
    let mut durable = Durable::load(record, effects).expect("it folds");
    let slot = Slot::new("d/0");
    let failure = Failure::new(Code::PolicyDenied, "as the other version heard");
    let effect = Effect {
        slot: slot.clone(),
        try_no: 0,
        answer: Answer::NotApplied(failure),
        provenance: Provenance::Executed,
        time_us: claim.now_us,
        spent: None,
    };
    let args = durable.payload_ref(&label::args(&slot), br#"{"note":1}"#);
    let finished = Body::ToolInvocationFinished {
        slot: slot.clone(),
        try_no: 0,
        ok: false,
        answer: durable.payload_ref(&label::answer(&slot, 0), &effect.to_bytes()),
        provenance: Provenance::Executed,
        code: Some(Code::PolicyDenied),
        usage: None,
        spent: None,
        assumed_micro_usd: None,
        nondeterministic: false,
        refused: Some(RefusedCall { operator: Operator::new("Effect.Keyed"), args, action_key: None }),
    };
    let refused: Draft = Draft {
        events: vec![finished, Body::CommandCommitted { slot }],
        effects: vec![effect],
        inbox_done: inbox,
        kind: Record::Flush,
        ..Draft::default()
    };
    let parked = Draft {
        events: vec![Body::JobParked { reason: Code::RequiresApproval, slot: Some(Slot::new("o")), cause: None }],
        kind: BatchKind::EndAttempt(AttemptEnd::Parked),
        ..Draft::default()
    };
    for draft in [decide::claimed("other", Hash::default()).merge(refused).into(), parked] {
        let batch = durable.seal(claim.row.attempt, draft, claim.now_us).expect("the history is valid");
        store.write(batch).await.expect("written");
    }
    store.close().await;
}

/// I19, I40, I41, I43: if the calls of a step's code differ from the log, nothing is executed. The job can be
/// inspected, continued, forked and given up.
#[test]
fn diverged_job_can_be_inspected_continued_forked_and_given_up() {
    let calls = json!({ "calls": [
        { "operator": "Effect.Read", "args": { "note": 1 } },
        { "operator": "Effect.Opaque", "args": { "note": 2 } },
    ] });
    let mut place = env_with_steps(&[
        world_changing_step("o", "Effect.Opaque", &[], json!({ "note": 0 })),
        world_changing_step("d", "Driver.Run", &["o"], calls),
    ]);
    place.skip_replay_of_damaged_jobs();
    let job = job_id(&run_plan(&place));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(write_foreign_history(&place.dir, &JobId::new(&job)));

    let diverged = approve_and_resume(&place, &job, "o");
    assert_eq!(diverged["state"], "DIVERGED", "{diverged:#}");
    let report = &diverged["divergence"];
    assert_eq!((&report["at"], &report["field"]), (&json!("d/0"), &json!("operator")), "{report:#}");
    assert_eq!((&report["recorded"], &report["found"]), (&json!("Effect.Keyed"), &json!("Effect.Read")));
    assert_eq!(place.effect_counts().into_iter().collect::<Vec<_>>(), [("o".to_owned(), 1)]);
    let actions: Vec<_> =
        diverged["next_actions"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    for way in ["resolve {} --continue", "fork {} --at d", "resolve {} --abort"] {
        let way = format!("latch job {}", way.replace("{}", &job));
        assert!(actions.contains(&way.as_str()), "{way} is not in {actions:?}");
    }
    let displayed = place.latch(&["job", "show", &job]).stdout;
    let line = displayed.lines().find(|line| line.contains("Effect.Keyed")).expect("both are shown");
    assert!(line.contains("Effect.Read"), "{displayed}");

    // The pinned code makes the same calls as before, so the job diverges again and still executes nothing.
    assert_eq!(place.latch(&["job", "resolve", &job, "--continue"]).code, 0);
    let again = place.latch(&["resume", &job, "--json"]);
    assert_eq!((again.code, &again.json()["state"]), (3, &json!("DIVERGED")), "{}", again.stdout);
    assert_eq!(place.effect_counts().len(), 1);

    let forked = fork_job(&place, &job, &["--at", "d"]);
    let fork_id = job_id(&forked);
    assert_eq!(forked["blocked_on"]["slot"], "d/1", "{forked:#}");
    let done = approve_and_resume(&place, &fork_id, "d/1");
    assert_eq!(done["state"], "COMPLETED", "{done:#}");
    let world = [("d/1".to_owned(), 1), ("o".to_owned(), 1)];
    assert_eq!(place.effect_counts().into_iter().collect::<Vec<_>>(), world, "copied steps are not executed again");
    assert_replays(&place, &fork_id);

    assert_eq!(place.latch(&["job", "resolve", &job, "--abort"]).code, 0);
    assert_eq!(place.latch(&["resume", &job, "--json"]).json()["state"], "PARTIAL");
    assert_eq!(place.effect_counts().len(), 2);
}

/// I40, I41: a fork copies the steps before the step at which it starts, with their times and answers. An output can be
/// replaced. In every mode, the world-changing calls of a step are gated in the fork if this step may have changed the
/// world in the original job.
#[test]
fn fork_continues_from_the_middle_and_replays_from_every_prefix() {
    let calls = |n: u32, operator: &str| {
        json!({ "calls": [
        { "operator": "Effect.Read", "args": { "note": n } }, { "operator": operator, "args": { "note": n } },
    ] })
    };
    let place = env_with_steps(&[
        world_changing_step("a", "Driver.Run", &[], calls(1, "Effect.Opaque")),
        world_changing_step("b", "Driver.Pure", &[], json!({ "note": "before" })),
        world_changing_step(
            "c",
            "Driver.Run",
            &["a", "b"],
            json!({ "calls": [
            { "operator": "Effect.Opaque", "args": { "note": { "$ref": "b#/note" } } },
        ] }),
        ),
    ]);
    let auto = "[policy.default]\nmodes = [\"AUTO_EXEC\"]\nauto_exec = true\n\
                trust = { \"ada/Effect.Opaque\" = 3 }\n";
    let config = std::fs::read_to_string(place.dir.join("latch.toml")).expect("readable");
    std::fs::write(place.dir.join("latch.toml"), format!("{config}\n{auto}")).expect("writable");
    let ran = place.latch(&["run", "plan.json", "--json", "--actor", "ada", "--mode", "AUTO_EXEC"]);
    assert_eq!((ran.code, &ran.json()["state"]), (0, &json!("COMPLETED")), "{} {}", ran.stdout, ran.stderr);
    let job = job_id(&ran.json());
    assert_eq!(place.effect_counts().values().sum::<u32>(), 2);

    std::fs::write(place.dir.join("b.json"), r#"{ "note": "after" }"#).expect("writable");
    let forked = fork_job(&place, &job, &["--at", "c", "--set", "b=b.json", "--reason", "another note"]);
    let fork_id = job_id(&forked);
    assert_eq!(
        step_notes(&forked)[..2],
        [format!("output copied from {job}"), "output set with the fork".to_owned()],
        "{forked:#}"
    );
    assert_eq!(forked["blocked_on"]["slot"], "c/0", "gated although ada is trusted: {forked:#}");
    let displayed = place.latch(&["job", "show", &fork_id]).stdout;
    assert!(displayed.contains("after"), "with the replaced output: {displayed}");
    let done = approve_and_resume(&place, &fork_id, "c/0");
    assert_eq!(done["state"], "COMPLETED", "{done:#}");
    let files = std::fs::read_dir(place.dir.join("effects")).expect("there").count();
    assert_eq!(files, 3, "one more effect than before");
    assert_replays(&place, &fork_id);
    assert_replays(&place, &job);
    let events = place.latch(&["job", "events", &fork_id, "--json"]).json()["events"].clone();
    assert_eq!(
        (&events[2]["type"], &events[2]["origin"], &events[2]["reason"]),
        (&json!("job_forked"), &json!(job), &json!("another note"))
    );

    // A fork of this fork copies the same steps once more. Each copied step is still replayed with the identity of the
    // job that executed the step.
    let twice = fork_job(&place, &fork_id, &["--at", "c"]);
    assert_eq!(step_notes(&twice)[..2], [format!("output copied from {job}"), "output set with the fork".to_owned()]);
    assert_replays(&place, &job_id(&twice));

    assert_invalid_forks_are_refused(&place, &job);
}

/// Checks that invalid input is refused and creates no job. The environment has a job with the steps `a`, `b` and `c`,
/// and a file `b.json` with an output.
fn assert_invalid_forks_are_refused(place: &TestEnv, job: &str) {
    let jobs = || place.latch(&["job", "list", "--json"]).json()["jobs"].as_array().map(Vec::len);
    let before = jobs();
    std::fs::write(place.dir.join("bad.json"), "{ nonsense").expect("writable");
    for refused in [
        vec!["--at", "nowhere"],
        vec!["--at", "c", "--set", "c=b.json"],
        vec!["--at", "a", "--set", "c=b.json"],
        vec!["--at", "c", "--set", "b=bad.json"],
        vec!["--at", "c", "--set", "b=missing.json"],
        vec!["--at", "c", "--set", "a=b.json"],
    ] {
        let ran = place.latch(&[&["job", "fork", job], refused.as_slice()].concat());
        assert_eq!(ran.code, 2, "{refused:?}: {} {}", ran.stdout, ran.stderr);
    }
    let running = run_until_gated(place);
    assert_eq!(jobs(), before.map(|n| n + 1), "{running}");
}

/// Runs a job that parks at its gate, and returns the job's id.
fn run_until_gated(place: &TestEnv) -> String {
    let ran = place.latch(&["run", "plan.json", "--json", "--actor", "eve", "--mode", "AUTO_EXEC"]);
    assert_eq!(ran.code, 3, "{} {}", ran.stdout, ran.stderr);
    job_id(&ran.json())
}

/// I41: a fork has the seed of the original job. The fork needs new approvals, and uses the current policy and plugins.
#[test]
fn fork_keeps_the_seed_and_uses_current_policy_and_plugins() {
    let place = env_with_steps(&[world_changing_step("o", "Effect.Opaque", &[], json!({ "note": 1 }))]);
    let file = place.dir.join("latch.toml");
    let plain = std::fs::read_to_string(&file).expect("readable");
    std::fs::write(&file, format!("{plain}\n[policy.default.gate]\nquorum = 2\n")).expect("writable");
    let origin = place.latch(&["run", "plan.json", "--json", "--actor", "ada", "--approve", "o"]).json();
    let blocked = &origin["blocked_on"];
    assert_eq!((&blocked["quorum"], &blocked["approved_by"]), (&json!(2), &json!(["ada"])), "{origin:#}");
    let named = "name = \"witness\"\n";
    assert_eq!(plain.matches(named).count(), 1);
    let limited = plain.replace(named, &format!("{named}limits = {{ timeout = \"7s\" }}\n"));
    std::fs::write(&file, limited).expect("writable");

    let forked = fork_job(&place, &job_id(&origin), &["--at", "o"]);
    let blocked = &forked["blocked_on"];
    assert_eq!(
        (&blocked["slot"], &blocked["quorum"], &blocked["approved_by"]),
        (&json!("o"), &Value::Null, &Value::Null)
    );
    let header = |job: &Value| place.latch(&["job", "events", &job_id(job), "--json"]).json()["events"][0].clone();
    let (old, new) = (header(&origin), header(&forked));
    assert!(old["job_seed"].is_string() && old["job_seed"] == new["job_seed"], "{new:#}");
    assert_eq!((&old["rules"]["gate_quorum"], &new["rules"]["gate_quorum"]), (&json!(2), &json!(1)));
    let timeout = |header: &Value| header["operators"]["Effect.Opaque"]["limits"]["timeout_ms"].clone();
    assert_eq!((timeout(&old), timeout(&new)), (json!(30_000), json!(7_000)));
    assert_eq!(approve_and_resume(&place, &job_id(&forked), "o")["state"], "COMPLETED");
}

/// I41: a fork keeps the contexts of the original request. Even the step at which the fork starts can use these
/// contexts.
#[test]
fn fork_at_a_step_with_a_context_keeps_the_contexts() {
    let place = env_with_steps(&[]);
    let mut read = world_changing_step("r", "Effect.Read", &[], json!({ "note": 1 }));
    read["hashes"] = json!({ "cv": { "$context": "cv" } });
    read["idempotency_template"] = json!("read:{cv}");
    read["effects"] = json!(["read_only"]);
    let request = json!({
        "intent": { "type": "letter", "payload": {}, "contexts": [{ "name": "cv", "text": "Ada" }] },
        "plan": { "plan_id": "p", "schema_version": "1.0", "steps": [read] },
    });
    std::fs::write(place.dir.join("plan.json"), request.to_string()).expect("writable");
    let origin = run_plan(&place);
    assert_eq!(origin["state"], "COMPLETED", "{origin:#}");
    assert_eq!(fork_job(&place, &job_id(&origin), &["--at", "r"])["state"], "COMPLETED");
}
