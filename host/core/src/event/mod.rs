//! Events of a job, in order and hash-chained. The event log is the authority for replay.
//!
//! The hashed form of an event is the canonical JSON (RFC 8785) of all its fields except `hash` and `prev_hash`. The
//! hash is `hash = SHA-256(prev_hash ‖ hashed form)`. The first event's `prev_hash` is 32 zero bytes. The first event
//! also contains all data that is constant for the job.

mod confirmed;
mod forked;
mod header;
mod parts;
mod topic;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::encoding::canon;
use crate::model::effect::{Consumption, Provenance, StateChange, Usage};
use crate::model::error::{Code, Failure};
use crate::model::ids::{Hash, JobId, Operator, Slot, StepId};
use crate::model::payload::PayloadRef;
use crate::model::person::Assurance;
use crate::model::result_type::ResultType;
use crate::model::reuse_reason::ReuseReason;
use crate::plan::wait::WaitKind;

pub use confirmed::{Consequence, Resource, UnconfirmedReason};
pub use forked::{CopiedCall, CopiedStep, OriginalExecution, WouldCall};
pub use header::{AcceptedPolicy, Header, RequestRef};
pub use parts::{BudgetPeriod, DecidedBy, KeyHolder, RefusedCall, ReopenPurpose, ResultOrigin, Verdict};
pub use topic::Topic;

/// Newest version of the event format. Each event states the oldest version that can express it: see
/// [`Body::schema_version`].
pub const SCHEMA_VERSION: u32 = 3;

/// One event with its position in the log.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Sequence number, from 0 without gaps.
    pub seq: u64,
    /// Time of the event, microseconds since 1970 UTC. Never smaller than the time of the previous event.
    pub time_us: i64,
    /// Attempt that appended the event. 0 before the first claim.
    pub attempt: u32,
    /// Type and content of the event.
    pub body: Body,
    /// Hash of the previous event.
    pub prev_hash: Hash,
    /// Hash of this event.
    pub hash: Hash,
    /// The hashed form, as canonical JSON bytes.
    pub bytes: Vec<u8>,
}

