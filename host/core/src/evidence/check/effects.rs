//! Checks the effects against the calls of the log and the ledger. Effects have a table of their own.

use std::collections::{BTreeMap, BTreeSet};

use crate::event::{Body, Verdict};
use crate::evidence::read;
use crate::evidence::read::{AtLine, Evidence};
use crate::evidence::record::{AnswerKind, EffectRecord};
use crate::evidence::report::{NotChecked, ProblemKind, VerifyReport};
use crate::model::effect::{Effect, Provenance};
use crate::model::ids::Slot;
use crate::model::manifest::{PinnedOperator, RecoveryClass};
use crate::state::Job;

pub(super) fn check(evidence: &Evidence, job: &Job, report: &mut VerifyReport) {
    let mut by_try: BTreeMap<(&Slot, u32), &AtLine<EffectRecord>> = BTreeMap::new();
    for record in &evidence.effects {
        let (at, effect) = record;
        if by_try.insert((&effect.slot, effect.try_no), record).is_some() {
            let message = format!("duplicate effect of {}, try {}", effect.slot, effect.try_no);
            report.add_problem(*at, ProblemKind::Effect, message, "one effect for a try", "another");
        }
        check_record_fields(*at, effect, report);
        check_barrier(*at, effect, job, report);
    }
    executed_once(evidence, job, report);
    report_unused_reads(evidence, job, report);
    for (at, event) in &evidence.events {
        let Body::ToolInvocationFinished { slot, try_no, ok, provenance, .. } = &event.body else { continue };
        // The existence and the hash of the effect are checked together with all payloads.
        let Some((_, effect)) = by_try.get(&(slot, *try_no)) else { continue };
        if *ok != (effect.kind == AnswerKind::Ok) {
            let message = format!("{slot}, try {try_no}: the event and the effect disagree on success");
            report.add_problem(
                *at,
                ProblemKind::Effect,
                message,
                format!("{:?} (effect)", effect.kind),
                format!("ok: {ok}"),
            );
        }
        if *provenance != effect.provenance && *provenance != Provenance::CaughtUp {
            let message = format!("{slot}, try {try_no}: the event and the effect disagree on the provenance");
            let (expected, found) = (format!("{:?} (effect)", effect.provenance), format!("{provenance:?}"));
            report.add_problem(*at, ProblemKind::Effect, message, expected, found);
        }
    }
    let changed = evidence.effects.iter().filter(|(_, effect)| {
        let call = job.calls.get(&effect.slot);
        let changing = call.and_then(|call| job.pinned(&call.operator)).is_some_and(PinnedOperator::is_world_changing);
        changing && effect.kind == AnswerKind::Ok
    });
    let has_verifier = |effect: &EffectRecord| {
        let pinned = job.calls.get(&effect.slot).and_then(|call| job.pinned(&call.operator));
        pinned.is_some_and(|pinned| pinned.verifier.is_some())
    };
    let (looked_at, unverified): (Vec<_>, Vec<_>) = changed.partition(|(_, effect)| has_verifier(effect));
    if !unverified.is_empty() {
        let message = format!(
            "{} effects on the world are as the tools reported them (unverified): they have no verifier",
            unverified.len()
        );
        report.not_checked.push(NotChecked::new("unverified_effects", message));
    }
    if !looked_at.is_empty() {
        let message = format!(
            "{} effects on the world have a verifier, which checks them when the job is resumed and writes an event if \
             they are not as recorded; this check did not call it",
            looked_at.len()
        );
        report.not_checked.push(NotChecked::new("effects_not_asked_about", message));
    }
}

/// Checks that no effect of another try follows a successful answer of the same call. If a keyed retry repeated a
/// successful try, this is no violation, because the outside system recognizes the repeat by its key.
fn executed_once(evidence: &Evidence, job: &Job, report: &mut VerifyReport) {
    let mut good: BTreeMap<&Slot, u32> = BTreeMap::new();
    for (at, effect) in &evidence.effects {
        if is_unused_read(job, effect) {
            continue;
        }
        if let Some(first) = good.get(&effect.slot).filter(|first| **first != effect.try_no) {
            let message =
                format!("{} was executed again (try {}) after try {first} had succeeded", effect.slot, effect.try_no);
            let (expected, found) =
                (format!("no effect after try {first}"), format!("an effect of try {}", effect.try_no));
            report.add_problem(*at, ProblemKind::DoubleExecution, message, expected, found);
        } else if effect.kind == AnswerKind::Ok && !was_repeated(job, &effect.slot, effect.try_no) {
            good.insert(&effect.slot, effect.try_no);
        }
    }
    for (at, row) in &evidence.rows {
        if let Some(first) = good.get(&row.slot).filter(|first| **first < row.try_no) {
            let message =
                format!("the ledger allowed {} to be executed again after try {first} had succeeded", row.slot);
            report.add_problem(
                *at,
                ProblemKind::DoubleExecution,
                message,
                format!("try {first}"),
                format!("try {}", row.try_no),
            );
        }
    }
}

