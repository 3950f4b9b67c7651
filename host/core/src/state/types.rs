//! Data of a job's state.

use std::collections::BTreeMap;

use crate::event::{
    Consequence, CopiedCall, DecidedBy, Header, KeyHolder, OriginalExecution, Resource, ResultOrigin,
    UnconfirmedReason, Verdict, WouldCall,
};
use crate::model::divergence::Divergence;
use crate::model::effect::{Provenance, StateChange, Usage};
use crate::model::error::{Code, Failure};
use crate::model::ids::{Hash, JobId, Operator, Slot, StepId};
use crate::model::job::JobState;
use crate::model::manifest::PinnedOperator;
use crate::model::payload::PayloadRef;
use crate::model::result_type::ResultType;
use crate::model::step::StepState;
use crate::plan::Plan;
use crate::plan::wait::WaitKind;
use crate::state::gate::Gate;

/// State of a job, folded from its events.
#[derive(Clone, Debug)]
pub struct Job {
    /// Data that was fixed when the job was accepted.
    pub header: Header,
    /// The plan that the job executes.
    pub plan: Plan,
    /// Hash of the plan's normal form.
    pub plan_hash: Hash,
    /// Current state of the job.
    pub state: JobState,
    /// Number of the last attempt.
    pub attempt: u32,
    /// Number of events, which is the sequence number of the next event.
    pub next_seq: u64,
    /// Hash of the last event.
    pub head: Hash,
    /// Time of the first event, microseconds since 1970 UTC.
    pub accepted_us: i64,
    /// Time of the last event, microseconds since 1970 UTC.
    pub last_us: i64,
    /// The steps, in the order of the plan.
    pub steps: Vec<Step>,
    /// The calls, by slot.
    pub calls: BTreeMap<Slot, Call>,
    /// The gates, by the slot of the gated call.
    pub gates: BTreeMap<Slot, Gate>,
    /// The wait steps.
    pub waits: BTreeMap<StepId, WaitState>,
    /// Signals that arrived before their waits began.
    pub signals: Vec<EarlySignal>,
    /// Actor that requested cancellation.
    pub cancel: Option<DecidedBy>,
    /// Actor that requested undoing of the finished job. `cancel` names the same actor.
    pub undo: Option<DecidedBy>,
    /// Compensations, by their slots `<slot>~c`.
    pub compensations: BTreeMap<Slot, Compensation>,
    /// True if a person decided that nothing more is undone.
    pub undo_abandoned: bool,
    /// Number of consecutive attempts that ended without progress.
    pub attempts_without_progress: u32,
    /// Number of consecutive attempts, up to and including the current attempt, that wrote nothing after their claim
    /// event. An attempt that did not even write a claim event counts too.
    pub claims_without_events: u32,
    /// Steps that had started and not ended when the last attempt without progress was cut off. Blocked steps are left
    /// out.
    pub steps_without_progress: Vec<StepId>,
    /// True if the current attempt has made progress.
    pub has_progressed: bool,
    /// Reason why the job is parked, and the slot that caused it.
    pub parked: Option<(Code, Option<Slot>)>,
    /// Description of how the job was parked, if known.
    pub parked_cause: Option<String>,
    /// Time until which the job waits, microseconds since 1970 UTC.
    pub waiting_until_us: Option<i64>,
    /// First difference found by replay, if the job diverged.
    pub divergence: Option<Divergence>,
    /// True if a person let the job continue. A diverged job then continues with the pinned plugins, and a parked job
    /// continues past its attempt limit.
    pub continued: bool,
    /// True if a person aborted the job, or if a mismatch ended it.
    pub aborted: bool,
    /// Reason why the job as a whole failed.
    pub failure: Option<Code>,
    /// Total cost of the job's calls.
    pub cost: crate::rules::cost::CostTotals,
    /// Origin of the job, if it is a fork.
    pub forked: Option<ForkOrigin>,
    /// Recorded changes of the job's calls, and the changes that later differed from their record.
    pub confirmations: ConfirmationState,
}

impl Job {
    /// Returns the index of a step in `steps`.
    pub fn index(&self, id: &StepId) -> Option<usize> {
        self.steps.iter().position(|step| step.id == *id)
    }
    /// Returns the step with this id.
    pub fn step(&self, id: &StepId) -> Option<&Step> {
        self.steps.iter().find(|step| step.id == *id)
    }
    /// Makes running steps ready again within the same attempt, after the worker has dropped their tries. Each step may
    /// then run again, with a replay of its log. If a new attempt begins, its claim makes the steps ready.
    pub fn drop_tries(&mut self) {
        for step in self.steps.iter_mut().filter(|step| step.state == StepState::Running) {
            step.state = StepState::Ready;
        }
    }
    /// Returns the plugin data that the job pinned for an operator.
    pub fn pinned(&self, operator: &Operator) -> Option<&PinnedOperator> {
        self.header.operators.get(operator)
    }
    /// Returns the calls made inside a step plugin, in call order.
    pub fn calls_of(&self, step: &StepId) -> impl Iterator<Item = (u32, &Slot, &Call)> {
        let mut calls: Vec<_> = self
            .calls
            .iter()
            .filter(|(slot, _)| slot.step() == *step && !slot.is_compensation())
            .filter_map(|(slot, call)| Some((slot.call_number()?, slot, call)))
            .collect();
        calls.sort_by_key(|(k, ..)| *k);
        calls.into_iter()
    }
}

