//! The response of a job (§13): what succeeded, what did not, what waits, and what to type next.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::bindings;
use crate::cost::Totals;
use crate::decide::{self, Standing, waits_for};
use crate::error::Code;
use crate::event::{Consequence, Holder, Mode, Resource, ResultType, Unconfirmed};
use crate::ids::{JobId, Slot, StepId};
use crate::job::JobState;
use crate::keys;
use crate::ledger::RowState;
use crate::plan;
use crate::state::{Compensation, Durable, Finished, NotConfirmed, Step};
use crate::step::StepState;

/// Bytes of an outcome that a response shows.
const PREVIEW_BYTES_MAX: usize = 240;

/// What a job came to, or where it stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Response {
    /// `completed`, `partial`, `failed`, `cancelled`, `running`.
    pub status: String,
    /// `HUMAN_GATED`
    pub mode: String,
    /// The job.
    pub job_id: JobId,
    /// Label of its plan.
    pub plan_id: String,
    /// Where it stands: `PARKED`.
    pub state: JobState,
    /// Why the job as a whole goes no further: parked or diverged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason_code: Option<Code>,
    /// `relaxed` where the configuration lets a power failure undo what was acknowledged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub durability: Option<String>,
    /// Values for the user.
    pub outcomes: Vec<OutcomeView>,
    /// Every step.
    pub steps: Vec<StepView>,
    /// Steps that failed.
    pub failed: Vec<FailedView>,
    /// Steps that wait for somebody or something.
    pub blocked: Vec<BlockedView>,
    /// The first of `blocked`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocked_on: Option<BlockedView>,
    /// What became of each call that took effect, where the job undoes what it did: the last one first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub compensations: Vec<CompensationView>,
    /// Commands to type.
    pub next_actions: Vec<String>,
    /// What earlier calls changed and is not as it was recorded, or nobody could tell.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unconfirmed: Vec<UnconfirmedView>,
    /// Calls of which something else was learned than what somebody had decided.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contradicted: Vec<Slot>,
    /// How often such a change was found and the job went on.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub confirmation_replay_warnings_total: u32,
    /// How the job diverged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub divergence: Option<crate::replay::Divergence>,
    /// What its calls cost: charges of answers; fuel and time of every try.
    pub cost: Totals,
}

/// A value for the user.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutcomeView {
    /// `Draft.Email`
    #[serde(rename = "type")]
    pub outcome_type: String,
    /// Its id.
    pub outcome_id: String,
    /// `draft` or `final`.
    pub status: String,
    /// The step that made it.
    pub step_id: StepId,
    /// Its beginning: JSON text, cut.
    pub preview: String,
}

/// One step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepView {
    /// The step.
    pub step_id: StepId,
    /// Its operator.
    pub operator: String,
    /// Where it stands.
    pub state: StepState,
    /// What it meant for the world.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_type: Option<ResultType>,
    /// Why it is not further.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason_code: Option<Code>,
    /// Whether a model had a part in it: another run may come to something else.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub nondeterministic: bool,
    /// What a dry run would have done here, with the exact arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub would_call: Option<WouldCallView>,
    /// Calls of the step that are not simply executed and committed, or that a model answered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A step that failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FailedView {
    /// The step.
    pub step_id: StepId,
    /// Why.
    pub reason_code: Code,
    /// Why, for a person.
    pub message: String,
}

/// A step that waits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BlockedView {
    /// The step.
    pub step_id: StepId,
    /// The invocation it waits for.
    pub slot: Slot,
    /// Why.
    pub reason_code: Code,
    /// The gate to decide.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate_id: Option<String>,
    /// When it goes on, expires or times out by itself, microseconds since 1970 UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<i64>,
    /// Who performs the action it waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<Holder>,
    /// The key that the signal must carry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation_key: Option<String>,
    /// How many different approvers the gate takes, where one is not enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quorum: Option<u32>,
    /// Who has approved so far.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approved_by: Vec<String>,
    /// The invocation itself, where one is waited for: what to look for in the outside system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<CallView>,
}

