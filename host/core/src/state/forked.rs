//! Forks: jobs that begin with steps executed by another job.

use std::collections::BTreeMap;

use super::{EmittedEvent, Job, Outcome};
use crate::event::{Body, CopiedCall, Event};
use crate::model::ids::StepId;
use crate::model::step::StepInput;
use crate::state::error::{FoldError, invalid_event};
use crate::state::types::ForkOrigin;

impl Job {
    pub(super) fn apply_fork(&mut self, event: &Event) -> Result<(), FoldError> {
        let Body::JobForked { origin, at, copied, gated, .. } = &event.body else {
            unreachable!("only forks come here");
        };
        if event.seq != 2 || self.forked.is_some() {
            return Err(invalid_event(event, "job_forked is allowed only as event 2"));
        }
        let mut calls = BTreeMap::new();
        for from in copied {
            self.move_step(event, &from.step_id, StepInput::Ready)?;
            let step = self.move_step(event, &from.step_id, StepInput::Reuse)?;
            step.input = Some(from.input);
            step.started_us = from.started_us;
            step.output = Some(from.output);
            step.result_type = Some(from.result_type);
            step.copied = Some((from.maker.clone(), from.is_set));
            step.emits = from
                .emits
                .iter()
                .map(|(name, after_calls, payload)| EmittedEvent {
                    after_calls: *after_calls,
                    name: name.clone(),
                    payload: *payload,
                })
                .collect();
            step.outcome = from.outcome.clone().map(|(id, outcome_type, status, sensitivity)| Outcome {
                id,
                outcome_type,
                status,
                sensitivity,
            });
            calls.extend(from.calls.iter().map(|call| (call.slot.clone(), call.clone())));
        }
        if self.index(at).is_none_or(|at| self.steps[at].copied.is_some()) {
            return Err(invalid_event(
                event,
                format!("the fork cannot start at step {at}: there is no such step, or it was copied"),
            ));
        }
        self.forked = Some(ForkOrigin { origin: origin.clone(), at: at.clone(), gated: gated.clone(), calls });
        Ok(())
    }

    /// Returns the calls of a copied step, in call order.
    pub fn copied_calls_of(&self, step: &StepId) -> Vec<&CopiedCall> {
        let forked = self.forked.iter().flat_map(|forked| forked.calls.values());
        let mut calls: Vec<_> = forked.filter(|call| call.slot.step() == *step).collect();
        calls.sort_by_key(|call| call.slot.call_number());
        calls
    }

    /// Returns true if the original job may already have made the world-changing calls of the step.
    pub fn may_repeat_original(&self, step: &StepId) -> bool {
        self.forked.as_ref().is_some_and(|forked| forked.gated.contains(step))
    }
}
