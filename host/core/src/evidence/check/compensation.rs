//! Checks compensation from the events alone: only calls that took effect are undone, the last call first, each call
//! once.

use std::collections::{BTreeMap, BTreeSet};

use crate::evidence::report::{ProblemKind, VerifyReport};
use crate::model::ids::Slot;

/// State after the events read so far.
#[derive(Default)]
pub(super) struct CompensationWalk {
    /// World-changing calls that were started.
    changing: BTreeSet<Slot>,
    /// For each answered call, true if its last answer is a success and is not the receipt of another call.
    good: BTreeMap<Slot, bool>,
    /// Calls that took effect, in the order in which they became final.
    effects: Vec<Slot>,
    /// Calls whose compensation has begun.
    begun: BTreeSet<Slot>,
    /// Calls that are undone.
    done: BTreeSet<Slot>,
    /// Call whose compensation began last. This compensation may be in flight or finished.
    open: Option<Slot>,
}

impl CompensationWalk {
    /// Records the start of a world-changing call.
    pub(super) fn note_world_changing_call(&mut self, slot: &Slot) {
        self.changing.insert(slot.clone());
    }

    /// Records an answer of a call.
    pub(super) fn note_answer(&mut self, slot: &Slot, good: bool) {
        self.good.insert(slot.clone(), good);
    }

    /// Records that the answer of a call is final.
    pub(super) fn note_commit(&mut self, slot: &Slot) {
        let good = self.good.get(slot).copied().unwrap_or(false);
        if good && !slot.is_compensation() && self.changing.contains(slot) && !self.effects.contains(slot) {
            self.effects.push(slot.clone());
        }
    }

    /// Checks the beginning of a compensation.
    pub(super) fn check_begin(&mut self, at: u64, slot: &Slot, report: &mut VerifyReport) {
        let Some(of) = slot.compensated() else {
            let message = format!("{slot} is recorded as a compensation, but its slot is not that of one");
            return report.add_problem(at, ProblemKind::Illegal, message, "a slot that ends with ~c", slot);
        };
        if !self.begun.insert(of.clone()) {
            let message = format!("{of} is undone a second time");
            report.add_problem(at, ProblemKind::DoubleExecution, message, "one compensation of a call", "another");
        }
        let Some(place) = self.effects.iter().position(|effect| *effect == of) else {
            let message = format!("{of} is undone although it took no effect");
            return report.add_problem(
                at,
                ProblemKind::Permission,
                message,
                "a committed call that changed the world",
                slot,
            );
        };
        let earlier = self.open.as_ref().and_then(|open| self.effects.iter().position(|effect| effect == open));
        if let (true, Some(open)) = (earlier.is_some_and(|earlier| earlier < place), &self.open) {
            let message = format!("{of} took effect after {open} but is undone after it");
            report.add_problem(at, ProblemKind::Illegal, message, "the last effect first", slot);
        }
        self.open = Some(of);
    }

    /// Checks the start of a compensating call.
    pub(super) fn check_start(&mut self, at: u64, slot: &Slot, report: &mut VerifyReport) {
        let Some(of) = slot.compensated() else { return };
        if !self.effects.contains(&of) {
            let message = format!("{slot} was started before {of}, which it undoes, had taken effect");
            report.add_problem(at, ProblemKind::Permission, message, "a committed call that changed the world", "none");
        } else if self.open.as_ref() != Some(&of) {
            let message = format!("{slot} was started out of order");
            report.add_problem(at, ProblemKind::Permission, message, "compensation_started", "none");
        }
        if self.done.contains(&of) {
            let message = format!("{slot} was started again after {of} was undone");
            report.add_problem(at, ProblemKind::DoubleExecution, message, "no further try", slot);
        }
    }

    /// Checks the successful end of a compensation.
    pub(super) fn check_finish(&mut self, at: u64, slot: &Slot, report: &mut VerifyReport) {
        let Some(of) = slot.compensated() else { return };
        if !self.good.get(slot).copied().unwrap_or(false) {
            let message = format!("{of} is recorded as undone, but {slot} has no good answer");
            report.add_problem(at, ProblemKind::Permission, message, format!("a good answer of {slot}"), "none");
        }
        self.done.insert(of);
    }
}
