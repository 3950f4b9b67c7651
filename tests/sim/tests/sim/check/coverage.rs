//! Coverage check over all seeds: each fault and each recovery must occur at least once, because the simulation tests
//! only what occurs.

use crate::event_counts::EventCounts;
use crate::workers::process::CRASH_POINTS;

/// Faults, by the names under which they are counted.
const FAULTS: [&str; 20] = [
    "asked to cancel",
    "asked to undo",
    "died at a time",
    "lost answer",
    "lost answer of a write",
    "lost request",
    "lost write",
    "outage",
    "paused",
    "stopped",
    "tool: AnswerLost",
    "tool: Late",
    "tool: Refused(AuthForbidden)",
    "tool: Refused(NetworkTimeout)",
    "tool: Refused(RateLimit)",
    "tool: RequestLost",
    "tool: Stalled",
    "tool: Unsure",
    "write fenced",
    "write lease over",
];

/// Recoveries and final states, by the names under which they are counted.
const RECOVERIES: [&str; 36] = [
    "a job of several attempts",
    "a keyed request arrived again",
    "a finished job that was undone",
    "a step that a cancel cut off",
    "a compensation was answered",
    "answer CaughtUp",
    "answer Executed",
    "answer KeyedRetry",
    "answer PersonDecision",
    "answer Reconciled",
    "answer Reused",
    "attempts exhausted",
    "event compensation_failed",
    "event job_reopened",
    "event gate_approved",
    "event gate_rejected",
    "event resolution_conflict",
    "event signal_kept",
    "event step_retry_scheduled",
    "event timer_fired",
    "event wait_timed_out",
    "released",
    "job CANCELLED",
    "job COMPLETED",
    "job FAILED",
    "job PARTIAL",
    "lease lost, found by the heartbeat",
    "left after the store failed",
    "lost to another worker",
    "replayed from every prefix",
    "settled PARKED",
    "settled WAITING",
    "late answer reported",
    "tool: nothing sent after its time",
    "write conflict",
    "write inbox pending",
];

/// Returns the names that were never counted.
pub(crate) fn uncovered(tally: &EventCounts) -> Vec<String> {
    // The point `put_inbox` is left out. Workers call `put_inbox` only for late answers. Late answers are rare, so the
    // tested seeds may contain no death at this point.
    let points = CRASH_POINTS.iter().filter(|point| **point != "put_inbox");
    let deaths = points.flat_map(|point| ["before", "after"].map(|when| format!("died {when} {point}")));
    let others = FAULTS.iter().chain(&RECOVERIES).map(ToString::to_string);
    deaths.chain(others).filter(|name| tally.count_of(name) == 0).collect()
}
