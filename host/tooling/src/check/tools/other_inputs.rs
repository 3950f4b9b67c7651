//! D100, D103, D105, D109 and D110: calls with other inputs that the operator's schema allows, and at other times.

use serde_json::Value;

use latchwork_core::model::effect::Answer;
use latchwork_core::model::error::Code;
use latchwork_engine::ReconcileVerdict;
use latchwork_engine::guest::json_gate::{NO_CANONICAL_FORM, OUTSIDE_SCHEMA, TOO_MANY_CHANGES};

use crate::check::exception;
use crate::check::finding::displayed_input;
use crate::check::tools::applied;
use crate::check::tools::case::{ToolCase, inputs_of};
use crate::check::tools::lost_record::{ask_about, is_same_result};
use crate::check::tools::running_case::{CallResult, RunningCase};
use crate::check::tools::single_call;
use crate::check::tools::world::World;
use crate::check::variations::{InputVariation, array_places, columns, drawn, grown, is_much_larger, variations};

/// Maximum number of other inputs of a case.
const INPUTS_MAX: usize = 100;
/// Maximum number of other inputs of a case in which a text or an array grows.
const GROWN_MAX: usize = 22;
/// Maximum number of other inputs of a case in which a member changes in all elements, or a number within a text.
const COLUMNS_MAX: usize = 24;
/// Maximum number of arrays of an input for which the largest accepted number of elements is searched, and the largest
/// number that is tried.
const ARRAYS_MAX: usize = 2;
const ELEMENTS_MAX: usize = 100;
/// Number of drawn inputs of a case, and of a case of a component that contains the runtime of a language.
const DRAWN: usize = 100;
const DRAWN_WITH_RUNTIME: usize = 16;
/// Numbers of the tries at other times: after hours, a day, a month, a year, eleven and ninety years. The clock of the
/// stub advances by an hour in each try. Authors use a year such as 2099 for an entry that never expires.
const TRIES: [u32; 7] = [3, 13, 24, 720, 8_784, 96_360, 788_940];

/// Checks two rules. After a call that reports no change, the folders and the map must be as before the call. An
/// operator must not change what it does not declare.
pub(super) async fn run(running: &mut RunningCase<'_>) -> std::io::Result<()> {
    if running.case.error.is_some() || running.found.iter().any(|finding| finding.rule == "D105") {
        return Ok(());
    }
    for tries in TRIES {
        let world = running.world()?;
        let before = world.state();
        let called = running.calling(running.case, &world, running.context(tries), false).await;
        let when = format!("in a try {tries} hours later");
        if applied::check(running, &when, &before, &world, &called.end.answer) || is_denied(running, &called, &when) {
            return Ok(());
        }
    }
    let (input, schema) = running.input_and_schema();
    let plugin = running.tools.plugin;
    let is_allowed = |input: &Value| plugin.check_input(&running.case.operator, input).is_ok();
    let others = variations(&input, &schema, INPUTS_MAX, is_allowed);
    let larger = grown(&input, &schema, GROWN_MAX, is_allowed);
    let of_columns = columns(&input, &schema, COLUMNS_MAX, is_allowed);
    for variation in others.into_iter().chain(larger).chain(of_columns) {
        if succeeds(running, &variation).await?.is_none() {
            return Ok(());
        }
    }
    most_elements(running, &input, &schema, is_allowed).await?;
    draw(running, &input, &schema, is_allowed).await
}

/// Makes the call with inputs that are drawn at random, until a rule is broken.
async fn draw(
    running: &mut RunningCase<'_>,
    input: &Value,
    schema: &Value,
    is_allowed: impl Fn(&Value) -> bool,
) -> std::io::Result<()> {
    if !running.found.is_empty() {
        return Ok(());
    }
    let samples = inputs_of(&running.case.operator, running.all_cases);
    let count = if running.tools.has_runtime { DRAWN_WITH_RUNTIME } else { DRAWN };
    for value in drawn(input, &samples, schema, count, is_allowed) {
        let variation = InputVariation { what: displayed_input(&value.to_string()), value, is_large: false };
        if succeeds(running, &variation).await?.is_none() {
            break;
        }
    }
    Ok(())
}

/// Searches the largest number of elements that the operator accepts, for each array of the input.
async fn most_elements(
    running: &mut RunningCase<'_>,
    input: &Value,
    schema: &Value,
    is_allowed: impl Fn(&Value) -> bool,
) -> std::io::Result<()> {
    for array in array_places(input, schema).iter().take(ARRAYS_MAX) {
        let (growth, mut search) = (array.of_texts(), array.search(ELEMENTS_MAX));
        while let Some(count) = search.next() {
            let variation = array.grown(input, &growth, count);
            let is_accepted = match is_allowed(&variation.value) {
                true => succeeds(running, &variation).await?,
                false => Some(false),
            };
            let Some(is_accepted) = is_accepted else { return Ok(()) };
            search.record(count, is_accepted);
        }
    }
    Ok(())
}