/// State of one step.
#[derive(Clone, Debug)]
pub struct Step {
    /// Id of the step.
    pub id: StepId,
    /// Current state of the step.
    pub state: StepState,
    /// Resolved input of the step.
    pub input: Option<PayloadRef>,
    /// Time of the first start, microseconds since 1970 UTC. The step's clock begins at this time.
    pub started_us: Option<i64>,
    /// Output of the step.
    pub output: Option<PayloadRef>,
    /// Type of the step's result (§7): the kind of success or failure.
    pub result_type: Option<ResultType>,
    /// Reason why the step failed.
    pub failure: Option<Failure>,
    /// Reason why the step was skipped, and the step that caused it.
    pub skipped: Option<(Code, Option<StepId>)>,
    /// Call that the step would have made, but that the dry run did not make. `None` if the step itself is the call.
    pub would_call: Option<WouldCall>,
    /// Execution of the step in the original job, if a fork copied the step. The flag is true if the fork replaced the
    /// step's output.
    pub copied: Option<(Box<OriginalExecution>, bool)>,
    /// Number of tries that a limit of the machine aborted: a stack overflow, the wall-clock limit, or a lack of
    /// resources. An aborted try alone does not fail the step.
    pub aborted_tries: u32,
    /// Slot of the call that blocks the step, and the reason.
    pub blocked: Option<(Slot, Code)>,
    /// Call that holds the action key for which the step waits.
    pub key_holder: Option<KeyHolder>,
    /// Last reuse decision about the step, and the origin of the earlier result. The flag is true if the earlier result
    /// replaced the execution.
    pub reuse: Option<(bool, ResultOrigin)>,
    /// Time of the next try, microseconds since 1970 UTC.
    pub retry_at_us: Option<i64>,
    /// Events emitted by the step.
    pub emits: Vec<EmittedEvent>,
    /// Outcome that the step produced for the user.
    pub outcome: Option<Outcome>,
}

/// One event emitted by a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmittedEvent {
    /// Number of calls that the step had made before the event.
    pub after_calls: u32,
    /// Name of the event.
    pub name: String,
    /// Payload of the event.
    pub payload: PayloadRef,
}

/// A value produced for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Id of the outcome.
    pub id: String,
    /// Type of the outcome, such as `Draft.Email`.
    pub outcome_type: String,
    /// Status of the outcome: `draft` or `final`.
    pub status: String,
    /// Label that limits the readers of the outcome.
    pub sensitivity: Option<String>,
}

/// State of one call.
#[derive(Clone, Debug)]
pub struct Call {
    /// Operator that is called.
    pub operator: Operator,
    /// Arguments of the call.
    pub args: PayloadRef,
    /// Attempt that first started the call. 0 if no attempt has started it, because the host refused the call or
    /// answered it with a receipt.
    pub first_attempt: u32,
    /// Number of tries started so far.
    pub tries: u32,
    /// Try that was started and has no answer and no verdict yet.
    pub open_try: Option<u32>,
    /// The last recorded answer.
    pub finished: Option<RecordedAnswer>,
    /// True if the answer is final.
    pub committed: bool,
    /// Sequence number of the event that made the answer final.
    pub committed_seq: u64,
    /// Time of the next try, microseconds since 1970 UTC.
    pub retry_at_us: Option<i64>,
    /// Number of the try that the last verdict decided, and the verdict. `None` if there was no verdict since the
    /// call began or was reopened.
    pub verdict: Option<(u32, Verdict)>,
    /// Verdicts by try number.
    pub verdicts: BTreeMap<u32, Verdict>,
    /// True if later evidence contradicts a verdict about the call.
    pub conflict: bool,
    /// True if a person accepted the contradiction and allowed the undoing of the recorded effect.
    pub conflict_accepted: bool,
    /// Action key of the call.
    pub action_key: Option<Hash>,
    /// Earlier call that performed the action. Set only if this call was answered with the receipt of the earlier
    /// call.
    pub receipt_of: Option<(JobId, Slot)>,
    /// Number of tries made in earlier rounds. A reopened job starts a new round of retries.
    pub tries_before_round: u32,
    /// True if the call was reopened and has not started since.
    pub reopened: bool,
    /// Number of `not-yet` answers of the tool about the open try.
    pub not_yet_answers: u32,
}

impl Call {
    /// Returns true if the host has yet to start the call, for the first time or in a new round.
    pub fn is_unstarted(&self) -> bool {
        self.first_attempt == 0 || self.reopened
    }

