//! D057: a step that repeats a call until it gets another answer must end if the answer never changes.

use latchwork_engine::Plugin;

use crate::check::dynamic::perturbed_runs::PerturbedRuns;
use crate::check::dynamic::run_end;
use crate::check::dynamic::trace::HostCall;
use crate::check::finding::Finding;

/// Maximum number of repeated calls of a case that are tried.
const CALLS_MAX: usize = 3;

/// For each call that the case repeats, runs the step with one answer for all its repetitions. Each call takes 250 ms.
pub(super) async fn poll(runs: &mut PerturbedRuns<'_>, plugin: &Plugin) -> Option<Finding> {
    for (repeated, operator) in repeated_calls(&runs.ran.base.asked).into_iter().take(CALLS_MAX) {
        let mut script = runs.script_of_other_calls();
        let Some(given) = script.answers.get(repeated).cloned() else { continue };
        script.answers.truncate(repeated + 1);
        script.otherwise = Some(given.answer);
        let trace = runs.run(&script, plugin).await?;
        let when = format!("when call {repeated} ({operator}) gets the same answer each time, ");
        if let Some(finding) = run_end::host_fault(runs.ran, &trace, &when).filter(|finding| finding.rule == "D057") {
            return Some(finding.hint("end the loop after a fixed number of calls"));
        }
    }
    None
}

/// Returns the number and the operator of each call that is made again, with equal arguments, as the next call. Of several
/// equal calls, only the first one is returned. Concurrent calls do not wait for an answer.
fn repeated_calls(asked: &[HostCall]) -> Vec<(usize, String)> {
    let calls: Vec<_> = asked
        .iter()
        .filter_map(|call| match call {
            HostCall::Call { operator, args, together, .. } => Some((operator, args, *together)),
            HostCall::Emit { .. } => None,
        })
        .collect();
    let is_repeated = |(number, pair): (usize, &[(&String, &String, bool)])| {
        let is_first = number == 0 || calls[number - 1] != pair[0];
        (pair[0] == pair[1] && !pair[0].2 && is_first).then(|| (number, pair[0].0.clone()))
    };
    calls.windows(2).enumerate().filter_map(is_repeated).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_calls_are_found_once() {
        let call = |operator: &str, together: bool| HostCall::Call {
            operator: operator.to_owned(),
            args: "1".to_owned(),
            action_key: None,
            together,
        };
        let emit = HostCall::Emit { name: "e".to_owned(), payload: "1".to_owned() };
        let asked = [
            call("A", false),
            call("B", false),
            emit,
            call("B", false),
            call("B", false),
            call("C", true),
            call("C", true),
        ];
        assert_eq!(repeated_calls(&asked), [(1, "B".to_owned())]);
        assert!(repeated_calls(&asked[..2]).is_empty());
    }
}
