//! Runs the operator of a case with other inputs that its schema allows, and with other results of its calls.

use serde_json::{Map, Value, json};

use latchwork_core::model::error::Code;
use latchwork_engine::Plugin;

use crate::check::dynamic::baseline::CaseBaseline;
use crate::check::dynamic::case::StepCase;
use crate::check::dynamic::loaded_variants::LoadedVariants;
use crate::check::dynamic::perturbed_runs::PerturbedRuns;
use crate::check::dynamic::script::RunScript;
use crate::check::dynamic::trace::{RunEnd, Trace};
use crate::check::dynamic::{builds, other_job, perturb, run_end};
use crate::check::exception;
use crate::check::finding::Finding;
use crate::check::variations::{
    InputVariation, KnownValues, array_places, columns, grown, is_much_larger, number_places, variations, with_known,
};

/// Maximum number of other inputs of a case, and of other results of one of its calls.
const INPUTS_MAX: usize = 120;
const RESULTS_MAX: usize = 12;
/// Maximum numbers of other results of a call in which an array grows or loses differences, and in which a member changes
/// in all elements.
const GROWN_RESULTS_MAX: usize = 6;
const COLUMNS_RESULTS_MAX: usize = 6;
/// Maximum number of other inputs of a case in which a text or an array grows.
const GROWN_MAX: usize = 30;
/// Maximum number of other inputs of a case in which a member changes in all elements, or a number within a text.
const COLUMNS_MAX: usize = 30;
/// Maximum number of other inputs of a case that contain a value from the plugin's sources.
const KNOWN_MAX: usize = 100;
/// Maximum number of other results of a call that contain a value from the plugin's sources.
const KNOWN_RESULTS_MAX: usize = 24;
/// Number of calls of a case whose results are changed.
const CALLS_MAX: usize = 4;

/// Maximum number of numbers in an input for which the check searches the largest accepted value.
const NUMBERS_MAX: usize = 8;
/// Maximum number of halvings at the end of the search.
const HALVINGS_MAX: u32 = 6;
/// Value at which the search ends. A step that accepts this value is assumed to accept numbers of any size.
const UNBOUNDED: f64 = 1e13;

/// Maximum number of arrays of an input for which the check searches for the largest accepted number of elements.
/// `ELEMENTS_MAX` is the largest number of elements that this search tries.
const ARRAYS_MAX: usize = 2;
const ELEMENTS_MAX: usize = 200;

/// Factor by which a number is made greater if neither the schema nor the step bounds it, but its type does.
const TYPE_BOUND_FACTOR: f64 = 10_000.0;

/// Rules that a step may break with a much larger input. Such an input can be too large for an allocation, the fuel,
/// the memory or the output.
const OF_SIZE: [&str; 4] = ["D056", "D057", "D058", "D059"];

