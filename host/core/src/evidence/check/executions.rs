//! Checks at-most-once execution and permissions from the events alone, without the fold that the worker uses.

use std::collections::BTreeMap;

use crate::event::{Body, Event, Header, ReopenPurpose, Verdict};
use crate::evidence::check::compensation::CompensationWalk;
use crate::evidence::check::gates::GateWalk;
use crate::evidence::read::Evidence;
use crate::evidence::record::AnswerKind;
use crate::evidence::report::{ProblemKind, VerifyReport};
use crate::model::effect::Provenance;
use crate::model::ids::{Operator, Slot};
use crate::model::manifest::{PinnedOperator, RecoveryClass};
use crate::model::mode::Mode;
use crate::model::payload::PayloadRef;
use crate::model::person::Assurance;
use crate::model::rules::Rules;
use crate::plan::Plan;
use crate::rules::policy;

pub(super) fn check(evidence: &Evidence, report: &mut VerifyReport) {
    let mut events = evidence.events.iter();
    let (Some((_, first)), Some((_, second))) = (events.next(), events.next()) else { return };
    let (Body::IntentAccepted { header }, Body::PlanCreated { plan, .. }) = (&first.body, &second.body) else {
        return;
    };
    let kinds = evidence.effects.iter().map(|(_, effect)| ((effect.slot.clone(), effect.try_no), effect.kind));
    let mut walk = ExecutionWalk {
        header,
        plan: serde_json::from_value(plan.clone()).ok(),
        kinds: kinds.collect(),
        calls: BTreeMap::new(),
        gates: GateWalk::new(header.rules.as_ref().map_or(Assurance::Claimed, |rules| rules.gate_approvals)),
        undoing: CompensationWalk::default(),
        is_undone: false,
    };
    let mut before = first;
    for (at, event) in &evidence.events {
        if event.time_us < before.time_us {
            report.add_problem(*at, ProblemKind::Illegal, "the event time goes back", before.time_us, event.time_us);
        }
        if event.attempt < before.attempt {
            report.add_problem(
                *at,
                ProblemKind::Illegal,
                "the attempt number goes back",
                before.attempt,
                event.attempt,
            );
        }
        walk.event(*at, event, report);
        before = event;
    }
}

struct ExecutionWalk<'a> {
    header: &'a Header,
    plan: Option<Plan>,
    kinds: BTreeMap<(Slot, u32), AnswerKind>,
    calls: BTreeMap<Slot, CallHistory>,
    gates: GateWalk,
    undoing: CompensationWalk,
    /// True if the finished job was reopened for an undo.
    is_undone: bool,
}

/// State of a call after the events read so far.
struct CallHistory {
    try_no: u32,
    end: TryEnd,
    committed: bool,
}

/// End of the last try of a call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TryEnd {
    /// The try was started, and its end is unknown.
    Open,
    /// The call succeeded.
    Good,
    /// The call certainly changed nothing.
    NotApplied,
    /// The call may have changed the world.
    Doubt,
    /// The call is repeated under its external key.
    Repeat,
}

