//! The response of a job (§13): what succeeded, what did not, what waits, and what to type next.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::bindings;
use crate::decide;
use crate::error::Code;
use crate::event::{Holder, Mode, ResultType};
use crate::ids::{JobId, Slot, StepId};
use crate::job::JobState;
use crate::ledger::RowState;
use crate::state::{Durable, Step};
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
    /// Commands to type.
    pub next_actions: Vec<String>,
    /// How the job diverged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub divergence: Option<crate::replay::Divergence>,
    /// What its model calls cost, in millionths of a US dollar.
    pub cost: CostView,
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
    /// What a dry run would have done here, with the exact arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub would_call: Option<WouldCallView>,
    /// Calls of the step that are not simply executed and committed.
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
    /// When it goes on by itself, microseconds since 1970 UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<i64>,
    /// Who performs the action it waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<Holder>,
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

/// What it cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CostView {
    /// Tokens read by models.
    pub tokens_in: u64,
    /// Tokens written by models.
    pub tokens_out: u64,
    /// Millionths of a US dollar.
    pub cost_micro_usd: u64,
    /// Credits.
    pub credits: u64,
}

/// The response of a job as it stands.
pub fn response(durable: &Durable) -> Response {
    let job = &durable.job;
    let blocked: Vec<BlockedView> = job.steps.iter().filter_map(|step| blocked(durable, step)).collect();
    Response {
        status: status(durable, &blocked).to_owned(),
        mode: job.header.mode.as_str().to_owned(),
        job_id: job.header.job_id.clone(),
        plan_id: job.plan.plan_id.clone(),
        state: job.state,
        outcomes: job.steps.iter().filter_map(|step| outcome(durable, step)).collect(),
        steps: job.steps.iter().map(|step| step_view(durable, step)).collect(),
        failed: job.steps.iter().filter_map(failed).collect(),
        blocked_on: blocked.first().cloned(),
        next_actions: next_actions(durable, &blocked),
        blocked,
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
        JobState::Parked | JobState::Diverged => "partial",
        JobState::Waiting if blocked.iter().all(|view| view.until.is_some()) => "running",
        JobState::Waiting => "partial",
        JobState::Pending | JobState::Running => "running",
    }
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
        .or((step.state == StepState::FailedRetryable).then_some(Code::RetryScheduled));
    let notes = job
        .calls
        .iter()
        .filter(|(slot, _)| slot.step() == step.id)
        .filter_map(|(slot, call)| {
            let finished = call.finished.as_ref()?;
            let provenance = finished.provenance;
            (!provenance.is_executed()).then(|| format!("{slot}: {}", word(&provenance)))
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
        would_call: would_call(durable, step),
        notes,
    }
}

/// What a dry run did not do in this step.
fn would_call(durable: &Durable, step: &Step) -> Option<WouldCallView> {
    let job = &durable.job;
    let (code, _) = step.skipped.as_ref().filter(|_| job.header.mode == Mode::DryRun)?;
    let planned = job.plan.step(&step.id)?;
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

fn blocked(durable: &Durable, step: &Step) -> Option<BlockedView> {
    let job = &durable.job;
    let (slot, reason_code) = match step.state {
        StepState::WaitingApproval => (Slot::of_step(&step.id), Code::RequiresApproval),
        StepState::FailedRetryable => (Slot::of_step(&step.id), Code::RetryScheduled),
        StepState::Blocked => step.blocked.clone()?,
        // A call in doubt of a job that is being cancelled blocks its end.
        _ if job.state == JobState::Parked => {
            let (reason, slot) = job.parked.clone()?;
            let slot = slot.filter(|slot| slot.step() == step.id)?;
            (slot, reason)
        }
        _ => return None,
    };
    let gate_id = (reason_code == Code::RequiresApproval).then(|| format!("gate-{slot}"));
    let until = match reason_code {
        Code::RetryScheduled => job.calls.get(&slot).and_then(|call| call.retry_at_us),
        _ => None,
    };
    Some(BlockedView { step_id: step.id.clone(), slot, reason_code, gate_id, until, holder: step.holder.clone() })
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
        (JobState::Partial | JobState::Failed, _) if decide::reopenable(durable).is_ok() => {
            actions.push(format!("latch job retry {id}"));
        }
        _ => {}
    }
    actions
}

fn cost(durable: &Durable) -> CostView {
    let mut cost = CostView::default();
    for effect in durable.effects.values() {
        if let crate::effect::Answer::Ok(output) = &effect.answer
            && let Some(usage) = &output.usage
        {
            cost.tokens_in += u64::from(usage.tokens_in);
            cost.tokens_out += u64::from(usage.tokens_out);
            cost.cost_micro_usd += u64::from(usage.cost_micro_usd);
            cost.credits += u64::from(usage.credits);
        }
    }
    cost
}
