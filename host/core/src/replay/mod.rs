//! Replay: comparison of a step's current behaviour with its recorded behaviour.

use crate::model::divergence::Divergence;
use crate::model::ids::StepId;
use crate::state::{EmittedEvent, Job};

/// Checks that a finished try of the step made every call that the log records for the step. `calls` is the number of
/// calls that the try made.
///
/// # Errors
/// Returns the first missing call.
pub fn check_complete(job: &Job, step: &StepId, calls: u32) -> Result<(), Divergence> {
    if let Some((_, slot, call)) = job.calls_of(step).find(|(k, ..)| *k >= calls) {
        return Err(Divergence::new(slot, "missing call", "operator", &call.operator, "no call"));
    }
    if let Some(call) = job.copied_calls_of(step).get(calls as usize) {
        return Err(Divergence::new(&call.slot, "missing call", "operator", &call.operator, "no call"));
    }
    Ok(())
}

/// Compares the `n`-th event that a step emits with the log. Returns true if the log already contains this
/// event.
///
/// # Errors
/// Returns the difference if the log has a different `n`-th event of the step.
pub fn check_emit(job: &Job, step: &StepId, n: u32, emit: &EmittedEvent) -> Result<bool, Divergence> {
    let Some(recorded) = job.step(step).and_then(|step| step.emits.get(n as usize)) else {
        return Ok(false);
    };
    let at = format!("{step}:e{n}");
    if recorded.name != emit.name {
        return Err(Divergence::new(at, "event", "name", &recorded.name, &emit.name));
    }
    if recorded.after_calls != emit.after_calls {
        return Err(Divergence::new(at, "event", "calls made before it", recorded.after_calls, emit.after_calls));
    }
    if recorded.payload.hash != emit.payload.hash {
        return Err(Divergence::new(at, "event", "payload", recorded.payload.hash, emit.payload.hash));
    }
    Ok(true)
}
