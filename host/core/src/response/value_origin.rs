//! Phrases for the three ways in which a job gets a value without an execution.
//!
//! The live view, `latch job show` and `latch job events` use exactly these phrases.

use crate::model::ids::{JobId, Slot, StepId};

/// Phrase for safe reuse: an earlier result of the same step replaces an execution.
pub fn result_reused(job_id: &JobId, step_id: &StepId) -> String {
    format!("result reused from {job_id} {step_id}")
}

/// Phrase for a fork: the output of the step was copied from the original job.
pub fn output_copied(job_id: &JobId) -> String {
    format!("output copied from {job_id}")
}

/// Phrase for an action that an earlier call already performed. The receipt of the earlier call is the answer.
pub fn receipt_returned(job_id: &JobId, slot: &Slot) -> String {
    format!("receipt returned from {job_id} {slot}")
}
