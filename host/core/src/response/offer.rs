//! Commands that a person can run for a job, and the check that the job accepts them.

use std::collections::BTreeMap;

use crate::decide;
use crate::decide::ForkRequest;
use crate::event::DecidedBy;
use crate::model::ids::{Hash, JobId, Slot, StepId};
use crate::model::rules::Rules;
use crate::response::shell::shell_quoted;
use crate::state::Durable;
use crate::storage::ManualVerdict;

/// One command that a person can run for a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Offer {
    Approve(Slot),
    Reject(Slot),
    Signal(String),
    Applied(Slot),
    NotApplied(Slot),
    Lost(Slot),
    Confirm { slot: Slot, gone: bool },
    Continue,
    Abort,
    Retry,
    Undo,
    Fork(StepId),
    Resume,
    Show(JobId),
}

impl Offer {
    /// Returns true if the job accepts the command at `now_us`, microseconds since 1970 UTC, and the command changes
    /// something.
    pub(super) fn is_useful(&self, durable: &Durable, now_us: i64) -> bool {
        let job = &durable.job;
        let decidable = |slot: &Slot, verdict| decide::verdict_request(durable, slot, verdict, now_us).is_ok();
        match self {
            Offer::Approve(slot) | Offer::Reject(slot) => job.open_gate(slot).is_some(),
            Offer::Signal(key) => {
                job.waits.values().any(|wait| wait.key.as_deref() == Some(key)) && !job.state.is_terminal()
            }
            Offer::Applied(slot) => decidable(slot, ManualVerdict::Applied("null".to_owned())),
            Offer::NotApplied(slot) => decidable(slot, ManualVerdict::NotApplied),
            Offer::Lost(slot) => decidable(slot, ManualVerdict::Abort),
            Offer::Confirm { slot, gone } => decide::is_confirmable(job, slot, *gone),
            Offer::Continue | Offer::Abort => decide::is_parked_or_diverged(job),
            Offer::Retry => {
                decide::retry_round(durable).is_ok_and(|round| decide::may_end_differently(durable, &round))
            }
            Offer::Undo => decide::calls_to_undo(durable).is_ok(),
            Offer::Fork(at) => {
                let request = ForkRequest {
                    at: at.clone(),
                    set: BTreeMap::new(),
                    by: DecidedBy::claimed(String::new(), None),
                    job_id: job.header.job_id.clone(),
                    secret: Hash::default(),
                };
                decide::fork(durable, &request).is_ok()
            }
            Offer::Resume => !job.state.is_terminal(),
            Offer::Show(_) => true,
        }
    }

    /// Returns the command line.
    pub(super) fn command(&self, durable: &Durable) -> String {
        let header = &durable.job.header;
        let id = &header.job_id;
        match self {
            Offer::Approve(slot) => {
                let rules = header.rules.as_ref();
                let by = if needs_other_approver(durable, slot, rules) { " --actor ANOTHER" } else { "" };
                let (reason, key) = (super::reason_argument(header), super::key_argument(header));
                format!("latch job approve {id} {slot}{by}{key}{reason}")
            }
            Offer::Reject(slot) => format!("latch job reject {id} {slot} --reason TEXT"),
            Offer::Signal(key) => format!("latch job signal {id} {} --payload JSON", shell_quoted(key)),
            Offer::Applied(slot) => format!("latch job resolve {id} {slot} --applied RESULT.json"),
            Offer::NotApplied(slot) => format!("latch job resolve {id} {slot} --not-applied"),
            Offer::Lost(slot) => format!("latch job resolve {id} {slot} --abort"),
            Offer::Confirm { slot, gone: false } => format!("latch job confirm {id} {slot} --reason TEXT"),
            Offer::Confirm { slot, gone: true } => format!("latch job confirm {id} {slot} --gone --reason TEXT"),
            Offer::Continue => format!("latch job resolve {id} --continue"),
            Offer::Abort => format!("latch job resolve {id} --abort"),
            Offer::Retry => format!("latch job retry {id}"),
            Offer::Undo => format!("latch job undo {id}"),
            Offer::Fork(at) => format!("latch job fork {id} --at {at}"),
            Offer::Resume => format!("latch resume {id}"),
            Offer::Show(other) => format!("latch job show {other}"),
        }
    }
}

/// Returns true if the next approval must come from another person. This is the case if the gate already has an
/// approval, or if the rules do not let the submitter approve the gate. Returns false if the job has no recorded rules.
fn needs_other_approver(durable: &Durable, slot: &Slot, rules: Option<&Rules>) -> bool {
    let Some(rules) = rules else { return false };
    let approved = durable.job.open_gate(slot).is_some_and(|gate| !gate.approvals.is_empty());
    approved || !decide::may_approve(rules, &durable.job.header, &durable.job.header.actor_id)
}
