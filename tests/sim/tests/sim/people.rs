//! People: they look now and then, answer what they are asked with what the world shows, send
//! signals, and change their minds.

use std::sync::Arc;

use latchwork_core::decide;
use latchwork_core::error::Code;
use latchwork_core::ids::{JobId, Slot};
use latchwork_core::job::JobState;
use latchwork_core::keys;
use latchwork_core::plan::Kind;
use latchwork_core::response::{BlockedView, response};
use latchwork_core::state::Durable;
use latchwork_core::storage::{Clock, EffectStore, Filter, Journal, Request, Resolved};

use crate::scene::Scene;

/// Looks at every open job, for ever.
pub(crate) async fn run(scene: Arc<Scene>) {
    loop {
        scene.pass(scene.dice.between(150, 1_200)).await;
        let open = Filter { open: true, limit: u32::MAX, ..Filter::default() };
        for row in scene.store().jobs(&open).await.expect("the model answers") {
            look(&scene, &row.job_id).await;
        }
    }
}

async fn look(scene: &Scene, job_id: &JobId) {
    let durable = match load(scene, job_id).await {
        Ok(durable) => durable,
        Err(error) => return scene.wrong(format!("{job_id} cannot be loaded: {error}")),
    };
    if scene.strikes(scene.weather.cancels_in, "asked to cancel") {
        ask(scene, job_id, Request::Cancel).await;
    }
    let waits = durable.job.plan.steps.iter().filter(|step| step.kind == Kind::Wait);
    for step in waits.filter(|step| step.payload.get("correlation_key").is_some()) {
        // Often before anybody waits for it, and now and then a second time.
        if scene.dice.one_in(8) {
            let key = step.step_id.to_string();
            ask(scene, job_id, Request::Signal { key, payload: format!("{{\"n\":{}}}", scene.dice.below(9)) }).await;
        }
    }
    let shown = response(&durable);
    for blocked in &shown.blocked {
        // People take their time.
        if scene.dice.one_in(2) {
            answer(scene, &durable, blocked).await;
        }
    }
    let stuck = shown.state == JobState::Parked && shown.reason_code == Some(Code::AttemptsExhausted);
    if stuck {
        scene.tally.count("attempts exhausted");
        ask(scene, job_id, Request::Continue).await;
    }
    if shown.state == JobState::Diverged {
        scene.wrong(format!("{job_id} diverged: {:?}", shown.divergence));
    }
}

async fn answer(scene: &Scene, durable: &Durable, blocked: &BlockedView) {
    let job_id = &durable.job.header.job_id;
    let slot = blocked.slot.clone();
    let request = match blocked.reason_code {
        Code::RequiresApproval => {
            let gate_hash = durable.job.gates[&slot].hash;
            Some(match scene.dice.one_in(6) {
                true => Request::Reject { slot, gate_hash },
                false => Request::Approve { slot, gate_hash },
            })
        }
        Code::IndeterminateEffect | Code::CompensationFailed => {
            let now_us = scene.clock().now_us();
            decide::verdict(durable, &slot, truth(scene, durable, &slot), now_us).ok()
        }
        Code::ResolutionConflict => Some(Request::Continue),
        Code::RequiresSignal => {
            let key = blocked.correlation_key.clone().expect("a signal has a key");
            Some(Request::Signal { key, payload: "{\"n\":1}".to_owned() })
        }
        _ => None,
    };
    if let Some(request) = request {
        ask(scene, job_id, request).await;
    }
}

/// What the world shows of a call.
fn truth(scene: &Scene, durable: &Durable, slot: &Slot) -> Resolved {
    let first_attempt = durable.job.calls.get(slot).map_or(0, |call| call.first_attempt);
    let key = keys::external_key(&durable.job.header.job_id, slot, first_attempt);
    let world = scene.world.lock().expect("no holder panics");
    match world.done(&key) {
        Some(arrived) => Resolved::Applied(arrived.result.clone()),
        None => Resolved::NotApplied,
    }
}

async fn ask(scene: &Scene, job_id: &JobId, request: Request) {
    let said = format!("{request:?}");
    let taken = scene.store().put_inbox(job_id, "bob", None, request).await;
    scene.saw_note(None, job_id).await;
    scene.note(format_args!("bob asks {job_id} for {said}: {taken:?}"));
    let name = said.split([' ', '{']).next().unwrap_or_default();
    scene.tally.count(format!("person: {name} {}", if taken.is_ok() { "taken" } else { "refused" }));
}

/// What is stored of a job.
pub(crate) async fn load(scene: &Scene, job_id: &JobId) -> Result<Durable, String> {
    let record = scene.store().load(job_id).await.map_err(|error| error.to_string())?;
    let effects = scene.store().effects(job_id).await.map_err(|error| error.to_string())?;
    Durable::load(record.ok_or("it is not there")?, effects).map_err(|error| error.to_string())
}