/// An invocation that somebody has to decide about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallView {
    /// What is called.
    pub operator: String,
    /// With what, exactly.
    pub args: Value,
    /// The key the outside system was given, once a try has started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_key: Option<String>,
}

/// A recorded change that was not confirmed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnconfirmedView {
    /// The call that made it.
    pub slot: Slot,
    /// The thing that changed.
    #[serde(flatten)]
    pub resource: Resource,
    /// Whether it is otherwise, or nobody could tell.
    pub outcome: Unconfirmed,
    /// What was found instead, or why nobody could tell.
    pub found: String,
    /// What followed.
    pub consequence: Consequence,
    /// Who took it as it is, or found it as recorded again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled_by: Option<String>,
    /// Whether that person said that it is gone for good.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gone: bool,
}

/// A call that took effect, in a job that undoes what it did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CompensationView {
    /// The call.
    pub slot: Slot,
    /// What was called.
    pub operator: String,
    /// What undoes it, and the slot of that; none where nothing can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<CompensatedBy>,
    /// How far that is.
    pub state: Undone,
    /// Why it is not undone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason_code: Option<Code>,
}

/// What undoes a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CompensatedBy {
    /// The operator.
    pub operator: String,
    /// Its slot.
    pub slot: Slot,
    /// Whether the call's own plugin does it, by its `compensate` export.
    pub own: bool,
}

/// How far the undoing of a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Undone {
    /// Its turn has not come.
    Waiting,
    /// It is its turn.
    UnderWay,
    /// It is undone.
    Compensated,
    /// It could not be undone, and somebody has to decide.
    Failed,
    /// It was not undone, and stays so.
    Left,
    /// Nothing can undo it.
    Impossible,
    /// Nobody knows whether there is anything to undo.
    Unknown,
}

/// A call that a dry run left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WouldCallView {
    /// Where it would have stood.
    pub slot: Slot,
    /// What would have been called.
    pub operator: String,
    /// With what; bindings to what was not made are still in it.
    pub args: Value,
    /// Those bindings: JSON pointers into the arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<String>,
}

/// The response of a job as it stands.
pub fn response(durable: &Durable) -> Response {
    let job = &durable.job;
    let blocked: Vec<BlockedView> = job.steps.iter().flat_map(|step| all_blocked(durable, step)).collect();
    Response {
        status: status(durable, &blocked).to_owned(),
        mode: job.header.mode.as_str().to_owned(),
        job_id: job.header.job_id.clone(),
        plan_id: job.plan.plan_id.clone(),
        state: job.state,
        reason_code: reason(durable),
        durability: None,
        outcomes: job.steps.iter().filter_map(|step| outcome(durable, step)).collect(),
        steps: job.steps.iter().map(|step| step_view(durable, step)).collect(),
        failed: job.steps.iter().filter_map(failed).collect(),
        blocked_on: blocked.first().cloned(),
        compensations: compensations(durable),
        next_actions: next_actions(durable, &blocked),
        blocked,
        unconfirmed: job.confirmations.failed.iter().map(unconfirmed).collect(),
        contradicted: job.calls.iter().filter(|(_, call)| call.conflict).map(|(slot, _)| slot.clone()).collect(),
        confirmation_replay_warnings_total: job.confirmations.warnings,
        divergence: job.divergence.clone(),
        cost: cost(durable),
    }
}

fn status(durable: &Durable, blocked: &[BlockedView]) -> &'static str {
    match durable.job.state {
        JobState::Completed => "completed",
        JobState::Partial => "partial",
        JobState::Failed => "failed",
        JobState::Cancelled => "cancelled",
        // Where only a time is waited for, nobody has to do anything.
        JobState::Parked | JobState::Waiting if goes_on_alone(blocked) => "running",
        JobState::Parked | JobState::Waiting | JobState::Diverged => "partial",
        JobState::Pending | JobState::Running => "running",
    }
}