/// Runs the case with other inputs, and with other results of its calls. Each of these runs is made under the usual
/// host, with other memory layouts, as another build, and as another job. Returns the first finding.
pub(super) async fn vary_input(
    runs: &mut PerturbedRuns<'_>,
    plugin: &Plugin,
    loaded: &LoadedVariants,
    known: &KnownValues,
) -> Option<Finding> {
    let case = runs.ran.case;
    if !matches!(runs.ran.base.ended, RunEnd::Output(_)) {
        return None;
    }
    let spec = plugin.operator(&case.operator).expect("cases are of operators that are served");
    let (input, schema) = runs.ran.input_and_schema(plugin);
    let is_allowed = |input: &Value| plugin.check_input(&case.operator, input).is_ok();
    // A step can copy the members of a map into its output, or into the arguments of a call.
    let keys = [
        member_names(&serde_json::from_str(&spec.output_schema).unwrap_or_default()),
        member_names(&schema).into_iter().chain(argument_names(runs)).collect(),
    ];
    let others = variations(&input, &schema, INPUTS_MAX, is_allowed);
    let larger = grown(&input, &schema, GROWN_MAX, is_allowed);
    let of_columns = columns(&input, &schema, COLUMNS_MAX, is_allowed);
    let of_sources = with_known(&input, &schema, known, &keys, KNOWN_MAX, is_allowed);
    for variation in others.into_iter().chain(larger).chain(of_columns).chain(of_sources) {
        if let Some(finding) = run_input(runs, plugin, loaded, &variation).await? {
            return Some(finding);
        }
    }
    let mut largest = most_elements(runs, plugin, (&input, &schema), &is_allowed).await?;
    largest.extend(largest_numbers(runs, plugin, (&input, &schema), &is_allowed).await?);
    for variation in largest {
        if let Some(finding) = run_input(runs, plugin, loaded, &variation).await? {
            return Some(finding);
        }
    }
    for number in 0..runs.ran.script.answers.len().min(CALLS_MAX) {
        let Ok(result) = &runs.ran.script.answers[number].answer else { continue };
        let result: Value = serde_json::from_str(result).unwrap_or_default();
        let others = variations(&result, &Value::Null, RESULTS_MAX, |_| true);
        let larger = grown(&result, &Value::Null, GROWN_RESULTS_MAX, |_| true);
        let of_columns = columns(&result, &Value::Null, COLUMNS_RESULTS_MAX, |_| true);
        let of_sources = with_known(&result, &Value::Null, known, &[], KNOWN_RESULTS_MAX, |_| true);
        for variation in others.into_iter().chain(larger).chain(of_columns).chain(of_sources) {
            let mut script = runs.script_of_other_calls();
            script.answers[number].answer = Ok(variation.value.to_string());
            let Some(finding) = run_changed(runs, case, script, plugin, loaded, &variation).await? else { continue };
            // These findings do not count, because the output schema of the real tool may exclude the changed result.
            if !["D055", "D056", "D060", "D075", "D077"].contains(&finding.rule) {
                return Some(of_variation(finding, &format!("result of call {number}"), &variation));
            }
        }
    }
    None
}

/// Runs the case with another input. The outer `None` stands for used-up fuel.
async fn run_input(
    runs: &mut PerturbedRuns<'_>,
    plugin: &Plugin,
    loaded: &LoadedVariants,
    variation: &InputVariation,
) -> Option<Option<Finding>> {
    let changed = StepCase { input: variation.value.to_string(), ..runs.ran.case.clone() };
    let mut script = runs.script_of_other_calls();
    script.input.clone_from(&changed.input);
    let found = run_changed(runs, &changed, script, plugin, loaded, variation).await?;
    Some(found.map(|finding| of_variation(finding, "input", variation)))
}

/// Returns the input with the largest numbers that the step accepts. The search varies one number at a time. A number
/// without a limit is not changed. The outer `None` stands for used-up fuel.
async fn largest_numbers(
    runs: &mut PerturbedRuns<'_>,
    plugin: &Plugin,
    (input, schema): (&Value, &Value),
    is_allowed: &impl Fn(&Value) -> bool,
) -> Option<Option<InputVariation>> {
    let mut largest = input.clone();
    for (pointer, usual, type_max) in number_places(input, schema).into_iter().take(NUMBERS_MAX) {
        let with = |number: f64| {
            let mut changed = input.clone();
            *changed.pointer_mut(&pointer).expect("a place of the input") = json!(number as i64);
            changed
        };
        let (mut accepted, mut refused, mut factor) = (usual.max(1.0), None, 10.0);
        let mut halvings = 0;
        while accepted < UNBOUNDED {
            // The first steps multiply. The last ones halve the distance to the least number that was refused.
            let next = match refused {
                Some(refused) if factor <= 1.5 => f64::midpoint(accepted, refused).floor(),
                _ => (accepted * factor).floor(),
            };
            if factor <= 1.5 {
                halvings += 1;
            }
            if next <= accepted || halvings > HALVINGS_MAX {
                break;
            }
            match end_of(runs, plugin, &with(next), is_allowed).await? {
                InputEnd::Broken => {
                    let what = format!("the number {next} at {pointer:?}");
                    return Some(Some(InputVariation { what, value: with(next), is_large: true }));
                }
                InputEnd::Accepted => accepted = next,
                InputEnd::Refused => (refused, factor) = (Some(next), factor / 2.0),
            }
        }
        // A number that only its type bounds is not as large in use.
        if type_max.is_some_and(|max| accepted > max / 2.0) {
            accepted = accepted.min(usual.max(1.0) * TYPE_BOUND_FACTOR);
        }
        if accepted > usual && accepted < UNBOUNDED {
            // Uses an odd number. A double can hold a large product of even numbers exactly, so such a product would
            // not show that the step can produce integers that a double cannot hold.
            let odd = (accepted as i64 - 1) | 1;
            *largest.pointer_mut(&pointer).expect("a place of the input") = json!(odd);
        }
    }
    let what = "the largest numbers that it accepts".to_owned();
    Some((largest != *input).then_some(InputVariation { what, value: largest, is_large: true }))
}

