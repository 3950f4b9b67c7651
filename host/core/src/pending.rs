//! What people have asked of a job and the job has not taken in yet. It is acknowledged and durable; the
//! job's holder makes events of it, in the order of arrival, when the job goes on.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::ids::Slot;
use crate::state::{Durable, Gate};
use crate::storage::{InboxRow, Request, Resolved};

/// What a person asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Asked {
    /// The gated call may be made.
    Approve,
    /// It may not.
    Reject,
    /// The call in doubt happened.
    Applied,
    /// It did not.
    NotApplied,
    /// Nobody will find out.
    Lost,
    /// What a call changed is taken as it is now.
    Confirm,
    /// It is gone for good.
    Gone,
    /// Go on.
    Continue,
    /// Fail the job.
    Abort,
    /// Cancel the job.
    Cancel,
    /// A signal.
    Signal,
    /// Another round of what failed.
    Retry,
    /// What the job did is undone.
    Undo,
}

impl Asked {
    /// What a request of a person asks; none where workers and stores talk among themselves.
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

    /// Past tense, for a person: `approved`.
    pub fn done(self) -> &'static str {
        match self {
            Asked::Approve => "approved",
            Asked::Reject => "rejected",
            Asked::Applied => "resolved as applied",
            Asked::NotApplied => "resolved as not applied",
            Asked::Lost => "given up as lost",
            Asked::Confirm => "confirmed",
            Asked::Gone => "confirmed as gone",
            Asked::Continue => "told to go on",
            Asked::Abort => "told to stop",
            Asked::Cancel => "cancelled",
            Asked::Signal => "signalled",
            Asked::Retry => "told to try again",
            Asked::Undo => "told to undo what it did",
        }
    }
}

/// The slot that a person's request is about, where it is about one.
pub fn slot(request: &Request) -> Option<&Slot> {
    match request {
        Request::Approve { slot, .. }
        | Request::Reject { slot, .. }
        | Request::Resolve { slot, .. }
        | Request::Confirm { slot, .. } => Some(slot),
        _ => None,
    }
}

/// The row of an inbox that a further request contradicts: the job takes the row in first, and the other
/// would change nothing, or be a conflict. Where people only say the same, or a quorum is not complete,
/// nothing is contradicted.
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

/// Whether what was asked about this gate decides it: a rejection, or as many people as it takes.
pub fn is_decided(gate: &Gate, inbox: &[InboxRow], slot: &Slot) -> bool {
    let rejects = |row: &InboxRow| matches!(&row.request, Request::Reject { slot: of, .. } if of == slot);
    inbox.iter().any(rejects) || is_complete(gate, inbox, slot)
}

fn is_complete(gate: &Gate, inbox: &[InboxRow], slot: &Slot) -> bool {
    approvers(gate, inbox, slot).len() >= gate.quorum as usize
}

/// Who has approved this gate, taken in or not.
pub fn approvers<'a>(gate: &'a Gate, inbox: &'a [InboxRow], slot: &Slot) -> BTreeSet<&'a str> {
    let approves = |row: &&InboxRow| matches!(&row.request, Request::Approve { slot: of, gate_hash } if of == slot && *gate_hash == gate.hash);
    let asked = inbox.iter().filter(approves).map(|row| row.actor.as_str());
    gate.approvals.iter().map(|approval| approval.by.actor.as_str()).chain(asked).collect()
}
