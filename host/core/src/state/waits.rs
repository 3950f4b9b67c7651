//! Applies the events of waits and timers to the job state, and derives the signals, approvals and timers that
//! the job awaits.

use std::collections::BTreeMap;

use super::{Gate, Job};
use crate::event::{Body, Event};
use crate::model::ids::{Slot, StepId};
use crate::model::step::StepInput;
use crate::plan::wait::literal_key;
use crate::plan::{Plan, StepKind};
use crate::state::error::{FoldError, invalid_event};
use crate::state::types::{EarlySignal, WaitState};
use crate::storage::expectation::{Expectation, ExpectationState, TimerWrite, gate_name, wait_name};

/// A wait or gate that has not ended. A wait that has not begun is included.
#[derive(Clone, Debug, PartialEq, Eq)]
struct OpenExpectation {
    /// Key and state of the signal or approval that the job awaits. `None` if the wait accepts no signals.
    expects: Option<(Option<String>, ExpectationState)>,
    /// Time at which the wait or gate ends without a request, microseconds since 1970 UTC.
    due_us: Option<i64>,
}

/// Waits and gates that are open at a point in time. The difference between two sets gives the changes to write to
/// the store.
#[derive(Debug, Default)]
pub(super) struct OpenExpectations(BTreeMap<String, OpenExpectation>);

impl Job {
    /// Returns the initial states of the wait steps of a plan.
    pub(super) fn initial_waits(plan: &Plan) -> BTreeMap<StepId, WaitState> {
        let waits = plan.steps.iter().filter(|step| step.kind == StepKind::Wait);
        waits
            .map(|step| {
                let takes_signals = step.payload.get("correlation_key").is_some();
                let key = literal_key(&step.payload).map(str::to_owned);
                (step.step_id.clone(), WaitState { key, accepts_signals: takes_signals, ..WaitState::default() })
            })
            .collect()
    }

    /// Returns the due time of the timer with this name, or `None` if the timer is not armed.
    pub fn timer(&self, name: &str) -> Option<i64> {
        if let Some(step) = name.strip_prefix("wait/") {
            return self.open_wait(&StepId::from(step)).and_then(|wait| wait.until_us);
        }
        self.open_gate(&Slot::from(name.strip_prefix("gate/")?)).and_then(|gate| gate.expires_us)
    }

    /// Returns the armed timers and their due times.
    pub fn timers(&self) -> BTreeMap<String, i64> {
        self.open_expectations().0.into_iter().filter_map(|(name, open)| Some((name, open.due_us?))).collect()
    }

    /// Returns the state of a wait that has begun and is not over.
    pub fn open_wait(&self, step: &StepId) -> Option<&WaitState> {
        let waits = self.step(step).is_some_and(|step| step.state == crate::model::step::StepState::WaitingSignal);
        self.waits.get(step).filter(|_| waits)
    }

    /// Returns the gate at `slot` if it can still be decided.
    pub fn open_gate(&self, slot: &Slot) -> Option<&Gate> {
        let open = match slot.is_compensation() {
            true => self.compensates() && self.open_compensation().is_some_and(|(open, _)| open == slot),
            false => self.step(&slot.step()).is_some_and(|step| !step.state.is_final()),
        };
        self.gates.get(slot).filter(|gate| open && gate.decision.is_none())
    }

    /// Returns the waits and gates that are open now.
    pub(super) fn open_expectations(&self) -> OpenExpectations {
        let mut open = BTreeMap::new();
        // An aborting job continues no step of its plan, so its waits and gates are no longer open. Only the gate of a
        // compensating call may still be open.
        let goes_on = |slot: &Slot| !self.is_aborting() || slot.is_compensation();
        for (id, wait) in self.waits.iter().filter(|_| !self.is_aborting()) {
            let Some(step) = self.step(id).filter(|step| !step.state.is_final()) else { continue };
            let begun = step.state == crate::model::step::StepState::WaitingSignal;
            let state = if begun { ExpectationState::Open } else { ExpectationState::Pending };
            let asked = wait.accepts_signals.then(|| (wait.key.clone(), state));
            open.insert(wait_name(id), OpenExpectation { expects: asked, due_us: wait.until_us.filter(|_| begun) });
        }
        for (slot, gate) in self.gates.iter().filter(|(slot, _)| goes_on(slot)) {
            if self.open_gate(slot).is_some() {
                let asked = Some((Some(gate.hash.to_hex()), ExpectationState::Open));
                open.insert(gate_name(slot), OpenExpectation { expects: asked, due_us: gate.expires_us });
            }
        }
        OpenExpectations(open)
    }