/// The end of a run with an input.
enum InputEnd {
    Accepted,
    Refused,
    /// The step broke, or the SDK refused its output. The cause is not the size of the input.
    Broken,
}

/// Runs the case with another input, under the usual host. `None` stands for used-up fuel.
async fn end_of(
    runs: &mut PerturbedRuns<'_>,
    plugin: &Plugin,
    input: &Value,
    is_allowed: &impl Fn(&Value) -> bool,
) -> Option<InputEnd> {
    if !is_allowed(input) {
        return Some(InputEnd::Refused);
    }
    let mut script = runs.script_of_other_calls();
    script.input = input.to_string();
    let base = runs.run(&script, plugin).await?;
    let one = CaseBaseline { case: runs.ran.case, script, base };
    // A fault that the size causes counts as a refusal, so it ends only the search for this value.
    let is_broken = run_end::broken(&one, &one.base, "").is_some_and(|finding| !OF_SIZE.contains(&finding.rule));
    Some(match one.base.ended {
        _ if is_broken => InputEnd::Broken,
        RunEnd::Failed(_) | RunEnd::Fault(_) => InputEnd::Refused,
        _ => InputEnd::Accepted,
    })
}

/// Returns inputs in which an array has the largest number of elements that the step accepts. There is one for each way in
/// which an array can grow. The outer `None` stands for used-up fuel.
async fn most_elements(
    runs: &mut PerturbedRuns<'_>,
    plugin: &Plugin,
    (input, schema): (&Value, &Value),
    is_allowed: &impl Fn(&Value) -> bool,
) -> Option<Vec<InputVariation>> {
    let mut found = Vec::new();
    let arrays: Vec<_> = array_places(input, schema).into_iter().take(ARRAYS_MAX).collect();
    for (array, growth) in arrays.iter().flat_map(|array| array.growths().into_iter().map(move |one| (array, one))) {
        let mut search = array.search(ELEMENTS_MAX);
        while let Some(count) = search.next() {
            let variation = array.grown(input, &growth, count);
            match end_of(runs, plugin, &variation.value, is_allowed).await? {
                InputEnd::Broken => return Some(vec![InputVariation { is_large: true, ..variation }]),
                end => search.record(count, matches!(end, InputEnd::Accepted)),
            }
        }
        found.extend(search.largest().map(|count| array.grown(input, &growth, count)));
    }
    Some(found)
}

/// Runs the case with a variation. The outer `None` stands for used-up fuel.
async fn run_changed(
    runs: &mut PerturbedRuns<'_>,
    case: &StepCase,
    script: RunScript,
    plugin: &Plugin,
    loaded: &LoadedVariants,
    variation: &InputVariation,
) -> Option<Option<Finding>> {
    let base = runs.run(&script, plugin).await?;
    if matches!(base.ended, RunEnd::Stopped) && base.asked.is_empty() {
        return Some(None);
    }
    let one = CaseBaseline { case, script, base };
    match of_run(&one, variation.is_large || is_larger(&one, runs.ran.case)) {
        Some(finding) => Some(Some(finding)),
        None => Some(compared(runs, &one, plugin, loaded).await),
    }
}

