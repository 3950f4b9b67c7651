//! Decisions: pure functions that return the next writes and actions for a given durable state.
//!
//! The worker seals a draft, makes the draft durable where required, performs the returned action, and asks for
//! the next decision. The functions here have no side effects, and the worker makes no decisions of its own.

mod crash_prediction;
mod gate_rules;
mod permission;
mod person_decisions;
mod resolution;
mod settlement;
mod unloaded;

use crate::error::Failure;
use crate::event::{Body, Mode};
use crate::ids::{Hash, Slot, StepId};
use crate::policy::Rules;

mod action;
mod advance;
mod answer;
mod attempt;
mod barrier;
mod budget;
mod call;
mod compensation;
mod confirm;
mod cross_job;
mod fork;
mod gates;
mod inbox;
mod inputs;
mod lookup;
mod reopen;
mod reuse;
mod row;
mod step_end;
mod undoable;
mod verdict;
mod waits;

pub use crate::decide::crash_prediction::check_open_call;
pub use crate::decide::person_decisions::{is_confirmable, is_parked_or_diverged};
pub use crate::decide::resolution::{NOT_YETS_MAX, ReconcileAnswer, reconciled};
pub(crate) use crate::decide::settlement::wait_reason;
pub use crate::decide::settlement::{JobSettlement, job_settlement, next_call_in_doubt, settle_job};
pub use crate::decide::unloaded::{park_unloaded, release_unloaded, unrecorded_attempts};
pub use action::{is_keyed, step_action_key};
pub use advance::{advance, startable};
pub use answer::{Try, answered};
pub use attempt::{claimed, park_crash_loop, park_crash_loop_before_inbox, released};
pub use budget::{ReservedCosts, reserved_cost};
pub use call::{Invocation, NextAction, next_action};
pub use compensation::{UndoAction, next_undo_action, undone_output};
pub(crate) use compensation::{UndoState, compensation_arguments as undo_arguments, undo_states, undo_wait_reasons};
pub use confirm::{ConfirmationCheck, ConfirmationResult, due_confirmations, record_confirmation_results};
pub use cross_job::{
    ExpectedReservation, ExpectedReusable, expected_reservations, expected_reusables as indexed_results,
    mismatched_action_keys,
};
pub use fork::{ForkRefusal, ForkRequest, ForkStart, check_forkable, fork};
pub use gates::{counted_approvals, gate_hash, has_approved, is_reason_given, may_approve};
pub use inbox::{apply_audit_request, apply_request};
pub use lookup::{Lookup, needed_lookups};
pub use reopen::{RetryRefusal, may_end_differently, reopen_job, retry_round};
pub use reuse::index_result;
pub use step_end::{StepResult, step_ended, step_refused, step_started};
pub use undoable::{CallToUndo, UndoRefusal, calls_to_undo, withdraw_receipts_after_unloaded_reopen};
pub use verdict::{VerdictRefusal, verdict_request};
pub use waits::in_application_order;

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
pub fn outcome_id(job_id: &crate::ids::JobId, step: &StepId) -> String {
    let hash = Hash::of(&[b"outcome\0", job_id.as_str().as_bytes(), b"\0", step.as_str().as_bytes()]);
    format!("out-{}", &hash.to_hex()[..20])
}

fn blocked(step: &StepId, slot: &Slot, reason: crate::error::Code) -> Body {
    Body::StepBlocked { step_id: step.clone(), slot: slot.clone(), reason, holder: None }
}

fn is_dry(mode: Mode) -> bool {
    mode == Mode::DryRun
}

fn failed(failure: &Failure, step: &StepId, result_type: crate::event::ResultType) -> Body {
    Body::StepFailed { step_id: step.clone(), result_type, failure: failure.clone() }
}

#[cfg(test)]
mod tests;
