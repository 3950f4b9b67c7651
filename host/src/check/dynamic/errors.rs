//! D063: each call of a case fails in turn, for good. A step may fail then, and may not break.

use latchwork_core::error::{Code, Failure};

use super::ends;
use super::perturb::Runs;
use crate::check::finding::Finding;
use crate::engine::Plugin;

/// Retries were used up; nobody allowed it.
const CODES: [Code; 2] = [Code::DependencyUnavailable, Code::PolicyDenied];
/// So many calls of a case fail at most.
const CALLS_MAX: usize = 100;
/// So many findings of one case tell enough.
const FINDINGS_MAX: usize = 5;

pub(super) async fn all(runs: &mut Runs<'_>, plugin: &Plugin) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    let called: Vec<_> = runs.ran.base.calls().map(|(operator, args)| (operator.clone(), args.clone())).collect();
    for k in 0..called.len().min(runs.ran.script.answers.len()).min(CALLS_MAX) {
        for code in CODES {
            let mut script = runs.script();
            script.expected = None;
            // After a failure other calls may follow: those that the case knows are answered.
            script.loose = true;
            for (given, (operator, args)) in script.answers.iter_mut().zip(&called) {
                given.operator = Some(operator.clone());
                given.args = Some(args.clone());
            }
            script.answers[k].answer = Err(Failure::new(code, "the tool failed"));
            let Some(trace) = runs.run(&script, plugin).await else { return found };
            let when = format!("when call {k} ({}) fails with {code}, ", called[k].0);
            let Some(finding) = ends::fault(runs.ran, &trace, &when) else { continue };
            let finding = match finding.rule {
                "D056" => runs
                    .ran
                    .finding("D063", finding.message)
                    .functions(finding.functions)
                    .hint("give the tool's error back as the step's own, or do without the answer"),
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
