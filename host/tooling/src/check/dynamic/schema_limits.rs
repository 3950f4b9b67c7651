//! D057 and D058: an input that is as large as its schema allows must not use up the fuel or the memory.

use serde_json::Value;

use latchwork_engine::Plugin;

use crate::check::dynamic::perturbed_runs::PerturbedRuns;
use crate::check::dynamic::run_end;
use crate::check::finding::Finding;
use crate::check::variations::largest_allowed;

/// Maximum number of arrays and texts that are made as large as possible, one in each run.
const PLACES_MAX: usize = 4;

/// Runs the case with arrays and texts of the greatest length that the schema states. All other values stay.
pub(super) async fn fill(runs: &mut PerturbedRuns<'_>, plugin: &Plugin) -> Option<Finding> {
    let (input, schema) = runs.ran.input_and_schema(plugin);
    let is_allowed = |input: &Value| plugin.check_input(&runs.ran.case.operator, input).is_ok();
    for variation in largest_allowed(&input, &schema, PLACES_MAX, is_allowed) {
        let mut script = runs.script_of_other_calls();
        script.input = variation.value.to_string();
        let trace = runs.run(&script, plugin).await?;
        let when = format!("with another input, {}: ", variation.what);
        let found = run_end::host_fault(runs.ran, &trace, &when);
        if let Some(finding) = found.filter(|finding| ["D057", "D058"].contains(&finding.rule)) {
            return Some(finding.hint("use less for each element, or let the schema allow fewer"));
        }
    }
    None
}
