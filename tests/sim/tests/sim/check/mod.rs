//! Checks after a run compare the stores with the witness of the world, which records the requests that arrived. The
//! witness and the stores do not use each other's data.

pub(crate) mod coverage;

use std::collections::BTreeMap;
use std::fmt::Write;

use latchwork::replay;
use latchwork_core::decide::check_open_call;
use latchwork_core::event::{Body, Event, ReopenPurpose};
use latchwork_core::evidence;
use latchwork_core::evidence::{Export, Withhold};
use latchwork_core::model::effect::{Answer, Provenance};
use latchwork_core::model::error::Code;
use latchwork_core::model::ids::{Hash, JobId, Slot};
use latchwork_core::model::keys;
use latchwork_core::model::manifest::RecoveryClass;
use latchwork_core::model::step::StepState;
use latchwork_core::state::{Compensation, CompensationEnd, Durable, Job};
use latchwork_core::storage::{Clock, EffectStore, JobFilter, Journal};

use crate::simulation::Simulation;
use crate::workers::plugins::Plugins;
use crate::workers::writer::kind;
use crate::world::{ArrivedRequests, operators, people};

/// Checks all jobs and the world. Returns their final state as text, so that two runs can be compared.
pub(crate) async fn check_all(scene: &Simulation) -> String {
    let mut left = String::new();
    let jobs =
        scene.store().jobs(&JobFilter { limit: u32::MAX, ..JobFilter::default() }).await.expect("the model answers");
    for row in &jobs {
        match check_job(scene, &row.job_id, &mut left).await {
            Ok(durable) => scene.tally.count(format!("job {}", durable.job.state.as_str())),
            Err(wrong) => scene.report_violation(format!("{}: {wrong}", row.job_id)),
        }
    }
    let world = scene.world.lock().expect("no holder panics");
    write!(left, "{:?} {}", world.all(), world.reads).expect("a string takes everything");
    left
}

async fn check_job(scene: &Simulation, job_id: &JobId, left: &mut String) -> Result<Durable, String> {
    let record = scene.store().load(job_id).await.map_err(|error| error.to_string())?.ok_or("the job is missing")?;
    let effects = scene.store().effects(job_id).await.map_err(|error| error.to_string())?;
    let durable = people::load(scene, job_id).await?;
    let exported_us = scene.clock().now_us();
    let withhold = Withhold::Nothing;
    let export =
        Export { record: &record, effects: &effects, withhold: &withhold, program: "sim", exported_us, signer: None };
    let file = evidence::write(&export).map_err(|error| error.to_string())?;
    writeln!(left, "{job_id} {}", Hash::of(&[&file])).expect("a string takes everything");
    for event in &record.events {
        writeln!(left, "{}", String::from_utf8_lossy(&event.bytes)).expect("a string takes everything");
    }
    if !durable.job.state.is_terminal() {
        return Err(format!("the job is not finished: {}", durable.job.state.as_str()));
    }
    let report = evidence::verify(&file, None, &|_, _, _| false).map_err(|error| error.to_string())?.report;
    if !report.intact {
        return Err(format!("its evidence is invalid: {:?}", report.problems));
    }
    check_log(&record.events)?;
    check_world(scene, &durable)?;
    check_prefixes(&durable, &record.events)?;
    let every_prefix = scene.dice.one_in(8);
    let replayed = replay::replay(&Plugins(None), &durable, &record.events, every_prefix).await;
    let replayed = replayed.map_err(|error| error.to_string())?;
    if let Some((prefix, divergence)) = replayed.divergence {
        return Err(format!("its replay diverges after {prefix} events: {divergence:?}"));
    }
    scene.tally.count(if every_prefix { "replayed from every prefix" } else { "replayed" });
    count_events(scene, &durable, &record.events);
    Ok(durable)
}

/// Checks a log: no gap, an unbroken hash chain, ascending attempts, and no new call after a cancellation.
fn check_log(events: &[Event]) -> Result<(), String> {
    let (mut head, mut attempt, mut cancelled) = (Hash::default(), 0, false);
    let mut reopened = false;
    for (seq, event) in events.iter().enumerate() {
        if event.seq != seq as u64 || event.prev_hash != head {
            return Err(format!("event {seq} does not follow the one before"));
        }
        head = event.hash;
        // The event that reopens a finished job comes before the claim event of the same attempt.
        let claimed = matches!(event.body, Body::JobClaimed { .. }) && !reopened;
        reopened = matches!(event.body, Body::JobReopened { .. });
        if event.attempt < attempt || claimed && event.attempt == attempt {
            return Err(format!("event {seq} is of attempt {} after {attempt}", event.attempt));
        }
        attempt = event.attempt;
        let undone = matches!(event.body, Body::JobReopened { purpose: ReopenPurpose::Undo, .. });
        cancelled |= undone || matches!(event.body, Body::JobCancelRequested { .. });
        if let Body::ToolInvocationStarted { slot, operator, .. } = &event.body
            && cancelled
            && !slot.is_compensation()
            // A read has no durable start record. Its start event is written together with its answer.
            && operators::class(operator.as_str()) != RecoveryClass::Read
        {
            return Err(format!("event {seq} starts {slot} of a cancelled job"));
        }
    }
    Ok(())
}