    /// Returns the rows of expectations and timers that differ from `before`, to be written to the store.
    pub(super) fn changes_since(&self, before: &OpenExpectations) -> (Vec<Expectation>, Vec<TimerWrite>) {
        let (mut awaited, mut timers) = (Vec::new(), Vec::new());
        let after = self.open_expectations();
        for (name, open) in &after.0 {
            let old = before.0.get(name);
            if let Some((key, state)) = open.expects.as_ref().filter(|_| old != Some(open)) {
                let (name, key) = (name.clone(), key.clone());
                awaited.push(Expectation { name, key, state: *state, until_us: open.due_us });
            }
            if old.and_then(|old| old.due_us) != open.due_us {
                timers.push(TimerWrite { name: name.clone(), due_us: open.due_us });
            }
        }
        for (name, open) in before.0.iter().filter(|(name, _)| !after.0.contains_key(*name)) {
            if let Some((key, _)) = &open.expects {
                let (name, key, state) = (name.clone(), key.clone(), self.final_expectation_state(name));
                awaited.push(Expectation { name, key, state, until_us: None });
            }
            if open.due_us.is_some() {
                timers.push(TimerWrite { name: name.clone(), due_us: None });
            }
        }
        (awaited, timers)
    }

    /// Returns the final state of a wait or gate that is no longer open.
    fn final_expectation_state(&self, name: &str) -> ExpectationState {
        let came = match (name.strip_prefix("wait/"), name.strip_prefix("gate/")) {
            (Some(step), _) => self.waits.get(&StepId::from(step)).is_some_and(|wait| wait.completed.is_some()),
            (_, Some(slot)) => {
                let gate = self.gates.get(&Slot::from(slot));
                gate.is_some_and(|gate| gate.decision.is_some() && !gate.expired)
            }
            _ => false,
        };
        if came { ExpectationState::Done } else { ExpectationState::Over }
    }

    pub(super) fn apply_wait(&mut self, event: &Event) -> Result<(), FoldError> {
        match &event.body {
            Body::WaitStarted { step_id, wait_kind, correlation_key, until_us, park } => {
                self.move_step(event, step_id, StepInput::AwaitSignal)?;
                let wait = self.wait_mut(event, step_id)?;
                wait.kind = Some(*wait_kind);
                wait.key.clone_from(correlation_key);
                wait.until_us = *until_us;
                wait.park = *park;
            }
            Body::SignalKept { correlation_key, n, payload, by } => {
                if self.signals.len() as u32 != *n {
                    return Err(invalid_event(event, "kept signals must be numbered without gaps"));
                }
                let signal = EarlySignal { key: correlation_key.clone(), payload: *payload, by: by.clone() };
                self.signals.push(signal);
            }
            Body::WaitCompleted { step_id, by, .. } => {
                self.check_wait_open(event, step_id)?;
                let wait = self.wait_mut(event, step_id)?;
                if wait.completed.is_some() {
                    return Err(invalid_event(event, "the wait is already completed"));
                }
                wait.completed = Some(by.clone());
            }
            Body::WaitTimedOut { step_id } => {
                self.check_wait_open(event, step_id)?;
            }
            Body::TimerFired { timer, due_us } => {
                if self.timer(timer) != Some(*due_us) {
                    return Err(invalid_event(event, format!("no timer {timer} is armed for that time")));
                }
            }
            _ => unreachable!("only events of waits come here"),
        }
        Ok(())
    }

    fn check_wait_open(&self, event: &Event, step: &StepId) -> Result<(), FoldError> {
        match self.open_wait(step) {
            Some(_) => Ok(()),
            None => Err(invalid_event(event, format!("step {step} is not waiting"))),
        }
    }

    fn wait_mut(&mut self, event: &Event, step: &StepId) -> Result<&mut WaitState, FoldError> {
        self.waits.get_mut(step).ok_or_else(|| invalid_event(event, format!("step {step} is not a wait step")))
    }
}
