//! D078 and D080: the determinism class of a step covers the answers of the tools that it calls.

use serde_json::Value;

use latchwork_core::model::ids::Hash;
use latchwork_core::model::manifest::Determinism;
use latchwork_engine::Plugin;

use crate::check::dynamic::hosts::DeclarationOf;
use crate::check::dynamic::perturbed_runs::PerturbedRuns;
use crate::check::dynamic::trace::{FirstDifference, RunEnd, compare_between_jobs};
use crate::check::finding::Finding;
use crate::check::variations::{similar, variations};

/// Maximum number of calls of a case whose classes are compared.
const CALLS_MAX: usize = 20;
/// Maximum number of other results of one call.
const RESULTS_MAX: usize = 12;
/// Maximum number of other results of one call that keep their form.
const SIMILAR_MAX: usize = 48;

/// Compares the class of the step with the classes of the tools that the case calls. A step that calls a tool of a wider
/// class may have its class if its input fixes the answer. Such a step gives no other result after another answer. A step
/// that gives one breaks D078, or D080 if the class of the tool is not known.
pub(super) async fn compare(
    runs: &mut PerturbedRuns<'_>,
    plugin: &Plugin,
    declaration_of: DeclarationOf<'_>,
) -> Option<Finding> {
    let name = &runs.ran.case.operator;
    let own = plugin.operator(name).expect("cases are of operators that are served").determinism;
    if own == Determinism::External {
        return None;
    }
    let called: Vec<String> = runs.ran.base.calls().map(|(operator, _)| operator.clone()).take(CALLS_MAX).collect();
    for (call, tool) in called.iter().enumerate() {
        let stated = runs.ran.case.answers.get(call).and_then(|answer| answer.determinism);
        let class = stated.or_else(|| declaration_of(tool).map(|declared| declared.determinism));
        if class.is_some_and(|class| class <= own) {
            continue;
        }
        if let Some(difference) = difference(runs, plugin, call).await {
            return Some(match class {
                Some(class) => narrow(runs, own, (tool, class), call, &difference),
                None => unknown(runs, own, tool, call, &difference),
            });
        }
    }
    None
}

fn narrow(
    runs: &PerturbedRuns<'_>,
    own: Determinism,
    (tool, class): (&str, Determinism),
    call: usize,
    difference: &FirstDifference,
) -> Finding {
    let (own, class) = (own.as_str(), class.as_str());
    let message = format!(
        "it declares {own}, but {tool} is {class}: with another result of call {call}, {} differs",
        difference.what
    );
    let finding = runs.ran.finding("D078", message).values(&difference.expected, &difference.found);
    finding.hint(format!("declare the determinism class `{class}`"))
}

fn unknown(
    runs: &PerturbedRuns<'_>,
    own: Determinism,
    tool: &str,
    call: usize,
    difference: &FirstDifference,
) -> Finding {
    let message = format!(
        "it declares {}, and the class of {tool} is not known: with another result of call {call}, {} differs",
        own.as_str(),
        difference.what
    );
    let finding = runs.ran.finding("D080", message).values(&difference.expected, &difference.found);
    finding.hint("configure the plugin of the tool, or add `determinism` to the answer of the case")
}

/// Returns the first difference in the calls, events or output of the step after another result of a call. A run that
/// fails shows no difference, because the step may refuse a result that its input excludes.
async fn difference(runs: &mut PerturbedRuns<'_>, plugin: &Plugin, call: usize) -> Option<FirstDifference> {
    let result = runs.ran.script.answers.get(call)?.answer.as_ref().ok()?;
    let result: Value = serde_json::from_str(result).ok()?;
    let others = variations(&result, &Value::Null, RESULTS_MAX, |_| true).into_iter().map(|variation| variation.value);
    for mut other in others.chain(similar(&result, SIMILAR_MAX)) {
        change_digests(&mut other, &result);
        let mut script = runs.script();
        script.expected = None;
        script.answers[call].answer = Ok(other.to_string());
        // Another call stops the run, because the answer to it is not known.
        runs.bind_answers(&mut script);
        let trace = runs.run(&script, plugin).await?;
        let is_refused = matches!(runs.ran.base.ended, RunEnd::Failed(_));
        if (matches!(trace.ended, RunEnd::Stopped) || matches!(trace.ended, RunEnd::Output(_)) && !is_refused)
            && let Some(difference) = compare_between_jobs(&runs.ran.base, &trace)
        {
            return Some(difference);
        }
    }
    None
}

/// Replaces the digests in a changed result, because other contents have other digests. A step may compare a digest of the
/// result with one of its input, and refuse other contents.
fn change_digests(changed: &mut Value, result: &Value) {
    match (changed, result) {
        (Value::String(digest), Value::String(before)) if is_digest(before) && digest == before => {
            *digest = Hash::of(&[b"other contents", before.as_bytes()]).to_hex();
        }
        (Value::Object(members), Value::Object(before)) => {
            for (name, member) in members {
                change_digests(member, before.get(name).unwrap_or(&Value::Null));
            }
        }
        (Value::Array(elements), Value::Array(before)) => {
            for (element, before) in elements.iter_mut().zip(before) {
                change_digests(element, before);
            }
        }
        _ => {}
    }
}

/// Returns true for a SHA-256 in hexadecimal digits.
fn is_digest(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
