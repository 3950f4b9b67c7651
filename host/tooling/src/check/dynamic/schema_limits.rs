//! An input that is as large as its schema allows must not break the step, nor use up its fuel or its memory.

use serde_json::Value;

use latchwork_core::model::error::Code;
use latchwork_engine::Plugin;

use crate::check::dynamic::other_inputs::OF_SIZE;
use crate::check::dynamic::perturbed_runs::PerturbedRuns;
use crate::check::dynamic::run_end;
use crate::check::finding::Finding;
use crate::check::variations::largest_allowed;

/// Maximum number of arrays and texts that are made as large as possible, one in each run.
const PLACES_MAX: usize = 6;

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
        let is_of_size = |finding: &Finding| variation.is_large && OF_SIZE.contains(&finding.rule);
        // The time that a run takes depends on the machine.
        let is_slow = trace.fault_code() == Some(Code::WallClockLimit);
        if let Some(finding) = found.filter(|finding| !is_slow && !is_of_size(finding)) {
            return Some(finding.hint("use less for each element, or let the schema allow fewer"));
        }
    }
    None
}
