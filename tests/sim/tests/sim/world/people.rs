//! Simulated people. They check jobs now and then, decide according to the state of the world, send signals,
//! and change their minds.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use latchwork_core::decide;
use latchwork_core::model::effect::{Answer, Effect, Provenance};
use latchwork_core::model::error::Code;
use latchwork_core::model::ids::{JobId, Slot};
use latchwork_core::model::job::JobState;
use latchwork_core::model::keys;
use latchwork_core::plan::StepKind;
use latchwork_core::response::{BlockedView, response};
use latchwork_core::state::Durable;
use latchwork_core::storage::{Clock, EffectStore, InboxRequest, JobFilter, Journal, ManualVerdict};

use crate::simulation::Simulation;

/// Time in milliseconds within which a recorded result must be reported to the lease holder. The time is longer
/// than any pause of a process and any transit time of a message.
const REPORTED_WITHIN_MS: u64 = 60_000;

/// Checks every open job in an endless loop.
pub(crate) async fn run(scene: Arc<Simulation>) {
    loop {
        scene.sleep_ms(scene.dice.between(150, 1_200)).await;
        let open = JobFilter { open: true, limit: u32::MAX, ..JobFilter::default() };
        for row in scene.store().jobs(&open).await.expect("the model answers") {
            check_job(&scene, &row.job_id).await;
        }
        undo(&scene).await;
    }
}

/// Requests the undo of a finished job, mostly of a job that can be undone.
async fn undo(scene: &Simulation) {
    // No undo is requested in runs that are compared with the protocol model, because the model has no reopened jobs.
    if scene.records.is_some() || !scene.fault_occurs(scene.weather.undoes_in, "asked to undo") {
        return;
    }
    let all = JobFilter { limit: u32::MAX, ..JobFilter::default() };
    let rows = scene.store().jobs(&all).await.expect("the model answers");
    for row in rows.iter().filter(|row| row.state.is_terminal()) {
        match load(scene, &row.job_id).await {
            Err(error) => scene.report_violation(format!("{} cannot be loaded: {error}", row.job_id)),
            Ok(durable) if decide::calls_to_undo(&durable).is_ok() || scene.dice.one_in(4) => {
                submit_request(scene, &row.job_id, InboxRequest::Undo).await;
                return;
            }
            Ok(_) => {}
        }
    }
}

async fn check_job(scene: &Simulation, job_id: &JobId) {
    let durable = match load(scene, job_id).await {
        Ok(durable) => durable,
        Err(error) => return scene.report_violation(format!("{job_id} cannot be loaded: {error}")),
    };
    if scene.fault_occurs(scene.weather.cancels_in, "asked to cancel") {
        submit_request(scene, job_id, InboxRequest::Cancel).await;
    }
    let waits = durable.job.plan.steps.iter().filter(|step| step.kind == StepKind::Wait);
    for step in waits.filter(|step| step.payload.get("correlation_key").is_some()) {
        // The signal often comes before the step waits for it, and sometimes twice.
        if scene.dice.one_in(8) {
            let key = step.step_id.to_string();
            submit_request(
                scene,
                job_id,
                InboxRequest::Signal { key, payload: format!("{{\"n\":{}}}", scene.dice.below(9)) },
            )
            .await;
        }
    }
    let response = response(&durable);
    for blocked in &response.blocked {
        if waits_for_report(scene, &durable, blocked) {
            continue;
        }
        // People do not answer immediately.
        if scene.dice.one_in(2) {
            decide_blocked(scene, &durable, blocked).await;
        }
    }
    let stuck = response.state == JobState::Parked && response.reason_code == Some(Code::AttemptsExhausted);
    if stuck {
        scene.tally.count("attempts exhausted");
        submit_request(scene, job_id, InboxRequest::Continue).await;
    }
    if response.state == JobState::Diverged {
        scene.report_violation(format!("{job_id} diverged: {:?}", response.divergence));
    }
}

