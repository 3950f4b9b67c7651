//! D079: different effects must not get one action key. Runs the case with inputs whose texts are easily confused by a key.

use std::collections::BTreeSet;

use serde_json::Value;

use latchwork_core::model::error::Code;
use latchwork_engine::Plugin;

use crate::check::dynamic::key_members::{identity_changes, names_identity, needs_no_year, recurs};
use crate::check::dynamic::perturbed_runs::PerturbedRuns;
use crate::check::dynamic::script::RunScript;
use crate::check::dynamic::trace::{RunEnd, Trace};
use crate::check::finding::Finding;
use crate::check::variations::{
    InputVariation, MovedLetter, MovedSeparator, OtherPeriods, in_other_letters, moved_letters, moved_separators,
    next_periods, other_periods, repeated_elements, siblings, without_first,
};

/// Maximum number of pairs of texts between which a letter is moved.
const PAIRS_MAX: usize = 12;
/// Maximum number of inputs with one more element of an array.
const SIBLINGS_MAX: usize = 16;

/// A call with an action key: operator, action key and arguments.
pub(super) type KeyedCall = (String, String, String);

/// Returns the first finding.
pub(super) async fn compare(runs: &mut PerturbedRuns<'_>, plugin: &Plugin) -> Option<Finding> {
    let base = &runs.ran.base;
    if base.keyed_calls().next().is_none() || !matches!(base.ended, RunEnd::Output(_)) {
        return None;
    }
    let (input, schema) = runs.ran.input_and_schema(plugin);
    let is_allowed = |input: &Value| plugin.check_input(&runs.ran.case.operator, input).is_ok();
    let letters = in_other_letters(&input, &schema, is_allowed);
    let moved = moved_letters(&input, &schema, PAIRS_MAX, is_allowed);
    if let Some(letters) = letters
        && let Some(finding) = of_letters(runs, plugin, &letters).await?
    {
        return Some(finding);
    }
    for one in &moved {
        if let Some(finding) = of_moved_letter(runs, plugin, one).await? {
            return Some(finding);
        }
    }
    let usual = calls_of(&runs.ran.base);
    let keys: Vec<&str> = usual.iter().map(|call| call.1.as_str()).collect();
    for one in &moved_separators(&input, &schema, &keys, PAIRS_MAX, is_allowed) {
        if let Some(finding) = of_moved_separator(runs, plugin, one).await? {
            return Some(finding);
        }
    }
    for one in &next_periods(&input, &schema, is_allowed) {
        if let Some(finding) = of_period(runs, plugin, one).await? {
            return Some(finding);
        }
    }
    for one in &other_periods(&input, &schema, is_allowed) {
        if let Some(finding) = of_periods(runs, plugin, one).await? {
            return Some(finding);
        }
    }
    for one in &siblings(&input, &schema, SIBLINGS_MAX, is_allowed) {
        if let Some(finding) = of_siblings(runs, plugin, one).await? {
            return Some(finding);
        }
    }
    for one in &without_first(&input, &schema, SIBLINGS_MAX, is_allowed) {
        if let Some(finding) = of_shifted(runs, plugin, one).await? {
            return Some(finding);
        }
    }
    for one in &repeated_elements(&input, &schema, SIBLINGS_MAX, is_allowed) {
        if let Some(finding) = of_late_refusal(runs, plugin, one).await? {
            return Some(finding);
        }
    }
    None
}

/// Runs the case with an input that contains one element twice. A step that refuses such an input must do so before its first
/// call with an action key.
async fn of_late_refusal(
    runs: &mut PerturbedRuns<'_>,
    plugin: &Plugin,
    variation: &InputVariation,
) -> Option<Option<Finding>> {
    let mut script = runs.script_of_other_calls();
    script.answers.extend_from_within(..);
    script.input = variation.value.to_string();
    let trace = runs.run(&script, plugin).await?;
    let RunEnd::Failed(failure) = &trace.ended else { return Some(None) };
    let Some((operator, key, _)) = trace.keyed_calls().next().filter(|_| failure.code == Code::InvalidInput) else {
        return Some(None);
    };
    let message = format!(
        "with another input, {}, it fails with {} after a call of {operator} with the action key {key:?}",
        variation.what, failure.code
    );
    let hint = "refuse an input in which two elements have one key before the first call";
    Some(Some(runs.ran.finding("D079", message).hint(hint)))
}

