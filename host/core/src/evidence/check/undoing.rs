//! Undoing, read from the events alone: only what took effect, the last one first, each once.

use std::collections::{BTreeMap, BTreeSet};

use crate::evidence::report::{Found, Report};
use crate::ids::Slot;

/// What the events up to here say.
#[derive(Default)]
pub(super) struct Undoing {
    /// Calls that may change the world and were started.
    changing: BTreeSet<Slot>,
    /// Whether the last answer of a call was a good one of its own.
    good: BTreeMap<Slot, bool>,
    /// Calls that took effect, in the order in which they became final.
    effects: Vec<Slot>,
    /// What has begun to be undone.
    begun: BTreeSet<Slot>,
    /// What is undone.
    done: BTreeSet<Slot>,
    /// The call whose undoing began last.
    open: Option<Slot>,
}

impl Undoing {
    /// A call that may change the world is started.
    pub(super) fn may_take_effect(&mut self, slot: &Slot) {
        self.changing.insert(slot.clone());
    }

    /// A call has an answer.
    pub(super) fn answered(&mut self, slot: &Slot, good: bool) {
        self.good.insert(slot.clone(), good);
    }

    /// The answer of a call is final.
    pub(super) fn committed(&mut self, slot: &Slot) {
        let good = self.good.get(slot).copied().unwrap_or(false);
        if good && !slot.is_compensation() && self.changing.contains(slot) && !self.effects.contains(slot) {
            self.effects.push(slot.clone());
        }
    }

    /// A call's turn to be undone.
    pub(super) fn begins(&mut self, at: u64, slot: &Slot, report: &mut Report) {
        let Some(of) = slot.compensated() else {
            let message = format!("{slot} is said to undo a call, and its slot is not that of a compensation");
            return report.wrong(at, Found::Illegal, message, "a slot that ends with ~c", slot);
        };
        if !self.begun.insert(of.clone()) {
            let message = format!("{of} is undone a second time");
            report.wrong(at, Found::DoubleExecution, message, "one compensation of a call", "another");
        }
        let Some(place) = self.effects.iter().position(|effect| *effect == of) else {
            let message = format!("{of} is undone, and it took no effect");
            return report.wrong(at, Found::Permission, message, "a committed call that changed the world", slot);
        };
        let earlier = self.open.as_ref().and_then(|open| self.effects.iter().position(|effect| effect == open));
        if let (true, Some(open)) = (earlier.is_some_and(|earlier| earlier < place), &self.open) {
            let message = format!("{of} took effect after {open}, and is undone after it");
            report.wrong(at, Found::Illegal, message, "the last effect first", slot);
        }
        self.open = Some(of);
    }

    /// A call that undoes another one is started.
    pub(super) fn started(&mut self, at: u64, slot: &Slot, report: &mut Report) {
        let Some(of) = slot.compensated() else { return };
        if !self.effects.contains(&of) {
            let message = format!("{slot} was started before {of}, which it undoes, had taken effect");
            report.wrong(at, Found::Permission, message, "a committed call that changed the world", "none");
        } else if self.open.as_ref() != Some(&of) {
            let message = format!("{slot} was started, and it is not its turn");
            report.wrong(at, Found::Permission, message, "compensation_started", "none");
        }
        if self.done.contains(&of) {
            let message = format!("{slot} was started again after {of} was undone");
            report.wrong(at, Found::DoubleExecution, message, "no further try", slot);
        }
    }

    /// A call is said to be undone.
    pub(super) fn finished(&mut self, at: u64, slot: &Slot, report: &mut Report) {
        let Some(of) = slot.compensated() else { return };
        if !self.good.get(slot).copied().unwrap_or(false) {
            let message = format!("{of} is said to be undone, and nothing answered that it is");
            report.wrong(at, Found::Permission, message, format!("a good answer of {slot}"), "none");
        }
        self.done.insert(of);
    }
}
