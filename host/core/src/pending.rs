//! Requests of people that a job has accepted but not applied yet. These requests are acknowledged and durable.
//! When the job continues, its lease holder turns them into events in the order of arrival.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::ids::Slot;
use crate::state::{Durable, Gate};
use crate::storage::{InboxRow, Request, Resolved};

/// Kind of request that a person can make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Asked {
    /// Approve the gated call.
    Approve,
    /// Reject the gated call.
    Reject,
    /// Resolve the call in doubt as applied.
    Applied,
    /// Resolve the call in doubt as not applied.
    NotApplied,
    /// Resolve the call in doubt as lost, because its outcome cannot be found out.
    Lost,
    /// Accept the current state of a call's changes.
    Confirm,
    /// Confirm that a call's effect no longer exists.
    Gone,
    /// Continue the job.
    Continue,
    /// Abort the job.
    Abort,
    /// Cancel the job.
    Cancel,
    /// Send a signal.
    Signal,
    /// Retry the failed steps.
    Retry,
    /// Undo the job.
    Undo,
}

impl Asked {
    /// Returns the kind of a request. `None` for requests that workers and stores make.
    pub fn of(request: &Request) -> Option<Self> {
        Some(match request {
            Request::Approve { .. } => Asked::Approve,
            Request::Reject { .. } => Asked::Reject,
            Request::Resolve { verdict: Resolved::Applied(_), .. } => Asked::Applied,
            Request::Resolve { verdict: Resolved::NotApplied, .. } => Asked::NotApplied,
            Request::Resolve { verdict: Resolved::Abort, .. } => Asked::Lost,
            Request::Confirm { gone: false, .. } => Asked::Confirm,
            Request::Confirm { gone: true, .. } => Asked::Gone,
            Request::Continue => Asked::Continue,
            Request::Abort => Asked::Abort,
            Request::Cancel => Asked::Cancel,
            Request::Signal { .. } => Asked::Signal,
            Request::Retry => Asked::Retry,
            Request::Undo => Asked::Undo,
            Request::Timer { .. } | Request::LateEffect { .. } | Request::KeySettled { .. } => return None,
        })
    }

    /// Returns a past participle for messages, such as `approved`.
    pub fn done(self) -> &'static str {
        match self {
            Asked::Approve => "approved",
            Asked::Reject => "rejected",
            Asked::Applied => "resolved as applied",
            Asked::NotApplied => "resolved as not applied",
            Asked::Lost => "resolved as lost",
            Asked::Confirm => "confirmed",
            Asked::Gone => "confirmed as gone",
            Asked::Continue => "continued",
            Asked::Abort => "aborted",
            Asked::Cancel => "cancelled",
            Asked::Signal => "signalled",
            Asked::Retry => "reopened for a retry",
            Asked::Undo => "reopened for an undo",
        }
    }
}

/// Returns the slot to which a person's request refers, if any.
pub fn slot(request: &Request) -> Option<&Slot> {
    match request {
        Request::Approve { slot, .. }
        | Request::Reject { slot, .. }
        | Request::Resolve { slot, .. }
        | Request::Confirm { slot, .. } => Some(slot),
        _ => None,
    }
}

/// Returns the undone inbox row that `request` contradicts. The job applies that row first, so the new request
/// would change nothing or be a conflict. Equal requests of several people do not contradict each other. A
/// rejection does not contradict approvals while the quorum is incomplete.
pub fn contradicted<'a>(durable: &Durable, inbox: &'a [InboxRow], request: &Request) -> Option<&'a InboxRow> {
    inbox.iter().find(|row| match (&row.request, request) {
        (Request::Resolve { slot: a, try_no: m, verdict: v }, Request::Resolve { slot: b, try_no: n, verdict: w }) => {
            (a, m) == (b, n) && v != w
        }
        (Request::Reject { slot: a, gate_hash: m }, Request::Approve { slot: b, gate_hash: n }) => (a, m) == (b, n),
        (Request::Approve { slot: a, gate_hash: m }, Request::Reject { slot: b, gate_hash: n }) => {
            (a, m) == (b, n) && durable.job.undecided(a).is_some_and(|gate| is_complete(gate, inbox, a))
        }
        (Request::Confirm { slot: a, gone: m }, Request::Confirm { slot: b, gone: n }) => a == b && m != n,
        (Request::Continue, Request::Abort) | (Request::Abort, Request::Continue) => true,
        _ => false,
    })
}

/// Returns true if the requests in `inbox` decide this gate. A gate is decided by one rejection or by a
/// complete quorum of approvers.
pub fn is_decided(gate: &Gate, inbox: &[InboxRow], slot: &Slot) -> bool {
    let rejects = |row: &InboxRow| matches!(&row.request, Request::Reject { slot: of, .. } if of == slot);
    inbox.iter().any(rejects) || is_complete(gate, inbox, slot)
}

fn is_complete(gate: &Gate, inbox: &[InboxRow], slot: &Slot) -> bool {
    approvers(gate, inbox, slot).len() >= gate.quorum as usize
}

/// Returns the approvers of this gate. Includes approvals that the job has not applied yet.
pub fn approvers<'a>(gate: &'a Gate, inbox: &'a [InboxRow], slot: &Slot) -> BTreeSet<&'a str> {
    let approves = |row: &&InboxRow| matches!(&row.request, Request::Approve { slot: of, gate_hash } if of == slot && *gate_hash == gate.hash);
    let asked = inbox.iter().filter(approves).map(|row| row.actor.as_str());
    gate.approvals.iter().map(|approval| approval.by.actor.as_str()).chain(asked).collect()
}
