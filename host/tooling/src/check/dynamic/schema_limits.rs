//! An input that is as large as its schema allows must not break the step, nor use up its fuel or its memory.

use serde_json::Value;

use latchwork_engine::Plugin;

use crate::check::dynamic::baseline::CaseBaseline;
use crate::check::dynamic::case::StepCase;
use crate::check::dynamic::other_inputs::of_run;
use crate::check::dynamic::perturbed_runs::PerturbedRuns;
use crate::check::finding::Finding;
use crate::check::variations::largest_allowed;

/// Maximum number of arrays and texts that are made as large as possible, one in each run.
const PLACES_MAX: usize = 6;
/// Maximum fuel of these runs. The rest of the fuel of a case is for other inputs.
const FUEL_MAX: u64 = 6_000_000_000;

/// Runs the case with arrays and texts of the greatest length that the schema states. All other values stay.
pub(super) async fn fill(runs: &mut PerturbedRuns<'_>, plugin: &Plugin) -> Option<Finding> {
    let case = runs.ran.case;
    let (input, schema) = runs.ran.input_and_schema(plugin);
    let is_allowed = |input: &Value| plugin.check_input(&case.operator, input).is_ok();
    let begin = runs.fuel();
    for variation in largest_allowed(&input, &schema, PLACES_MAX, &is_allowed) {
        if runs.fuel() - begin > FUEL_MAX {
            runs.left_out = true;
            break;
        }
        let changed = StepCase { input: variation.value.to_string(), ..case.clone() };
        let mut script = runs.script_of_other_calls();
        script.input.clone_from(&changed.input);
        let base = runs.run(&script, plugin).await?;
        let Some(mut finding) = of_run(&CaseBaseline { case: &changed, script, base }, variation.is_large) else {
            continue;
        };
        finding.message = format!("with another input, {}: {}", variation.what, finding.message);
        let is_of_use = ["D057", "D058", "D059"].contains(&finding.rule);
        return Some(if is_of_use {
            finding.hint("use less for each element, or let the schema allow fewer")
        } else {
            finding
        });
    }
    None
}