/// Why nothing of the job moves, where that is not the end of it.
fn reason(durable: &Durable) -> Option<Code> {
    match durable.job.state {
        JobState::Diverged => Some(Code::Diverged),
        JobState::Parked => durable.job.parked.as_ref().map(|(code, _)| *code),
        _ => None,
    }
}

fn goes_on_alone(blocked: &[BlockedView]) -> bool {
    let alone = |view: &BlockedView| matches!(view.reason_code, Code::RetryScheduled | Code::WaitingTimer);
    !blocked.is_empty() && blocked.iter().all(alone)
}

fn outcome(durable: &Durable, step: &Step) -> Option<OutcomeView> {
    let outcome = step.outcome.as_ref()?;
    let bytes = durable.output(&step.id).unwrap_or_default();
    Some(OutcomeView {
        outcome_type: outcome.outcome_type.clone(),
        outcome_id: outcome.id.clone(),
        status: outcome.status.clone(),
        step_id: step.id.clone(),
        preview: preview(&String::from_utf8_lossy(&bytes)),
    })
}

fn preview(text: &str) -> String {
    if text.len() <= PREVIEW_BYTES_MAX {
        return text.to_owned();
    }
    let mut end = PREVIEW_BYTES_MAX;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", &text[..end])
}

fn step_view(durable: &Durable, step: &Step) -> StepView {
    let job = &durable.job;
    let reason_code = step
        .failure
        .as_ref()
        .map(|failure| failure.code)
        .or(step.skipped.as_ref().map(|(code, _)| *code))
        .or(step.blocked.as_ref().map(|(_, code)| *code))
        .or((step.state == StepState::WaitingApproval).then_some(Code::RequiresApproval))
        .or((step.state == StepState::WaitingSignal).then(|| waits_for(durable, step)))
        .or((step.state == StepState::FailedRetryable).then_some(Code::RetryScheduled));
    let notes = job
        .calls
        .iter()
        .filter(|(slot, _)| slot.step() == step.id)
        .filter_map(|(slot, call)| {
            let finished = call.finished.as_ref()?;
            note(slot, finished)
        })
        .chain(
            step.reuse
                .iter()
                .filter(|(reused, _)| *reused)
                .map(|(_, from)| format!("reused from {} {}", from.job_id, from.step_id)),
        );
    let operator = job.plan.step(&step.id).map(|planned| planned.name.to_string()).unwrap_or_default();
    let notes = step
        .copied
        .iter()
        .map(|(maker, is_set)| match is_set {
            true => "output set with the fork".to_owned(),
            false => format!("copied from {}", maker.job_id),
        })
        .chain(notes)
        .collect();
    StepView {
        step_id: step.id.clone(),
        operator,
        state: step.state,
        result_type: step.result_type,
        reason_code,
        nondeterministic: job.calls.iter().any(|(slot, call)| {
            slot.step() == step.id && call.finished.as_ref().is_some_and(|finished| finished.nondeterministic)
        }),
        would_call: would_call(durable, step),
        notes,
    }
}

/// How an answer came to be known, and which model gave it.
fn note(slot: &Slot, finished: &Finished) -> Option<String> {
    let mut parts = Vec::new();
    if !finished.provenance.is_executed() {
        parts.push(word(&finished.provenance));
    }
    if finished.nondeterministic {
        let usage = finished.usage.as_ref();
        let model = usage.and_then(|usage| usage.model.as_deref()).unwrap_or("a model");
        let trace = usage.and_then(|usage| usage.provider_trace_id.as_deref());
        let trace = trace.map(|id| format!(", its trace {id}")).unwrap_or_default();
        parts.push(format!("nondeterministic: answered by {model}{trace}"));
    }
    (!parts.is_empty()).then(|| format!("{slot}: {}", parts.join("; ")))
}

