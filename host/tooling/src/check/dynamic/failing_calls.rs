//! D063: runs a case once for each of its calls, and makes that call fail permanently. The step may then return an
//! error or throw an exception of its own. It must not trap, and its code must not make a mistake.

use latchwork_core::model::error::{Code, Failure};
use latchwork_engine::Plugin;

use crate::check::dynamic::perturbed_runs::PerturbedRuns;
use crate::check::dynamic::run_end;
use crate::check::dynamic::trace::RunEnd;
use crate::check::exception;
use crate::check::finding::Finding;

/// Codes of the simulated failures: retries exhausted, and call not permitted.
const CODES: [Code; 2] = [Code::DependencyUnavailable, Code::PolicyDenied];
/// Maximum number of calls of a case that are made to fail.
const CALLS_MAX: usize = 100;
/// Maximum number of findings per case.
const FINDINGS_MAX: usize = 5;

pub(super) async fn failing_calls(runs: &mut PerturbedRuns<'_>, plugin: &Plugin) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    let called: Vec<_> = runs.ran.base.calls().map(|(operator, args)| (operator.clone(), args.clone())).collect();
    for k in 0..called.len().min(runs.ran.script.answers.len()).min(CALLS_MAX) {
        for code in CODES {
            let mut script = runs.script();
            script.expected = None;
            // Finds answers by operator and arguments instead of by position. After a failure, the step may make other
            // calls than in the usual run.
            script.loose = true;
            for (given, (operator, args)) in script.answers.iter_mut().zip(&called) {
                given.operator = Some(operator.clone());
                given.args = Some(args.clone());
            }
            script.answers[k].answer = Err(Failure::new(code, "the tool failed"));
            let Some(trace) = runs.run(&script, plugin).await else { return found };
            let when = format!("when call {k} ({}) fails with {code}, ", called[k].0);
            let mistake = || {
                let RunEnd::Failed(failure) = &trace.ended else { return None };
                let message = || format!("{when}it ends with an exception: {}", failure.message);
                exception::is_mistake(failure)
                    .then(|| runs.ran.finding("D056", message()).functions(exception::frames(failure)))
            };
            let Some(finding) = run_end::host_fault(runs.ran, &trace, &when).or_else(mistake) else { continue };
            let finding = match finding.rule {
                "D056" => runs
                    .ran
                    .finding("D063", finding.message)
                    .functions(finding.functions)
                    .hint("return the tool's error as the step's error, or continue without the answer"),
                _ => finding,
            };
            found.push(finding);
            if found.len() == FINDINGS_MAX {
                return found;
            }
            break;
        }
    }
    found
}
