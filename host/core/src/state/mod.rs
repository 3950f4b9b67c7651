//! The state of a job: a fold of its events, and beside it what the other stores hold.

use std::collections::BTreeMap;

use crate::effect::{Provenance, Usage};
use crate::error::{Code, Failure};
use crate::event::{Decider, Header, Holder, Maker, Origin, PayloadRef, ResultType, Verdict, WouldCall};
use crate::ids::{Hash, JobId, Operator, Slot, StepId};
use crate::job::JobState;
use crate::manifest::Pinned;
use crate::plan::Plan;
use crate::replay::Divergence;
use crate::step::StepState;

mod calls;
mod compensation;
mod confirm;
mod durable;
mod fold;
mod forked;
mod gates;
mod reopen;
mod seen;
mod verify;
mod waits;

pub use compensation::{Compensation, CompensationEnd};
pub(crate) use confirm::follows_from;
pub use confirm::{Changed, Confirmations, NotConfirmed};
pub use durable::{Draft, Durable};
pub use fold::FoldError;
pub use forked::Forked;
pub use seen::{Candidate, Seen};
pub use waits::{KeptSignal, WaitState};

/// Everything the events of a job say.
#[derive(Clone, Debug)]
pub struct Job {
    /// What is constant.
    pub header: Header,
    /// What is executed.
    pub plan: Plan,
    /// Identity of the plan.
    pub plan_hash: Hash,
    /// Where the job stands.
    pub state: JobState,
    /// The last attempt.
    pub attempt: u32,
    /// Number of events.
    pub next_seq: u64,
    /// Hash of the last event.
    pub head: Hash,
    /// Time of the first event, microseconds since 1970 UTC.
    pub accepted_us: i64,
    /// Time of the last event.
    pub last_us: i64,
    /// The steps, in the order of the plan.
    pub steps: Vec<Step>,
    /// The invocations.
    pub calls: BTreeMap<Slot, Call>,
    /// The gates.
    pub gates: BTreeMap<Slot, Gate>,
    /// The wait steps.
    pub waits: BTreeMap<StepId, WaitState>,
    /// Signals that came before their waits began.
    pub signals: Vec<KeptSignal>,
    /// Who asked to cancel.
    pub cancel: Option<Decider>,
    /// Who asked to undo what the finished job did; `cancel` names the same person.
    pub undo: Option<Decider>,
    /// What was undone, or was to be, by the slots `<slot>~c`.
    pub compensations: BTreeMap<Slot, Compensation>,
    /// Somebody decided that nothing more is undone.
    pub undo_abandoned: bool,
    /// Attempts in a row that ended without progress.
    pub barren_attempts: u32,
    /// Claims at the end of the log behind which nothing was written, and such as are not even there; that of now included.
    pub bare_claims: u32,
    /// The steps that were under way when the last of them was cut off.
    pub barren_in: Vec<StepId>,
    /// Whether the current attempt got anywhere.
    pub progressed: bool,
    /// Why it is parked.
    pub parked: Option<(Code, Option<Slot>)>,
    /// What is known of how it came to be parked.
    pub parked_cause: Option<String>,
    /// Until when it waits.
    pub waiting_until_us: Option<i64>,
    /// How it diverged.
    pub divergence: Option<Divergence>,
    /// A diverged job goes on with the pinned code, or a parked one past its limit.
    pub continued: bool,
    /// Somebody gave the job up.
    pub aborted: bool,
    /// Why the job failed as a whole.
    pub failure: Option<Code>,
    /// What its calls cost.
    pub cost: crate::cost::Totals,
    /// Where it goes on from, if it is a fork.
    pub forked: Option<Forked>,
    /// What its calls changed, and what of it was not found as recorded.
    pub confirmations: Confirmations,
}

