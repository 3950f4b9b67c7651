//! The ledger: the store that alone decides which caller may execute an invocation (§4).
//!
//! [`decide`] implements the complete decision table. Its result depends only on the caller and on the stored facts
//! about the slot.

use serde::{Deserialize, Serialize};

use crate::model::error::Code;
use crate::model::ids::{Hash, Operator, Slot};

/// State of a ledger row. The numbers are stored, so a number must never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[repr(u8)]
pub enum RowState {
    /// A try may still be running.
    Inflight = 1,
    /// The answer is recorded and final.
    Committed = 2,
    /// The last try certainly changed nothing. Another try may follow.
    FailedDefinite = 3,
    /// In doubt: the last try may or may not have changed the world.
    Indeterminate = 4,
    /// A failure is the final answer.
    FailedFinal = 5,
}

impl RowState {
    /// Returns the state stored as `number`.
    pub fn from_number(number: i64) -> Option<Self> {
        [Self::Inflight, Self::Committed, Self::FailedDefinite, Self::Indeterminate, Self::FailedFinal]
            .into_iter()
            .find(|state| *state as i64 == number)
    }
    /// Returns true if the answer is final.
    pub fn is_final(self) -> bool {
        matches!(self, RowState::Committed | RowState::FailedFinal)
    }
}

/// One ledger row, which describes one invocation. Rows are unique by job and slot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerRow {
    /// Slot of the invocation.
    pub slot: Slot,
    /// Operator that is called.
    pub operator: Operator,
    /// Salted hash of the canonical arguments.
    pub args_hash: Hash,
    /// State of the row.
    pub state: RowState,
    /// Attempt that started the open try, or the last try if none is open.
    pub attempt: u32,
    /// Random number of the try. A worker may get no acknowledgement of a commit. This worker then compares this nonce
    /// with the nonce of its own try. If the nonces are equal, the worker itself wrote the row, so the commit was
    /// successful.
    pub nonce: u64,
    /// Number of the open try, or of the last try if none is open. Counted from 1.
    #[serde(rename = "try")]
    pub try_no: u32,
    /// Attempt that first started the invocation. It is part of the external key.
    pub first_attempt: u32,
    /// Time at which the invocation first started, microseconds since 1970 UTC.
    pub first_started_us: i64,
    /// True if the call may change the world.
    pub world_changing: bool,
    /// Maximum duration of the open try in milliseconds.
    pub timeout_ms: u32,
    /// Time at which the open try ends at the latest, in microseconds of the lease clock. The store computes this time
    /// from `timeout_ms` in the transaction that starts the try.
    pub deadline_us: i64,
    /// Earliest event time at which the next try may start, microseconds since 1970 UTC. Used only in the state
    /// `FAILED_DEFINITE`, where `None` means that no retry is left.
    pub next_try_us: Option<i64>,
    /// Salted hash of the final answer.
    pub result_hash: Option<Hash>,
    /// Action key of the call.
    pub action_key: Option<Hash>,
}

/// The caller that asks to execute an invocation, with the data of the invocation.
#[derive(Clone, Debug)]
pub struct Caller {
    /// Attempt of the caller.
    pub attempt: u32,
    /// Attempt that currently holds the job.
    pub current_attempt: u32,
    /// Nonce of the try that the caller has in flight for this slot.
    pub nonce: Option<u64>,
    /// Operator of the invocation.
    pub operator: Operator,
    /// Salted hash of the invocation's arguments.
    pub args_hash: Hash,
    /// Action key of the invocation.
    pub action_key: Option<Hash>,
    /// Current event time, microseconds since 1970 UTC.
    pub now_us: i64,
}

/// Ability of the owner of an open try to touch the outside world. The owner is the process that started the try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quiescence {
    /// The owner can no longer touch the world. The settling time has passed since the owner died, or since the
    /// deadline of the try plus the clock margin.
    Quiescent,
    /// The owner may still touch the world. The caller should ask again after the given time.
    After {
        /// Time to wait from now, in milliseconds.
        wait_ms: u32,
    },
}

/// Stored facts about the slot of an invocation.
#[derive(Clone, Debug)]
pub struct SlotFacts<'a> {
    /// Ledger row of the slot.
    pub row: Option<&'a LedgerRow>,
    /// Operator, argument hash and action key from the slot's `tool_invocation_started` event. `None` if the
    /// log has no such event.
    pub event: Option<(&'a Operator, Hash, Option<Hash>)>,
    /// True if the log contains the slot's `command_committed` event.
    pub committed_event: bool,
    /// True if the effect store has an effect of the open try of the row.
    pub open_effect: bool,
    /// True if the effect store has any world-changing effect of the slot.
    pub any_world_effect: bool,
    /// Result of the quiescence check for the owner of the open try.
    pub quiescence: Quiescence,
    /// Reason code if cancellation, policy or budget forbids the execution.
    pub forbidden: Option<Code>,
    /// True if the slot owns the reservation of its action key, or has no action key.
    pub owns_action_key: bool,
}

