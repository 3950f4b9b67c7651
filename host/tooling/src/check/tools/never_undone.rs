//! D118: an operator whose `compensate` undoes no call.

use crate::check::finding::Finding;
use crate::check::tools::case::ToolCase;
use crate::check::tools::running_case::ToolCheck;

/// Part of the message with which the SDKs refuse to undo an operator that has no handler.
const NO_HANDLER: &str = "cannot be undone";

/// D118: an operator that offers an undo must be able to undo a call that has just been made. `undos` contains the result
/// of each undo.
pub(super) fn never_undone(tools: &ToolCheck<'_>, undos: &[(&ToolCase, Result<(), String>)]) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    for (case, undo) in undos {
        let of_operator = || undos.iter().filter(|(other, _)| other.operator == case.operator);
        let Some(error) = undo.as_ref().err().filter(|error| !error.contains(NO_HANDLER)) else { continue };
        let is_first = of_operator().next().is_some_and(|(first, _)| first.line == case.line);
        // A server of a case may answer as if the call had not been made.
        if is_first && case.http.is_empty() && of_operator().all(|(_, undo)| undo.is_err()) {
            let message = format!("compensate cannot undo the call of any case: {error}");
            let finding = Finding::new("D118", tools.cases_file, message).at(case.line).of(case.operator.as_str());
            found.push(finding.case(case.name.as_str()).hint("look for the entry under the key of the undone call"));
        }
    }
    found
}
