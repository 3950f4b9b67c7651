//! Replay: comparison of a step's current behaviour with its recorded behaviour.

use serde::{Deserialize, Serialize};

use crate::ids::StepId;
use crate::state::{EmittedEvent, Job};

mod differences;

pub use differences::{Difference, differences};

/// The first difference between a log and its replay, with the differing field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Divergence {
    /// The step, or the slot of a call inside the step, such as `s3/2`.
    pub at: String,
    /// Kind of the differing item, such as `call`, `output`, `event` or `missing call`.
    pub what: String,
    /// Differing field, such as `operator`, `payload` or `hash`.
    pub field: String,
    /// Value recorded in the log.
    pub recorded: String,
    /// Value found in the replay.
    pub found: String,
    /// Values that differ within the field, if both sides are JSON objects or arrays.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<Difference>,
}

impl Divergence {
    /// Creates a divergence at a location of the log.
    pub fn new(at: impl ToString, what: &str, field: &str, recorded: impl ToString, found: impl ToString) -> Self {
        Self {
            at: at.to_string(),
            what: what.to_owned(),
            field: field.to_owned(),
            recorded: recorded.to_string(),
            found: found.to_string(),
            values: Vec::new(),
        }
        .with_differences()
    }

    /// Returns the step in which the divergence occurred.
    pub fn step(&self) -> StepId {
        let end = self.at.find(['/', ':', '~']).unwrap_or(self.at.len());
        StepId::new(&self.at[..end])
    }

    fn with_differences(self) -> Self {
        let values = differences(&self.recorded, &self.found);
        Self { values, ..self }
    }
}

impl std::fmt::Display for Divergence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} at {}: {} recorded {}, found {}", self.what, self.at, self.field, self.recorded, self.found)
    }
}

/// Checks that a finished try of the step made every call in the log. `calls` is the number of calls that the
/// try made.
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
