//! Inputs of a decision besides the durable state, and events that several decisions write.

use crate::event::Body;
use crate::model::error::Failure;
use crate::model::ids::{Hash, Slot, StepId};
use crate::model::mode::Mode;
use crate::model::rules::Rules;

/// Inputs of a decision besides the durable state: time, randomness and policy.
#[derive(Clone, Debug)]
pub struct Context<'a> {
    /// Current event time, microseconds since 1970 UTC.
    pub now_us: i64,
    /// Fresh random number for nonces and jitter.
    pub random: u64,
    /// Policy rules of the tenant.
    pub rules: &'a Rules,
    /// Maximum difference between clocks, in milliseconds.
    pub clock_margin_ms: u32,
}

/// Longest backoff, in milliseconds, for which a step stays running. A longer backoff blocks the step.
pub const WAIT_IN_PLACE_MS: u32 = 2_000;

/// Maximum number of tries of one invocation, including retries of calls in doubt.
pub const TRIES_MAX: u32 = 6;

/// Returns the ID of a step's outcome. The ID is the same for every try and every replay.
pub fn outcome_id(job_id: &crate::model::ids::JobId, step: &StepId) -> String {
    let hash = Hash::of(&[b"outcome\0", job_id.as_str().as_bytes(), b"\0", step.as_str().as_bytes()]);
    format!("out-{}", &hash.to_hex()[..20])
}

pub(crate) fn blocked(step: &StepId, slot: &Slot, reason: crate::model::error::Code) -> Body {
    Body::StepBlocked { step_id: step.clone(), slot: slot.clone(), reason, holder: None }
}

pub(crate) fn is_dry(mode: Mode) -> bool {
    mode == Mode::DryRun
}

pub(crate) fn failed(failure: &Failure, step: &StepId, result_type: crate::model::result_type::ResultType) -> Body {
    Body::StepFailed { step_id: step.clone(), result_type, failure: failure.clone() }
}
