//! The ledger: the one arbiter of who may execute which invocation (§4).
//!
//! [`decide`] is the whole table, as a pure function of what was found and who asks.

use serde::{Deserialize, Serialize};

use crate::error::Code;
use crate::ids::{Hash, Operator, Slot};

/// State of a ledger row. The numbers are stored: never change one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[repr(u8)]
pub enum RowState {
    /// A try may be on its way.
    Inflight = 1,
    /// The answer is recorded and final.
    Committed = 2,
    /// The last try certainly changed nothing; another may follow.
    FailedDefinite = 3,
    /// Whether the last try changed the world cannot be told.
    Indeterminate = 4,
    /// A failure is the final answer.
    FailedFinal = 5,
}

impl RowState {
    /// The state stored as `number`.
    pub fn from_number(number: i64) -> Option<Self> {
        [Self::Inflight, Self::Committed, Self::FailedDefinite, Self::Indeterminate, Self::FailedFinal]
            .into_iter()
            .find(|state| *state as i64 == number)
    }
    /// Whether the answer is final.
    pub fn is_final(self) -> bool {
        matches!(self, RowState::Committed | RowState::FailedFinal)
    }
}

/// One row: one invocation, unique by job and slot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// The invocation.
    pub slot: Slot,
    /// What is called.
    pub operator: Operator,
    /// Salted hash of the canonical arguments.
    pub args_hash: Hash,
    /// Where it stands.
    pub state: RowState,
    /// The attempt that started the open (or last) try.
    pub attempt: u32,
    /// Drawn fresh for each try: tells our own lost commit from somebody else's.
    pub nonce: u64,
    /// The open (or last) try, from 1.
    #[serde(rename = "try")]
    pub try_no: u32,
    /// The attempt that first started it: part of the external key.
    pub first_attempt: u32,
    /// When it first started, microseconds since 1970 UTC.
    pub first_started_us: i64,
    /// Whether it may change the world.
    pub world_changing: bool,
    /// Milliseconds the open try may take.
    pub timeout_ms: u32,
    /// When the open try is over at the latest, by the database's lease clock; the store
    /// computes it from `timeout_ms` in the acquiring transaction.
    pub deadline_us: i64,
    /// `FAILED_DEFINITE`: when the next try may start (event time); none if none is left.
    pub next_try_us: Option<i64>,
    /// Salted hash of the final answer.
    pub result_hash: Option<Hash>,
    /// The action key it was asked under.
    pub action_key: Option<Hash>,
}

/// Who asks, and for what.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The attempt of the asking worker.
    pub attempt: u32,
    /// The attempt that holds the job now.
    pub current_attempt: u32,
    /// The nonce of the try it has under way for this slot, if any.
    pub nonce: Option<u64>,
    /// The operator called now.
    pub operator: Operator,
    /// Salted hash of the arguments of now.
    pub args_hash: Hash,
    /// The action key of now, where there is one.
    pub action_key: Option<Hash>,
    /// Event time of now.
    pub now_us: i64,
}

/// Whether the owner of an open try can still touch the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quiescence {
    /// It cannot: deadline, margin and settling time have passed, or the owner is gone.
    Quiescent,
    /// It might; ask again after so many milliseconds.
    After {
        /// Milliseconds from now.
        wait_ms: u32,
    },
}

/// What was found for the slot.
#[derive(Clone, Debug)]
pub struct Found<'a> {
    /// Its row.
    pub row: Option<&'a Row>,
    /// What its started event says: operator, argument hash and action key.
    pub event: Option<(&'a Operator, Hash, Option<Hash>)>,
    /// Whether the log has its `command_committed`.
    pub committed_event: bool,
    /// Whether the effect of the row's open try exists.
    pub open_effect: bool,
    /// Whether any world-changing effect of the slot exists.
    pub any_world_effect: bool,
    /// Whether the owner of the open try is at rest.
    pub quiescence: Quiescence,
    /// Why it may not be executed now: cancellation, policy, budget.
    pub forbidden: Option<Code>,
    /// Whether the slot owns the reservation of its action key (true where it has none).
    pub owns_action_key: bool,
}

/// Why an invocation is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// The asking attempt has been superseded: drop the job.
    Stale,
    /// The slot is taken by another operator, other arguments or another key: the job diverges.
    Mismatch,
    /// Cancelled, or forbidden by mode, policy or budget.
    Forbidden(Code),
    /// Another slot holds the action key.
    ActionInProgress,
}

/// The ledger's decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Not to be executed, nor injected.
    Rejected(Rejection),
    /// The answer is recorded: inject it.
    ReturnRecordedResult,
    /// The open try's answer is in the effect store: go on as if it had just come.
    CatchUp,
    /// In doubt: the resolution ladder.
    Ladder,
    /// Our own try, whose commit answer was lost: go on with it.
    Continue,
    /// Our own older call is still open: stop it, then ask again.
    StopOldCall,
    /// Somebody else's try may still be on its way: a time, never a retry count.
    WaitOtherWorker {
        /// Milliseconds until it is worth asking again.
        wait_ms: u32,
    },
    /// The open try is over without an answer: in doubt from now on.
    Indeterminate {
        /// Whether the stores contradict each other.
        alarm: bool,
    },
    /// Not before this time (event time, microseconds).
    WaitUntil(i64),
    /// No retry is left: record the failure as final, then inject it.
    FailFinal,
    /// Execute, under the recorded keys.
    AllowExecute,
}

/// The table of §4: the first line that matches wins.
pub fn decide(caller: &Caller, found: &Found<'_>) -> Decision {
    use Decision as D;
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