/// What a dry run did not do in this step.
fn would_call(durable: &Durable, step: &Step) -> Option<WouldCallView> {
    let job = &durable.job;
    let (code, _) = step.skipped.as_ref().filter(|_| job.header.mode == Mode::DryRun)?;
    // A wait calls nothing.
    let planned = job.plan.step(&step.id).filter(|planned| planned.kind != plan::Kind::Wait)?;
    let json = |bytes: std::sync::Arc<[u8]>| serde_json::from_slice(&bytes).unwrap_or_default();
    let slot = Slot::of_step(&step.id);
    match (code, &step.would_call) {
        (Code::ModeForbids, Some(call)) => Some(WouldCallView {
            slot: call.slot.clone(),
            operator: call.operator.to_string(),
            args: json(durable.args(&call.slot)?),
            open: vec![],
        }),
        (Code::ModeForbids, None) => {
            let args = json(durable.input(&step.id)?);
            Some(WouldCallView { slot, operator: planned.name.to_string(), args, open: vec![] })
        }
        (Code::DryRunUpstream, _) => {
            let is_open = |place: &bindings::Place| {
                let step = place.binding.as_ref().ok().and_then(|binding| job.step(binding.step()));
                step.is_some_and(|step| step.state == StepState::Skipped)
            };
            let open = bindings::places(&planned.payload).into_iter().filter(is_open).map(|place| place.at).collect();
            Some(WouldCallView { slot, operator: planned.name.to_string(), args: planned.payload.clone(), open })
        }
        _ => None,
    }
}

fn word(value: &impl Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
}

fn failed(step: &Step) -> Option<FailedView> {
    let failure = step.failure.as_ref()?;
    (step.state == StepState::FailedFinal).then(|| FailedView {
        step_id: step.id.clone(),
        reason_code: failure.code,
        message: failure.message.clone(),
    })
}

fn unconfirmed(failed: &NotConfirmed) -> UnconfirmedView {
    UnconfirmedView {
        slot: failed.slot.clone(),
        resource: failed.resource.clone(),
        outcome: failed.outcome,
        found: failed.found.clone(),
        consequence: failed.consequence,
        settled_by: failed.settled.as_ref().map(|by| by.actor.clone()),
        gone: failed.gone,
    }
}

/// What a step waits for, and before it the calls of it that somebody has yet to confirm: they may
/// be those of a step that is over.
fn all_blocked(durable: &Durable, step: &Step) -> Vec<BlockedView> {
    let mut slots: Vec<&Slot> = durable.job.asked().map(|failed| &failed.slot).collect();
    let is_open = !durable.job.state.is_terminal() && !durable.job.is_given_up();
    slots.retain(|slot| slot.step() == step.id && is_open);
    slots.dedup();
    let confirm = slots.into_iter().map(|slot| BlockedView {
        step_id: step.id.clone(),
        slot: slot.clone(),
        reason_code: Code::ConfirmationRequired,
        gate_id: None,
        until: None,
        holder: None,
        correlation_key: None,
        quorum: None,
        approved_by: vec![],
        call: call(durable, slot, Code::ConfirmationRequired),
    });
    let own = waits(durable, step).into_iter().filter(|(_, code)| !is_open || *code != Code::ConfirmationRequired);
    confirm.chain(own.map(|(slot, code)| blocked(durable, step, slot, code))).collect()
}

fn compensations(durable: &Durable) -> Vec<CompensationView> {
    let job = &durable.job;
    let view = |(slot, standing, compensation): (Slot, Standing, Option<Compensation>)| {
        let by = compensation.map(|c| (c.operator, c.own)).or_else(|| job.undone_by(&slot));
        let by = by.filter(|_| standing != Standing::Unknown).map(|(operator, own)| CompensatedBy {
            operator: operator.to_string(),
            slot: slot.compensation(),
            own,
        });
        let (state, reason_code) = match standing {
            Standing::Waiting => (Undone::Waiting, None),
            Standing::UnderWay => (Undone::UnderWay, None),
            Standing::Compensated => (Undone::Compensated, None),
            Standing::Failed(code) => (Undone::Failed, Some(code)),
            Standing::Left(code) => (Undone::Left, code),
            Standing::Impossible => (Undone::Impossible, None),
            Standing::Unknown => (Undone::Unknown, Some(Code::InvocationLost)),
        };
        let operator = job.calls.get(&slot).map(|call| call.operator.to_string()).unwrap_or_default();
        CompensationView { slot, operator, by, state, reason_code }
    };
    decide::undone(durable).into_iter().map(view).collect()
}

