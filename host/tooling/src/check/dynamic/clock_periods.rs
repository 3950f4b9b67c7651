//! D079: a key can contain a period that the step reads from its clock. The key then needs the year of the period.

use latchwork_engine::Plugin;

use crate::check::dynamic::action_keys::{KeyedCall, calls_of, calls_of_script};
use crate::check::dynamic::key_members::needs_no_year;
use crate::check::dynamic::other_times::{DAY_US, displayed, started_later};
use crate::check::dynamic::perturbed_runs::PerturbedRuns;
use crate::check::dynamic::trace::RunEnd;
use crate::check::finding::Finding;

/// Distances in days of starts that are in the same period of the next year: the same day, and the same weekday of the same
/// ISO week.
const NEXT_YEAR: [i64; 2] = [365, 371];
/// Distances in days of starts in other months and quarters, with the same weekday.
const OTHERS: [i64; 3] = [91, 154, 210];

/// Distances in days of starts in the first ISO week of two years, and in the week after each. The case starts on 2026-01-05.
/// The years are 2029 and 2030, and their first weeks begin on 2029-01-01 and on 2029-12-31.
const FIRST_WEEKS: [i64; 4] = [1_094, 1_456, 1_101, 1_471];
/// Distances in microseconds of starts at noon and at the end of the day. A case starts at nine o'clock.
const NOON_US: i64 = 3 * DAY_US / 24;
const MIDNIGHT_US: i64 = 15 * DAY_US / 24;

/// Compares the keys of jobs that start a year apart. A key that differs for other months contains a period. Returns the
/// first finding.
pub(super) async fn compare(runs: &mut PerturbedRuns<'_>, plugin: &Plugin) -> Option<Finding> {
    let base = &runs.ran.base;
    let first = calls_of(base);
    if first.is_empty() || !base.took_time || !matches!(base.ended, RunEnd::Output(_)) {
        return None;
    }
    if let Some(finding) = of_midnight(runs, plugin).await? {
        return Some(finding);
    }
    if let Some(finding) = of_first_weeks(runs, plugin).await? {
        return Some(finding);
    }
    let base = &runs.ran.base;
    let first = calls_of(base);
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

/// Compares the calls of a job in which a day ends after the first clock reads with those of jobs of the same day. A key that
/// contains the day on which the job starts must not have arguments that follow from a later read. The outer `None` stands
/// for used-up fuel.
async fn of_midnight(runs: &mut PerturbedRuns<'_>, plugin: &Plugin) -> Option<Option<Finding>> {
    let first = calls_of(&runs.ran.base);
    let noon = started_later(runs, NOON_US);
    let noon = calls_of_script(runs, plugin, &noon).await?;
    // Arguments with a time of the day are another finding.
    if noon != first {
        return Some(None);
    }
    let midnight = started_later(runs, MIDNIGHT_US - 1);
    let late = calls_of_script(runs, plugin, &midnight).await?;
    let is_other = |(one, late): &(&KeyedCall, &KeyedCall)| (&one.0, &one.1) == (&late.0, &late.1) && one.2 != late.2;
    let Some((one, late)) = first.iter().zip(&late).find(is_other) else { return Some(None) };
    let message = format!(
        "in a job that starts at {}, a call of {} has the action key {:?} of that day, and arguments of the next day",
        displayed(midnight.started_us),
        one.0,
        one.1
    );
    let finding = runs.ran.finding("D079", message).values(&one.2, &late.2);
    Some(Some(finding.hint("read the clock once, and use this time in the key and in the arguments")))
}

/// Compares the keys of jobs in the first ISO week of two years, which start in one year of the calendar. The outer `None`
/// stands for used-up fuel.
async fn of_first_weeks(runs: &mut PerturbedRuns<'_>, plugin: &Plugin) -> Option<Option<Finding>> {
    let mut all = Vec::new();
    for days in FIRST_WEEKS {
        let script = started_later(runs, days * DAY_US);
        all.push((displayed(script.started_us), calls_of_script(runs, plugin, &script).await?));
    }
    let [(first_at, first), (second_at, second), others @ ..] = all.as_slice() else { return Some(None) };
    let has_key = |calls: &Vec<KeyedCall>, one: &KeyedCall| calls.iter().any(|call| call.1 == one.1);
    let is_equal = |(one, other): &(&KeyedCall, &KeyedCall)| (&one.0, &one.1) == (&other.0, &other.1);
    let has_week = |one: &KeyedCall| others.iter().all(|(_, calls)| !calls.is_empty() && !has_key(calls, one));
    let Some((one, _)) = first.iter().zip(second).find(|pair| is_equal(pair) && has_week(pair.0)) else {
        return Some(None);
    };
    let message = format!(
        "in jobs that start at {first_at} and at {second_at}, a call of {} has the same action key {:?}",
        one.0, one.1
    );
    let hint = "put the year to which the ISO week belongs into the key: it differs from that of the day";
    Some(Some(runs.ran.finding("D079", message).hint(hint)))
}