/// Compares two inputs whose texts have other letters, of two alphabets. A key that leaves such letters out is the same for
/// both.
/// The key must differ for other Latin letters, so that it is known to contain the texts. The outer `None` stands for
/// used-up fuel.
async fn of_letters(
    runs: &mut PerturbedRuns<'_>,
    plugin: &Plugin,
    [latin, first, second]: &[Value; 3],
) -> Option<Option<Finding>> {
    let first = keyed_calls(runs, plugin, first).await?;
    let second = keyed_calls(runs, plugin, second).await?;
    // Two elements of one input can get the same key, too.
    let Some((one, other)) = within(&first).or_else(|| shared(&first, &second)) else { return Some(None) };
    let latin = keyed_calls(runs, plugin, latin).await?;
    if !has_other_keys(runs, &latin) {
        return Some(None);
    }
    let message = format!(
        "with texts in other than Latin letters, calls of {} have the action key {:?} and other arguments",
        one.0, one.1
    );
    let finding = runs.ran.finding("D079", message).values(&one.2, &other.2);
    Some(Some(finding.hint("put the texts into the key as they are, for example as a JSON array")))
}

/// Compares the case with an input in which a letter has moved from one text to the next one. A key that joins the texts
/// without a separator is the same for both. The key must differ if only one of the texts changes.
async fn of_moved_letter(
    runs: &mut PerturbedRuns<'_>,
    plugin: &Plugin,
    moved: &MovedLetter,
) -> Option<Option<Finding>> {
    let usual = calls_of(&runs.ran.base);
    let other = keyed_calls(runs, plugin, &moved.both).await?;
    let Some((number, (one, other))) = numbered_shared(&usual, &other) else { return Some(None) };
    for single in [&moved.first, &moved.second] {
        let calls = keyed_calls(runs, plugin, single).await?;
        // The texts can be those of one element of an array, so the keys of other calls stay.
        let is_other = calls.len() > number && calls.iter().all(|call| call.1 != one.1);
        if !has_keys_of_its_own(&calls) || !is_other {
            return Some(None);
        }
    }
    let message = format!(
        "with another input, {}, a call of {} has the same action key {:?} and other arguments",
        moved.what, one.0, one.1
    );
    let finding = runs.ran.finding("D079", message).values(&one.2, &other.2);
    Some(Some(finding.hint("put a separator between the texts that they cannot contain, or a JSON array of them")))
}

/// Compares two inputs in which a separator of the key is in one text or in the next one. A key that joins the texts is the
/// same for both.
async fn of_moved_separator(
    runs: &mut PerturbedRuns<'_>,
    plugin: &Plugin,
    moved: &MovedSeparator,
) -> Option<Option<Finding>> {
    let before = keyed_calls(runs, plugin, &moved.both[0]).await?;
    let after = keyed_calls(runs, plugin, &moved.both[1]).await?;
    if !has_other_keys(runs, &before) || !has_other_keys(runs, &after) {
        return Some(None);
    }
    let Some((one, other)) = shared(&before, &after) else { return Some(None) };
    let message =
        format!("with {}, calls of {} have the same action key {:?} and other arguments", moved.what, one.0, one.1);
    let finding = runs.ran.finding("D079", message).values(&one.2, &other.2);
    Some(Some(finding.hint("put the texts into the key as a JSON array, or let the schema refuse the separator")))
}

/// Runs the case with an input in which two elements of an array differ in one member. A key without this member is the
/// same for both, and the effect of the second element does not happen. The outer `None` stands for used-up fuel.
async fn of_siblings(
    runs: &mut PerturbedRuns<'_>,
    plugin: &Plugin,
    variation: &InputVariation,
) -> Option<Option<Finding>> {
    let mut script = runs.script_of_other_calls();
    // The calls for the second element get the answers of those for the first one.
    script.answers.extend_from_within(..);
    let calls = calls_with(runs, plugin, script, &variation.value).await?;
    let Some((one, other)) = within(&calls) else { return Some(None) };
    let message = format!(
        "with another input, {}, two calls of {} have the action key {:?} and different arguments",
        variation.what, one.0, one.1
    );
    let finding = runs.ran.finding("D079", message).values(&one.2, &other.2);
    let hint =
        "put what distinguishes the elements into the key, or refuse an input in which two elements have one key";
    Some(Some(finding.hint(hint)))
}