/// One step.
#[derive(Clone, Debug)]
pub struct Step {
    /// Its name.
    pub id: StepId,
    /// Where it stands.
    pub state: StepState,
    /// Its resolved input.
    pub input: Option<PayloadRef>,
    /// When it first started: the origin of its clock.
    pub started_us: Option<i64>,
    /// Its output.
    pub output: Option<PayloadRef>,
    /// What it meant for the world.
    pub result_type: Option<ResultType>,
    /// Why it failed.
    pub failure: Option<Failure>,
    /// Why it was skipped, and because of which step.
    pub skipped: Option<(Code, Option<StepId>)>,
    /// The call inside it that a dry run left out.
    pub would_call: Option<WouldCall>,
    /// Who executed it, where it was copied by a fork; and whether its output was given instead.
    pub copied: Option<(Box<Maker>, bool)>,
    /// Tries that ended without a verdict on it (stack overflow, wall clock).
    pub aborts: u32,
    /// What it waits for.
    pub blocked: Option<(Slot, Code)>,
    /// Who performs the action it waits for.
    pub holder: Option<Holder>,
    /// Whether an earlier result stood in for it, and where that came from.
    pub reuse: Option<(bool, Origin)>,
    /// When it will be tried again.
    pub retry_at_us: Option<i64>,
    /// What it announced.
    pub emits: Vec<Emit>,
    /// What it produced for the user.
    pub outcome: Option<Outcome>,
}

/// One announced event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Emit {
    /// Calls made before it.
    pub after_calls: u32,
    /// Its name.
    pub name: String,
    /// Its payload.
    pub payload: PayloadRef,
}

/// A value for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Its id.
    pub id: String,
    /// `Draft.Email`
    pub outcome_type: String,
    /// `draft` or `final`.
    pub status: String,
    /// Who may see it.
    pub sensitivity: Option<String>,
}

/// One invocation.
#[derive(Clone, Debug)]
pub struct Call {
    /// What is called.
    pub operator: Operator,
    /// With what.
    pub args: PayloadRef,
    /// The attempt that first started it; 0 where the host refused it.
    pub first_attempt: u32,
    /// Tries started so far.
    pub tries: u32,
    /// The try that is started and has neither answer nor verdict.
    pub open_try: Option<u32>,
    /// The last answer.
    pub finished: Option<Finished>,
    /// Whether the answer is final.
    pub committed: bool,
    /// The event that made it final.
    pub committed_seq: u64,
    /// When it will be tried again.
    pub retry_at_us: Option<i64>,
    /// The last verdict on it, since it was begun or taken up again.
    pub verdict: Option<(u32, Verdict)>,
    /// The verdict on each try that had one.
    pub verdicts: BTreeMap<u32, Verdict>,
    /// Evidence contradicts a verdict.
    pub conflict: bool,
    /// Somebody knows of that, and let what is recorded be undone all the same.
    pub conflict_accepted: bool,
    /// The action key it was asked under.
    pub action_key: Option<Hash>,
    /// The call that performed the action, where its receipt is the answer.
    pub receipt_of: Option<(JobId, Slot)>,
    /// Tries of earlier rounds: retries are counted anew after the job was reopened.
    pub round: u32,
    /// Whether it was reopened and has not been started since.
    pub reopened: bool,
    /// How often its tool has said of the open try that it cannot tell yet.
    pub not_yets: u32,
}

impl Call {
    /// Whether the host has yet to start it: for the first time, or in a new round.
    pub fn is_unstarted(&self) -> bool {
        self.first_attempt == 0 || self.reopened
    }

    /// What is charged for this try because its answer does not say what it used.
    pub fn assumed_of(&self, try_no: u32) -> Option<u64> {
        self.finished.as_ref().filter(|finished| finished.try_no == try_no)?.assumed_micro_usd
    }
}

/// An answer.
#[derive(Clone, Debug)]
pub struct Finished {
    /// Of which try.
    pub try_no: u32,
    /// Whether it is a result.
    pub ok: bool,
    /// The effect.
    pub answer: PayloadRef,
    /// Why it failed.
    pub code: Option<Code>,
    /// When it was recorded: what the step's clock moves to.
    pub time_us: i64,
    /// How it came to be known.
    pub provenance: Provenance,
    /// What it cost.
    pub usage: Option<Usage>,
    /// What is charged where the answer does not say what it used, millionths of a US dollar.
    pub assumed_micro_usd: Option<u64>,
    /// Whether a model gave it.
    pub nondeterministic: bool,
}

