//! D055 to D061, D075 and D077: a step that reads its clock must not break at another time of the day, week or year. It
//! must also not break if its tools answer immediately or only after days.

use latchwork_engine::Plugin;

use crate::check::dynamic::perturbed_runs::PerturbedRuns;
use crate::check::dynamic::run_end;
use crate::check::dynamic::script::RunScript;
use crate::check::finding::Finding;

const MINUTE_US: i64 = 60_000_000;
const HOUR_US: i64 = 60 * MINUTE_US;
pub(super) const DAY_US: i64 = 24 * HOUR_US;

/// Distances of other days from the day on which the case starts. That day is Monday, 2026-01-05. The other days
/// include the rest of the week, and the last days and the first day of each month. They also include the end of
/// February in a leap year, and the day after 2^31 seconds.
const DAYS: [i64; 37] = [
    1, 2, 3, 4, 5, 6, 24, 25, 26, 27, 53, 54, 84, 85, 114, 115, 145, 146, 175, 176, 206, 207, 237, 238, 267, 268, 298,
    299, 328, 329, 359, 360, 784, 785, 1_090, 1_091, 4_398,
];

/// Runs the case at other times. Also runs it with tools that answer immediately, and with tools that answer only after
/// days. Returns the first defect.
pub(super) async fn vary_times(runs: &mut PerturbedRuns<'_>, plugin: &Plugin) -> Option<Finding> {
    // The time changes nothing for a step that never reads it.
    if !runs.ran.base.took_time || runs.ran.base.describe_end() != "an output" {
        return None;
    }
    // A case without calls has no latency that could be changed.
    let latencies = [("with tools that take no time, ", 0), ("with tools that take days, ", 2 * DAY_US + HOUR_US)];
    for (when, latency_us) in latencies.into_iter().filter(|_| !runs.ran.script.answers.is_empty()) {
        let mut script = runs.script_of_other_calls();
        let started_us = script.started_us;
        for (n, given) in script.answers.iter_mut().enumerate() {
            given.heard_us = started_us.saturating_add(latency_us.saturating_mul(n as i64 + 1));
        }
        if let Some(finding) = defect(runs, plugin, &script, when).await? {
            return Some(finding);
        }
    }
    for shift_us in shifts() {
        let script = started_later(runs, shift_us);
        let when = format!("in a job that starts at {}, ", displayed(script.started_us));
        if let Some(finding) = defect(runs, plugin, &script, &when).await? {
            return Some(finding);
        }
    }
    None
}

/// Returns the script of the case for a job that starts later.
pub(super) fn started_later(runs: &PerturbedRuns<'_>, shift_us: i64) -> RunScript {
    let mut script = runs.script_of_other_calls();
    script.started_us = script.started_us.saturating_add(shift_us);
    for given in &mut script.answers {
        given.heard_us = given.heard_us.saturating_add(shift_us);
    }
    script
}

/// Returns shifts of the start time: to the other hours of the same day, to the end of the last minute of this day, and
/// to noon of other days.
fn shifts() -> impl Iterator<Item = i64> {
    let hours = (1..24).map(|hour| hour * HOUR_US + 29 * MINUTE_US);
    let last_minute = std::iter::once(15 * HOUR_US - 1);
    hours.chain(last_minute).chain(DAYS.map(|days| days * DAY_US + 3 * HOUR_US))
}

/// Shows a time in UTC, such as `2026-01-05T09:00:00Z`.
pub(super) fn displayed(us: i64) -> String {
    let at = std::time::UNIX_EPOCH.checked_add(std::time::Duration::from_micros(us.max(0) as u64));
    at.map_or_else(|| format!("{us} us after 1970"), |at| humantime::format_rfc3339_seconds(at).to_string())
}

/// Runs the script. The outer `None` stands for used-up fuel.
async fn defect(
    runs: &mut PerturbedRuns<'_>,
    plugin: &Plugin,
    script: &RunScript,
    when: &str,
) -> Option<Option<Finding>> {
    let trace = runs.run(script, plugin).await?;
    Some(run_end::broken(runs.ran, &trace, when).or_else(|| run_end::uncaught(runs.ran, &trace, when)))
}
