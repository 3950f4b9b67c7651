//! Decisions: pure functions that return the next writes and actions for a given durable state.
//!
//! The worker seals a draft, makes the draft durable where required, performs the returned action, and asks for
//! the next decision. The functions here have no side effects, and the worker makes no decisions of its own.
//!
//! Floors, top first: `call`, `job`, `people`, `undo` · `common` · `context`, `types`.

mod call;
mod common;
mod context;
mod job;
mod people;
mod types;
mod undo;

use context::{blocked, failed, is_dry};

pub use call::action::{is_keyed, step_action_key};
pub use call::answer::answered;
pub use call::budget::{ReservedCosts, reserved_cost};
pub use call::crash_prediction::check_open_call;
pub use call::cross_job::{
    ExpectedReservation, ExpectedReusable, expected_reservations, expected_reusables as indexed_results,
    mismatched_action_keys,
};
pub use call::lookup::{Lookup, needed_lookups};
pub use call::next::next_action;
pub use call::resolution::{NOT_YETS_MAX, ReconcileAnswer, reconciled};
pub use context::{Context, TRIES_MAX, WAIT_IN_PLACE_MS, outcome_id};
pub use job::advance::{advance, startable};
pub use job::attempt::{claimed, park_crash_loop, park_crash_loop_before_inbox, released};
pub use job::confirm::{ConfirmationCheck, ConfirmationResult, due_confirmations, record_confirmation_results};
pub use job::fork::{ForkRefusal, ForkRequest, ForkStart, check_forkable, fork};
pub use job::reopen::{RetryRefusal, may_end_differently, reopen_job, retry_round};
pub use job::reuse::index_result;
pub(crate) use job::settlement::wait_reason;
pub use job::settlement::{JobSettlement, job_settlement, next_call_in_doubt, settle_job};
pub use job::step_end::{StepResult, divergence_of_profile, step_ended, step_refused, step_started};
pub use job::unloaded::{park_unloaded, release_unloaded, unrecorded_attempts};
pub use job::waits::in_application_order;
pub use people::gates::{
    counted_approvals, gate_hash, has_approved, is_reason_given, may_approve, required_assurance, signed_statement,
};
pub use people::inbox::{apply_audit_request, apply_request, discard_request};
pub use people::person_decisions::{is_confirmable, is_parked_or_diverged};
pub use people::verdict::{VerdictRefusal, verdict_request};
pub use types::{Invocation, NextAction, Try};
pub use undo::compensation::{UndoAction, next_undo_action, undone_output};
pub(crate) use undo::compensation::{
    UndoState, compensation_arguments as undo_arguments, undo_states, undo_wait_reasons,
};
pub use undo::undoable::{CallToUndo, UndoRefusal, calls_to_undo, withdraw_receipts_after_unloaded_reopen};

#[cfg(test)]
mod tests;
