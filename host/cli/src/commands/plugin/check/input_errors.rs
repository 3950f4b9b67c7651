//! Errors of unusable inputs of a check.

use serde_json::json;

use latchwork_core::model::error_docs;
use latchwork_tooling::check::{CaseProblem, HistoryFileError, InputError};

use crate::error::{CliError, CliProblem};

/// Converts an input error, with its location.
pub(super) fn input_error(cases: &str, error: InputError) -> CliError {
    match error {
        InputError::Cases(wrong) => {
            let message = match wrong.len() {
                1 => format!("{cases} has a problem"),
                n => format!("{cases} has {n} problems"),
            };
            CliError::input(error_docs::CASES_WRONG, message)
                .with_problems(wrong.into_iter().map(|wrong| problem(cases, wrong)))
        }
        InputError::History(file, HistoryFileError::NotEvidence(why)) => {
            CliError::input(error_docs::NOT_EVIDENCE, format!("{file}: {why}"))
        }
        InputError::History(file, HistoryFileError::Damaged(line, why)) => CliError::input(
            error_docs::HISTORY_DAMAGED,
            format!("{file}:{line}: {why}; `latch verify {file}` shows more"),
        ),
    }
}

fn problem(file: &str, wrong: CaseProblem) -> CliProblem {
    let CaseProblem { line, column, pointer, message } = wrong;
    let json = json!({ "file": file, "line": line, "column": column, "pointer": pointer, "message": message });
    let column = column.map_or_else(String::new, |column| format!(":{column}"));
    let pointer = if pointer.is_empty() { String::new() } else { format!(" {pointer}") };
    CliProblem {
        location: format!("{file}:{line}{column}{pointer}"),
        code: error_docs::CASES_WRONG.to_owned(),
        message,
        json,
    }
}
