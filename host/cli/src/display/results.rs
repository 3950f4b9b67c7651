//! Results of a job for people: outcomes, and the outputs of its last steps. Long values are cut only on a terminal.

use serde_json::Value;
use unicode_width::UnicodeWidthStr;

use latchwork_core::response::{OutcomeView, Response};

use crate::context::CommandContext;
use crate::display::arguments;
use crate::text::{Text, Tone};

/// Maximum number of lines of one value on a terminal.
const LINES_MAX: usize = 12;
/// Number of blanks before each line of a value.
const INDENT: usize = 2;

/// Prints the outcomes of earlier steps, then the outputs of the last steps.
pub(crate) fn print(ctx: &CommandContext<'_>, response: &Response) {
    let is_last = |outcome: &&OutcomeView| {
        response.last_steps.contains(&outcome.step_id) && response.outputs.contains_key(&outcome.step_id)
    };
    for outcome in response.outcomes.iter().filter(|outcome| !is_last(outcome)) {
        let whole = response.outputs.get(&outcome.step_id).filter(|_| ctx.printer.width().is_none());
        let text = whole.map_or_else(|| outcome.preview.clone(), Value::to_string);
        ctx.printer.print_text(Tone::Title.of(head(outcome)).under(Text::from(text).indented(INDENT)));
    }
    for step in &response.last_steps {
        let Some(value) = response.outputs.get(step) else { continue };
        let outcome = response.outcomes.iter().find(|outcome| outcome.step_id == *step);
        ctx.printer.print_text(Tone::Title.of(outcome.map_or_else(|| format!("result of {step}"), head)));
        let (lines, is_truncated) = value_lines(value, ctx.printer.width());
        ctx.printer.print_truncated(Text::lines(lines).indented(INDENT));
        if is_truncated {
            let whole = ctx.with_project_flags(&format!("latch job output {} {step}", response.job_id));
            ctx.printer.print_text(Text::unwrapped(format!("  (cut; whole: {whole})")));
        }
    }
}

fn head(outcome: &OutcomeView) -> String {
    format!("{} ({}) from {}", outcome.outcome_type, outcome.status, outcome.step_id)
}

/// Returns the lines of a value, and true if a terminal of `width` columns does not show the whole value.
fn value_lines(value: &Value, width: Option<usize>) -> (Vec<String>, bool) {
    let text = match value.as_str() {
        // A blank text would be invisible without quotes.
        Some(text) if text.trim().is_empty() => arguments::quoted(text),
        Some(text) => text.to_owned(),
        None => format!("{value:#}"),
    };
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let Some(width) = width else { return (lines, false) };
    let all = lines.len();
    lines.truncate(LINES_MAX);
    let is_truncated = all > LINES_MAX || lines.iter().any(|line| line.width() + INDENT > width);
    (lines, is_truncated)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// I140: values are cut only on a terminal.
    #[test]
    fn values_are_truncated_on_terminals_only() {
        let long = json!({ "text": "x".repeat(500), "list": (0..40).collect::<Vec<_>>() });
        let (whole, is_truncated) = value_lines(&long, None);
        assert!(!is_truncated && whole.join("\n") == format!("{long:#}"));
        let (lines, is_truncated) = value_lines(&long, Some(80));
        assert!(is_truncated && lines.len() == LINES_MAX, "{lines:#?}");
        assert_eq!(value_lines(&json!(""), None), (vec!["\"\"".to_owned()], false));
        assert_eq!(value_lines(&json!("a\nb"), Some(80)), (vec!["a".to_owned(), "b".to_owned()], false));
        assert_eq!(
            value_lines(&json!({ "a": 1 }), Some(10)),
            (vec!["{".into(), "  \"a\": 1".into(), "}".into()], false)
        );
    }
}