/// Compares the case with an input without the first element of an array. If the key of a call contains the place of its
/// element, a later call now has the key of an earlier one, and another key than before. The outer `None` stands for used-up
/// fuel.
async fn of_shifted(
    runs: &mut PerturbedRuns<'_>,
    plugin: &Plugin,
    variation: &InputVariation,
) -> Option<Option<Finding>> {
    let usual = calls_of(&runs.ran.base);
    let shifted = keyed_calls(runs, plugin, &variation.value).await?;
    let is_moved = |one: &KeyedCall| usual.iter().any(|call| (&call.0, &call.2) == (&one.0, &one.2) && call.1 != one.1);
    let mut pairs = shifted.iter().filter(|one| is_moved(one) && !names_identity(&one.1, &variation.value));
    let pair = pairs.find_map(|one| Some((usual.iter().find(|call| is_shared(call, one))?, one)));
    let Some((one, other)) = pair else { return Some(None) };
    // A key can contain a hash of what identifies the list.
    let (input, schema) = runs.ran.input_and_schema(plugin);
    let is_allowed = |input: &Value| plugin.check_input(&runs.ran.case.operator, input).is_ok();
    for changed in identity_changes(&input, &schema, is_allowed) {
        let calls = keyed_calls(runs, plugin, &changed).await?;
        if !calls.is_empty() && calls.iter().all(|call| usual.iter().all(|usual| usual.1 != call.1)) {
            return Some(None);
        }
    }
    let message = format!(
        "with another input, {}, a call of {} has the action key {:?} of another element",
        variation.what, one.0, one.1
    );
    let finding = runs.ran.finding("D079", message).values(&one.2, &other.2);
    Some(Some(finding.hint("name the element in the key, and not its place in the list")))
}

/// Compares the case with an input of the next month, week, quarter or year, or of that of the next year. If a call has
/// other arguments then, its effect recurs, and a key without the period is the same in each of them. The outer `None`
/// stands for used-up fuel.
async fn of_period(
    runs: &mut PerturbedRuns<'_>,
    plugin: &Plugin,
    variation: &InputVariation,
) -> Option<Option<Finding>> {
    let usual = calls_of(&runs.ran.base);
    let next = keyed_calls(runs, plugin, &variation.value).await?;
    let Some((one, other)) = shared(&usual, &next).filter(|(one, _)| recurs(&one.1, &variation.value)) else {
        return Some(None);
    };
    let message = format!(
        "with {}, a call of {} has the same action key {:?} and different arguments",
        variation.what, one.0, one.1
    );
    let finding = runs.ran.finding("D079", message).values(&one.2, &other.2);
    Some(Some(finding.hint("put the period into the key: the effect would happen in the first one alone")))
}

/// Compares the keys of two periods whose names are alike, such as March of two years. A key that differs for further
/// periods contains a period, and must not be the same for the two. The outer `None` stands for used-up fuel.
async fn of_periods(runs: &mut PerturbedRuns<'_>, plugin: &Plugin, periods: &OtherPeriods) -> Option<Option<Finding>> {
    let first = keyed_calls(runs, plugin, &periods.apart[0]).await?;
    let second = keyed_calls(runs, plugin, &periods.apart[1]).await?;
    if first.len() != second.len() {
        return Some(None);
    }
    let is_equal = |(one, other): &(&KeyedCall, &KeyedCall)| (&one.0, &one.1) == (&other.0, &other.1);
    // The year can come from another value.
    let is_free = |one: &KeyedCall| !periods.is_next_year || !needs_no_year(&one.1, &periods.apart[0]);
    let mut equal: Vec<_> = first.iter().zip(&second).filter(is_equal).filter(|(one, _)| is_free(one)).collect();
    let mut compared = 0;
    for value in &periods.others {
        if equal.is_empty() {
            return Some(None);
        }
        let others = keyed_calls(runs, plugin, value).await?;
        // The step can refuse a period.
        if others.is_empty() {
            continue;
        }
        compared += 1;
        // A step can leave out an element, or change the order of its calls.
        equal.retain(|(one, _)| others.len() == first.len() && others.iter().all(|other| other.1 != one.1));
    }
    let Some((one, other)) = equal.first().filter(|_| compared > 0) else { return Some(None) };
    let message = format!("with {}, a call of {} has the same action key {:?}", periods.what, one.0, one.1);
    let finding = runs.ran.finding("D079", message);
    let finding = if one.2 == other.2 { finding } else { finding.values(&one.2, &other.2) };
    Some(Some(finding.hint(match periods.is_next_year {
        true => "put the year of the period into the key: the effect would happen in the first year alone",
        false => "put the year to which the ISO week belongs into the key: it differs from that of the day",
    })))
}

