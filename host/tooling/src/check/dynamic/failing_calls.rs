//! D057 and D063: runs a case again for each of its calls, with several codes. In one kind of run, only the selected call
//! fails permanently. In the other kind, the selected call and all later calls fail. The step may then return an error or throw an exception of
//! its own. The step must end, it must not trap, and its code must not make a mistake.
//!
//! D064 and D073: a pure operator must do the same in another job, also after a failure.

use latchwork_core::model::error::{Code, Failure};
use latchwork_engine::Plugin;

use crate::check::dynamic::perturbed_runs::PerturbedRuns;
use crate::check::dynamic::script::RunScript;
use crate::check::dynamic::trace::{RunEnd, Trace};
use crate::check::dynamic::{other_job, run_end};
use crate::check::exception;
use crate::check::finding::Finding;

/// Codes of the simulated failures: those that a tool can return.
const CODES: [Code; 10] = [
    Code::DependencyUnavailable,
    Code::PolicyDenied,
    Code::NetworkTimeout,
    Code::TemporaryProviderError,
    Code::RateLimit,
    Code::TransientDbLock,
    Code::InvalidInput,
    Code::MissingRequiredContext,
    Code::AuthForbidden,
    Code::SchemaValidationFailed,
];
/// Number of codes that are used for a call whose index is at least [`ALL_CODES_MAX`]: the first codes of [`CODES`].
const FEW_CODES: usize = 2;
/// Number of calls of a case that fail with every code.
const ALL_CODES_MAX: usize = 10;
/// Maximum number of calls of a case that are made to fail.
const CALLS_MAX: usize = 100;
/// Number of letters of three bytes in the message of a failure.
const LETTERS: usize = 100;
/// Maximum number of findings per case.
const FINDINGS_MAX: usize = 5;

/// Run of a step with failing calls.
struct FailedRun {
    /// Finding about this run. `None` unless the host ended the run because of the step, the SDK refused the output, or
    /// the step ended with an exception caused by a mistake in its code.
    finding: Option<Finding>,
    trace: Trace,
}

pub(super) async fn failing_calls(runs: &mut PerturbedRuns<'_>, plugin: &Plugin) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    let (mut continued, mut impure) = (Vec::new(), None);
    let called: Vec<_> = runs.ran.base.calls().map(|(operator, args)| (operator.clone(), args.clone())).collect();
    let calls_max = runs.ran.script.answers.len().min(CALLS_MAX);
    for (k, (operator, _)) in called.iter().enumerate().take(calls_max) {
        for code in codes(k) {
            let mut script = runs.script_of_other_calls();
            script.answers[k].answer = Err(Failure::new(*code, message_of(*code)));
            let when = format!("when call {k} ({}) fails with {code}, ", operator);
            let Some(ran) = run(runs, &script, plugin, &when).await else { return found };
            if ran.trace.calls().count() > k + 1 {
                continued.push((k, *code));
            }
            if let Some(finding) = ran.finding {
                found.push(finding);
                break;
            }
            if impure.is_none() {
                let failed = (&script, &ran.trace);
                impure = other_job::after_failure(runs, plugin, failed, &when, *code == CODES[0]).await;
            }
        }
        if found.len() == FINDINGS_MAX {
            return found;
        }
    }
    let of_all = failing_from(runs, plugin, &called, &continued).await;
    // If a single failure already causes a finding, the same defect would be reported again. D057 is reported anyway.
    found.extend(of_all.filter(|finding| finding.rule == "D057" || found.is_empty()));
    found.extend(impure);
    found
}

/// For each failure in `continued`, runs the step while this call and all later calls fail. Returns the first finding.
/// In such a run, a step that repeats a call until the call succeeds does not end.
///
/// `continued` contains the failures of single calls after which the step made more calls. After every other failure,
/// there is no later call that could fail.
async fn failing_from(
    runs: &mut PerturbedRuns<'_>,
    plugin: &Plugin,
    called: &[(String, String)],
    continued: &[(usize, Code)],
) -> Option<Finding> {
    for (k, code) in continued {
        let mut script = runs.script_of_other_calls();
        script.answers.truncate(*k);
        script.otherwise = Some(Err(Failure::new(*code, message_of(*code))));
        let when = format!("when all calls from call {k} ({}) on fail with {code}, ", called[*k].0);
        let Some(finding) = run(runs, &script, plugin, &when).await?.finding else { continue };
        return Some(match finding.rule {
            "D057" => finding.hint("end a loop after a fixed number of failed calls"),
            _ => finding,
        });
    }
    None
}

/// Returns the message of a simulated failure. It contains quotation marks, as messages of the host do, and letters of
/// several bytes at other distances for each code. A text that is cut at a fixed number of bytes then ends within a letter.
fn message_of(code: Code) -> String {
    let distance = CODES.iter().position(|one| *one == code).unwrap_or_default() % 3;
    format!("the \"tool\" failed{} {}", "!".repeat(distance), "\u{20ac}".repeat(LETTERS))
}

/// Codes with which the call of this index fails.
fn codes(k: usize) -> &'static [Code] {
    if k < ALL_CODES_MAX { &CODES } else { &CODES[..FEW_CODES] }
}

/// Runs the script. Returns `None` if the fuel of the check is used up.
async fn run(runs: &mut PerturbedRuns<'_>, script: &RunScript, plugin: &Plugin, when: &str) -> Option<FailedRun> {
    let trace = runs.run(script, plugin).await?;
    let after_failure = |message: String, functions: Vec<String>| {
        let hint = "return the tool's error as the step's error, or continue without the answer";
        runs.ran.finding("D063", message).functions(functions).hint(hint)
    };
    let finding = match (run_end::broken(runs.ran, &trace, when), &trace.ended) {
        (Some(trap), _) if trap.rule == "D056" => Some(after_failure(trap.message, trap.functions)),
        (Some(fault), _) => Some(fault),
        (None, RunEnd::Failed(failure)) if exception::is_mistake(failure) => {
            let message = format!("{when}it ends with an exception: {}", failure.message);
            Some(after_failure(message, exception::frames(failure)))
        }
        _ => None,
    };
    Some(FailedRun { finding, trace })
}
