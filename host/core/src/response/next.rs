//! Next actions: commands that the job accepts in its current state and that change something.

use super::BlockedView;
use super::offer::Offer;
use crate::model::error::Code;
use crate::model::job::JobState;
use crate::state::Durable;

/// Returns the commands to run at `now_us`, microseconds since 1970 UTC.
pub(super) fn next_actions(durable: &Durable, blocked: &[BlockedView], now_us: i64) -> Vec<String> {
    let mut offers: Vec<Offer> = blocked.iter().flat_map(|view| offers_for_wait(durable, view, now_us)).collect();
    offers.extend(offers_for_job(durable));
    offers.retain(|offer| offer.is_useful(durable, now_us));
    let mut seen = std::collections::BTreeSet::new();
    let commands = offers.iter().map(|offer| offer.command(durable));
    commands.filter(|command| seen.insert(command.clone())).collect()
}

/// Returns commands about one condition for which the job waits.
fn offers_for_wait(durable: &Durable, view: &BlockedView, now_us: i64) -> Vec<Offer> {
    let slot = || view.slot.clone();
    let verdicts = || vec![Offer::Applied(slot()), Offer::NotApplied(slot()), Offer::Lost(slot())];
    match view.reason_code {
        Code::RequiresApproval => vec![Offer::Approve(slot()), Offer::Reject(slot())],
        Code::RequiresSignal => view.correlation_key.iter().map(|key| Offer::Signal(key.clone())).collect(),
        Code::WaitingTimer => vec![Offer::Resume],
        Code::IndeterminateEffect => {
            let verdicts = verdicts();
            let decidable = verdicts.iter().any(|offer| offer.is_useful(durable, now_us));
            if decidable { verdicts } else { vec![Offer::Resume] }
        }
        Code::ConfirmationRequired => vec![Offer::Confirm { slot: slot(), gone: false }],
        Code::CompensationFailed => verdicts().into_iter().chain([Offer::Abort]).collect(),
        Code::GrantRequired | Code::MachineFault | Code::ResolutionConflict => vec![Offer::Continue, Offer::Abort],
        Code::ConfirmationMismatch => {
            vec![Offer::Confirm { slot: slot(), gone: false }, Offer::Continue, Offer::Abort]
        }
        Code::ActionInProgress => {
            let other = view.holder.iter().filter(|holder| holder.job_id != durable.job.header.job_id);
            other.map(|holder| Offer::Show(holder.job_id.clone())).collect()
        }
        _ => vec![],
    }
}

/// Returns commands about the job as a whole.
fn offers_for_job(durable: &Durable) -> Vec<Offer> {
    let job = &durable.job;
    let exhausted = matches!(job.parked, Some((Code::AttemptsExhausted, _)));
    match job.state {
        JobState::Parked if !exhausted => vec![],
        JobState::Parked | JobState::Diverged => {
            let step = job.divergence.as_ref().map(crate::model::divergence::Divergence::step);
            let fork = step.filter(|step| job.index(step).is_some()).map(|step| Offer::Fork(step.clone()));
            [Offer::Continue].into_iter().chain(fork).chain([Offer::Abort]).collect()
        }
        JobState::Pending | JobState::Running | JobState::Waiting => vec![Offer::Resume],
        _ if job.blocking_mismatches().next().is_some() => {
            let each =
                |slot: &crate::model::ids::Slot| [false, true].map(|gone| Offer::Confirm { slot: slot.clone(), gone });
            job.blocking_mismatches().flat_map(each).collect()
        }
        // A completed job needs no action. An offered undo could lead a user to undo a good result.
        JobState::Completed => vec![],
        _ => vec![Offer::Retry, Offer::Undo],
    }
}