/// Reports stored answers of reads that no event mentions. A worker leaves such an answer if it loses its lease or
/// dies before it writes the events.
fn report_unused_reads(evidence: &Evidence, job: &Job, report: &mut VerifyReport) {
    let reported: BTreeSet<(&Slot, u32)> = evidence
        .events
        .iter()
        .filter_map(|(_, event)| match &event.body {
            Body::ToolInvocationFinished { slot, try_no, .. } => Some((slot, *try_no)),
            _ => None,
        })
        .collect();
    let in_vain =
        |effect: &EffectRecord| is_unused_read(job, effect) && !reported.contains(&(&effect.slot, effect.try_no));
    let slots: Vec<&str> =
        evidence.effects.iter().filter(|(_, effect)| in_vain(effect)).map(|(_, effect)| effect.slot.as_str()).collect();
    if !slots.is_empty() {
        let message = format!(
            "the file has answers of reads that the log does not use ({}): they come from a worker that had lost the \
             job or was cut off before it could record them, and have no consequences",
            slots.join(", ")
        );
        report.not_checked.push(NotChecked::new("unused_answers", message));
    }
}

/// Returns true if the effect is the answer of a read that the log does not use. A worker leaves such an answer if it
/// loses its lease or dies before it writes the events. The read changed nothing.
fn is_unused_read(job: &Job, effect: &EffectRecord) -> bool {
    let Some(call) = job.calls.get(&effect.slot) else { return false };
    let looks = job.pinned(&call.operator).is_some_and(|pinned| !pinned.is_world_changing());
    looks && call.finished.as_ref().is_none_or(|finished| finished.try_no != effect.try_no)
}

/// Returns true if this try of a keyed call was in doubt and the call was then repeated.
fn was_repeated(job: &Job, slot: &Slot, try_no: u32) -> bool {
    let Some(call) = job.calls.get(slot) else { return false };
    let keyed = job.pinned(&call.operator).is_some_and(|pinned| pinned.class == RecoveryClass::Keyed);
    keyed && call.verdicts.get(&try_no) == Some(&Verdict::Repeat)
}

/// Checks that the fields of the record match the effect in its content.
fn check_record_fields(at: u64, record: &EffectRecord, report: &mut VerifyReport) {
    let Some(bytes) = read::bytes_of(&record.content) else { return };
    let effect: Effect = match serde_json::from_slice(&bytes) {
        Ok(effect) => effect,
        Err(error) => {
            report.add_problem(at, ProblemKind::Effect, "the effect cannot be read", "an effect", error);
            return;
        }
    };
    let exported = (&record.slot, record.try_no, record.kind, record.provenance, record.time_us);
    let is = (&effect.slot, effect.try_no, AnswerKind::from(&effect.answer), effect.provenance, effect.time_us);
    if exported != is {
        let message = "slot, try, kind, provenance or time of the record differs from the effect in it";
        report.add_problem(at, ProblemKind::Effect, message, format!("{is:?}"), format!("{exported:?}"));
    }
}

/// For an effect of a world-changing call, checks that the log contains the barrier of the try.
fn check_barrier(at: u64, effect: &EffectRecord, job: &Job, report: &mut VerifyReport) {
    let slot = &effect.slot;
    let Some(call) = job.calls.get(slot) else {
        let planned = job.plan.step(&slot.step()).filter(|_| slot.is_step() || slot.is_compensation());
        let pinned = planned.and_then(|step| job.pinned(&step.name));
        // A refusal or a receipt is an answer without an execution. It is stored without events if the worker loses
        // its lease after writing the answer.
        let is_answer_alone = effect.provenance == Provenance::Reused || effect.kind == AnswerKind::NotApplied;
        let is_executed = effect.try_no > 0 || !is_answer_alone;
        if is_executed && pinned.is_some_and(PinnedOperator::is_world_changing) {
            let message = format!("there is an effect of {slot}, but the log never started the call");
            report.add_problem(
                at,
                ProblemKind::DoubleExecution,
                message,
                "no effect",
                format!("try {}", effect.try_no),
            );
        }
        return;
    };
    let known = call.finished.as_ref().map_or(0, |finished| finished.try_no).max(call.tries);
    let changing = job.pinned(&call.operator).is_some_and(PinnedOperator::is_world_changing);
    if changing && effect.try_no > known {
        let message =
            format!("there is an effect of {slot}, try {}, but the log never started that try", effect.try_no);
        let (expected, found) = (format!("at most try {known}"), format!("try {}", effect.try_no));
        report.add_problem(at, ProblemKind::DoubleExecution, message, expected, found);
    }
}
