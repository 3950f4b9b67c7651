//! Events: what happened to a job, in order, hash-chained. The authority for replay.
//!
//! The hashed form of an event is canonical JSON (RFC 8785) of its fields beside `hash` and
//! `prev_hash`; `hash = SHA-256(prev_hash ‖ that form)`. The first event's `prev_hash` is
//! 32 zero bytes, and it carries everything that is constant for the job.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::effect::{Provenance, Spent, StateChange, Usage};
use crate::error::{Code, Failure};
use crate::ids::{Hash, JobId, Operator, Slot, StepId};
use crate::manifest::Pinned;
use crate::policy::Rules;
use crate::reuse::Reason;
use crate::wait::WaitKind;

mod confirmed;
mod forked;

pub use confirmed::{Consequence, Resource, Unconfirmed};
pub use forked::{Copied, CopiedCall, Maker, WouldCall};

/// Version of the event format.
pub const SCHEMA_VERSION: u32 = 1;

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

/// How a job is executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Mode {
    /// Computes, changes nothing.
    DryRun,
    /// No external write or send.
    DraftOnly,
    /// External writes and sends are approved by a person.
    #[default]
    HumanGated,
    /// The mode's own gates are dropped.
    AutoExec,
}

impl Mode {
    /// Each of them.
    pub const ALL: [Mode; 4] = [Mode::DryRun, Mode::DraftOnly, Mode::HumanGated, Mode::AutoExec];

    /// The word in requests and responses.
    pub fn as_str(self) -> &'static str {
        match self {
            Mode::DryRun => "DRY_RUN",
            Mode::DraftOnly => "DRAFT_ONLY",
            Mode::HumanGated => "HUMAN_GATED",
            Mode::AutoExec => "AUTO_EXEC",
        }
    }
}

/// What is constant for a job: stored once, in its first event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// The job.
    pub job_id: JobId,
    /// Whose house.
    pub tenant_id: String,
    /// Who asked.
    pub actor_id: String,
    /// The whole request across systems.
    pub correlation_id: String,
    /// W3C trace id.
    pub trace_id: String,
    /// What was asked for.
    pub intent_type: String,
    /// Identity of the request (§6).
    pub request_key: Hash,
    /// How it is executed.
    pub mode: Mode,
    /// Seed of every step's random numbers.
    pub job_seed: Hash,
    /// Digest of the engine profile for steps.
    pub engine_profile: Hash,
    /// Steps that were approved when the job was submitted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub standing_approvals: Vec<StepId>,
    /// What came with the request beside its payload, where anything did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contexts: Option<PayloadRef>,
    /// The policy in force when the job was accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<AcceptedPolicy>,
    /// The tenant's rules when it was accepted: later ones can only narrow them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<Rules>,
    /// The operators it may reach.
    pub operators: BTreeMap<Operator, Pinned>,
}

/// Names a policy: what it said is in [`Header::rules`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcceptedPolicy {
    /// SHA-256 of its canonical form: part of the request key.
    pub hash: Hash,
    /// The number its author gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u32>,
}

/// A call that the host refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// What was called.
    pub operator: Operator,
    /// With what.
    pub args: PayloadRef,
    /// Under which action key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action_key: Option<Hash>,
}

/// Who holds the action key that a step waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The key.
    pub action_key: Hash,
    /// The job that performs the action.
    pub job_id: JobId,
    /// Its call.
    pub slot: Slot,
}

/// Where a result comes from that may stand in for an execution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The job that made it.
    pub job_id: JobId,
    /// The step that made it.
    pub step_id: StepId,
    /// When, microseconds since 1970 UTC.
    pub time_us: i64,
    /// The version of the plugin that made it.
    pub version: String,
}

/// Who decided, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decider {
    /// The person or program.
    pub actor: String,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A verdict on a call in doubt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It happened; the result is recorded as that of the call.
    Applied,
    /// It certainly did not: the call may be executed again under the same key.
    NotApplied,
    /// Nobody will find out: `INVOCATION_LOST` is its answer.
    Lost,
    /// It is in doubt, and the ladder has no further rung: a person decides.
    Unknown,
    /// It is executed again under its recorded external key.
    Repeat,
}

impl Verdict {
    /// The word for it: `not applied`.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Applied => "applied",
            Verdict::NotApplied => "not applied",
            Verdict::Lost => "lost",
            Verdict::Unknown => "unknown",
            Verdict::Repeat => "to be repeated",
        }
    }
}

/// What a budget is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Period {
    /// The whole life of a job.
    Job,
    /// A tenant's calendar month, UTC.
    Month,
}

/// World semantics of a finished step (§7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResultType {
    /// Called no tool.
    Pure,
    /// Called tools, none of them world-changing.
    Success,
    /// The world changed.
    SideEffectCommitted,
    /// May be tried again.
    RetryableFailure,
    /// Failed for good, the world as it was.
    PermanentFailure,
    /// Failed after a committed effect.
    CompensatableFailure,
    /// Rolled back.
    Compensated,
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
    /// What failed gets another round: these steps are pending again, these calls open again.
    JobReopened {
        #[serde(flatten)]
        by: Decider,
        steps: Vec<StepId>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        calls: Vec<Slot>,
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
        let wire = Wire { seq, time_us, attempt, schema_version: SCHEMA_VERSION, body: &body };
        let bytes = serde_json_canonicalizer::to_vec(&wire).expect("an event is plain data");
        let hash = Hash::of(&[&prev_hash.0, &bytes]);
        Self { seq, time_us, attempt, body, prev_hash, hash, bytes }
    }

    /// Read the hashed form of the event after `prev_hash`; its number must be `seq`.
    pub fn open(bytes: &[u8], seq: u64, prev_hash: Hash) -> Result<Self, BadEvent> {
        let bad = |message: String| BadEvent { seq, message };
        let wire: Wire<Body> = serde_json::from_slice(bytes).map_err(|error| bad(error.to_string()))?;
        if wire.schema_version != SCHEMA_VERSION {
            return Err(bad(format!("schema version {} is not {SCHEMA_VERSION}", wire.schema_version)));
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
