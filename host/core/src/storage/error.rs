//! Why a store did not do what was asked.

use super::ActionRow;
use crate::effect::Effect;
use crate::ids::{Hash, JobId, Operator, Slot};
use crate::job::JobState;
use crate::ledger::Row;

/// Why a batch was refused. Nothing of it was written, except after [`WriteError::Unknown`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// There is no such job.
    #[error("there is no job {0}")]
    NoJob(JobId),
    /// Another attempt holds the job.
    #[error("attempt {attempt} is stale: attempt {current} holds the job")]
    Fenced {
        /// The writer's.
        attempt: u32,
        /// The holder's.
        current: u32,
    },
    /// The attempt has given up its claim: it parked, ended or released the job.
    #[error("the job is {}: it has to be claimed before it is written to", state.as_str())]
    NotHeld {
        /// Where the job stands.
        state: JobState,
    },
    /// The log does not end where the writer thinks.
    #[error("expected the log to end before event {expected}, it ends before {found}")]
    Conflict {
        /// The writer's.
        expected: u64,
        /// The log's.
        found: u64,
    },
    /// The log ends where the writer thinks, but with another event.
    #[error("the event before number {seq} is not the one the writer knows")]
    OtherHead {
        /// Where the log ends.
        seq: u64,
    },
    /// `acquire` with a lease that is over.
    #[error("the lease is over")]
    LeaseExpired,
    /// `acquire` in a cancelled job.
    #[error("the job is being cancelled")]
    Cancelled,
    /// The job must drain its inbox before it may wait, park or end.
    #[error("the inbox has rows")]
    InboxPending,
    /// A row is not as expected.
    #[error("the ledger row of slot {slot} is not as expected")]
    Row {
        /// The slot.
        slot: Slot,
        /// What is there.
        found: Option<Box<Row>>,
    },
    /// The effect of this try exists with other bytes.
    #[error("another effect of slot {slot}, try {try_no} is recorded")]
    EffectExists {
        /// The slot.
        slot: Slot,
        /// The try.
        try_no: u32,
        /// What is there.
        found: Box<Effect>,
    },
    /// The payload exists with other bytes.
    #[error("another payload {label} is recorded")]
    PayloadExists {
        /// The label.
        label: String,
    },
    /// Another slot holds the action key.
    #[error("the action key is held by job {}, slot {}", .0.job_id, .0.slot)]
    ActionKey(Box<ActionRow>),
    /// The action key that the job wants to wait for is free or settled.
    #[error("the action key is not in use any more")]
    KeyOpen {
        /// The operator.
        operator: Operator,
        /// The key.
        key: Hash,
    },
    /// `acquire` or a claim in a database that is not the one that was accepted before.
    #[error("the database was restored or cloned: {0}")]
    Restored(String),
    /// The database refused or could not be reached; nothing was written.
    #[error("the database is not available: {0}")]
    Unavailable(String),
    /// The database failed while committing, and could not be asked afterwards: load the job
    /// again before going on.
    #[error("whether the database committed is not known: {0}")]
    Unknown(String),
    /// What is stored of the job cannot be right: table, column and row are named.
    #[error("the database is damaged: {0}")]
    Damaged(String),
    /// A defect.
    #[error("the store is broken: {0}")]
    Broken(String),
}

/// Any other failure of a store.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The database refused or could not be reached.
    #[error("the database is not available: {0}")]
    Unavailable(String),
    /// What is stored cannot be right: table, column and row are named.
    #[error("the database is damaged: {0}")]
    Damaged(String),
    /// The database is not what was accepted before.
    #[error("the database was restored or cloned: {0}")]
    Restored(String),
    /// It would not keep what it acknowledges.
    #[error("the database is not durable: {0}")]
    NotDurable(String),
    /// Its file cannot be written.
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