/// What a job that is given up waits for in this step: its steps wait for nothing any more, but
/// calls in doubt, and what undoes one, are brought to their end.
fn given_up_waits(durable: &Durable, step: &Step) -> Vec<(Slot, Code)> {
    let job = &durable.job;
    let of_step = |(slot, _): &(Slot, Code)| slot.step() == step.id;
    let undoing = decide::undo_waits(durable).into_iter().map(|(code, slot, _)| (slot, code));
    let undoing: Vec<_> = undoing.filter(of_step).collect();
    if !undoing.is_empty() {
        return undoing;
    }
    let in_doubt = step.blocked.clone().filter(|(_, code)| *code == Code::IndeterminateEffect);
    let parked = || job.parked.clone().and_then(|(code, slot)| Some((slot?, code)));
    in_doubt.or_else(|| parked().filter(of_step)).into_iter().collect()
}

fn waits(durable: &Durable, step: &Step) -> Vec<(Slot, Code)> {
    let job = &durable.job;
    let slot = Slot::of_step(&step.id);
    let own = match step.state {
        _ if job.is_given_up() && !job.state.is_terminal() => return given_up_waits(durable, step),
        StepState::WaitingApproval => Some((slot, Code::RequiresApproval)),
        StepState::FailedRetryable => Some((slot, Code::RetryScheduled)),
        StepState::WaitingSignal => Some((slot, waits_for(durable, step))),
        StepState::Blocked => step.blocked.clone(),
        _ => None,
    };
    own.into_iter().collect()
}

fn blocked(durable: &Durable, step: &Step, slot: Slot, reason_code: Code) -> BlockedView {
    let job = &durable.job;
    let gate_id = (reason_code == Code::RequiresApproval).then(|| format!("gate-{slot}"));
    let wait = job.waiting(&step.id);
    let gate = job.gates.get(&slot).filter(|_| gate_id.is_some());
    let until = match reason_code {
        Code::RetryScheduled => job.calls.get(&slot).and_then(|call| call.retry_at_us),
        Code::RequiresApproval => gate.and_then(|gate| gate.expires_us),
        _ => wait.and_then(|wait| wait.until_us),
    };
    let call = call(durable, &slot, reason_code);
    BlockedView {
        step_id: step.id.clone(),
        slot,
        call,
        reason_code,
        gate_id,
        until,
        holder: step.holder.clone(),
        correlation_key: wait.and_then(|wait| wait.key.clone()),
        quorum: gate.map(|gate| gate.quorum).filter(|quorum| *quorum > 1),
        approved_by: gate.map(|gate| gate.approvals.iter().map(|a| a.by.actor.clone()).collect()).unwrap_or_default(),
    }
}

/// What is waited for, where it is an invocation and not a signal or a time.
fn call(durable: &Durable, slot: &Slot, reason: Code) -> Option<CallView> {
    let job = &durable.job;
    if matches!(reason, Code::RequiresSignal | Code::WaitingTimer) {
        return None;
    }
    let started = job.calls.get(slot);
    let planned = || job.plan.step(&slot.step()).filter(|_| slot.is_step()).map(|step| &step.name);
    let gated = || job.gates.get(slot).map(|gate| &gate.operator);
    let operator = started.map(|call| &call.operator).or_else(gated).or_else(planned)?;
    let args = serde_json::from_slice(&durable.args(slot)?).ok()?;
    let first = started.map(|call| call.first_attempt).filter(|first| *first > 0);
    Some(CallView {
        operator: operator.to_string(),
        args,
        external_key: first.map(|first| keys::external_key(&job.header.job_id, slot, first)),
    })
}

