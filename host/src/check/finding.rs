//! One thing that breaks a rule.

use serde::Serialize;

use super::rule::{Rule, Severity, find};

/// Where something stands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Place {
    /// The file, as the one who asks named it.
    pub file: String,
    /// Its line, from 1; none for the whole file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
}

/// One thing that breaks a rule. Every part is for people to read; none is parsed again.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Finding {
    /// The rule's id.
    pub rule: &'static str,
    /// How bad it is: the rule's.
    pub severity: Severity,
    /// The operator it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operator: Option<String>,
    /// The case, or the step of a history, in which it was seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub case: Option<String>,
    /// Where to look.
    pub place: Place,
    /// What is wrong: a sentence that stands alone.
    pub message: String,
    /// What should have been.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// What was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<String>,
    /// The function it happened in and those that called it, or how code reaches an import: from
    /// the component's name section.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<String>,
    /// What to do about it; the advice of the rule's page if the finding has none of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// What is kept of a value that a plugin made.
const SHOWN_CHARACTERS: usize = 400;

impl Finding {
    /// A break of the rule with this id.
    ///
    /// # Panics
    /// There is no such rule: a defect of this program.
    pub fn new(rule: &str, file: &str, message: impl Into<String>) -> Self {
        let rule: &Rule = find(rule).expect("findings name rules of the registry");
        Self {
            rule: rule.id,
            severity: rule.severity,
            operator: None,
            case: None,
            place: Place { file: file.to_owned(), line: None },
            message: message.into(),
            expected: None,
            found: None,
            functions: vec![],
            hint: None,
        }
    }

    /// In this line.
    pub fn at(mut self, line: impl Into<Option<u64>>) -> Self {
        self.place.line = line.into();
        self
    }

    /// Of this operator.
    pub fn of(mut self, operator: impl Into<String>) -> Self {
        self.operator = Some(operator.into());
        self
    }

    /// Seen in this case.
    pub fn case(mut self, case: impl Into<String>) -> Self {
        self.case = Some(case.into());
        self
    }

    /// What should have been, and what was; long values are cut.
    pub fn values(mut self, expected: &str, found: &str) -> Self {
        (self.expected, self.found) = (Some(cut(expected)), Some(cut(found)));
        self
    }

    /// In this function, called from those.
    pub fn functions(mut self, functions: Vec<String>) -> Self {
        self.functions = functions;
        self
    }

    /// What to do.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// The beginning of a text that a report can hold.
pub(super) fn cut(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARACTERS) {
        Some((at, _)) => format!("{}… ({} bytes)", &text[..at], text.len()),
        None => text.to_owned(),
    }
}