/// Reason for rejecting an invocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// A newer attempt has superseded the caller's attempt. The worker must stop working on the job.
    Stale,
    /// The slot is already used for a call with another operator, other arguments or another action key. The
    /// job diverges.
    Mismatch,
    /// The job is cancelled, or its mode, policy or budget forbids the call.
    Forbidden(Code),
    /// Another slot holds the action key.
    ActionInProgress,
}

/// Decision of the ledger about an invocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LedgerDecision {
    /// The call is not executed, and no recorded answer is returned.
    Rejected(Rejection),
    /// The answer is recorded. The caller passes it to the plugin without executing the call.
    ReturnRecordedResult,
    /// The effect store has the answer of the open try. The caller proceeds as if the answer had just arrived.
    CatchUp,
    /// The call is in doubt. The caller must resolve it by the resolution steps.
    Ladder,
    /// The caller itself started the open try, but got no acknowledgement of its barrier. The caller continues the try.
    Continue,
    /// An earlier try of this attempt is still open in the log. The caller must make sure that this earlier try
    /// executes nothing more. Then the quiescence of the try must be checked, because a request of the try may still be
    /// in transit.
    StopOldCall,
    /// A try of another worker may still be running. The caller must wait for the given time and then ask again. The
    /// caller may have to repeat this any number of times.
    WaitOtherWorker {
        /// Milliseconds to wait before asking again.
        wait_ms: u32,
    },
    /// The open try ended without an answer. The call is now in doubt.
    Indeterminate {
        /// True if the stores contradict each other. The ledger has no row of the call, but an event or an effect shows
        /// that the call was started.
        alarm: bool,
    },
    /// The call must not be executed before this event time, in microseconds since 1970 UTC.
    WaitUntil(i64),
    /// No retry is left. The caller records the failure as final and passes it to the plugin as the call's
    /// answer.
    FailFinal,
    /// The caller may execute the call. If an earlier try recorded keys, the caller must use these keys.
    AllowExecute,
}

/// Implements the decision table of §4. The first matching row decides. The numbers in this function are row numbers
/// of the table.
pub fn decide(caller: &Caller, found: &SlotFacts<'_>) -> LedgerDecision {
    use LedgerDecision as D;
    // 1
    if caller.attempt != caller.current_attempt {
        return D::Rejected(Rejection::Stale);
    }
    // 2
    let same = |operator: &Operator, args_hash: Hash, action_key: Option<Hash>| {
        *operator == caller.operator && args_hash == caller.args_hash && action_key == caller.action_key
    };
    let row_differs = found.row.is_some_and(|row| !same(&row.operator, row.args_hash, row.action_key));
    let event_differs = found.event.is_some_and(|(operator, hash, key)| !same(operator, hash, key));
    if row_differs || event_differs {
        return D::Rejected(Rejection::Mismatch);
    }
    // 3
    if found.committed_event || found.row.is_some_and(|row| row.state.is_final()) {
        return D::ReturnRecordedResult;
    }
    if let Some(row) = found.row {
        match row.state {
            // 4
            RowState::Inflight if found.open_effect => return D::CatchUp,
            // 5
            RowState::Indeterminate => return D::Ladder,
            // 6, 7
            RowState::Inflight if row.attempt == caller.attempt && caller.nonce == Some(row.nonce) => {
                return D::Continue;
            }
            RowState::Inflight if row.attempt == caller.attempt && caller.nonce.is_some() => return D::StopOldCall,
            // 8, 9
            RowState::Inflight => {
                return match found.quiescence {
                    Quiescence::After { wait_ms } => D::WaitOtherWorker { wait_ms },
                    Quiescence::Quiescent => D::Indeterminate { alarm: false },
                };
            }
            RowState::FailedDefinite | RowState::Committed | RowState::FailedFinal => {}
        }
    } else if found.any_world_effect || found.event.is_some() {
        // 10
        return D::Indeterminate { alarm: true };
    }
    // 11
    if let Some(code) = found.forbidden {
        return D::Rejected(Rejection::Forbidden(code));
    }
    // 12
    match found.row.map(|row| row.next_try_us) {
        Some(None) => D::FailFinal,
        Some(Some(time)) if time > caller.now_us => D::WaitUntil(time),
        _ if !found.owns_action_key => D::Rejected(Rejection::ActionInProgress),
        _ => D::AllowExecute,
    }
}

#[cfg(test)]
mod tests;