/// Compares the world with the log. Each change happened once, under one key. A call recorded as successful
/// happened with the recorded answer. A call recorded as not applied did not happen.
fn check_world(scene: &Simulation, durable: &Durable) -> Result<(), String> {
    let world = scene.world.lock().expect("no holder panics");
    let job = &durable.job;
    let mut by_slot: BTreeMap<Slot, Vec<&ArrivedRequests>> = BTreeMap::new();
    let prefix = format!("latch:{}:", job.header.job_id);
    for (key, arrived) in world.all() {
        let Some((slot, attempt)) = key.strip_prefix(&prefix).and_then(|rest| rest.rsplit_once(':')) else { continue };
        let slot = Slot::new(slot);
        let call = job.calls.get(&slot).ok_or_else(|| format!("{key} happened, and the log has no such call"))?;
        if call.first_attempt.to_string() != attempt {
            return Err(format!("{key} happened, and the log has it under attempt {}", call.first_attempt));
        }
        by_slot.entry(slot).or_default().push(arrived);
    }
    for (slot, arrived) in &by_slot {
        let (times, applied) = arrived.iter().fold((0, 0), |(t, a), one| (t + one.times, a + one.applied));
        let keyed = arrived.iter().all(|one| one.class == RecoveryClass::Keyed);
        if arrived.len() != 1 || applied != 1 || (times != 1 && !keyed) {
            return Err(format!("{slot} happened {applied} times by {times} requests: {arrived:?}"));
        }
    }
    for (slot, call) in &job.calls {
        let changes = slot.is_compensation() || job.pinned(&call.operator).is_some_and(|of| of.is_world_changing());
        let happened = by_slot.get(slot).map(|arrived| arrived[0]);
        let Some(finished) = call.finished.as_ref().filter(|_| changes && call.committed) else { continue };
        match (finished.ok, happened) {
            (true, None) if finished.provenance != Provenance::Reused => {
                return Err(format!("{slot} is recorded as done, and never happened"));
            }
            (true, Some(arrived)) => {
                let recorded = durable.answer(slot).map(|effect| effect.answer.clone());
                match recorded {
                    Some(Answer::Ok(output)) if output.result == arrived.result => {}
                    other => return Err(format!("{slot} answered {}, and the log has {other:?}", arrived.result)),
                }
            }
            (false, Some(_)) if finished.code != Some(Code::InvocationLost) => {
                return Err(format!("{slot} is recorded as {:?}, and happened", finished.code));
            }
            _ => {}
        }
        if slot.is_compensation() {
            let of = slot.compensated().expect("the slot is a compensation");
            if happened.is_some() && !by_slot.contains_key(&of) {
                return Err(format!("{of} was undone and never happened"));
            }
        }
    }
    let open: Vec<_> = job.calls.iter().filter(|(_, call)| call.open_try.is_some()).map(|(slot, _)| slot).collect();
    if !open.is_empty() {
        return Err(format!("{open:?} are open in a finished job"));
    }
    Ok(())
}

/// Checks that every prefix of the log is a valid job. A call that changes the world may be open at the end of a
/// prefix. After a crash at this point, a worker must check the owner of the call and then mark the call in doubt. The
/// worker must not execute the call blindly.
fn check_prefixes(whole: &Durable, events: &[Event]) -> Result<(), String> {
    for end in 2..=events.len() {
        let prefix = Job::fold(&events[..end]).map_err(|error| format!("the first {end} events: {error}"))?;
        for (slot, call) in prefix.calls.iter().filter(|(_, call)| call.open_try.is_some()) {
            let given_up = prefix.cancel.is_some() || prefix.aborted || prefix.failure.is_some();
            if !given_up || slot.is_compensation() {
                check_open_call(whole, &prefix, slot, call)
                    .map_err(|message| format!("{end} events, {slot}: {message}"))?;
            }
        }
    }
    Ok(())
}

/// Counts the events of a job for the coverage check.
fn count_events(scene: &Simulation, durable: &Durable, events: &[Event]) {
    let tally = &scene.tally;
    for event in events {
        tally.count(format!("event {}", kind(event)));
        if let Body::ToolInvocationFinished { slot, provenance, .. } = &event.body {
            tally.count(format!("answer {provenance:?}"));
            if slot.is_compensation() {
                tally.count("a compensation was answered");
            }
        }
    }
    let interrupted =
        durable.job.steps.iter().filter(|step| step.state == StepState::Cancelled && step.started_us.is_some());
    if interrupted.count() > 0 {
        tally.count("a step that a cancel cut off");
    }
    let done = |compensation: &Compensation| compensation.end == Some(CompensationEnd::Done);
    if durable.job.undo.is_some() && durable.job.compensations.values().any(done) {
        tally.count("a finished job that was undone");
    }
    if durable.job.attempt > 1 {
        tally.count("a job of several attempts");
    }
    let world = scene.world.lock().expect("no holder panics");
    for (slot, call) in &durable.job.calls {
        let key = keys::external_key(&durable.job.header.job_id, slot, call.first_attempt);
        if world.arrived_under(&key).is_some_and(|arrived| arrived.times > 1) {
            tally.count("a keyed request arrived again");
        }
    }
}
