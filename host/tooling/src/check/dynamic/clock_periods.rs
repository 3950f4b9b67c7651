//! D079: a key can contain a period that the step reads from its clock. The key then needs the year of the period.

use latchwork_engine::Plugin;

use crate::check::dynamic::action_keys::{KeyedCall, calls_of, calls_of_script, needs_no_year};
use crate::check::dynamic::other_times::{DAY_US, displayed, started_later};
use crate::check::dynamic::perturbed_runs::PerturbedRuns;
use crate::check::dynamic::trace::RunEnd;
use crate::check::finding::Finding;

/// Distances in days of starts that are in the same period of the next year: the same day, and the same weekday of the same
/// ISO week.
const NEXT_YEAR: [i64; 2] = [365, 371];
/// Distances in days of starts in other months and quarters, with the same weekday.
const OTHERS: [i64; 3] = [91, 154, 210];

/// Compares the keys of jobs that start a year apart. A key that differs for other months contains a period. Returns the
/// first finding.
pub(super) async fn compare(runs: &mut PerturbedRuns<'_>, plugin: &Plugin) -> Option<Finding> {
    let base = &runs.ran.base;
    let first = calls_of(base);
    if first.is_empty() || !base.took_time || !matches!(base.ended, RunEnd::Output(_)) {
        return None;
    }
    let mut others = Vec::new();
    for days in OTHERS {
        let script = started_later(runs, days * DAY_US);
        others.push(calls_of_script(runs, plugin, &script).await?);
    }
    let input = serde_json::from_str(&runs.ran.script.input).expect("a case's input is JSON");
    let has_period = |one: &KeyedCall| {
        let has_key = |calls: &Vec<KeyedCall>| calls.iter().any(|call| call.1 == one.1);
        others.iter().any(|calls| !calls.is_empty()) && !others.iter().any(has_key) && !needs_no_year(&one.1, &input)
    };
    for days in NEXT_YEAR {
        let script = started_later(runs, days * DAY_US);
        let next = calls_of_script(runs, plugin, &script).await?;
        let is_equal = |(one, other): &(&KeyedCall, &KeyedCall)| (&one.0, &one.1) == (&other.0, &other.1);
        let Some((one, _)) = first.iter().zip(&next).find(|pair| is_equal(pair) && has_period(pair.0)) else {
            continue;
        };
        let start = runs.ran.script.started_us;
        let [this, later] = [0, days].map(|days| displayed(start.saturating_add(days * DAY_US)));
        let message = format!(
            "in jobs that start at {this} and at {later}, a call of {} has the same action key {:?}",
            one.0, one.1
        );
        let hint = "put the year of the period into the key: the effect would happen in the first year alone";
        return Some(runs.ran.finding("D079", message).hint(hint));
    }
    None
}
