//! Durable requests to a job from sources other than its lease holder.

use serde::{Deserialize, Serialize};

use super::StoreError;
use crate::event::DecidedBy;
use crate::model::ids::{Hash, JobId, Operator, Slot};
use crate::model::job::JobState;
use crate::model::person::Verification;

/// A durable request to a job from a source other than its lease holder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum InboxRequest {
    /// Approves a gate.
    Approve {
        /// Slot of the gated call.
        slot: Slot,
        /// Hash of the gate that the approver saw.
        gate_hash: Hash,
    },
    /// Rejects a gate.
    Reject {
        /// Slot of the gated call.
        slot: Slot,
        /// Hash of the gate that the approver saw.
        gate_hash: Hash,
    },
    /// Decides a call in doubt.
    Resolve {
        /// Slot of the call.
        slot: Slot,
        /// Number of the try. A verdict on one try does not apply to the next try of the call.
        try_no: u32,
        /// The verdict on the call.
        verdict: ManualVerdict,
    },
    /// Accepts the current state of the resources that a call changed.
    Confirm {
        /// True if the person states that the effect no longer exists. False if the person accepts the current state of
        /// the effect. Only a finished job accepts the value true.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        gone: bool,
        /// Slot of the call.
        slot: Slot,
    },
    /// Lets a parked or diverged job continue.
    Continue,
    /// Ends a parked or diverged job as failed.
    Abort,
    /// Cancels the job.
    Cancel,
    /// A signal for a wait step.
    Signal {
        /// Correlation key of the signal.
        key: String,
        /// Payload of the signal, as JSON text.
        payload: String,
    },
    /// A durable timer has fired. The store itself inserts this row and removes the timer, in one transaction.
    Timer {
        /// Name of the timer: `wait/<step>` or `gate/<slot>`.
        name: String,
        /// Due time of the timer, microseconds since 1970 UTC.
        due_us: i64,
    },
    /// An answer that arrived after the worker of the call had lost its lease. A job that has ended only records the
    /// answer as evidence.
    LateEffect {
        /// Slot of the call.
        slot: Slot,
        /// Number of the try.
        try_no: u32,
    },
    /// The reservation of an action key was settled. A step of this job waits for this key.
    KeySettled {
        /// Operator of the action.
        operator: Operator,
        /// The action key.
        key: Hash,
    },
    /// Starts another round of the failed steps and calls of a finished job. Only a `PARTIAL` or `FAILED` job
    /// accepts this request. The job becomes `PENDING`.
    Retry,
    /// Undoes the effects of a finished job. A `COMPLETED`, `PARTIAL` or `FAILED` job accepts this request. The
    /// job becomes `PENDING` and counts as cancelled from then on.
    Undo,
}

impl InboxRequest {
    /// Returns true if the request reopens a finished job.
    pub fn reopens(&self) -> bool {
        matches!(self, InboxRequest::Retry | InboxRequest::Undo)
    }
}

/// A person's verdict on a call in doubt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ManualVerdict {
    /// The call took effect, with this result as JSON text.
    Applied(String),
    /// The call certainly did not take effect.
    NotApplied,
    /// The outcome will never be known. The call ends as lost.
    Abort,
}

/// One row of the inbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InboxRow {
    /// Id of the row. Ids are in the order of arrival.
    pub id: i64,
    /// Actor that made the request.
    pub actor: String,
    /// Reason for the request.
    pub reason: Option<String>,
    /// The request.
    pub request: InboxRequest,
    /// Proof that the actor made the request. The job's worker checks the proof before the request is applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified: Option<Verification>,
}

impl InboxRow {
    /// Returns actor and reason in the form that events record, without the proof.
    pub fn decider(&self) -> DecidedBy {
        DecidedBy::claimed(self.actor.clone(), self.reason.clone())
    }

    /// Returns actor, reason and proof in the form that events record. The caller has checked the proof.
    pub fn verified_decider(&self) -> DecidedBy {
        DecidedBy { verified: self.verified, ..self.decider() }
    }
}

/// A request as a store keeps it: with the proof that its actor made it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredRequest {
    /// The request.
    #[serde(flatten)]
    pub request: InboxRequest,
    /// Proof that the actor made the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified: Option<Verification>,
}

/// Reason why an inbox row was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InboxError {
    /// The job does not exist.
    #[error("there is no job {0}")]
    NoJob(JobId),
    /// The state of the job does not allow the request. Either the job has ended, or the request requires an ended
    /// job.
    #[error("job {job_id} is {}", state.as_str())]
    WrongState {
        /// Id of the job.
        job_id: JobId,
        /// State of the job.
        state: JobState,
    },
    /// The job does not await this request.
    #[error("job {job_id}: {why}")]
    NotAwaited {
        /// Id of the job.
        job_id: JobId,
        /// Reason why the request is not awaited.
        why: NotExpected,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Reason why a job does not expect a signal or a gate decision.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotExpected {
    /// No wait of the job has this correlation key.
    #[error("no wait has the correlation key {0:?}")]
    UnknownKey(String),
    /// The wait has ended: it timed out or was abandoned.
    #[error("the wait for {0:?} has ended: the signal can no longer be delivered")]
    TooLate(String),
    /// The gate was decided or has expired.
    #[error("the gate at {0} is closed: it was decided or has expired")]
    GateClosed(Slot),
    /// The decision names another call than the call that the gate guards.
    #[error("the gate at {slot} is now for another call, with the hash {hash}")]
    OtherCall {
        /// Slot of the gate.
        slot: Slot,
        /// Hash of the call that the gate guards.
        hash: String,
    },
}