impl ExecutionWalk<'_> {
    fn event(&mut self, at: u64, event: &Event, report: &mut VerifyReport) {
        match &event.body {
            Body::ToolInvocationStarted { slot, operator, try_no, args, .. } => {
                self.started(at, slot, operator, *try_no, report);
                if self.is_undone && !slot.is_compensation() {
                    let message = format!("{slot} was started in a job that was reopened for an undo");
                    report.add_problem(at, ProblemKind::Permission, message, "compensations only", slot);
                }
                if slot.is_compensation() {
                    self.undoing.check_start(at, slot, report);
                } else if self.pinned(operator).is_some_and(PinnedOperator::is_world_changing) {
                    self.undoing.note_world_changing_call(slot);
                }
                self.check_permission(at, slot, operator, args, report);
            }
            Body::ToolInvocationFinished { slot, try_no, ok, provenance, .. } => {
                self.undoing.note_answer(slot, *ok && *provenance != Provenance::Reused);
                let unknown = self.kinds.get(&(slot.clone(), *try_no)) == Some(&AnswerKind::Unknown);
                let end = match (ok, unknown) {
                    (true, _) => TryEnd::Good,
                    (false, true) => TryEnd::Doubt,
                    (false, false) => TryEnd::NotApplied,
                };
                let seen =
                    self.calls.entry(slot.clone()).or_insert(CallHistory { try_no: *try_no, end, committed: false });
                seen.end = end;
            }
            Body::CommandCommitted { slot } => {
                self.undoing.note_commit(slot);
                if let Some(seen) = self.calls.get_mut(slot) {
                    seen.committed = true;
                }
            }
            Body::CompensationStarted { slot, .. } => self.undoing.check_begin(at, slot, report),
            Body::CompensationFinished { slot } => self.undoing.check_finish(at, slot, report),
            // A reopened compensation keeps the record of its last try. It may be started again only after a verdict
            // on that try.
            Body::CompensationReopened { slot, .. } => self.reopened(std::slice::from_ref(slot), true),
            Body::JobReopened { calls, purpose, .. } => {
                if *purpose == ReopenPurpose::Undo {
                    self.is_undone = true;
                    self.gates.forget_unapproved_compensations();
                }
                self.reopened(calls, false);
            }
            Body::InvocationResolved { slot, verdict, .. } => {
                if let Some(seen) = self.calls.get_mut(slot) {
                    seen.end = match verdict {
                        Verdict::NotApplied => TryEnd::NotApplied,
                        Verdict::Repeat => TryEnd::Repeat,
                        Verdict::Applied => TryEnd::Good,
                        Verdict::Lost | Verdict::Unknown => TryEnd::Doubt,
                    };
                }
            }
            body => self.gates.event(body),
        }
    }

    /// Reopens calls that failed finally. If `in_doubt` is true, the last try of each call counts as in doubt.
    fn reopened(&mut self, slots: &[Slot], in_doubt: bool) {
        for slot in slots {
            if let Some(seen) = self.calls.get_mut(slot).filter(|seen| seen.end != TryEnd::Good) {
                seen.committed = false;
                seen.end = if in_doubt { TryEnd::Doubt } else { seen.end };
            }
        }
    }

    fn pinned(&self, operator: &Operator) -> Option<&PinnedOperator> {
        self.header.operators.get(operator)
    }

    fn started(&mut self, at: u64, slot: &Slot, operator: &Operator, try_no: u32, report: &mut VerifyReport) {
        let changing = self.pinned(operator).is_none_or(PinnedOperator::is_world_changing);
        let keyed = self.pinned(operator).is_some_and(|pinned| pinned.class == RecoveryClass::Keyed);
        if let Some(seen) = self.calls.get(slot) {
            let why = match seen.end {
                _ if seen.committed => Some("its answer was final"),
                TryEnd::Good => Some("it had succeeded"),
                TryEnd::Open if changing => Some("its effect was unknown"),
                TryEnd::Doubt if changing => Some("it may have happened"),
                TryEnd::Repeat if !keyed => Some("its operator does not deduplicate by key"),
                _ => None,
            };
            if let Some(why) = why {
                let message = format!("{slot} was started again (try {try_no}) after try {}: {why}", seen.try_no);
                let (expected, found) = (format!("no try after {}", seen.try_no), format!("try {try_no}"));
                report.add_problem(at, ProblemKind::DoubleExecution, message, expected, found);
            }
        }
        self.calls.insert(slot.clone(), CallHistory { try_no, end: TryEnd::Open, committed: false });
    }

    fn check_permission(
        &self,
        at: u64,
        slot: &Slot,
        operator: &Operator,
        args: &PayloadRef,
        report: &mut VerifyReport,
    ) {
        let mut denied = |message: String, expected: &str| {
            report.add_problem(at, ProblemKind::Permission, message, expected, format!("{slot} was started"));
        };
        let Some(pinned) = self.pinned(operator) else {
            denied(format!("{slot} calls {operator}, which the job did not pin"), "a pinned operator");
            return;
        };
        let Some(step) = self.plan.as_ref().and_then(|plan| plan.step(&slot.step())) else { return };
        if self.header.mode == Mode::DryRun && pinned.is_world_changing() {
            denied(format!("a dry run started {slot}, which may change the world"), "nothing that changes the world");
        }
        if let Some(failure) = policy::forbids(self.header.mode, step, pinned) {
            denied(format!("{slot} was started although it is forbidden: {failure}"), failure.code.as_str());
        }
        // The compensation of a plan step follows the gate rules of the step itself.
        let own = slot.compensated().unwrap_or_else(|| slot.clone()).is_step();
        match self.gates.get(slot) {
            Some(gate) if !gate.is_approved() => {
                denied(format!("{slot} was started before its gate was approved"), "an approval")
            }
            Some(gate) if !slot.is_step() && gate.args.hash != args.hash => {
                denied(
                    format!("{slot} was started with other arguments than the approved ones"),
                    "the approved arguments",
                );
            }
            None if policy::needs_gate(&Rules::default(), self.header.mode, step, pinned, own) => {
                denied(format!("{slot} was started without the approval it needs"), "an approval");
            }
            _ => {}
        }
    }
}
