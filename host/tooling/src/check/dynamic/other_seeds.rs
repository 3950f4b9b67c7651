//! D055 to D061: a step that uses random numbers must not break for other ones.

use latchwork_core::model::ids::Hash;
use latchwork_engine::Plugin;

use crate::check::dynamic::perturbed_runs::PerturbedRuns;
use crate::check::dynamic::run_end;
use crate::check::dynamic::trace::RunEnd;
use crate::check::finding::Finding;

/// Number of other seeds. An event that one in sixteen seeds causes is seen in 95 of 100 cases.
const SEEDS: u8 = 48;

/// Runs the case with other random numbers. Returns the first defect.
pub(super) async fn vary_seeds(runs: &mut PerturbedRuns<'_>, plugin: &Plugin) -> Option<Finding> {
    let base = &runs.ran.base;
    if !base.took_chance || !matches!(base.ended, RunEnd::Output(_)) {
        return None;
    }
    for number in 0..SEEDS {
        let mut script = runs.script_of_other_calls();
        script.seed = Hash::of(&[b"another seed", &[number], &script.seed]).0;
        let trace = runs.run(&script, plugin).await?;
        let when = "with other random numbers, ";
        let defect = run_end::broken(runs.ran, &trace, when).or_else(|| run_end::uncaught(runs.ran, &trace, when));
        if defect.is_some() {
            return defect;
        }
    }
    None
}
