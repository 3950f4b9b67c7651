//! Checks the ledger rows against the calls of the log. Ledger rows have a table of their own.

use std::collections::BTreeSet;

use crate::evidence::read::Evidence;
use crate::evidence::report::{NotChecked, ProblemKind, VerifyReport};
use crate::model::effect::Provenance;
use crate::model::ids::Slot;
use crate::model::manifest::PinnedOperator;
use crate::rules::ledger::{LedgerRow, RowState};
use crate::state::{Call, Job};

pub(super) fn check(evidence: &Evidence, job: &Job, report: &mut VerifyReport) {
    let mut slots: BTreeSet<&Slot> = BTreeSet::new();
    let mut unsettled = Vec::new();
    for (at, row) in &evidence.rows {
        let slot = &row.slot;
        if !slots.insert(slot) {
            let message = format!("duplicate ledger row of {slot}");
            report.add_problem(*at, ProblemKind::Ledger, message, "one row for a slot", "another");
            continue;
        }
        let Some(call) = job.calls.get(slot) else {
            let message = format!("the ledger has a row of {slot}, but the events have no such call");
            report.add_problem(*at, ProblemKind::Ledger, message, "no row", row_state(row));
            continue;
        };
        check_identity(*at, row, call, job, report);
        if check_state(*at, row, call, job, report) {
            unsettled.push(slot.to_string());
        }
    }
    let last = evidence.events.last().map_or(1, |(at, _)| *at);
    for (slot, call) in job.calls.iter().filter(|(slot, _)| !slots.contains(slot)) {
        // A call that only reads has no barrier. Its row is written after its events, and a crash in between loses
        // the row.
        let started = call.tries > 0 && is_changing(job, call);
        if started {
            let at = started_line(evidence, slot).unwrap_or(last);
            let message = format!("{slot} was started, but the ledger has no row of it");
            report.add_problem(at, ProblemKind::Ledger, message, "a ledger row", "none");
        }
    }
    if !unsettled.is_empty() {
        let message = format!(
            "rows that were not settled when the file was written ({}) were only partly compared",
            unsettled.join(", ")
        );
        report.not_checked.push(NotChecked::new("unsettled", message));
    }
}

fn started_line(evidence: &Evidence, slot: &Slot) -> Option<u64> {
    use crate::event::Body;
    let starts = |body: &Body| matches!(body, Body::ToolInvocationStarted { slot: at, .. } if at == slot);
    evidence.events.iter().find(|(_, event)| starts(&event.body)).map(|(at, _)| *at)
}

fn is_changing(job: &Job, call: &Call) -> bool {
    job.pinned(&call.operator).is_some_and(PinnedOperator::is_world_changing)
}

fn row_state(row: &LedgerRow) -> String {
    serde_json::to_value(row.state).ok().and_then(|state| state.as_str().map(str::to_owned)).unwrap_or_default()
}

/// Returns true if the answer of the call is the receipt of another call.
fn is_receipt(call: &Call) -> bool {
    call.finished.as_ref().is_some_and(|finished| finished.provenance == Provenance::Reused)
}

/// Checks the constant fields of a call and the number of its try.
fn check_identity(at: u64, row: &LedgerRow, call: &Call, job: &Job, report: &mut VerifyReport) {
    let slot = &row.slot;
    let mut differs = |name: &str, expected: String, found: String| {
        if expected != found {
            let message = format!("{slot}: {name} of the ledger row differs from the events");
            report.add_problem(at, ProblemKind::Ledger, message, expected, found);
        }
    };
    differs("the operator", call.operator.to_string(), row.operator.to_string());
    differs("the arguments hash", call.args.hash.to_hex(), row.args_hash.to_hex());
    differs("the first attempt", call.first_attempt.to_string(), row.first_attempt.to_string());
    let changing = is_changing(job, call);
    if call.tries > 0 {
        differs("world_changing", changing.to_string(), row.world_changing.to_string());
    }
    // The answer of a refused call has the number of a try that was never started.
    let last = call.finished.as_ref().map_or(0, |finished| finished.try_no).max(call.tries);
    // A receipt is not an execution, so the row may have the try number of an earlier round of retries.
    let executed = call.tries.saturating_sub(u32::from(is_receipt(call)));
    let least = if changing { executed } else { 0 };
    if row.try_no < least || row.try_no > last {
        let message = format!("{slot}: the number of executions in the ledger differs from the events");
        let kind = if changing { ProblemKind::DoubleExecution } else { ProblemKind::Ledger };
        report.add_problem(at, kind, message, format!("try {last} (events)"), format!("try {} (ledger)", row.try_no));
    }
    if row.attempt > job.attempt.max(call.first_attempt) {
        let message = format!("{slot}: the row belongs to an attempt that never claimed the job");
        report.add_problem(at, ProblemKind::Ledger, message, format!("at most {}", job.attempt), row.attempt);
    }
}

/// Checks the state of the row. Returns true if the row is not settled yet.
fn check_state(at: u64, row: &LedgerRow, call: &Call, job: &Job, report: &mut VerifyReport) -> bool {
    let slot = &row.slot;
    let finished = call.finished.as_ref();
    let open = call.open_try.is_some();
    // In staged commit, the row is written after its events. Until then, the row keeps its previous state.
    let (fits, unsettled) = match (call.committed, finished.map(|finished| finished.ok)) {
        (true, Some(true)) => {
            // The final row may not be written yet. Until then, the row of an executed world-changing call is in flight
            // or in doubt, because the barrier set its state to in flight. A read or a reused receipt has no barrier,
            // so its earlier row may also be a definite failure.
            let is_behind = match row.world_changing && !is_receipt(call) {
                true => matches!(row.state, RowState::Inflight | RowState::Indeterminate),
                false => !row.state.is_final(),
            };
            (row.state == RowState::Committed, is_behind)
        }
        (true, _) => (row.state == RowState::FailedFinal, !row.state.is_final()),
        (false, _) if open => {
            (matches!(row.state, RowState::Inflight | RowState::Indeterminate | RowState::FailedDefinite), false)
        }
        (false, _) => (row.state == RowState::FailedDefinite, !row.state.is_final()),
    };
    let in_doubt = matches!(row.state, RowState::Inflight | RowState::Indeterminate);
    let over = job.state.is_terminal() && row.world_changing && in_doubt;
    if !fits && (!unsettled || over) {
        let recorded = match (call.committed, finished.map(|finished| finished.ok)) {
            (true, Some(true)) => "a final good answer: COMMITTED",
            (true, _) => "a final failure: FAILED_FINAL",
            (false, _) if open => "an open try: INFLIGHT or INDETERMINATE",
            (false, _) => "a retryable failure: FAILED_DEFINITE",
        };
        let message = format!("{slot}: the state of the ledger row does not follow from the events");
        report.add_problem(at, ProblemKind::Ledger, message, recorded, row_state(row));
        return false;
    }
    let expected = finished.filter(|_| row.state.is_final()).map(|finished| finished.answer.hash);
    if fits && row.result_hash != expected {
        let text = |hash: Option<crate::model::ids::Hash>| hash.map_or_else(|| "none".to_owned(), |hash| hash.to_hex());
        let message = format!("{slot}: the result hash of the ledger row differs from the events");
        report.add_problem(at, ProblemKind::Ledger, message, text(expected), text(row.result_hash));
    }
    !fits
}
