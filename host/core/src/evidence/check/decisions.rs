//! Checks the signatures of people, from the events alone. A signature must be valid for its own decision in this job,
//! and for the gate that was open at the time of the decision.

use std::collections::BTreeMap;

use crate::event::{Body, DecidedBy, Event, Header};
use crate::evidence::read::Evidence;
use crate::evidence::report::{NotChecked, ProblemKind, VerifyReport};
use crate::evidence::trust::{IsSignature, Trust};
use crate::model::ids::{Hash, Slot};
use crate::model::person::{GateSubject, Verification};
use crate::state::gate_statement;

/// Checks every approval and rejection. `people` has the keys of people and their names.
pub(in crate::evidence) fn check(
    evidence: &Evidence,
    people: Option<&Trust>,
    is_signature: &IsSignature<'_>,
    report: &mut VerifyReport,
) {
    let Some((_, Event { body: Body::IntentAccepted { header }, .. })) = evidence.events.first() else { return };
    let mut walk = DecisionWalk { header, gates: BTreeMap::new(), people, is_signature };
    for (at, event) in &evidence.events {
        walk.event(*at, event, report);
    }
    add_notes(people, report);
}

struct DecisionWalk<'a> {
    header: &'a Header,
    /// Hash of each gate, and the number of the event that requested it.
    gates: BTreeMap<&'a Slot, (Hash, u64)>,
    people: Option<&'a Trust>,
    is_signature: &'a IsSignature<'a>,
}

impl<'a> DecisionWalk<'a> {
    fn event(&mut self, at: u64, event: &'a Event, report: &mut VerifyReport) {
        match &event.body {
            Body::GateRequested { slot, gate_hash, .. } => {
                self.gates.insert(slot, (*gate_hash, event.seq));
            }
            Body::GateApproved { slot, gate_hash, by, .. } => self.decision(at, (slot, *gate_hash), by, true, report),
            Body::GateRejected { slot, gate_hash, by } => self.decision(at, (slot, *gate_hash), by, false, report),
            _ => {}
        }
    }

    fn decision(
        &self,
        at: u64,
        (slot, gate_hash): (&Slot, Hash),
        by: &DecidedBy,
        approve: bool,
        report: &mut VerifyReport,
    ) {
        let Some(Verification::Signature { key, signature }) = &by.verified else {
            report.decisions.claimed += 1;
            return;
        };
        report.decisions.signed += 1;
        let gate = self.gates.get(slot).filter(|(hash, _)| *hash == gate_hash);
        let is_valid = gate.is_some_and(|(_, gate_seq)| {
            let subject = GateSubject { slot, gate_hash, gate_seq: *gate_seq };
            let message = gate_statement(self.header, subject, by, approve).message();
            (self.is_signature)(key, &message, &signature.0)
        });
        let name = self.people.and_then(|people| people.name(key));
        if !is_valid {
            let decision = if approve { "approval" } else { "rejection" };
            let message = format!("the signature of {} does not match the {decision} of {slot}", by.actor);
            report.add_problem(at, ProblemKind::Decision, message, format!("a valid signature by {key}"), "another");
        } else if name == Some(&by.actor) {
            report.decisions.trusted += 1;
        } else if self.people.is_some() {
            let message = format!("{slot}: the file of people does not name the key that signed as {}", by.actor);
            let found = name.map_or_else(|| key.to_string(), |name| format!("{key} ({name})"));
            report.add_problem(at, ProblemKind::Person, message, format!("a key of {}", by.actor), found);
        }
    }
}

fn add_notes(people: Option<&Trust>, report: &mut VerifyReport) {
    let (claimed, signed) = (report.decisions.claimed, report.decisions.signed);
    let all = claimed + signed;
    if claimed > 0 {
        let message = format!(
            "names of people are claimed in {claimed} of {all} approvals and rejections: anyone who could write to the \
             database could have decided under these names"
        );
        report.not_checked.push(NotChecked::new("claimed", message));
    }
    if signed > 0 && people.is_none() {
        let message = format!(
            "{signed} of {all} approvals and rejections are signed; the owners of the keys were not checked (use --people)"
        );
        report.not_checked.push(NotChecked::new("unknown_people", message));
    }
}
