//! What to type next.

use crate::decide;
use crate::error::Code;
use crate::event::Header;
use crate::job::JobState;
use crate::ledger::RowState;
use crate::state::Durable;

use super::BlockedView;

pub(super) fn next_actions(durable: &Durable, blocked: &[BlockedView]) -> Vec<String> {
    let job = &durable.job;
    let id = &job.header.job_id;
    let mut actions = Vec::new();
    for view in blocked {
        match view.reason_code {
            Code::RequiresApproval => {
                let reason = asked_why(&job.header);
                actions.push(format!("latch job approve {id} {}{reason}", view.slot));
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

/// What an approval has to be given with, where the policy of the job's acceptance wants reasons; today's may
/// want one as well, and says so.
pub fn asked_why(header: &Header) -> &'static str {
    if header.rules.as_ref().is_some_and(|rules| rules.gate_reason) { " --reason TEXT" } else { "" }
}

/// A word of a command line, in single quotes where a shell would read it otherwise.
pub fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.:/@+,=".contains(c);
    if !text.is_empty() && !text.starts_with('-') && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}
