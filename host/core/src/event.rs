//! Events: what happened to a job, in order, hash-chained. The authority for replay.
//!
//! The hashed form of an event is canonical JSON (RFC 8785) of its fields beside `hash` and
//! `prev_hash`; `hash = SHA-256(prev_hash ‖ that form)`. The first event's `prev_hash` is
//! 32 zero bytes, and it carries everything that is constant for the job.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::effect::{Provenance, Spent, StateChange, Usage};
use crate::error::{Code, Failure};
use crate::ids::{Hash, JobId, Operator, Slot, StepId};
use crate::reuse::Reason;
use crate::wait::WaitKind;

mod confirmed;
mod forked;
mod header;
mod parts;

pub use confirmed::{Consequence, Resource, Unconfirmed};
pub use forked::{Copied, CopiedCall, Maker, WouldCall};
pub use header::{AcceptedPolicy, Header, Mode};
pub use parts::{Decider, Holder, Origin, Period, Purpose, Refused, ResultType, Verdict};

/// Newest version of the event format. An event carries the oldest version that can express it: see
/// [`Body::schema_version`].
pub const SCHEMA_VERSION: u32 = 2;

/// A payload outside the event: its salted hash and length. The salt derives from the job's
/// secret and the payload's label, so that a withheld payload cannot be guessed from its hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PayloadRef {
    /// `SHA-256(SHA-256(secret ‖ 0 ‖ label) ‖ bytes)`.
    pub hash: Hash,
    /// Length in bytes.
    pub len: u32,
}

/// One event in its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// From 0, dense.
    pub seq: u64,
    /// Microseconds since 1970 UTC; never below the event before.
    pub time_us: i64,
    /// The attempt that appended it; 0 before the first claim.
    pub attempt: u32,
    /// What happened.
    pub body: Body,
    /// Hash of the event before.
    pub prev_hash: Hash,
    /// Hash of this event.
    pub hash: Hash,
    /// The hashed form: canonical JSON.
    pub bytes: Vec<u8>,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the fields are named by the vocabulary")]
