//! Reports as text, JSON, JUnit XML or SARIF.

mod junit;
mod sarif;
mod text;

use serde::Serialize;
use serde_json::{Value, json as object};

use super::Report;

/// Version of the JSON format of several reports.
const SCHEMA: &str = "latchwork.checks/1";

/// Output format of reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Text for people.
    #[default]
    Text,
    /// JSON with all data, for programs.
    Json,
    /// JUnit XML, for CI systems that show tests.
    Junit,
    /// SARIF 2.1.0, for code hosts that show findings next to the code.
    Sarif,
}

/// An input that could not be checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unchecked {
    /// Path of the file or folder, as the user named it.
    pub file: String,
    /// Code of the error.
    pub code: &'static str,
    /// Error message.
    pub message: String,
    /// Every single problem with its position, if there are several problems.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}

impl Unchecked {
    /// Returns advice for the user.
    fn advice(&self) -> String {
        format!("correct the input; `latch explain {}` says more", self.code)
    }

    /// Returns the message followed by every problem.
    fn text(&self) -> String {
        std::iter::once(&self.message).chain(&self.problems).cloned().collect::<Vec<_>>().join("\n")
    }
}

/// Result for one input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Checked {
    /// Report of an input that was checked.
    Report(Box<Report>),
    /// Failure of an input that could not be checked.
    Not(Unchecked),
}

/// Results for all inputs, in the order given by the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reports(pub Vec<Checked>);

impl Reports {
    /// Returns true if any rule is violated.
    pub fn violated(&self) -> bool {
        self.reports().any(|report| !report.passed)
    }

    /// Returns true if any input could not be checked.
    pub fn unchecked(&self) -> bool {
        self.failures().next().is_some()
    }

    fn reports(&self) -> impl Iterator<Item = &Report> {
        self.0.iter().filter_map(|checked| match checked {
            Checked::Report(report) => Some(&**report),
            Checked::Not(_) => None,
        })
    }

    fn failures(&self) -> impl Iterator<Item = &Unchecked> {
        self.0.iter().filter_map(|checked| match checked {
            Checked::Report(_) => None,
            Checked::Not(failure) => Some(failure),
        })
    }
}

/// Renders the reports in this format, with a final newline.
pub fn render(reports: &Reports, format: Format) -> String {
    match format {
        Format::Text => text::render(reports),
        Format::Json => document(&json(reports)),
        Format::Junit => junit::render(reports),
        Format::Sarif => document(&sarif::render(reports)),
    }
}

/// Returns the reports as a JSON document: the report itself for one plugin, else a list of reports.
pub fn json(reports: &Reports) -> Value {
    let value = |report: &Report| serde_json::to_value(report).expect("a report has no keys but text");
    if let [Checked::Report(report)] = reports.0.as_slice() {
        return value(report);
    }
    object!({
        "schema": SCHEMA,
        "passed": !reports.violated() && !reports.unchecked(),
        "reports": reports.reports().map(value).collect::<Vec<_>>(),
        "not_checked": reports.failures().map(not_checked).collect::<Vec<_>>(),
    })
}

fn not_checked(failure: &Unchecked) -> Value {
    let mut value = serde_json::to_value(failure).expect("it has no keys but text");
    value["hint"] = object!(failure.advice());
    value
}

fn document(value: &Value) -> String {
    format!("{value:#}\n")
}
