//! Durable requests to a job from others than its lease holder.

use serde::{Deserialize, Serialize};

use super::StoreError;
use crate::awaited::NotAwaited;
use crate::event::Decider;
use crate::ids::{Hash, JobId, Operator, Slot};
use crate::job::JobState;

/// A durable request to a job from somebody other than its lease holder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Request {
    /// Approve a gate.
    Approve {
        /// The gated slot.
        slot: Slot,
        /// Hash that was shown.
        gate_hash: Hash,
    },
    /// Refuse a gate.
    Reject {
        /// The gated slot.
        slot: Slot,
        /// Hash that was shown.
        gate_hash: Hash,
    },
    /// A verdict on a call in doubt.
    Resolve {
        /// The slot.
        slot: Slot,
        /// The try it is about: a verdict on one says nothing about the next.
        try_no: u32,
        /// Applied with this result, not applied, or given up.
        verdict: Resolved,
    },
    /// A person takes what a call changed as it is now.
    Confirm {
        /// The effect is gone for good, instead of taken as it is: for a job that is over.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        gone: bool,
        /// The slot.
        slot: Slot,
    },
    /// Go on with a parked or diverged job.
    Continue,
    /// Fail a parked or diverged job.
    Abort,
    /// Cancel the job.
    Cancel,
    /// What a wait step waits for.
    Signal {
        /// Its correlation key.
        key: String,
        /// What it carries: JSON text.
        payload: String,
    },
    /// A durable timer fired; the store itself puts it, and takes the timer away, in one transaction.
    Timer {
        /// `wait/<step>` or `gate/<slot>`.
        name: String,
        /// When it was due.
        due_us: i64,
    },
    /// An answer that came after its worker had lost the lease. A job that is over takes it, too:
    /// as evidence, it changes nothing there.
    LateEffect {
        /// The slot.
        slot: Slot,
        /// The try.
        try_no: u32,
    },
    /// The action key a step of this job waits for is settled.
    KeySettled {
        /// The operator.
        operator: Operator,
        /// The key.
        key: Hash,
    },
    /// Another round of what failed in a job that is over: only a `PARTIAL` or `FAILED` one
    /// takes it, and becomes `PENDING`.
    Retry,
    /// Undo what a finished job did: a `COMPLETED`, `PARTIAL` or `FAILED` one takes it, becomes `PENDING` and
    /// counts as cancelled from then on.
    Undo,
}

impl Request {
    /// Returns true if the request opens a finished job again.
    pub fn reopens(&self) -> bool {
        matches!(self, Request::Retry | Request::Undo)
    }
}

/// A person's verdict on a call in doubt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resolved {
    /// It happened; this is its result (JSON text).
    Applied(String),
    /// It certainly did not.
    NotApplied,
    /// Nobody will find out.
    Abort,
}

/// One row of the inbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InboxRow {
    /// Order of arrival.
    pub id: i64,
    /// Who asks.
    pub actor: String,
    /// Why.
    pub reason: Option<String>,
    /// What is asked.
    pub request: Request,
}

impl InboxRow {
    /// Who asks and why, as events say it.
    pub fn decider(&self) -> Decider {
        Decider { actor: self.actor.clone(), reason: self.reason.clone() }
    }
}

/// Why an inbox row was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InboxError {
    /// No such job.
    #[error("there is no job {0}")]
    NoJob(JobId),
    /// The job does not take it where it stands: it is over, or is not.
    #[error("job {job_id} is {}", state.as_str())]
    Over {
        /// The job.
        job_id: JobId,
        /// Where it stands.
        state: JobState,
    },
    /// The job does not wait for this.
    #[error("job {job_id}: {why}")]
    NotAwaited {
        /// The job.
        job_id: JobId,
        /// Why.
        why: NotAwaited,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