pub enum Body {
    /// A request became a job.
    IntentAccepted {
        #[serde(flatten)]
        header: Box<Header>,
    },
    /// Its plan in normal form, and the hash of it.
    PlanCreated { plan: Value, plan_hash: Hash },
    /// A worker claimed the job.
    JobClaimed { worker: String, engine_profile: Hash },
    /// Dependencies are satisfied and the input is resolved.
    StepReady { step_id: StepId, input: PayloadRef },
    /// The step started: the origin of its clock.
    StepStarted { step_id: StepId },
    /// The step is over and has an output.
    StepSucceeded { step_id: StepId, result_type: ResultType },
    /// The state after it: its output.
    StateCheckpointed { step_id: StepId, output: PayloadRef },
    /// The step failed; final unless a retry is scheduled.
    StepFailed { step_id: StepId, result_type: ResultType, failure: Failure },
    /// The step will not run.
    StepSkipped {
        step_id: StepId,
        reason: Code,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        because: Option<StepId>,
        /// The call inside a step plugin that a dry run left out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<Box<WouldCall>>,
    },
    /// A try of a step plugin was lost or stopped, without a verdict on the step.
    StepAborted { step_id: StepId, failure: Failure },
    /// The job was cancelled before the step was over.
    StepCancelled { step_id: StepId },
    /// A step waits for something outside itself: a gate, a call in doubt, another job.
    StepBlocked {
        step_id: StepId,
        slot: Slot,
        reason: Code,
        /// Who performs the same action, where that is the reason.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        holder: Option<Holder>,
    },
    /// What the step waited for is there.
    StepUnblocked { step_id: StepId },
    /// The call will be tried again, not before that time.
    StepRetryScheduled { step_id: StepId, slot: Slot, code: Code, not_before_us: i64 },
    /// The barrier: this try of the call may be executed from now on. `first_attempt` makes
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
        /// Why it failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<Code>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
        /// What the try took, where it reports usage; every try's own is in its effect.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        spent: Option<Spent>,
        /// The most that the call can have cost, millionths of a US dollar, where the answer does not
        /// say what it did: that much is charged.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        assumed_micro_usd: Option<u64>,
        /// A model gave the answer: it may be another one another time.
        #[serde(default, skip_serializing_if = "is_false")]
        nondeterministic: bool,
        /// What was asked, where the host refused the call and nothing was started.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        refused: Option<Refused>,
    },
    /// The answer of the call is final.
    CommandCommitted { slot: Slot },
    /// A verdict on a call in doubt: who, how, why.
    InvocationResolved {
        slot: Slot,
        #[serde(rename = "try")]
        try_no: u32,
        verdict: Verdict,
        by: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// Evidence contradicts an earlier resolution.
    ResolutionConflict {
        slot: Slot,
        #[serde(rename = "try")]
        try_no: u32,
        message: String,
    },
    /// The budget does not cover the call: it is refused, and the next events say so.
    BudgetExceeded {
        slot: Slot,
        period: Period,
        budget_micro_usd: u64,
        spent_micro_usd: u64,
        /// The most that calls under way in the same job may still cost.
        #[serde(default, skip_serializing_if = "is_zero")]
        reserved_micro_usd: u64,
        /// The most that the call could cost, where that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        most_micro_usd: Option<u64>,
    },
    /// It is a committed call's turn to be undone. Nothing of that has been executed.
    CompensationStarted {
        slot: Slot,
        operator: Operator,
        /// The operator undoes its own call, by its plugin's `compensate` export.
        #[serde(default, skip_serializing_if = "is_false")]
        own: bool,
        args: PayloadRef,
    },
    /// The call is undone.
    CompensationFinished { slot: Slot },
    /// The call could not be undone.
    CompensationFailed { slot: Slot, code: Code },
    /// A failed compensation is in doubt again, under a number of its own: somebody knows more.
    CompensationReopened {
        slot: Slot,
        #[serde(flatten)]
        by: Decider,
    },
    /// A failed compensation is left as it is: the others go on.
    CompensationLeft {
        slot: Slot,
        #[serde(flatten)]
        by: Decider,
    },
    /// A resource changed.
    StateChanged { slot: Slot, change: StateChange },
    /// On resume a recorded change was not found as it was recorded, or nobody could tell.
    ConfirmationFailed {
        slot: Slot,
        resource: Resource,
        outcome: Unconfirmed,
        /// What was found instead, or why nobody could tell.
        found: String,
        consequence: Consequence,
    },
    /// A person takes what the call changed as it is now; or, where a resource is named, its
    /// verifier found it as recorded again.
    ConfirmationAccepted {
        slot: Slot,
        #[serde(flatten)]
        by: Decider,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        resource: Option<Resource>,
        /// The effect is gone for good: whoever asks for the action next performs it again.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        gone: bool,
    },
    /// A value for the user exists.
    OutcomeRecorded {
        step_id: StepId,
        outcome_id: String,
        outcome_type: String,
        status: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sensitivity: Option<String>,
    },
    /// An earlier job performed the same action: its receipt is returned.
    ActionReused { slot: Slot, action_key: Hash, job_id: JobId, from_slot: Slot, operator: Operator, args: PayloadRef },
    /// An earlier result of the same step was found: whether it stands in, and why (not).
    ReuseDecided { step_id: StepId, reused: bool, reason: Reason, from: Origin },
    /// Somebody has to approve these exact arguments.
    GateRequested {
        slot: Slot,
        gate_hash: Hash,
        args: PayloadRef,
        operator: Operator,
        /// How many different approvers it takes.
        #[serde(default = "one", skip_serializing_if = "is_one")]
        quorum: u32,
        /// When it expires.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expires_us: Option<i64>,
    },
    /// Somebody approved.
    GateApproved {
        slot: Slot,
        gate_hash: Hash,
        #[serde(flatten)]
        by: Decider,
        /// Given with the submission.
        #[serde(default, skip_serializing_if = "is_false")]
        standing: bool,
    },
    /// Somebody refused.
    GateRejected {
        slot: Slot,
        gate_hash: Hash,
        #[serde(flatten)]
        by: Decider,
    },
    /// Nobody decided before the gate's time.
    GateExpired { slot: Slot, gate_hash: Hash },
    /// A wait step begins to wait.
    WaitStarted {
        step_id: StepId,
        wait_kind: WaitKind,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        correlation_key: Option<String>,
        /// When it is over by itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until_us: Option<i64>,
        #[serde(default, skip_serializing_if = "is_false")]
        park: bool,
    },
    /// A signal came before its wait began; it is kept for it.
    SignalKept { correlation_key: String, n: u32, payload: PayloadRef, by: String },
    /// A signal came, or a timer's time: the payload is the step's output.
    WaitCompleted {
        step_id: StepId,
        payload: PayloadRef,
        /// Who sent the signal.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// No signal came in time.
    WaitTimedOut { step_id: StepId },
    /// A durable timer's time has come: `wait/<step>` or `gate/<slot>`.
    TimerFired { timer: String, due_us: i64 },
    /// The job waits for a time.
    JobWaiting { until_us: i64 },
    /// The job waits for somebody.
    JobParked {
        reason: Code,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        slot: Option<Slot>,
        /// What is known of how it came to that.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cause: Option<String>,
    },
    /// The job goes on.
    JobUnparked { cause: String },
    /// A worker that stops has given the job back: whoever claims it next goes on.
    JobReleased { worker: String },
    /// A step announced something.
    AsyncEventEmitted { step_id: StepId, n: u32, after_calls: u32, name: String, payload: PayloadRef },
    /// The code no longer does what the log says.
    JobDiverged { report: Box<crate::replay::Divergence> },
    /// The job goes on from the middle of another one: these steps are copied from it, and what
    /// the steps in `gated` would do to the world is asked about first, since it may have been done.
    JobForked {
        origin: JobId,
        /// Events of the origin that were there.
        origin_seq: u64,
        /// Hash of the last of them.
        origin_head: Hash,
        at: StepId,
        #[serde(flatten)]
        by: Decider,
        copied: Vec<Copied>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        gated: Vec<StepId>,
    },
    /// A finished job is opened again. In a retry these steps are pending again and these calls open again;
    /// an undo lists neither.
    JobReopened {
        #[serde(flatten)]
        by: Decider,
        steps: Vec<StepId>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        calls: Vec<Slot>,
        /// Named `purpose` because `reason` is the person's own text.
        #[serde(default, skip_serializing_if = "Purpose::is_retry")]
        purpose: Purpose,
    },
    /// Somebody asked to cancel.
    JobCancelRequested {
        #[serde(flatten)]
        by: Decider,
    },
    /// The job is cancelled.
    JobCancelled {},
    /// Some steps succeeded.
    JobPartial {},
    /// Every step succeeded.
    JobCompleted {},
    /// No step succeeded.
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
    /// The version of the format that the event needs. A program that knows only version 1 would read a
    /// `job_reopened` of version 2 as a retry and end the job without undoing anything, so it has to refuse it.
    pub fn schema_version(&self) -> u32 {
        match self {
            Body::JobReopened { purpose: Purpose::Undo, .. } => SCHEMA_VERSION,
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

/// Why stored bytes are not an event.
#[derive(Debug, thiserror::Error)]
#[error("event {seq}: {message}")]
pub struct BadEvent {
    /// Where the reader stood.
    pub seq: u64,
    /// What is wrong.
    pub message: String,
}

impl Event {
    /// The event after `prev_hash`.
    pub fn seal(seq: u64, time_us: i64, attempt: u32, body: Body, prev_hash: Hash) -> Self {
        let wire = Wire { seq, time_us, attempt, schema_version: body.schema_version(), body: &body };
        let bytes = serde_json_canonicalizer::to_vec(&wire).expect("an event is plain data");
        let hash = Hash::of(&[&prev_hash.0, &bytes]);
        Self { seq, time_us, attempt, body, prev_hash, hash, bytes }
    }

    /// Read the hashed form of the event after `prev_hash`; its number must be `seq`.
    pub fn open(bytes: &[u8], seq: u64, prev_hash: Hash) -> Result<Self, BadEvent> {
        let bad = |message: String| BadEvent { seq, message };
        let wire: Wire<Body> = serde_json::from_slice(bytes).map_err(|error| bad(error.to_string()))?;
        let expected = wire.body.schema_version();
        if wire.schema_version != expected {
            return Err(bad(format!("schema version {} is not {expected}", wire.schema_version)));
        }
        if wire.seq != seq {
            return Err(bad(format!("it carries number {}", wire.seq)));
        }
        let hash = Hash::of(&[&prev_hash.0, bytes]);
        let (time_us, attempt, body) = (wire.time_us, wire.attempt, wire.body);
        Ok(Self { seq, time_us, attempt, body, prev_hash, hash, bytes: bytes.to_vec() })
    }

    /// The name of the event: `step_started`.
    pub fn name(&self) -> String {
        let value: Value = serde_json::from_slice(&self.bytes).expect("sealed or opened as JSON");
        value["type"].as_str().expect("every event has a type").to_owned()
    }
}
