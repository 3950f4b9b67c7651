//! The three ways in which a job gets a value without executing anything: one phrase for each.
//!
//! The live view, `latch job show` and `latch job events` use these phrases and no others.

use crate::ids::{JobId, Slot, StepId};

/// Safe reuse: an earlier result of the same step stands in for an execution.
pub fn result_reused(job_id: &JobId, step_id: &StepId) -> String {
    format!("result reused from {job_id} {step_id}")
}

/// A fork: the output of the step was copied from the job that it was forked from.
pub fn output_copied(job_id: &JobId) -> String {
    format!("output copied from {job_id}")
}

/// A repeated action: an earlier call performed it, and its receipt is the answer.
pub fn receipt_returned(job_id: &JobId, slot: &Slot) -> String {
    format!("receipt returned from {job_id} {slot}")
}
