//! State of the gates of a job after the events read so far, without the fold that the worker uses.

use std::collections::{BTreeMap, BTreeSet};

use crate::event::Body;
use crate::model::ids::{Hash, Slot};
use crate::model::payload::PayloadRef;
use crate::model::person::{Assurance, PublicKey};

/// Gates of a job, by the slot of their call.
pub(super) struct GateWalk {
    gates: BTreeMap<Slot, GateHistory>,
    /// Assurance that the policy requires of each approval.
    by_policy: Assurance,
}

/// State of a gate.
pub(super) struct GateHistory {
    hash: Hash,
    /// Arguments of the call.
    pub(super) args: PayloadRef,
    quorum: u32,
    /// Assurance that the policy or the gate requires of each approval.
    required: Assurance,
    /// True if an approval of any assurance was given.
    is_approved: bool,
    /// Approvers and their keys, if signatures are required.
    signers: BTreeMap<String, PublicKey>,
}

impl GateHistory {
    /// Returns true if the gate is approved. If signatures are required, the number of different people who signed,
    /// each with a different key, must reach the quorum.
    pub(super) fn is_approved(&self) -> bool {
        let keys: BTreeSet<&PublicKey> = self.signers.values().collect();
        self.is_approved && (self.required.is_claimed() || keys.len() as u64 >= u64::from(self.quorum))
    }

    fn forget_approvals(&mut self) {
        self.is_approved = false;
        self.signers.clear();
    }
}

impl GateWalk {
    pub(super) fn new(by_policy: Assurance) -> Self {
        Self { gates: BTreeMap::new(), by_policy }
    }

    pub(super) fn get(&self, slot: &Slot) -> Option<&GateHistory> {
        self.gates.get(slot)
    }

    /// Applies an event of a gate. Other events change nothing.
    pub(super) fn event(&mut self, body: &Body) {
        match body {
            Body::GateRequested { slot, gate_hash, args, quorum, approvals, .. } => {
                // An earlier approval of the same call remains valid.
                let before = self.gates.remove(slot).filter(|before| before.hash == *gate_hash);
                let gate = GateHistory {
                    hash: *gate_hash,
                    args: *args,
                    quorum: *quorum,
                    required: self.by_policy.max(*approvals),
                    is_approved: false,
                    signers: before.map(|before| before.signers).unwrap_or_default(),
                };
                self.gates.insert(slot.clone(), gate);
            }
            Body::GateApproved { slot, by, .. } => {
                if let Some(gate) = self.gates.get_mut(slot) {
                    gate.is_approved = true;
                    gate.signers.extend(by.verified.map(|verified| (by.actor.clone(), verified.key())));
                }
            }
            // The approvals of a closed gate do not count for the next gate of the call.
            Body::GateRejected { slot, .. } | Body::GateExpired { slot, .. } => {
                if let Some(gate) = self.gates.get_mut(slot) {
                    gate.forget_approvals();
                }
            }
            _ => {}
        }
    }

    /// Forgets the approvals of each compensation that is not approved yet. An undo requests the approval of such a
    /// compensation again.
    pub(super) fn forget_unapproved_compensations(&mut self) {
        for (slot, gate) in &mut self.gates {
            if slot.is_compensation() && !gate.is_approved() {
                gate.forget_approvals();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::event::DecidedBy;
    use crate::model::ids::Operator;
    use crate::model::person::{SIGNATURE_BYTES, Signature, Verification};

    fn requested(slot: &Slot) -> Body {
        Body::GateRequested {
            slot: slot.clone(),
            gate_hash: Hash::default(),
            args: PayloadRef { hash: Hash::default(), len: 2 },
            operator: Operator::new("Mail.Send"),
            quorum: 2,
            expires_us: None,
            approvals: Assurance::Signature,
        }
    }

    fn approved(slot: &Slot, actor: &str, key: u8) -> Body {
        let signature = Signature([0; SIGNATURE_BYTES]);
        let verified = Some(Verification::Signature { key: PublicKey([key; 32]), signature });
        let by = DecidedBy { verified, ..DecidedBy::claimed(actor, None) };
        Body::GateApproved { slot: slot.clone(), gate_hash: Hash::default(), by, standing: false }
    }

    fn is_approved_after(slot: &Slot, between: impl FnOnce(&mut GateWalk)) -> bool {
        let mut walk = GateWalk::new(Assurance::Claimed);
        [requested(slot), approved(slot, "ada", 1)].iter().for_each(|body| walk.event(body));
        between(&mut walk);
        [requested(slot), approved(slot, "eve", 2)].iter().for_each(|body| walk.event(body));
        walk.get(slot).unwrap().is_approved()
    }

    /// I211: if a gate is requested again, its earlier signatures still count. They do not count if the gate was closed
    /// in between.
    #[test]
    fn signatures_of_a_closed_gate_do_not_count_for_the_next_one() {
        let slot = Slot::new("a/0");
        let (gate_hash, by) = (Hash::default(), DecidedBy::claimed("bob", None));
        assert!(is_approved_after(&slot, |_| {}));
        let expired = Body::GateExpired { slot: slot.clone(), gate_hash };
        assert!(!is_approved_after(&slot, |walk| walk.event(&expired)));
        let rejected = Body::GateRejected { slot: slot.clone(), gate_hash, by };
        assert!(!is_approved_after(&slot, |walk| walk.event(&rejected)));
        assert!(is_approved_after(&slot, GateWalk::forget_unapproved_compensations));
        let compensation = slot.compensation();
        assert!(!is_approved_after(&compensation, GateWalk::forget_unapproved_compensations));
    }
}