/// Returns true if people still wait before they decide about a call in doubt. Only the people of some jobs wait. They
/// wait for at most `REPORTED_WITHIN_MS`.
///
/// I44, I127: if a living process has recorded the result of the call, people wait until this process reports the
/// result. A report that does not come within `REPORTED_WITHIN_MS` is a violation. If `people_wait` is true, people
/// also wait if no living process has recorded the result.
fn waits_for_report(scene: &Simulation, durable: &Durable, blocked: &BlockedView) -> bool {
    let (job_id, slot) = (&durable.job.header.job_id, &blocked.slot);
    let open = durable.job.calls.get(slot).and_then(|call| call.open_try);
    let parked = durable.job.state == JobState::Parked && blocked.reason_code == Code::IndeterminateEffect;
    let Some(try_no) = open.filter(|_| parked && job_id.as_str().ends_with(['0', '2'])) else { return false };
    let about = (job_id.clone(), slot.clone(), try_no);
    let by = scene.recorded_by.lock().expect("no holder panics").get(&about).cloned();
    let by = by.filter(|by| !scene.dead_processes.lock().expect("no holder panics").contains(by));
    if by.is_none() && !scene.people_wait.load(Ordering::Relaxed) {
        return false;
    }
    let mut asked = scene.asked_since_ms.lock().expect("no holder panics");
    let since_ms = *asked.entry(about).or_insert_with(|| scene.now_ms());
    if scene.now_ms() <= since_ms + REPORTED_WITHIN_MS {
        return true;
    }
    if let Some(by) = by {
        scene.report_violation(format!("{job_id}: {by} recorded the answer of {slot} but did not report it"));
    }
    false
}

async fn decide_blocked(scene: &Simulation, durable: &Durable, blocked: &BlockedView) {
    let job_id = &durable.job.header.job_id;
    let slot = blocked.slot.clone();
    let request = match blocked.reason_code {
        Code::RequiresApproval => {
            let gate_hash = durable.job.gates[&slot].hash;
            Some(match scene.dice.one_in(6) {
                true => InboxRequest::Reject { slot, gate_hash },
                false => InboxRequest::Approve { slot, gate_hash },
            })
        }
        Code::IndeterminateEffect | Code::CompensationFailed => {
            let now_us = scene.clock().now_us();
            decide::verdict_request(durable, &slot, result_in_world(scene, durable, &slot), now_us).ok()
        }
        Code::ResolutionConflict => Some(InboxRequest::Continue),
        Code::RequiresSignal => {
            let key = blocked.correlation_key.clone().expect("a signal has a key");
            Some(InboxRequest::Signal { key, payload: "{\"n\":1}".to_owned() })
        }
        _ => None,
    };
    if let Some(request) = request {
        submit_request(scene, job_id, request).await;
    }
}

/// Returns the result of a call in the world.
fn result_in_world(scene: &Simulation, durable: &Durable, slot: &Slot) -> ManualVerdict {
    let first_attempt = durable.job.calls.get(slot).map_or(0, |call| call.first_attempt);
    let key = keys::external_key(&durable.job.header.job_id, slot, first_attempt);
    let world = scene.world.lock().expect("no holder panics");
    match world.arrived_under(&key) {
        Some(arrived) => ManualVerdict::Applied(arrived.result.clone()),
        None => ManualVerdict::NotApplied,
    }
}

async fn submit_request(scene: &Simulation, job_id: &JobId, request: InboxRequest) {
    let text = format!("{request:?}");
    let taken = scene.store().put_inbox(job_id, "bob", None, request).await;
    scene.record_request(None, job_id).await;
    scene.add_trace_line(format_args!("bob asks {job_id} for {text}: {taken:?}"));
    let name = text.split([' ', '{']).next().unwrap_or_default();
    scene.tally.count(format!("person: {name} {}", if taken.is_ok() { "taken" } else { "refused" }));
}

impl Simulation {
    /// Remembers which process recorded the results of calls.
    pub(crate) fn note_recorded_results(&self, process: &str, job_id: &JobId, effects: &[Effect]) {
        let mut answered = self.recorded_by.lock().expect("no holder panics");
        let results = effects
            .iter()
            .filter(|effect| matches!(effect.answer, Answer::Ok(_)) && effect.provenance == Provenance::Executed);
        for effect in results {
            let about = (job_id.clone(), effect.slot.clone(), effect.try_no);
            answered.entry(about).or_insert_with(|| process.to_owned());
        }
    }
}

/// Loads the stored state of a job.
pub(crate) async fn load(scene: &Simulation, job_id: &JobId) -> Result<Durable, String> {
    let record = scene.store().load(job_id).await.map_err(|error| error.to_string())?;
    let effects = scene.store().effects(job_id).await.map_err(|error| error.to_string())?;
    Durable::load(record.ok_or("the job is missing")?, effects).map_err(|error| error.to_string())
}