    /// Returns the charge assumed for try `try_no`, in millionths of a US dollar. A charge is assumed if the answer of
    /// the try does not report its usage. Returns `None` if no charge was assumed, or if the last answer of the call
    /// belongs to another try.
    pub fn assumed_charge(&self, try_no: u32) -> Option<u64> {
        self.finished.as_ref().filter(|finished| finished.try_no == try_no)?.assumed_micro_usd
    }
}

/// One recorded answer of a call.
#[derive(Clone, Debug)]
pub struct RecordedAnswer {
    /// Number of the try that was answered.
    pub try_no: u32,
    /// True if the answer is a result, false if it is an error.
    pub ok: bool,
    /// Salted hash of the stored effect.
    pub answer: PayloadRef,
    /// Error code of a failure.
    pub code: Option<Code>,
    /// Time at which the answer was recorded, microseconds since 1970 UTC. The step's clock moves to this time.
    pub time_us: i64,
    /// Provenance of the answer.
    pub provenance: Provenance,
    /// Usage reported with the answer.
    pub usage: Option<Usage>,
    /// Assumed charge in millionths of a US dollar, if the answer does not report its usage.
    pub assumed_micro_usd: Option<u64>,
    /// True if a model gave the answer.
    pub nondeterministic: bool,
}

/// Compensation of one call, under the slot `<slot>~c`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compensation {
    /// Operator of the compensating call.
    pub operator: Operator,
    /// True if the operator undoes its own call through its plugin's `compensate` export.
    pub is_self_undo: bool,
    /// Arguments of the compensating call.
    pub args: PayloadRef,
    /// Result of the compensation, or `None` while it is in flight.
    pub end: Option<CompensationEnd>,
}

/// Result of compensating one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompensationEnd {
    /// The call is undone.
    Done,
    /// The call is not undone, and a person must decide.
    Failed(Code),
    /// The call is not undone, and a person decided to leave it.
    Abandoned(Code),
}

/// Recorded changes of a job and the results of checking them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfirmationState {
    /// Every recorded change, in order.
    pub changes: Vec<RecordedChange>,
    /// Changes that are not confirmed, each with the result of its last check.
    pub failed: Vec<UnconfirmedChange>,
    /// Number of mismatches that did not stop the job (`confirmation_replay_warnings_total`). The confirmation policy
    /// of the plugin was `warn`.
    pub warnings: u32,
}

/// One change of the world that a tool reported with its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedChange {
    /// Slot of the call that made the change.
    pub slot: Slot,
    /// The change, as the tool reported it.
    pub change: StateChange,
    /// Attempt that recorded the change.
    pub attempt: u32,
}

/// One change that the last check did not confirm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnconfirmedChange {
    /// Slot of the call that made the change.
    pub slot: Slot,
    /// The resource that changed.
    pub resource: Resource,
    /// Reason why the change is not confirmed.
    pub outcome: UnconfirmedReason,
    /// State that the check found instead of the recorded state, or the reason why the check gave no result.
    pub found: String,
    /// Consequence for the job.
    pub consequence: Consequence,
    /// Attempt that checked the change.
    pub attempt: u32,
    /// Origin of the settlement: the actor that accepted the current state of the resource, or a later check that found
    /// the recorded state. `None` while the change is unsettled.
    pub resolved_by: Option<DecidedBy>,
    /// True if a person accepted the change. The change is then not checked again.
    pub by_person: bool,
    /// True if a person found that the effect no longer exists.
    pub gone: bool,
}

/// Origin of a forked job.
#[derive(Clone, Debug, PartialEq)]
pub struct ForkOrigin {
    /// The job from which this job was forked.
    pub origin: JobId,
    /// First step that the fork executes itself.
    pub at: StepId,
    /// Steps whose world-changing calls need an approval in every mode.
    pub gated: Vec<StepId>,
    /// Calls that the copied steps made in the original job. The fork does not pay for these calls and does not undo
    /// them.
    pub calls: BTreeMap<Slot, CopiedCall>,
}

/// State of one wait step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WaitState {
    /// Kind of the wait, or `None` before it begins.
    pub kind: Option<WaitKind>,
    /// Key that a signal must carry, once it is known.
    pub key: Option<String>,
    /// True if the wait accepts signals.
    pub accepts_signals: bool,
    /// Time at which the wait ends without a signal, microseconds since 1970 UTC.
    pub until_us: Option<i64>,
    /// True if the job parks for this wait even if the wait is short.
    pub park: bool,
    /// `Some` if the wait was completed. The inner value is the sender of the signal that completed the wait, if any.
    pub completed: Option<Option<String>>,
}

/// A signal that arrived before its wait began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EarlySignal {
    /// Key of the signal.
    pub key: String,
    /// Payload of the signal.
    pub payload: PayloadRef,
    /// Sender of the signal.
    pub by: String,
}