/// Runs the case with another input and returns its calls. Returns no calls if the step fails. `None` stands for used-up
/// fuel.
async fn keyed_calls(runs: &mut PerturbedRuns<'_>, plugin: &Plugin, input: &Value) -> Option<Vec<KeyedCall>> {
    let script = runs.script_of_other_calls();
    calls_with(runs, plugin, script, input).await
}

/// Runs a script with another input, like [`keyed_calls`].
async fn calls_with(
    runs: &mut PerturbedRuns<'_>,
    plugin: &Plugin,
    mut script: RunScript,
    input: &Value,
) -> Option<Vec<KeyedCall>> {
    script.input = input.to_string();
    calls_of_script(runs, plugin, &script).await
}

/// Runs a script and returns its calls with a key. Returns no calls if the step fails. `None` stands for used-up fuel.
pub(super) async fn calls_of_script(
    runs: &mut PerturbedRuns<'_>,
    plugin: &Plugin,
    script: &RunScript,
) -> Option<Vec<KeyedCall>> {
    let trace = runs.run(script, plugin).await?;
    Some(if matches!(trace.ended, RunEnd::Failed(_) | RunEnd::Fault(_)) { vec![] } else { calls_of(&trace) })
}

/// Returns the calls of a run with an action key.
pub(super) fn calls_of(trace: &Trace) -> Vec<KeyedCall> {
    trace.keyed_calls().map(|(operator, key, args)| (operator.clone(), key.clone(), args.clone())).collect()
}

fn is_shared(one: &KeyedCall, other: &KeyedCall) -> bool {
    (&one.0, &one.1) == (&other.0, &other.1) && one.2 != other.2
}

/// Returns the first pair of calls of one run that share a key.
fn within(calls: &[KeyedCall]) -> Option<(&KeyedCall, &KeyedCall)> {
    calls.iter().find_map(|one| Some((one, calls.iter().find(|other| is_shared(one, other))?)))
}

/// Returns the first pair of calls with the same number that share a key.
fn shared<'c>(usual: &'c [KeyedCall], other: &'c [KeyedCall]) -> Option<(&'c KeyedCall, &'c KeyedCall)> {
    numbered_shared(usual, other).map(|(_, pair)| pair)
}

/// Returns the first pair of calls with the same number that share a key, with this number.
fn numbered_shared<'c>(
    usual: &'c [KeyedCall],
    other: &'c [KeyedCall],
) -> Option<(usize, (&'c KeyedCall, &'c KeyedCall))> {
    usual.iter().zip(other).enumerate().find(|(_, (one, other))| is_shared(one, other))
}

/// Returns true if no two calls have one key.
fn has_keys_of_its_own(calls: &[KeyedCall]) -> bool {
    calls.iter().map(|call| (&call.0, &call.1)).collect::<BTreeSet<_>>().len() == calls.len()
}

/// Returns true if each call has another key than in the case. The calls of one run have keys of their own.
fn has_other_keys(runs: &PerturbedRuns<'_>, calls: &[KeyedCall]) -> bool {
    let usual = calls_of(&runs.ran.base);
    !calls.is_empty() && has_keys_of_its_own(calls) && usual.iter().zip(calls).all(|(one, other)| one.1 != other.1)
}
