//! D082: a step compares the code of a failed call with a code of the host. A guest never gets such a code.

use latchwork_core::model::error::{Code, Failure};
use latchwork_engine::Plugin;

use crate::check::dynamic::perturbed_runs::PerturbedRuns;
use crate::check::dynamic::trace::{HostCall, RunEnd, Trace};
use crate::check::finding::Finding;
use crate::check::variations::KnownValues;

/// Maximum number of calls of a case that the host refuses.
const CALLS_MAX: usize = 6;

/// Behaviour of a step in a run, without messages: its host calls, and its output or the code of its error.
type Behaviour = (Vec<HostCall>, Result<String, Option<Code>>);

/// Looks for codes of the host in the plugin's sources. For each of them, every call is refused with this code, and with
/// another one that a guest gets in the same form. A step that reads the code from `detail` does something else then.
pub(super) async fn compare(runs: &mut PerturbedRuns<'_>, plugin: &Plugin, known: &KnownValues) -> Option<Finding> {
    // A code of one word, such as CANCELLED, can be a word of the plugin.
    let is_named = |code: &Code| code.as_str().contains('_') && known.texts().iter().any(|text| text == code.as_str());
    let of_host = || Code::ALL.iter().copied().filter(|code| !code.is_guest_code());
    let calls: Vec<String> = runs.ran.base.calls().map(|(operator, _)| operator.clone()).take(CALLS_MAX).collect();
    let operator = calls.first().filter(|_| calls.len() <= runs.ran.script.answers.len())?;
    for code in of_host().filter(is_named) {
        let is_like = |other: &Code| !is_named(other) && other.for_guest() == code.for_guest();
        let Some(other) = of_host().find(is_like) else { continue };
        let mut is_read = false;
        for k in 0..calls.len() {
            is_read |= refused(runs, plugin, k, code).await? != refused(runs, plugin, k, other).await?;
        }
        if !is_read {
            let seen = code.for_guest();
            let message = format!(
                "{code} is in its sources, but it does the same when a call such as {operator} fails with {code} or with \
                 {other}: a guest gets {seen} for both"
            );
            let hint = format!("compare with {seen}, or read the code from the detail of the failure");
            return Some(runs.ran.finding("D082", message).hint(hint));
        }
    }
    None
}

/// Runs the case with one call that the host refuses. `None` stands for used-up fuel.
async fn refused(runs: &mut PerturbedRuns<'_>, plugin: &Plugin, k: usize, code: Code) -> Option<Behaviour> {
    let mut script = runs.script_of_other_calls();
    script.answers[k].answer = Err(Failure::new(code, "the host refused the call").for_guest());
    Some(behaviour(runs.run(&script, plugin).await?))
}

fn behaviour(trace: Trace) -> Behaviour {
    let ended = match trace.ended {
        RunEnd::Output(output) => Ok(output),
        RunEnd::Failed(failure) | RunEnd::Fault(failure) => Err(Some(failure.code)),
        RunEnd::Stopped => Err(None),
    };
    (trace.asked, ended)
}
