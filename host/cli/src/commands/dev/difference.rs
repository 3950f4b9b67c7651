//! Output of a dry run as lines, and its difference to the previous run.

use serde_json::Value;
use similar::{ChangeTag, TextDiff};

/// Number of unchanged lines shown around a difference.
const CONTEXT_LINES: usize = 2;

/// Text that represents the result of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DryRunOutput(String);

/// One line to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DiffLine {
    /// In both runs.
    Same(String),
    /// Only in the previous run.
    Removed(String),
    /// Only in this run.
    Added(String),
    /// A remark about the run.
    Note(String),
}

impl DryRunOutput {
    /// Lists each step with its state, its output, the call that it would make, and its failures. Leaves out the ids
    /// and times of the job.
    pub(super) fn of(response: &Value) -> DryRunOutput {
        let mut text = String::new();
        for step in response["steps"].as_array().into_iter().flatten() {
            let id = step["step_id"].as_str().unwrap_or_default();
            let state = step["state"].as_str().unwrap_or_default();
            let reason = step["reason_code"].as_str().map(|code| format!(" ({code})")).unwrap_or_default();
            text += &format!("{id} {}{reason}\n", state.to_lowercase());
            let output = &response["outputs"][id];
            if !output.is_null() {
                text += &indented(output);
            }
            if let Some(call) = step.get("would_call").filter(|call| !call.is_null()) {
                text += &format!("  would call {}\n", call["operator"].as_str().unwrap_or_default());
                text += &indented(&call["args"]);
            }
            let failures = response["failed"].as_array().into_iter().flatten();
            for failure in failures.filter(|failure| failure["step_id"] == id) {
                text += &format!("  {}\n", failure["message"].as_str().unwrap_or_default());
            }
        }
        DryRunOutput(text)
    }

    /// Returns the lines to show: the differences with the lines around them, or all lines if there is no previous run.
    pub(super) fn diff_from(&self, before: Option<&DryRunOutput>) -> Vec<DiffLine> {
        let Some(before) = before else {
            return self.0.lines().map(|line| DiffLine::Same(line.to_owned())).collect();
        };
        if self == before {
            return vec![DiffLine::Note("the output is the same as before".to_owned())];
        }
        let diff = TextDiff::from_lines(&before.0, &self.0);
        let mut lines = Vec::new();
        for (n, group) in diff.grouped_ops(CONTEXT_LINES).iter().enumerate() {
            if n > 0 {
                lines.push(DiffLine::Note("  …".to_owned()));
            }
            for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
                let text = change.value().trim_end_matches('\n').to_owned();
                lines.push(match change.tag() {
                    ChangeTag::Equal => DiffLine::Same(text),
                    ChangeTag::Delete => DiffLine::Removed(text),
                    ChangeTag::Insert => DiffLine::Added(text),
                });
            }
        }
        lines
    }
}

/// Formats a JSON value as several lines, indented by two columns.
fn indented(value: &Value) -> String {
    format!("{value:#}").lines().map(|line| format!("  {line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn output(greeting: &str) -> DryRunOutput {
        DryRunOutput::of(&json!({
            "job_id": "job_1", "steps": [
                { "step_id": "a", "state": "SUCCEEDED" },
                { "step_id": "b", "state": "SKIPPED", "reason_code": "DRY_RUN_UPSTREAM" },
                { "step_id": "c", "state": "SKIPPED", "would_call": { "operator": "Mail.Send", "args": { "to": "x" } } },
            ],
            "outputs": { "a": { "greeting": greeting, "n": 1 } },
        }))
    }

    #[test]
    fn first_run_shows_all_lines() {
        let lines = output("Hello").diff_from(None);
        assert!(lines.contains(&DiffLine::Same("a succeeded".to_owned())), "{lines:?}");
        assert!(lines.contains(&DiffLine::Same("b skipped (DRY_RUN_UPSTREAM)".to_owned())), "{lines:?}");
        assert!(lines.contains(&DiffLine::Same("  would call Mail.Send".to_owned())), "{lines:?}");
    }

    #[test]
    fn later_runs_show_only_differences() {
        let lines = output("Goodbye").diff_from(Some(&output("Hello")));
        let changed: Vec<_> = lines.iter().filter(|line| !matches!(line, DiffLine::Same(_))).collect();
        assert_eq!(
            changed,
            [
                &DiffLine::Removed("    \"greeting\": \"Hello\",".to_owned()),
                &DiffLine::Added("    \"greeting\": \"Goodbye\",".to_owned())
            ]
        );
        assert_eq!(
            output("x").diff_from(Some(&output("x"))),
            [DiffLine::Note("the output is the same as before".to_owned())]
        );
    }
}
