//! Replay: comparing what a step does now with what its log says it did.

use serde::{Deserialize, Serialize};

use crate::ids::StepId;
use crate::state::{Emit, Job};

mod differences;

pub use differences::{Difference, differences};

/// The first difference between a log and a replay of it, field by field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Divergence {
    /// The step, or the slot inside it: `s3/2`.
    pub at: String,
    /// What kind of thing differs: `call`, `output`, `event`, `missing call`.
    pub what: String,
    /// The field that differs: `operator`, `args`, `hash`.
    pub field: String,
    /// What the log has.
    pub recorded: String,
    /// What the code did now.
    pub found: String,
    /// Where both are JSON: each value in them that differs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<Difference>,
}

impl Divergence {
    /// A difference at a place of the log.
    pub fn new(at: impl ToString, what: &str, field: &str, recorded: impl ToString, found: impl ToString) -> Self {
        Self {
            at: at.to_string(),
            what: what.to_owned(),
            field: field.to_owned(),
            recorded: recorded.to_string(),
            found: found.to_string(),
            values: Vec::new(),
        }
        .compared()
    }

    /// The step it is about.
    pub fn step(&self) -> StepId {
        let end = self.at.find(['/', ':', '~']).unwrap_or(self.at.len());
        StepId::new(&self.at[..end])
    }

    fn compared(self) -> Self {
        let values = differences(&self.recorded, &self.found);
        Self { values, ..self }
    }
}

impl std::fmt::Display for Divergence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} at {}: {} recorded {}, found {}", self.what, self.at, self.field, self.recorded, self.found)
    }
}

/// Checks that a try that ended made every call and announced every event that the log has.
///
/// # Errors
/// The first one that is missing.
pub fn check_complete(job: &Job, step: &StepId, calls: u32) -> Result<(), Divergence> {
    if let Some((_, slot, call)) = job.calls_of(step).find(|(k, ..)| *k >= calls) {
        return Err(Divergence::new(slot, "missing call", "operator", &call.operator, "no call"));
    }
    if let Some(call) = job.copied_calls_of(step).get(calls as usize) {
        return Err(Divergence::new(&call.slot, "missing call", "operator", &call.operator, "no call"));
    }
    Ok(())
}

/// Compares an announced event with the log's; true where the log has it already.
///
/// # Errors
/// It is another one.
pub fn check_emit(job: &Job, step: &StepId, n: u32, emit: &Emit) -> Result<bool, Divergence> {
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
