//! Random plans and the jobs made from them.

pub(crate) mod shapes;

use serde_json::{Value, json};

use latchwork_core::event::{Body, Event, Header, RequestRef};
use latchwork_core::model::auto_exec::AutoExec;
use latchwork_core::model::ids::{Hash, JobId};
use latchwork_core::model::job::JobState;
use latchwork_core::model::mode::Mode;
use latchwork_core::model::rules::Rules;
use latchwork_core::plan;
use latchwork_core::plan::Plan;
use latchwork_core::storage::{Clock, JobRow, NewJob, QueueLimit, expectation};

use crate::dice::Dice;
use crate::simulation::Simulation;
use crate::traces::observations::JobObservations;
use crate::world::operators::{SCRIPT, STRICT, TOOLS, Table, table, without_undoing};

/// Returns the policy of every worker. The policy requires no trust, so only the random numbers decide about gates.
pub(crate) fn rules() -> Rules {
    Rules { auto_exec: AutoExec { enabled: true, min_trust: 0, ..AutoExec::default() }, ..Rules::default() }
}

fn tool(dice: &Dice) -> &'static str {
    dice.pick(&TOOLS).0
}

/// Returns the calls of a step as groups. Groups run one after another, and the calls of a group run
/// concurrently.
fn calls(dice: &Dice) -> Value {
    let group = |_| (0..*dice.pick(&[1, 1, 1, 2, 3])).map(|_| tool(dice)).collect::<Vec<_>>();
    (0..dice.below(4)).map(group).collect::<Vec<_>>().into()
}

fn step(dice: &Dice, n: u32, depends_on: &[String]) -> Value {
    let id = format!("s{n}");
    let mut step = json!({
        "step_id": id, "kind": "operator", "depends_on": depends_on, "effects": ["read_only", "external_send"],
        "policy_tags": [], "gate": "none", "cache_policy": "never",
        "idempotency_template": format!("{id}:{}", dice.number()),
    });
    match dice.below(8) {
        0 => {
            step["kind"] = "wait".into();
            step["name"] = "Wait".into();
            step["effects"] = json!([]);
            step["payload"] = match dice.below(4) {
                0 => json!({ "wait_kind": "timer", "duration": "3s" }),
                1 => json!({ "wait_kind": "timer", "duration": "1s", "park": true }),
                2 => json!({ "wait_kind": "signal", "correlation_key": id, "timeout": "2s", "default": 1 }),
                _ => json!({ "wait_kind": "human", "correlation_key": id }),
            };
        }
        1..=3 => {
            step["name"] = (*dice.pick(&[SCRIPT, SCRIPT, STRICT])).into();
            step["payload"] = json!({ "calls": calls(dice) });
        }
        _ => {
            step["name"] = tool(dice).into();
            step["payload"] = match depends_on.first() {
                Some(first) if dice.one_in(2) => json!({ "x": { "$ref": format!("{first}#") } }),
                _ => json!({ "n": n }),
            };
            if dice.one_in(6) {
                step["gate"] = "human_confirm".into();
            }
        }
    }
    step
}

fn plan(dice: &Dice) -> Plan {
    let mut steps = Vec::new();
    for n in 0..dice.between(1, 6) {
        let before: Vec<String> = (0..n).filter(|_| dice.one_in(3)).map(|k| format!("s{k}")).collect();
        steps.push(step(dice, n, &before));
    }
    // Two wait steps with the same timeout. The timeout may be due while no worker runs.
    if dice.one_in(4) {
        for id in ["t0", "t1"] {
            let mut wait = step(dice, 0, &[]);
            (wait["step_id"], wait["kind"], wait["name"], wait["effects"]) =
                (id.into(), "wait".into(), "Wait".into(), json!([]));
            wait["gate"] = "none".into();
            wait["idempotency_template"] = id.into();
            wait["payload"] = json!({ "wait_kind": "signal", "correlation_key": id, "timeout": "1s", "default": 1 });
            steps.push(wait);
        }
    }
    // Two steps, and sometimes two jobs, that share one action key.
    if dice.one_in(3) {
        for step in steps.iter_mut().filter(|step| step["name"] == "Sim.Queryable") {
            step["idempotency_template"] = "the same action".into();
            step["payload"] = json!({ "n": 0 });
        }
    }
    let on_failure = *dice.pick(&["keep", "compensate"]);
    let plan = json!({ "plan_id": "p", "schema_version": "1.0", "on_failure": on_failure, "steps": steps });
    plan::check(plan.to_string().as_bytes(), &Table(table())).expect("the generated plan is valid")
}

/// Returns a plan of the shape that the protocol model supports.
fn shaped(dice: &Dice, records: &JobObservations, job_id: &JobId) -> Plan {
    let (step, calls) = shapes::step(dice);
    records.add_job(job_id, calls);
    let plan = json!({ "plan_id": "p", "schema_version": "1.0", "on_failure": "keep", "steps": [step] });
    plan::check(plan.to_string().as_bytes(), &Table(table())).expect("the shaped plan is valid")
}

/// Returns a job that is ready to be claimed.
pub(crate) fn job(scene: &Simulation, n: u32) -> NewJob {
    let dice = &scene.dice;
    let job_id = JobId::new(format!("job_{n}"));
    let plan = match &scene.records {
        None => plan(dice),
        Some(records) => shaped(dice, records, &job_id),
    };
    let now_us = scene.clock().now_us();
    let (request_key, job_seed, secret) = (Hash(dice.bytes()), Hash(dice.bytes()), Hash(dice.bytes()));
    let header = Header {
        job_id: job_id.clone(),
        tenant_id: "default".to_owned(),
        actor_id: "ada".to_owned(),
        correlation_id: "c".to_owned(),
        trace_id: "t".to_owned(),
        intent_type: "plan".to_owned(),
        request: RequestRef::new(&secret, &request_key),
        mode: Mode::AutoExec,
        job_seed,
        engine_profile: Hash::default(),
        standing_approvals: vec![],
        contexts: None,
        parameters: None,
        policy: None,
        rules: None,
        operators: if scene.records.is_some() { without_undoing() } else { table() },
    };
    let (mode, plan_hash) = (header.mode, plan.hash());
    let accepted = Event::seal(0, now_us, 0, Body::IntentAccepted { header: Box::new(header) }, Hash::default());
    let created = Body::PlanCreated { plan: serde_json::to_value(&plan).expect("plain data"), plan_hash };
    let created = Event::seal(1, now_us, 0, created, accepted.hash);
    let row = JobRow {
        job_id,
        tenant_id: "default".to_owned(),
        actor_id: "ada".to_owned(),
        request_key,
        plan_id: plan.plan_id.clone(),
        plan_hash,
        mode: mode.as_str().to_owned(),
        state: JobState::Pending,
        attempt: 0,
        next_seq: 2,
        head: created.hash,
        inbox_pending: false,
        cancel_requested: false,
        wake_at_us: None,
        priority: 0,
        created_us: now_us,
        updated_us: now_us,
    };
    NewJob {
        row,
        events: vec![accepted, created],
        secret,
        payloads: vec![],
        expectations: expectation::of_plan(&plan),
        claim: None,
        queue: QueueLimit::default(),
    }
}