/// Makes the call with another input. Returns true if it succeeds, and `None` after a finding.
async fn succeeds(running: &mut RunningCase<'_>, variation: &InputVariation) -> std::io::Result<Option<bool>> {
    let case = ToolCase { input: variation.value.to_string(), ..running.case.clone() };
    let world = running.world()?;
    let before = world.state();
    let called = running.calling(&case, &world, running.context(0), false).await;
    let when = format!("with another input, {}", variation.what);
    let is_large = variation.is_large || is_much_larger(case.input.len(), running.case.input.len());
    let is_found = applied::check(running, &when, &before, &world, &called.end.answer)
        || is_denied(running, &called, &when)
        || !is_large && is_broken(running, &called, &when)
        || has_too_many_changes(running, &called, &when)
        || returns_other_result(running, &case, &world, &called, &when).await;
    Ok((!is_found).then_some(matches!(called.end.answer, Answer::Ok(_))))
}

/// D103: reports a `reconcile` that finds the call but returns another result than the call.
async fn returns_other_result(
    running: &mut RunningCase<'_>,
    case: &ToolCase,
    world: &World,
    called: &CallResult,
    when: &str,
) -> bool {
    // The canned answers of servers are those for the input of the case.
    let is_found = running.found.iter().any(|finding| ["D103", "D104"].contains(&finding.rule));
    let is_asked = running.tools.plugin.reconcile && running.spec.is_world_changing() && !is_found;
    if !is_asked || !running.case.http.is_empty() {
        return false;
    }
    let Answer::Ok(done) = &called.end.answer else { return false };
    let context = running.later_context();
    let Ok(ReconcileVerdict::Happened(found)) = ask_about(running, world, context, &case.input).await else {
        return false;
    };
    if is_same_result(done, &found) {
        return false;
    }
    let message = format!("{when}, reconcile finds the call but returns a different result than the call");
    let finding = running.add_finding("D103", message);
    (finding.expected, finding.found) = (Some(done.result.clone()), Some(found.result));
    finding.hint = Some("keep the result with the effect, or compute it as the call does".to_owned());
    true
}

/// D100: reports a call that a trap, the stack or an exception for a mistake ended. D110: reports an answer that the host
/// refused.
pub(super) fn is_broken(running: &mut RunningCase<'_>, called: &CallResult, when: &str) -> bool {
    let (Answer::NotApplied(failure) | Answer::Unknown { failure, .. }) = &called.end.answer else { return false };
    let of_answer = [NO_CANONICAL_FORM, OUTSIDE_SCHEMA].iter().any(|text| failure.message.contains(text));
    if failure.code == Code::SchemaValidationFailed && of_answer {
        let hint = "return an answer that its schema allows, or a typed error";
        running.add_finding("D110", format!("{when}, {}", failure.message)).hint = Some(hint.to_owned());
        return true;
    }
    let is_ended = matches!(failure.code, Code::PluginTrap | Code::StackOverflow);
    let is_found = running.found.iter().any(|finding| finding.rule == "D100");
    if is_found || !is_ended && !exception::is_mistake(failure) {
        return false;
    }
    let (message, frames) = (format!("{when}, it does not answer: {}", failure.message), exception::frames(failure));
    let finding = running.add_finding("D100", message);
    *finding = finding.clone().functions(frames).hint("check the argument, and return a typed error");
    true
}

/// D110: reports an answer that the host refused because it has too many changes. The changes are made, so such an answer
/// counts for a large input, too.
fn has_too_many_changes(running: &mut RunningCase<'_>, called: &CallResult, when: &str) -> bool {
    let (Answer::NotApplied(failure) | Answer::Unknown { failure, .. }) = &called.end.answer else { return false };
    if !failure.message.contains(TOO_MANY_CHANGES) {
        return false;
    }
    let hint = "refuse such an input before the first change, or report one change for many entries";
    running.add_finding("D110", format!("{when}, {}", failure.message)).hint = Some(hint.to_owned());
    true
}

/// D105: reports a change that the host refused, because the operator does not declare it.
pub(super) fn is_denied(running: &mut RunningCase<'_>, called: &CallResult, when: &str) -> bool {
    let Some(access) = single_call::undeclared_access(called) else { return false };
    let hint = "declare what it changes, or only read";
    running.add_finding("D105", format!("{when}, it {access}, which the host refuses")).hint = Some(hint.to_owned());
    true
}
