//! Applies gate events to the job state.

use super::{Approval, Gate, Job};
use crate::event::{Body, DecidedBy, Event};
use crate::model::ids::Slot;
use crate::model::step::{StepInput, StepState};
use crate::state::error::{FoldError, invalid_event};

/// Actor recorded for the decision on an expired gate.
const HOST: &str = "latchwork";

impl Job {
    pub(super) fn apply_gate(&mut self, event: &Event) -> Result<(), FoldError> {
        match &event.body {
            Body::GateRequested { slot, gate_hash, args, operator, quorum, expires_us, approvals } => {
                let mut gate = Gate {
                    hash: *gate_hash,
                    requested_seq: event.seq,
                    required: *approvals,
                    operator: operator.clone(),
                    args: *args,
                    quorum: *quorum,
                    expires_us: *expires_us,
                    approvals: Vec::new(),
                    decision: None,
                    expired: false,
                };
                // The gate may be requested again, because the policy has become stricter. Approvals of this exact call
                // remain valid.
                if let Some(old) = self.gates.get(slot).filter(|old| old.hash == gate.hash) {
                    gate.approvals.clone_from(&old.approvals);
                }
                self.gates.insert(slot.clone(), gate);
                self.check_call_allowed(event, slot, operator)?;
                if slot.is_step() {
                    self.move_step(event, &slot.step(), StepInput::AskApproval)?;
                }
                Ok(())
            }
            Body::GateApproved { slot, gate_hash, by, standing } => {
                let gate = self.undecided_gate(event, slot, *gate_hash)?;
                gate.approvals.retain(|before| before.by.actor != by.actor);
                gate.approvals.push(Approval { by: by.clone(), standing: *standing });
                if gate.count_approvals(gate.required, |_| true) < gate.quorum {
                    return Ok(());
                }
                gate.decision = Some((true, by.clone()));
                self.apply_gate_decision(event, slot, true)
            }
            Body::GateRejected { slot, gate_hash, by } => {
                self.undecided_gate(event, slot, *gate_hash)?.decision = Some((false, by.clone()));
                self.apply_gate_decision(event, slot, false)
            }
            Body::GateExpired { slot, gate_hash } => {
                let gate = self.undecided_gate(event, slot, *gate_hash)?;
                let by = DecidedBy::claimed(HOST.to_owned(), Some("the gate expired before a decision".to_owned()));
                gate.decision = Some((false, by));
                gate.expired = true;
                self.apply_gate_decision(event, slot, false)
            }
            _ => unreachable!("only events of gates come here"),
        }
    }

    fn undecided_gate(
        &mut self,
        event: &Event,
        slot: &Slot,
        hash: crate::model::ids::Hash,
    ) -> Result<&mut Gate, FoldError> {
        let gate = self.gates.get_mut(slot).filter(|gate| gate.hash == hash && gate.decision.is_none());
        gate.ok_or_else(|| invalid_event(event, "there is no undecided gate with this slot and hash"))
    }

    /// Applies a gate decision to the waiting step.
    ///
    /// If the gated call is the plan step itself, an approval makes the step ready. After a rejection, a separate
    /// event fails the step.
    ///
    /// If the gated call is inside a step, either decision unblocks the step. After a rejection, the call gets an
    /// error as its answer.
    fn apply_gate_decision(&mut self, event: &Event, slot: &Slot, approved: bool) -> Result<(), FoldError> {
        let step = slot.step();
        if slot.is_compensation() {
            // The whole job waits for the gate of a compensating call, so no step changes its state.
            return Ok(());
        }
        if slot.is_step() {
            if approved {
                self.move_step(event, &step, StepInput::Approve)?;
            }
            return Ok(());
        }
        let waits = self.step_mut(event, &step)?;
        if waits.state == StepState::Blocked && waits.blocked.as_ref().is_some_and(|(on, _)| on == slot) {
            self.unblock_step(event, &step)?;
        }
        Ok(())
    }
}
