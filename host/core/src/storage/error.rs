//! Errors of stores.

use super::ActionRow;
use crate::model::effect::Effect;
use crate::model::ids::{Hash, JobId, Operator, Slot};
use crate::model::job::JobState;
use crate::rules::ledger::LedgerRow;

/// Reason why a batch was refused. Nothing of the batch was written. Exception: after [`WriteError::Unknown`], the
/// batch may have been written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// The job does not exist.
    #[error("there is no job {0}")]
    NoJob(JobId),
    /// A newer attempt holds the job, so writes of the writer's attempt are refused.
    #[error("attempt {attempt} is stale: attempt {current} holds the job")]
    Fenced {
        /// Attempt of the writer.
        attempt: u32,
        /// Attempt of the lease holder.
        current: u32,
    },
    /// The attempt no longer holds the job, because the job ended or the attempt parked or released it.
    #[error("the job is {}: claim it before writing", state.as_str())]
    NotHeld {
        /// State of the job.
        state: JobState,
    },
    /// The log does not end at the position that the writer expects.
    #[error("sequence conflict: expected next event {expected}, the log has {found}")]
    Conflict {
        /// Next sequence number that the writer expects.
        expected: u64,
        /// Next sequence number of the log.
        found: u64,
    },
    /// The log has the expected length but ends with another event.
    #[error("the log ends with another event than expected before event {seq}")]
    OtherHead {
        /// Next sequence number of the log.
        seq: u64,
    },
    /// The batch starts an invocation, but the lease has expired.
    #[error("the lease has expired")]
    LeaseExpired,
    /// The batch starts an invocation that is not a compensation, but the job is cancelled.
    #[error("the job is being cancelled")]
    Cancelled,
    /// The inbox has pending rows. The attempt must process them before the job may wait, park or end.
    #[error("the inbox has unread requests")]
    InboxPending,
    /// The ledger row is not in the expected state.
    #[error("the ledger row of slot {slot} is not in the expected state")]
    RowMismatch {
        /// Slot of the row.
        slot: Slot,
        /// The stored row, if there is one.
        found: Option<Box<LedgerRow>>,
    },
    /// The effect of this try is already stored with other bytes.
    #[error("another effect is already stored for slot {slot}, try {try_no}")]
    EffectExists {
        /// Slot of the call.
        slot: Slot,
        /// Number of the try.
        try_no: u32,
        /// The stored effect.
        found: Box<Effect>,
    },
    /// The payload is already stored with other bytes.
    #[error("another payload is already stored as {label}")]
    PayloadExists {
        /// Label of the payload.
        label: String,
    },
    /// Another slot holds the action key.
    #[error("the action key is held by job {}, slot {}", .0.job_id, .0.slot)]
    ActionKey(Box<ActionRow>),
    /// The batch registers the job to wait for an action key that is already free or settled.
    #[error("the action key is no longer in use")]
    ActionKeyFree {
        /// Operator of the action.
        operator: Operator,
        /// The action key.
        key: Hash,
    },
    /// The write claims a job or starts an invocation, but no administrator has accepted this database.
    #[error("the database was restored or cloned: {0}")]
    Restored(String),
    /// The database refused the write or could not be reached. Nothing was written.
    #[error("the database is not available: {0}")]
    Unavailable(String),
    /// The database failed during the commit, and the store could not find out if the batch was written. The worker
    /// must load the job from the store before it continues the job.
    #[error("it is unknown whether the commit took effect: {0}")]
    Unknown(String),
    /// The stored data of the job is invalid. The message names table, column and row.
    #[error("the database is damaged: {0}")]
    Damaged(String),
    /// A defect in the store.
    #[error("the store is broken: {0}")]
    Defect(String),
}

/// Failure of a store operation other than a batch write.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The database refused the operation or could not be reached.
    #[error("the database is not available: {0}")]
    Unavailable(String),
    /// The stored data is invalid. The message names table, column and row.
    #[error("the database is damaged: {0}")]
    Damaged(String),
    /// No administrator has accepted this database after it was restored or cloned.
    #[error("the database was restored or cloned: {0}")]
    Restored(String),
    /// The database is configured so that it may lose acknowledged writes.
    #[error("the database is not durable: {0}")]
    NotDurable(String),
    /// The database file cannot be written.
    #[error("the database is read-only: {0}")]
    ReadOnly(String),
}

impl From<StoreError> for WriteError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unavailable(message) | StoreError::NotDurable(message) | StoreError::ReadOnly(message) => {
                Self::Unavailable(message)
            }
            StoreError::Damaged(message) => Self::Damaged(message),
            StoreError::Restored(message) => Self::Restored(message),
        }
    }
}