fn next_actions(durable: &Durable, blocked: &[BlockedView]) -> Vec<String> {
    let job = &durable.job;
    let id = &job.header.job_id;
    let mut actions = Vec::new();
    for view in blocked {
        match view.reason_code {
            Code::RequiresApproval => {
                actions.push(format!("latch job approve {id} {}", view.slot));
                actions.push(format!("latch job reject {id} {} --reason TEXT", view.slot));
            }
            Code::RequiresSignal => {
                let key = quoted(view.correlation_key.as_deref().unwrap_or_default());
                actions.push(format!("latch job signal {id} {key} --payload JSON"));
            }
            Code::WaitingTimer => actions.push(format!("latch resume {id}")),
            Code::IndeterminateEffect => {
                let decidable = durable.rows.get(&view.slot).is_some_and(|row| row.state == RowState::Indeterminate);
                if decidable {
                    actions.push(format!("latch job resolve {id} {} --applied RESULT.json", view.slot));
                    actions.push(format!("latch job resolve {id} {} --not-applied", view.slot));
                    actions.push(format!("latch job resolve {id} {} --abort", view.slot));
                } else {
                    actions.push(format!("latch resume {id}"));
                }
            }
            Code::ConfirmationRequired => {
                actions.push(format!("latch job confirm {id} {} --reason TEXT", view.slot));
            }
            Code::CompensationFailed => {
                actions.push(format!("latch job resolve {id} {} --applied RESULT.json", view.slot));
                actions.push(format!("latch job resolve {id} {} --not-applied", view.slot));
                actions.push(format!("latch job resolve {id} {} --abort", view.slot));
                actions.push(format!("latch job resolve {id} --abort"));
            }
            Code::ResolutionConflict | Code::ConfirmationMismatch => {
                if view.reason_code == Code::ConfirmationMismatch {
                    actions.push(format!("latch job confirm {id} {} --reason TEXT", view.slot));
                }
                actions.push(format!("latch job resolve {id} --continue"));
                actions.push(format!("latch job resolve {id} --abort"));
            }
            Code::ActionInProgress => {
                if let Some(holder) = view.holder.as_ref().filter(|holder| holder.job_id != *id) {
                    actions.push(format!("latch job show {}", holder.job_id));
                }
            }
            _ => {}
        }
    }
    match (job.state, job.parked.as_ref().map(|(code, _)| *code)) {
        (JobState::Diverged, _) | (JobState::Parked, Some(Code::AttemptsExhausted)) => {
            actions.push(format!("latch job resolve {id} --continue"));
            let step = job.divergence.as_ref().map(crate::replay::Divergence::step);
            if let Some(step) = step.filter(|step| job.index(step).is_some()) {
                actions.push(format!("latch job fork {id} --at {step}"));
            }
            actions.push(format!("latch job resolve {id} --abort"));
        }
        (JobState::Pending | JobState::Running | JobState::Waiting, _) => actions.push(format!("latch resume {id}")),
        (state, _) if state.is_terminal() && job.disputed().next().is_some() => {
            for slot in job.disputed() {
                actions.push(format!("latch job confirm {id} {slot} --reason TEXT"));
                actions.push(format!("latch job confirm {id} {slot} --gone --reason TEXT"));
            }
        }
        (JobState::Partial | JobState::Failed, _) if decide::reopenable(durable).is_ok() => {
            actions.push(format!("latch job retry {id}"));
        }
        _ => {}
    }
    let mut seen = std::collections::BTreeSet::new();
    actions.retain(|action| seen.insert(action.clone()));
    actions
}

/// A word of a command line, in single quotes where a shell would read it otherwise.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.:/@+,=".contains(c);
    if !text.is_empty() && !text.starts_with('-') && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// The charges of the log, and beside them what every try took, charged or not.
fn cost(durable: &Durable) -> Totals {
    let mut totals = Totals { fuel: 0, wall_ms: 0, ..durable.job.cost };
    for spent in durable.effects.values().filter_map(|effect| effect.spent) {
        totals.fuel += spent.fuel;
        totals.wall_ms += u64::from(spent.wall_ms);
    }
    totals
}

fn is_zero(n: &u32) -> bool {
    *n == 0
}
