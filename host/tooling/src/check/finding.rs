//! Findings: violations of a rule.

use latchwork_core::encoding::truncate;
use serde::Serialize;

use crate::check::acceptance::Acceptance;
use crate::check::rule::{Rule, Severity, find_rule};

/// Location that a finding refers to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct SourceLocation {
    /// Path of the file, as the user named it.
    pub file: String,
    /// Line number, from 1. `None` for the whole file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
}

/// One violation of a rule. The texts are for people and are never parsed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Finding {
    /// Id of the rule.
    pub rule: &'static str,
    /// Severity of the rule.
    pub severity: Severity,
    /// Operator that the finding concerns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operator: Option<String>,
    /// Case, or step of a history, in which the violation was seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub case: Option<String>,
    /// Location of the violation.
    pub place: SourceLocation,
    /// Description of the violation, understandable on its own.
    pub message: String,
    /// Expected value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// Actual value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<String>,
    /// Call stack at the violation, innermost function first, or the call path to an import. Names come from
    /// the name section of the component.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<String>,
    /// Advice for the user. A finding without advice of its own gets the advice from the page of its rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Reason why the finding does not fail the check. `None` if it counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted: Option<Acceptance>,
}

/// Maximum number of characters shown of a value that a plugin produced.
const VALUE_CHARACTERS_MAX: usize = 400;

/// Maximum number of bytes of an input in a message.
const INPUT_BYTES_MAX: usize = 1500;

/// Maximum number of functions of a call stack in a finding.
const FUNCTIONS_SHOWN: usize = 7;

impl Finding {
    /// Creates a violation of the rule with this id.
    ///
    /// # Panics
    /// Panics if the rule does not exist. This is a defect of this program.
    pub fn new(rule: &str, file: &str, message: impl Into<String>) -> Self {
        let rule: &Rule = find_rule(rule).expect("findings name rules of the registry");
        Self {
            rule: rule.id,
            severity: rule.severity,
            operator: None,
            case: None,
            place: SourceLocation { file: file.to_owned(), line: None },
            message: message.into(),
            expected: None,
            found: None,
            functions: vec![],
            hint: None,
            accepted: None,
        }
    }

    /// Returns true if the finding has this severity and was not accepted.
    pub fn counts_as(&self, severity: Severity) -> bool {
        self.severity == severity && self.accepted.is_none()
    }

    /// Sets the line.
    pub fn at(mut self, line: impl Into<Option<u64>>) -> Self {
        self.place.line = line.into();
        self
    }

    /// Sets the operator.
    pub fn of(mut self, operator: impl Into<String>) -> Self {
        self.operator = Some(operator.into());
        self
    }

    /// Sets the case.
    pub fn case(mut self, case: impl Into<String>) -> Self {
        self.case = Some(case.into());
        self
    }

    /// Sets the expected and the actual value. Long values are truncated.
    pub fn values(mut self, expected: &str, found: &str) -> Self {
        (self.expected, self.found) = (Some(displayed_value(expected)), Some(displayed_value(found)));
        self
    }

    /// Sets the call stack, innermost function first. Only the seven innermost functions are kept.
    pub fn functions(mut self, mut functions: Vec<String>) -> Self {
        functions.truncate(FUNCTIONS_SHOWN);
        self.functions = functions;
        self
    }

    /// Sets the advice.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// Returns an input as a message shows it.
pub(super) fn displayed_input(input: &str) -> String {
    truncate::at_bytes(input, INPUT_BYTES_MAX).to_string()
}

/// Truncates a text to the length that a report shows.
pub(super) fn displayed_value(text: &str) -> String {
    let truncated = truncate::at_characters(text, VALUE_CHARACTERS_MAX);
    if truncated.is_truncated { format!("{truncated} ({} bytes)", text.len()) } else { text.to_owned() }
}