/// Returns true if the input of a run is much larger than that of the usual case.
pub(super) fn is_larger(one: &CaseBaseline<'_>, usual: &StepCase) -> bool {
    is_much_larger(one.script.input.len(), usual.input.len())
}

/// Returns a finding if the step broke, and not because its input is large.
pub(super) fn of_run(one: &CaseBaseline<'_>, is_large: bool) -> Option<Finding> {
    let is_of_size = |finding: &Finding| {
        is_large && OF_SIZE.contains(&finding.rule) && !uses_host_for_each_element(&one.base, &one.script)
    };
    of_end(one).filter(|finding| !is_of_size(finding))
}

/// Returns true if log records and reads of the clock and of random numbers use most of the host calls that a run may make.
/// One read or one record can serve for all elements of an input.
fn uses_host_for_each_element(base: &Trace, script: &RunScript) -> bool {
    base.reads.values().sum::<u32>() + base.logs > script.limits.host_calls / 2
}

/// Returns the names of the members of the arguments of calls.
fn argument_names(runs: &PerturbedRuns<'_>) -> Vec<String> {
    // Arguments that are no object have no members.
    let objects = runs.ran.base.calls().filter_map(|(_, args)| serde_json::from_str::<Map<String, Value>>(args).ok());
    objects.flatten().map(|(name, _)| name).collect()
}

/// Returns the names of the members that a schema describes.
fn member_names(schema: &Value) -> Vec<String> {
    let mut names = Vec::new();
    let mut pending = vec![schema];
    while let Some(schema) = pending.pop() {
        if let Some(members) = schema.get("properties").and_then(Value::as_object) {
            names.extend(members.keys().cloned());
        }
        match schema {
            Value::Object(members) => pending.extend(members.values()),
            Value::Array(elements) => pending.extend(elements),
            _ => {}
        }
    }
    names
}

fn of_variation(mut finding: Finding, what: &str, variation: &InputVariation) -> Finding {
    finding.message = format!("with another {what}, {}: {}", variation.what, finding.message);
    finding
}

/// Returns a finding if the step broke.
fn of_end(one: &CaseBaseline<'_>) -> Option<Finding> {
    if one.base.fault_code() == Some(Code::WallClockLimit) {
        return None;
    }
    if let Some(fault) = run_end::broken(one, &one.base, "").or_else(|| run_end::refused_arguments(one)) {
        return Some(fault);
    }
    let RunEnd::Failed(failure) = &one.base.ended else { return None };
    exception::is_mistake(failure).then(|| run_end::uncaught(one, &one.base, "")).flatten()
}

/// Runs the step with the other input on other hosts, and compares these runs with `one`.
async fn compared(
    runs: &mut PerturbedRuns<'_>,
    one: &CaseBaseline<'_>,
    plugin: &Plugin,
    loaded: &LoadedVariants,
) -> Option<Finding> {
    if one.base.fault().is_some() {
        return None;
    }
    let usual = runs.ran.base.reads.clone();
    let mut of_input = runs.of_input(one);
    let mut found = perturb::vary_memory_layout(&mut of_input, loaded).await;
    if let (None, Some(other)) = (&found, &loaded.rebuilt) {
        found = builds::compare(&mut of_input, other).await;
    }
    if found.is_none() {
        found = perturb::pad_input(&mut of_input, plugin, loaded).await;
    }
    // In a later run of the same instance, the objects of a language runtime have other addresses. There is no later run
    // if the first one stopped at a call that has no answer.
    let has_ended = !matches!(one.base.ended, RunEnd::Stopped);
    if found.is_none() && loaded.has_runtime && has_ended {
        found = perturb::rerun(&mut of_input, plugin, loaded.has_runtime).await;
    }
    if found.is_none() {
        found = other_job::vary_few(&mut of_input, plugin, &usual).await;
    }
    found
}