/// One approval of a gate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approval {
    /// Who, and why.
    pub by: Decider,
    /// Whether it was given with the submission.
    pub standing: bool,
}

/// One gate.
#[derive(Clone, Debug)]
pub struct Gate {
    /// Hash over operator, digest, slot, arguments and mode.
    pub hash: Hash,
    /// The operator that would run.
    pub operator: Operator,
    /// The exact arguments.
    pub args: PayloadRef,
    /// How many different approvers it takes.
    pub quorum: u32,
    /// When it expires.
    pub expires_us: Option<i64>,
    /// Who approved so far, each once.
    pub approvals: Vec<Approval>,
    /// What was decided, and by whom (the last of a quorum).
    pub decision: Option<(bool, Decider)>,
    /// Whether it is closed because nobody decided in time.
    pub expired: bool,
}

impl Job {
    /// The index of a step.
    pub fn index(&self, id: &StepId) -> Option<usize> {
        self.steps.iter().position(|step| step.id == *id)
    }
    /// A step.
    pub fn step(&self, id: &StepId) -> Option<&Step> {
        self.steps.iter().find(|step| step.id == *id)
    }
    /// The tries of this attempt are gone, as those of a lost one are with the next claim: steps
    /// that ran may run again from their log.
    pub fn drop_tries(&mut self) {
        for step in self.steps.iter_mut().filter(|step| step.state == StepState::Running) {
            step.state = StepState::Ready;
        }
    }
    /// What the job pinned of an operator.
    pub fn pinned(&self, operator: &Operator) -> Option<&Pinned> {
        self.header.operators.get(operator)
    }
    /// The calls made inside a step, in order.
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
    /// Whether a world-changing call of the step took effect.
    pub fn changed_the_world(&self, step: &StepId) -> bool {
        let own = self.calls.iter().filter(|(slot, _)| slot.step() == *step && !slot.is_compensation());
        own.into_iter().any(|(_, call)| self.took_effect(call))
    }
    /// The result type of a step that ends now.
    pub fn result_type(&self, step: &StepId, ok: bool) -> ResultType {
        let changed = self.changed_the_world(step);
        let called = self.calls.keys().any(|slot| slot.step() == *step);
        match (ok, changed, called) {
            (true, true, _) => ResultType::SideEffectCommitted,
            (true, false, true) => ResultType::Success,
            (true, false, false) => ResultType::Pure,
            (false, true, _) => ResultType::CompensatableFailure,
            (false, false, _) => ResultType::PermanentFailure,
        }
    }
}

/// Labels of payloads: unique within a job.
pub mod label {
    use crate::ids::{Slot, StepId};

    /// A step's resolved input.
    pub fn input(step: &StepId) -> String {
        format!("input/{step}")
    }
    /// A step plugin's output.
    pub fn output(step: &StepId) -> String {
        format!("output/{step}")
    }
    /// The canonical arguments of a call.
    pub fn args(slot: &Slot) -> String {
        format!("args/{slot}")
    }
    /// The recorded effect of a try.
    pub fn answer(slot: &Slot, try_no: u32) -> String {
        format!("answer/{slot}/{try_no}")
    }
    /// The payload of an announced event.
    pub fn emitted(step: &StepId, n: u32) -> String {
        format!("event/{step}/{n}")
    }
    /// What came with the request: a JSON array.
    pub const CONTEXTS: &str = "contexts";
    /// The values of the plan's parameters: a JSON object.
    pub const PARAMETERS: &str = "parameters";
    /// What an early signal carries.
    pub fn signal(n: u32) -> String {
        format!("signal/{n}")
    }
    /// What is left of an answer that could not be used.
    pub fn kept(slot: &Slot, try_no: u32) -> String {
        format!("kept/{slot}/{try_no}")
    }
}
