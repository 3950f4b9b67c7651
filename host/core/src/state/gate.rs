//! State of gates: the approvals so far, and the statements that people sign about a gate.

use std::collections::BTreeSet;

use crate::event::{DecidedBy, Header};
use crate::model::ids::{Hash, Operator, Slot};
use crate::model::payload::PayloadRef;
use crate::model::person::{Assurance, Decision, GateSubject, Statement};

/// One approval of a gate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approval {
    /// Approver and reason.
    pub by: DecidedBy,
    /// True if the approval was given with the submission.
    pub standing: bool,
}

/// State of one gate.
#[derive(Clone, Debug)]
pub struct Gate {
    /// Hash over operator, digest, slot, arguments and mode.
    pub hash: Hash,
    /// Sequence number of the event that requested the gate.
    pub requested_seq: u64,
    /// Assurance that approvals must have to count.
    pub required: Assurance,
    /// Operator that runs after the approval.
    pub operator: Operator,
    /// Exact arguments of the gated call.
    pub args: PayloadRef,
    /// Number of different approvers that the gate needs.
    pub quorum: u32,
    /// Time of expiry, microseconds since 1970 UTC.
    pub expires_us: Option<i64>,
    /// Approvals so far, at most one per approver.
    pub approvals: Vec<Approval>,
    /// Decision on the gate: true if approved, and the actor that decided. If the gate has a quorum, this actor is the
    /// last approver.
    pub decision: Option<(bool, DecidedBy)>,
    /// True if the gate was closed because it expired without a decision.
    pub expired: bool,
}

impl Gate {
    /// Returns the number of given approvals that have the required assurance and satisfy `counts`. If signatures are
    /// required, two approvals with one key count once.
    pub fn count_approvals(&self, required: Assurance, counts: impl Fn(&Approval) -> bool) -> u32 {
        let required = required.max(self.required);
        let mut keys = BTreeSet::new();
        let mut is_new_key = |approval: &Approval| {
            required.is_claimed() || approval.by.verified.is_some_and(|verified| keys.insert(verified.key()))
        };
        let enough = |approval: &&Approval| approval.by.assurance() >= required && counts(approval);
        self.approvals.iter().filter(enough).filter(|approval| is_new_key(approval)).count() as u32
    }

    /// Returns the statement that a person signs to approve or to reject the call of this gate.
    pub fn statement<'a>(&self, header: &'a Header, slot: &'a Slot, by: &'a DecidedBy, approve: bool) -> Statement<'a> {
        let subject = GateSubject { slot, gate_hash: self.hash, gate_seq: self.requested_seq };
        gate_statement(header, subject, by, approve)
    }
}

/// Returns the statement that a person signs to approve or to reject the call of a gate.
pub fn gate_statement<'a>(
    header: &'a Header,
    subject: GateSubject<'a>,
    by: &'a DecidedBy,
    approve: bool,
) -> Statement<'a> {
    Statement {
        tenant_id: &header.tenant_id,
        job_id: &header.job_id,
        actor: &by.actor,
        reason: by.reason.as_deref(),
        decision: if approve { Decision::Approve(subject) } else { Decision::Reject(subject) },
    }
}
