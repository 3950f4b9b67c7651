//! Response of a job (§13): its results, failures, pending decisions and the next commands.

mod next;
pub mod notice;
mod offer;
mod outputs;
mod pending;
mod shell;
mod steps;
mod value_origin;
mod views;
mod waits;

use crate::model::error::Code;
use crate::model::job::JobState;
use crate::rules::cost::CostTotals;
use crate::state::Durable;
use next::next_actions;
use outputs::outputs;
use steps::{failed, outcome, step_view};
use waits::{all_blocked, compensations, unconfirmed};

pub use outputs::last_steps;
pub use shell::{key_argument, reason_argument, shell_quoted};
pub use value_origin::{output_copied, receipt_returned, result_reused};
pub use views::{
    BlockedView, CallView, ChangedPluginView, CompensatedBy, CompensationState, CompensationView, FailedView,
    OutcomeView, PendingView, PluginSetting, Response, StepView, UnconfirmedView, WouldCallView, one_line,
};

/// Returns the response for the current state of the job.
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
        cause: job.parked_cause.clone(),
        durability: None,
        changed: vec![],
        outputs: outputs(durable),
        last_steps: last_steps(&job.plan),
        outcomes: job.steps.iter().filter_map(|step| outcome(durable, step)).collect(),
        steps: job.steps.iter().map(|step| step_view(durable, step)).collect(),
        failed: job.steps.iter().filter_map(failed).collect(),
        blocked_on: blocked.first().cloned(),
        compensations: compensations(durable),
        next_actions: next_actions(durable, &blocked, job.last_us),
        blocked,
        pending: vec![],
        cancelled_by: cancelled_by(durable),
        undone_by: job.undo.as_ref().map(|by| by.actor.clone()),
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
        // A job that waits only for a time needs no action by a person.
        JobState::Parked | JobState::Waiting if waits_only_for_time(blocked) => "running",
        JobState::Parked | JobState::Waiting | JobState::Diverged => "partial",
        JobState::Pending | JobState::Running => "running",
    }
}

/// Returns the reason why a job that is not terminal does not proceed.
fn reason(durable: &Durable) -> Option<Code> {
    match durable.job.state {
        JobState::Diverged => Some(Code::Diverged),
        JobState::Parked => durable.job.parked.as_ref().map(|(code, _)| *code),
        _ => None,
    }
}

/// Returns the actor that cancelled the job. Returns `None` once the job is terminal, and for a finished job that is
/// being undone. A cancelled job stays open until its calls have finished and its effects are undone.
fn cancelled_by(durable: &Durable) -> Option<String> {
    let job = &durable.job;
    job.cancel.as_ref().filter(|_| !job.state.is_terminal() && job.undo.is_none()).map(|by| by.actor.clone())
}

fn waits_only_for_time(blocked: &[BlockedView]) -> bool {
    let alone = |view: &BlockedView| matches!(view.reason_code, Code::RetryScheduled | Code::WaitingTimer);
    !blocked.is_empty() && blocked.iter().all(alone)
}

/// Returns the charges recorded in the log, and the fuel and time of all tries. Tries without a charge are included.
fn cost(durable: &Durable) -> CostTotals {
    let mut totals = CostTotals { fuel: 0, wall_ms: 0, ..durable.job.cost };
    for spent in durable.effects.values().filter_map(|effect| effect.spent) {
        totals.fuel += spent.fuel;
        totals.wall_ms += u64::from(spent.wall_ms);
    }
    totals
}
