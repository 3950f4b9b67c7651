//! Requests of people that are durable and acknowledged, but not applied to the job yet. When the job continues, its
//! lease holder turns the requests into events in the order of arrival.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::model::ids::Slot;
use crate::state::{Durable, Gate};
use crate::storage::{InboxRequest, InboxRow, ManualVerdict};

/// Kind of request that a person can make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestKind {
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

impl RequestKind {
    /// Returns the kind of a request, or `None` if a worker or a store made the request.
    pub fn of(request: &InboxRequest) -> Option<Self> {
        Some(match request {
            InboxRequest::Approve { .. } => RequestKind::Approve,
            InboxRequest::Reject { .. } => RequestKind::Reject,
            InboxRequest::Resolve { verdict: ManualVerdict::Applied(_), .. } => RequestKind::Applied,
            InboxRequest::Resolve { verdict: ManualVerdict::NotApplied, .. } => RequestKind::NotApplied,
            InboxRequest::Resolve { verdict: ManualVerdict::Abort, .. } => RequestKind::Lost,
            InboxRequest::Confirm { gone: false, .. } => RequestKind::Confirm,
            InboxRequest::Confirm { gone: true, .. } => RequestKind::Gone,
            InboxRequest::Continue => RequestKind::Continue,
            InboxRequest::Abort => RequestKind::Abort,
            InboxRequest::Cancel => RequestKind::Cancel,
            InboxRequest::Signal { .. } => RequestKind::Signal,
            InboxRequest::Retry => RequestKind::Retry,
            InboxRequest::Undo => RequestKind::Undo,
            InboxRequest::Timer { .. } | InboxRequest::LateEffect { .. } | InboxRequest::KeySettled { .. } => {
                return None;
            }
        })
    }

    /// Returns a past participle for messages, such as `approved`.
    pub fn past_participle(self) -> &'static str {
        match self {
            RequestKind::Approve => "approved",
            RequestKind::Reject => "rejected",
            RequestKind::Applied => "resolved as applied",
            RequestKind::NotApplied => "resolved as not applied",
            RequestKind::Lost => "resolved as lost",
            RequestKind::Confirm => "confirmed",
            RequestKind::Gone => "confirmed as gone",
            RequestKind::Continue => "continued",
            RequestKind::Abort => "aborted",
            RequestKind::Cancel => "cancelled",
            RequestKind::Signal => "signalled",
            RequestKind::Retry => "reopened for a retry",
            RequestKind::Undo => "reopened for an undo",
        }
    }
}

/// Returns the slot to which a person's request refers, if any.
pub fn slot(request: &InboxRequest) -> Option<&Slot> {
    match request {
        InboxRequest::Approve { slot, .. }
        | InboxRequest::Reject { slot, .. }
        | InboxRequest::Resolve { slot, .. }
        | InboxRequest::Confirm { slot, .. } => Some(slot),
        _ => None,
    }
}

/// Returns the pending inbox row that `request` contradicts, if there is one. The job would apply the pending row
/// first. After that, `request` would change nothing or would cause a conflict.
///
/// Equal requests of several people do not contradict each other. A rejection contradicts pending approvals only if the
/// approvals complete the quorum.
pub fn contradicted_row<'a>(durable: &Durable, inbox: &'a [InboxRow], request: &InboxRequest) -> Option<&'a InboxRow> {
    inbox.iter().find(|row| match (&row.request, request) {
        (
            InboxRequest::Resolve { slot: a, try_no: m, verdict: v },
            InboxRequest::Resolve { slot: b, try_no: n, verdict: w },
        ) => (a, m) == (b, n) && v != w,
        (InboxRequest::Reject { slot: a, gate_hash: m }, InboxRequest::Approve { slot: b, gate_hash: n }) => {
            (a, m) == (b, n)
        }
        (InboxRequest::Approve { slot: a, gate_hash: m }, InboxRequest::Reject { slot: b, gate_hash: n }) => {
            (a, m) == (b, n) && durable.job.open_gate(a).is_some_and(|gate| is_complete(gate, inbox, a))
        }
        (InboxRequest::Confirm { slot: a, gone: m }, InboxRequest::Confirm { slot: b, gone: n }) => a == b && m != n,
        (InboxRequest::Continue, InboxRequest::Abort) | (InboxRequest::Abort, InboxRequest::Continue) => true,
        _ => false,
    })
}

/// Returns true if the requests in `inbox` decide this gate. One rejection decides the gate. Approvals decide the gate
/// if they complete the quorum together with earlier approvals.
pub fn is_decided(gate: &Gate, inbox: &[InboxRow], slot: &Slot) -> bool {
    let rejects = |row: &InboxRow| matches!(&row.request, InboxRequest::Reject { slot: of, .. } if of == slot);
    inbox.iter().any(rejects) || is_complete(gate, inbox, slot)
}

fn is_complete(gate: &Gate, inbox: &[InboxRow], slot: &Slot) -> bool {
    approvers(gate, inbox, slot).len() >= gate.quorum as usize
}

/// Returns the approvers of this gate, including approvers of pending requests.
pub fn approvers<'a>(gate: &'a Gate, inbox: &'a [InboxRow], slot: &Slot) -> BTreeSet<&'a str> {
    let approves = |row: &&InboxRow| matches!(&row.request, InboxRequest::Approve { slot: of, gate_hash } if of == slot && *gate_hash == gate.hash);
    let is_enough = |row: &&InboxRow| row.verified_decider().assurance() >= gate.required;
    let asked = inbox.iter().filter(approves).filter(is_enough).map(|row| row.actor.as_str());
    let given = gate.approvals.iter().filter(|approval| approval.by.assurance() >= gate.required);
    given.map(|approval| approval.by.actor.as_str()).chain(asked).collect()
}
