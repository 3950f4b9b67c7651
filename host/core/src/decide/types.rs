//! An invocation, the next action for it, and a try in flight.

use crate::model::divergence::Divergence;
use crate::model::effect::Provenance;
use crate::model::error::Failure;
use crate::model::ids::{Hash, Operator, Slot};
use crate::model::payload::PayloadRef;
use crate::rules::ledger::Quiescence;
use crate::state::Durable;
use crate::storage::{Draft, StartCalls};

/// An invocation, as the caller requests it now.
#[derive(Clone, Debug)]
pub struct Invocation {
    /// Slot of the call.
    pub slot: Slot,
    /// Operator that is called.
    pub operator: Operator,
    /// Canonical arguments.
    pub args: Vec<u8>,
    /// Salted hash of the arguments.
    pub args_ref: PayloadRef,
    /// Action key, if the call has one.
    pub action_key: Option<Hash>,
    /// Timeout of one try, in milliseconds.
    pub timeout_ms: u32,
    /// Failure with which the call is refused, if its arguments are unusable.
    pub unusable: Option<Failure>,
    /// Nonce of the try that the caller has in flight.
    pub nonce: Option<u64>,
    /// Quiescence of the process that started the open try. `None` until it was checked.
    pub quiescence: Option<Quiescence>,
    /// True if a reconcile request about the open try failed, or if the tool answered that it does not know the
    /// outcome. The worker then sends no further reconcile request about this try.
    pub reconcile_exhausted: bool,
    /// Maximum cost of the call in micro-USD, if known.
    pub max_cost_micro_usd: Option<u64>,
    /// Maximum cost in micro-USD of the job's other calls in flight.
    pub reserved_micro_usd: u64,
    /// Spending of all jobs of the tenant this month, in micro-USD. `None` until it was read.
    pub month_micro_usd: Option<u64>,
}

/// Next action of the worker for an invocation.
#[derive(Clone, Debug)]
pub enum NextAction {
    /// Return this final answer to the caller.
    Answer(Result<String, Failure>),
    /// Write the draft, then call [`next_action`](crate::decide::next_action) again.
    Write(Draft),
    /// Write the barrier, execute the tool, and pass the answer to [`crate::decide::answered`]. The barrier must be
    /// durable before the tool is executed.
    Execute {
        /// The barrier. `None` for calls that only read.
        barrier: Option<Draft<StartCalls>>,
        /// The started try.
        started: Try,
    },
    /// Ask the tool about the outcome of the open try.
    Reconcile {
        /// Number of the open try.
        try_no: u32,
        /// Attempt that first started the call. The external key is built from this number.
        first_attempt: u32,
    },
    /// Check whether the process that started the open try is quiescent, then call
    /// [`next_action`](crate::decide::next_action) again.
    CheckOwner,
    /// Look up the holder of the action key, then call [`next_action`](crate::decide::next_action) again.
    FindKeyHolder,
    /// Read the tenant's spending of this month, then call [`next_action`](crate::decide::next_action) again.
    ReadSpending,
    /// Wait this many milliseconds, then call [`next_action`](crate::decide::next_action) again.
    WaitMs(u32),
    /// Write the draft and drop the try of the step. The step now waits.
    Block(Draft),
    /// Clear the nonce of the invocation, then call [`next_action`](crate::decide::next_action) again. An earlier try
    /// of this attempt is still open in the log, although that try has ended. The quiescence of this try must be
    /// checked, because a request of the try may still be in transit.
    StopOldCall,
    /// Stop the job as diverged, because the code of the step no longer makes the call that the log records.
    Diverge(Divergence),
    /// Drop the try, because the job is cancelled or belongs to another attempt.
    Abandon,
}

/// A try in flight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Try {
    /// Number of the try, from 1.
    pub try_no: u32,
    /// Attempt that first started the call. The external key is built from this number.
    pub first_attempt: u32,
    /// Random number that distinguishes this try from every other try.
    pub nonce: u64,
    /// Provenance that the answer will carry.
    pub provenance: Provenance,
    /// Timeout of the try in milliseconds.
    pub timeout_ms: u32,
}

impl Try {
    /// Returns the open try of a slot from its ledger row and its events.
    pub fn open(durable: &Durable, slot: &Slot) -> Option<Try> {
        let call = durable.job.calls.get(slot)?;
        let row = durable.rows.get(slot)?;
        Some(Try {
            try_no: call.open_try?,
            first_attempt: call.first_attempt,
            nonce: row.nonce,
            provenance: Provenance::Executed,
            timeout_ms: row.timeout_ms,
        })
    }

    /// Returns the number of earlier tries. Tries before the last reopening of the call do not count.
    pub(super) fn earlier_tries(&self, durable: &Durable, slot: &Slot) -> u32 {
        let round = durable.job.calls.get(slot).map_or(0, |call| call.tries_before_round);
        self.try_no.saturating_sub(1 + round)
    }
}
