//! D082: a step compares the code of a failed call with a code of the host. A guest never gets such a code.

use latchwork_core::model::error::{Code, Failure};
use latchwork_engine::Plugin;

use crate::check::dynamic::perturbed_runs::PerturbedRuns;
use crate::check::dynamic::trace::{HostCall, RunEnd, Trace};
use crate::check::finding::Finding;
use crate::check::variations::KnownValues;

/// Maximum number of calls of a case whose calls are refused.
const CALLS_MAX: usize = 6;

/// Behaviour of a step in a run: its host calls, and its output or the code and the message of its error.
type Behaviour = (Vec<HostCall>, Result<String, Option<(Code, String)>>);

/// A code of the host in the plugin's sources, in the runs of one case.
pub(super) struct NamedCode {
    code: Code,
    /// True if the step does something else for this code than for another one that a guest gets in the same form, or if it
    /// writes the code by itself.
    is_read: bool,
    finding: Finding,
}

/// Refuses every call of the case with each code of the host that is in the plugin's sources, and with another one that a
/// guest gets in the same form. A step that reads the code from `detail` does something else then.
pub(super) async fn compare(runs: &mut PerturbedRuns<'_>, plugin: &Plugin, known: &KnownValues) -> Vec<NamedCode> {
    // A code of one word, such as CANCELLED, can be a word of the plugin.
    let is_named = |code: &Code| code.as_str().contains('_') && known.texts().iter().any(|text| text == code.as_str());
    let of_host = || Code::ALL.iter().copied().filter(|code| !code.is_guest_code());
    let calls: Vec<String> = runs.ran.base.calls().map(|(operator, _)| operator.clone()).collect();
    // A code in data of the case is a word of the plugin, and its other codes are, too.
    let script = &runs.ran.script;
    let data: Vec<&String> =
        script.answers.iter().filter_map(|given| given.answer.as_ref().ok()).chain([&script.input]).collect();
    let has_code = |code: Code| code.as_str().contains('_') && data.iter().any(|text| text.contains(code.as_str()));
    // A code that the plugin writes by itself is a word of the plugin, too.
    let mut written = texts_of(&runs.ran.base);
    if of_host().any(has_code) {
        written.extend(of_host().map(|code| code.as_str().to_owned()));
    } else if script.answers.iter().all(|given| given.answer.is_ok())
        && let RunEnd::Failed(failure) = &runs.ran.base.ended
    {
        written.push(failure.message.clone());
    }
    let is_written = |code: &Code| written.iter().any(|text| text.contains(code.as_str()));
    let own_word = |code: Code| NamedCode { code, is_read: true, finding: runs.ran.finding("D082", code.as_str()) };
    let mut found: Vec<NamedCode> = of_host().filter(|code| is_named(code) && is_written(code)).map(own_word).collect();
    // Every call has to be refused, because each of them can be the one whose failure is looked at.
    if calls.is_empty() || calls.len() > CALLS_MAX.min(runs.ran.script.answers.len()) {
        return found;
    }
    for code in of_host().filter(|code| is_named(code) && !is_written(code)) {
        let is_like = |other: &Code| !is_named(other) && other.for_guest() == code.for_guest();
        let Some(other) = of_host().find(is_like) else { continue };
        let mut is_read = false;
        for k in 0..calls.len() {
            let (one, two) = (refused(runs, plugin, k, code).await, refused(runs, plugin, k, other).await);
            let (Some(one), Some(two)) = (one, two) else { return vec![] };
            is_read |= one != two;
        }
        let seen = code.for_guest();
        let message = format!(
            "{code} is in its sources, but it does the same when a call such as {} fails with {code} or with {other}: a \
             guest gets {seen} for both",
            calls[0]
        );
        let hint = format!("compare with {seen}, or read the code from the detail of the failure");
        found.push(NamedCode { code, is_read, finding: runs.ran.finding("D082", message).hint(hint) });
    }
    found
}

/// Returns a finding for each code that no case reads. The sources are those of the whole plugin, so another operator may
/// read the code.
pub(super) fn never_read(named: Vec<NamedCode>) -> Vec<Finding> {
    let read: Vec<Code> = named.iter().filter(|one| one.is_read).map(|one| one.code).collect();
    let mut reported = Vec::new();
    let mut found = Vec::new();
    for one in named {
        if !read.contains(&one.code) && !reported.contains(&one.code) {
            reported.push(one.code);
            found.push(one.finding);
        }
    }
    found
}

/// Runs the case with one call that the host refuses. `None` stands for used-up fuel.
async fn refused(runs: &mut PerturbedRuns<'_>, plugin: &Plugin, k: usize, code: Code) -> Option<Behaviour> {
    let mut script = runs.script_of_other_calls();
    script.answers[k].answer = Err(Failure::new(code, "the host refused the call").for_guest());
    Some(behaviour(runs.run(&script, plugin).await?))
}

/// Returns what the step writes in a run: its output, events and arguments.
fn texts_of(trace: &Trace) -> Vec<String> {
    let calls = trace.asked.iter().map(|call| match call {
        HostCall::Call { args, .. } => args.clone(),
        HostCall::Emit { payload, .. } => payload.clone(),
    });
    let output = match &trace.ended {
        RunEnd::Output(output) => Some(output.clone()),
        RunEnd::Failed(_) | RunEnd::Fault(_) | RunEnd::Stopped => None,
    };
    calls.chain(output).collect()
}

fn behaviour(trace: Trace) -> Behaviour {
    let ended = match trace.ended {
        RunEnd::Output(output) => Ok(output),
        RunEnd::Failed(failure) | RunEnd::Fault(failure) => Err(Some((failure.code, failure.message))),
        RunEnd::Stopped => Err(None),
    };
    (trace.asked, ended)
}
