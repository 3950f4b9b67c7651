//! Inputs that are drawn at random. They reach combinations of values that no single change of a case has.

use serde_json::Value;

use latchwork_engine::Plugin;

use crate::check::dynamic::baseline::CaseBaseline;
use crate::check::dynamic::case::StepCase;
use crate::check::dynamic::other_inputs::{is_larger, of_run};
use crate::check::dynamic::perturbed_runs::PerturbedRuns;
use crate::check::dynamic::trace::RunEnd;
use crate::check::finding::{Finding, displayed_input};
use crate::check::variations::{drawn, simpler};

/// Number of drawn inputs of a case.
const DRAWN: usize = 240;
/// Greatest numbers of drawn inputs of a case and of all cases of an operator, if the component contains the runtime of a
/// language. A case has at least `LEAST_WITH_RUNTIME`.
const DRAWN_WITH_RUNTIME: usize = 24;
const ALL_WITH_RUNTIME: usize = 96;
const LEAST_WITH_RUNTIME: usize = 6;
/// Greatest number of runs that simplify an input with a finding.
const SIMPLER_MAX: usize = 150;

/// Runs the case with drawn inputs, under the usual host. Returns the first finding, with the simplest input that has it.
pub(super) async fn run(
    runs: &mut PerturbedRuns<'_>,
    plugin: &Plugin,
    samples: &[Value],
    has_runtime: bool,
) -> Option<Finding> {
    let case = runs.ran.case;
    if !matches!(runs.ran.base.ended, RunEnd::Output(_)) {
        return None;
    }
    let (input, schema) = runs.ran.input_and_schema(plugin);
    let is_allowed = |input: &Value| plugin.check_input(&case.operator, input).is_ok();
    let count = if has_runtime {
        (ALL_WITH_RUNTIME / samples.len().max(1)).clamp(LEAST_WITH_RUNTIME, DRAWN_WITH_RUNTIME)
    } else {
        DRAWN
    };
    for other in drawn(&input, samples, &schema, count, is_allowed) {
        let Some(finding) = finding_with(runs, plugin, &other).await? else { continue };
        return simplified(runs, plugin, &input, (other, finding)).await;
    }
    None
}

/// Returns the inputs of the cases of an operator that have an output.
pub(super) fn samples_of(operator: &str, all: &[&CaseBaseline<'_>]) -> Vec<Value> {
    let of_operator = all.iter().filter(|one| one.case.operator == operator);
    let successful = of_operator.filter(|one| matches!(one.base.ended, RunEnd::Output(_)));
    successful.map(|one| serde_json::from_str(&one.case.input).expect("a case's input is JSON")).collect()
}

/// Returns the finding of a run with an input. The outer `None` stands for used-up fuel.
async fn finding_with(runs: &mut PerturbedRuns<'_>, plugin: &Plugin, input: &Value) -> Option<Option<Finding>> {
    let changed = StepCase { input: input.to_string(), ..runs.ran.case.clone() };
    let mut script = runs.script_of_other_calls();
    script.input.clone_from(&changed.input);
    let base = runs.run(&script, plugin).await?;
    let one = CaseBaseline { case: &changed, script, base };
    Some(of_run(&one, is_larger(&one, runs.ran.case)))
}

/// Returns the finding with the simplest input that has it.
async fn simplified(
    runs: &mut PerturbedRuns<'_>,
    plugin: &Plugin,
    base: &Value,
    (mut input, mut finding): (Value, Finding),
) -> Option<Finding> {
    let operator = runs.ran.case.operator.clone();
    let is_allowed = |input: &Value| plugin.check_input(&operator, input).is_ok();
    let mut left = SIMPLER_MAX;
    'simplify: loop {
        for next in simpler(&input, base, left, &is_allowed) {
            left -= 1;
            // Without fuel for more runs, the finding stays as it is.
            let Some(found) = finding_with(runs, plugin, &next).await else { break 'simplify };
            if let Some(found) = found.filter(|found| found.rule == finding.rule) {
                (input, finding) = (next, found);
                continue 'simplify;
            }
        }
        break;
    }
    finding.message = format!("with the input {}: {}", displayed_input(&input.to_string()), finding.message);
    Some(finding)
}