/// Type and content of an event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the fields are named by the vocabulary")]
pub enum Body {
    /// A request was accepted as a job.
    IntentAccepted {
        #[serde(flatten)]
        header: Box<Header>,
    },
    /// The plan of the job, in normal form, with its hash.
    PlanCreated { plan: Value, plan_hash: Hash },
    /// A worker claimed the job.
    JobClaimed { worker: String, engine_profile: Hash },
    /// The dependencies of the step are satisfied and its input is resolved.
    StepReady { step_id: StepId, input: PayloadRef },
    /// The step started. The time of this event is the origin of the step's clock.
    StepStarted { step_id: StepId },
    /// The step ended with an output.
    StepSucceeded { step_id: StepId, result_type: ResultType },
    /// The checkpoint of the step was recorded. The checkpoint contains the output of the step.
    StateCheckpointed { step_id: StepId, output: PayloadRef },
    /// The step failed. The failure is final if no retry is scheduled.
    StepFailed { step_id: StepId, result_type: ResultType, failure: Failure },
    /// The step will not run.
    StepSkipped {
        step_id: StepId,
        reason: Code,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        because: Option<StepId>,
        /// The call inside a step plugin that the dry run did not make.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<Box<WouldCall>>,
    },
    /// A try of a step plugin was lost or stopped. The step has no result yet.
    StepAborted { step_id: StepId, failure: Failure },
    /// The job was cancelled before the step ended.
    StepCancelled { step_id: StepId },
    /// The step waits for a condition outside the step, such as a gate, a call in doubt or another job.
    StepBlocked {
        step_id: StepId,
        slot: Slot,
        reason: Code,
        /// Holder of the action key, if the step waits because another slot performs the same action.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        holder: Option<KeyHolder>,
    },
    /// The step is no longer blocked.
    StepUnblocked { step_id: StepId },
    /// The call will be retried at `not_before_us` or later.
    StepRetryScheduled { step_id: StepId, slot: Slot, code: Code, not_before_us: i64 },
    /// The barrier of a call. The try may be executed once this event is recorded. `first_attempt` is part of
    /// the external key `latch:<job_id>:<slot>:<first_attempt>`.
    ToolInvocationStarted {
        slot: Slot,
        operator: Operator,
        #[serde(rename = "try")]
        try_no: u32,
        args: PayloadRef,
        first_attempt: u32,
        timeout_ms: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        action_key: Option<Hash>,
    },
    /// A try of the call has an answer.
    ToolInvocationFinished {
        slot: Slot,
        #[serde(rename = "try")]
        try_no: u32,
        ok: bool,
        answer: PayloadRef,
        #[serde(default, skip_serializing_if = "Provenance::is_executed")]
        provenance: Provenance,
        /// Reason code of a failed try.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<Code>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
        /// Fuel and time that the try used. Set only if the answer reports usage. The stored effect has these
        /// values for every try.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        spent: Option<Consumption>,
        /// Maximum possible cost of the call in millionths of a US dollar. Set and charged if the answer does not
        /// report its cost.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        assumed_micro_usd: Option<u64>,
        /// True if a model gave the answer. The model may answer differently the next time.
        #[serde(default, skip_serializing_if = "is_false")]
        nondeterministic: bool,
        /// The refused call, if the host refused the call before starting it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        refused: Option<RefusedCall>,
    },
    /// The answer of the call is final.
    CommandCommitted { slot: Slot },
    /// A verdict on a call in doubt, with the actor that decided and the reason.
    InvocationResolved {
        slot: Slot,
        #[serde(rename = "try")]
        try_no: u32,
        verdict: Verdict,
        by: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// New evidence contradicts an earlier resolution of the call.
    ResolutionConflict {
        slot: Slot,
        #[serde(rename = "try")]
        try_no: u32,
        message: String,
    },
    /// The budget does not cover the call. The next events record that the host refuses the call.
    BudgetExceeded {
        slot: Slot,
        period: BudgetPeriod,
        budget_micro_usd: u64,
        spent_micro_usd: u64,
        /// Maximum cost that the calls in flight in the same job may still cause, in millionths of a US dollar.
        #[serde(default, skip_serializing_if = "is_zero")]
        reserved_micro_usd: u64,
        /// Maximum cost of the refused call in millionths of a US dollar, if known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        most_micro_usd: Option<u64>,
    },
    /// The call will be undone. The compensating call has not been executed yet.
    CompensationStarted {
        slot: Slot,
        operator: Operator,
        /// True if the operator undoes its own call through its plugin's `compensate` export.
        #[serde(default, skip_serializing_if = "is_false")]
        own: bool,
        args: PayloadRef,
    },
    /// The call is undone.
    CompensationFinished { slot: Slot },
    /// The call could not be undone.
    CompensationFailed { slot: Slot, code: Code },
    /// A person gave a verdict on a failed compensation. The compensating call is put in doubt again, with a
    /// new try number. A later `invocation_resolved` event records the verdict.
    CompensationReopened {
        slot: Slot,
        #[serde(flatten)]
        by: DecidedBy,
    },
    /// An actor decided to leave the effect of a call whose compensation failed. This compensation counts as done,
    /// and the remaining compensations continue.
    CompensationLeft {
        slot: Slot,
        #[serde(flatten)]
        by: DecidedBy,
    },
    /// The call changed a resource.
    StateChanged { slot: Slot, change: StateChange },
    /// A check on resume did not confirm a recorded change. The resource differs from the record, or the check gave
    /// no result.
    ConfirmationFailed {
        slot: Slot,
        resource: Resource,
        outcome: UnconfirmedReason,
        /// The state that the verifier found, or the reason why the change could not be verified.
        found: String,
        consequence: Consequence,
    },
    /// An unconfirmed change is settled.
    ///
    /// If `resource` is set, the verifier later found this resource in its recorded state. Otherwise, a person
    /// accepted the current state of all resources that the call changed, or stated that the effect no longer exists
    /// (`gone`).
    ConfirmationAccepted {
        slot: Slot,
        #[serde(flatten)]
        by: DecidedBy,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        resource: Option<Resource>,
        /// True if the person stated that the effect no longer exists. The current state is then not accepted, and the
        /// next request for the action executes the action again.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        gone: bool,
    },
    /// A step produced a value for the user.
    OutcomeRecorded {
        step_id: StepId,
        outcome_id: String,
        outcome_type: String,
        status: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sensitivity: Option<String>,
    },
    /// An earlier call performed the action of the call at `slot`. The receipt of the earlier call becomes the answer
    /// of the call at `slot`.
    ActionReused { slot: Slot, action_key: Hash, job_id: JobId, from_slot: Slot, operator: Operator, args: PayloadRef },
    /// An earlier result of an equal step was found. The event records whether the step reuses the result, and the
    /// reason.
    ReuseDecided { step_id: StepId, reused: bool, reason: ReuseReason, from: ResultOrigin },
    /// A gate requires approval of these exact arguments.
    GateRequested {
        slot: Slot,
        gate_hash: Hash,
        args: PayloadRef,
        operator: Operator,
        /// Number of different approvers that the gate requires.
        #[serde(default = "one", skip_serializing_if = "is_one")]
        quorum: u32,
        /// Time at which the gate expires, microseconds since 1970 UTC.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expires_us: Option<i64>,
        /// Assurance that approvals must have to count.
        #[serde(default, skip_serializing_if = "Assurance::is_claimed")]
        approvals: Assurance,
    },
    /// An approver approved the gate.
    GateApproved {
        slot: Slot,
        gate_hash: Hash,
        #[serde(flatten)]
        by: DecidedBy,
        /// True if the approval was given with the submission.
        #[serde(default, skip_serializing_if = "is_false")]
        standing: bool,
    },
    /// An approver rejected the gate.
    GateRejected {
        slot: Slot,
        gate_hash: Hash,
        #[serde(flatten)]
        by: DecidedBy,
    },
    /// The gate expired without a decision.
    GateExpired { slot: Slot, gate_hash: Hash },
    /// A wait step started to wait.
    WaitStarted {
        step_id: StepId,
        wait_kind: WaitKind,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        correlation_key: Option<String>,
        /// Time at which the wait ends without a signal, microseconds since 1970 UTC.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until_us: Option<i64>,
        #[serde(default, skip_serializing_if = "is_false")]
        park: bool,
    },
    /// A signal arrived before its wait started. The job keeps the signal for the wait.
    SignalKept { correlation_key: String, n: u32, payload: PayloadRef, by: String },
    /// A signal arrived, or the timer of the wait fired. The payload is the step's output.
    WaitCompleted {
        step_id: StepId,
        payload: PayloadRef,
        /// Sender of the signal.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// No signal arrived before the wait ended.
    WaitTimedOut { step_id: StepId },
    /// A durable timer fired: `wait/<step>` or `gate/<slot>`.
    TimerFired { timer: String, due_us: i64 },
    /// The job waits until a known time.
    JobWaiting { until_us: i64 },
    /// The job is parked until its inbox receives a request.
    JobParked {
        reason: Code,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        slot: Option<Slot>,
        /// Text that describes why the job was parked, if the cause is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cause: Option<String>,
    },
    /// An actor requested to continue or abort the job. `cause` is `continue` or `abort`.
    JobUnparked { cause: String },
    /// A stopping worker released the job. The next worker that claims the job continues it.
    JobReleased { worker: String },
    /// A step emitted an event.
    AsyncEventEmitted { step_id: StepId, n: u32, after_calls: u32, name: String, payload: PayloadRef },
    /// The code of a step no longer does what the log records.
    JobDiverged { report: Box<crate::model::divergence::Divergence> },
    /// The job is a fork that continues from the middle of another job, its origin. The steps in `copied` come from
    /// the origin. World-changing calls of the steps in `gated` need approval, because the origin may have executed
    /// them already.
    JobForked {
        origin: JobId,
        /// Number of events in the log of the original job at the time of the fork.
        origin_seq: u64,
        /// Hash of the last event of the original job at the time of the fork.
        origin_head: Hash,
        at: StepId,
        #[serde(flatten)]
        by: DecidedBy,
        copied: Vec<CopiedStep>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        gated: Vec<StepId>,
    },
    /// A finished job is opened again. If the purpose is a retry, the listed steps and calls become pending
    /// again. If the purpose is an undo, the lists are empty.
    JobReopened {
        #[serde(flatten)]
        by: DecidedBy,
        steps: Vec<StepId>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        calls: Vec<Slot>,
        /// Purpose of reopening. The name is not `reason`, because `reason` is the text given by the person.
        #[serde(default, skip_serializing_if = "ReopenPurpose::is_retry")]
        purpose: ReopenPurpose,
    },
    /// An actor requested to cancel the job.
    JobCancelRequested {
        #[serde(flatten)]
        by: DecidedBy,
    },
    /// The job is cancelled.
    JobCancelled {},
    /// The job ended, and only some steps succeeded.
    JobPartial {},
    /// The job ended, and every step succeeded.
    JobCompleted {},
    /// The job ended, and no step succeeded.
    JobFailed {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<Code>,
    },
}

fn one() -> u32 {
    1
}

fn is_one(n: &u32) -> bool {
    *n == 1
}

fn is_false(value: &bool) -> bool {
    !*value
}

fn is_zero(value: &u64) -> bool {
    *value == 0
}

impl Body {
    /// Returns the oldest version of the event format that can express the event.
    ///
    /// A `job_reopened` event for an undo has version 2, so that a program that knows only version 1 refuses the event.
    /// If the event had version 1, that program would read the event as a retry and end the job without undoing
    /// anything.
    ///
    /// An `intent_accepted` event has version 3 if it refers to the request by `request_mac`, and version 1 if it
    /// contains the plain `request_key`. Events about gates have version 3 if a signature is required or given, so that
    /// an older program does not continue a job whose signatures it ignores.
    pub fn schema_version(&self) -> u32 {
        match self {
            Body::IntentAccepted { header } if matches!(header.request, RequestRef::RequestMac(_)) => SCHEMA_VERSION,
            Body::GateRequested { approvals, .. } if !approvals.is_claimed() => SCHEMA_VERSION,
            Body::GateApproved { by, .. } | Body::GateRejected { by, .. } if by.verified.is_some() => SCHEMA_VERSION,
            Body::JobReopened { purpose: ReopenPurpose::Undo, .. } => 2,
            _ => 1,
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Wire<B> {
    seq: u64,
    time_us: i64,
    attempt: u32,
    schema_version: u32,
    #[serde(flatten)]
    body: B,
}

/// Error: stored bytes are not a valid event.
#[derive(Debug, thiserror::Error)]
#[error("event {seq}: {message}")]
pub struct InvalidEvent {
    /// Sequence number at which the reader expected the event.
    pub seq: u64,
    /// Description of the error.
    pub message: String,
}

impl Event {
    /// Creates the event that follows the event with hash `prev_hash`.
    pub fn seal(seq: u64, time_us: i64, attempt: u32, body: Body, prev_hash: Hash) -> Self {
        let wire = Wire { seq, time_us, attempt, schema_version: body.schema_version(), body: &body };
        let bytes = canon::data_to_canonical(&wire);
        let hash = Hash::of(&[&prev_hash.0, &bytes]);
        Self { seq, time_us, attempt, body, prev_hash, hash, bytes }
    }

    /// Parses the hashed form of an event and computes its hash. `prev_hash` is the hash of the preceding
    /// event. Returns an error if the sequence number of the event is not `seq`.
    pub fn parse(bytes: &[u8], seq: u64, prev_hash: Hash) -> Result<Self, InvalidEvent> {
        let bad = |message: String| InvalidEvent { seq, message };
        let wire: Wire<Body> = serde_json::from_slice(bytes).map_err(|error| bad(error.to_string()))?;
        let expected = wire.body.schema_version();
        if wire.schema_version != expected {
            return Err(bad(format!("the schema version is {}, expected {expected}", wire.schema_version)));
        }
        if wire.seq != seq {
            return Err(bad(format!("the sequence number in the event is {}", wire.seq)));
        }
        let hash = Hash::of(&[&prev_hash.0, bytes]);
        let (time_us, attempt, body) = (wire.time_us, wire.attempt, wire.body);
        Ok(Self { seq, time_us, attempt, body, prev_hash, hash, bytes: bytes.to_vec() })
    }

    /// Returns the type name of the event, such as `step_started`.
    pub fn name(&self) -> String {
        let value: Value = serde_json::from_slice(&self.bytes).expect("sealed or opened as JSON");
        value["type"].as_str().expect("every event has a type").to_owned()
    }
}
