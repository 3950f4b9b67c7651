//! Reports as text, JSON, JUnit XML or SARIF.

mod junit;
mod sarif;
mod text;

use serde::Serialize;
use serde_json::{Value, json as object};

use super::CheckReport;

/// Version of the JSON format of several reports.
const SCHEMA: &str = "latchwork.checks/1";

/// Output format of reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReportFormat {
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
pub struct FailedInput {
    /// Path of the file or folder, as the user named it.
    pub file: String,
    /// Code of the error.
    pub code: &'static str,
    /// Error message.
    pub message: String,
    /// The individual problems with their positions. Empty if the message describes the only problem.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}

impl FailedInput {
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
pub enum CheckResult {
    /// Report of an input that was checked.
    Report(Box<CheckReport>),
    /// Failure of an input that could not be checked.
    Not(FailedInput),
}

/// Results for all inputs, in the order given by the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reports(pub Vec<CheckResult>);

impl Reports {
    /// Returns true if any report contains a violation. Warnings do not count.
    pub fn has_violations(&self) -> bool {
        self.reports().any(|report| !report.passed)
    }

    /// Returns true if any input could not be checked.
    pub fn has_failed_inputs(&self) -> bool {
        self.failures().next().is_some()
    }

    fn reports(&self) -> impl Iterator<Item = &CheckReport> {
        self.0.iter().filter_map(|checked| match checked {
            CheckResult::Report(report) => Some(&**report),
            CheckResult::Not(_) => None,
        })
    }

    fn failures(&self) -> impl Iterator<Item = &FailedInput> {
        self.0.iter().filter_map(|checked| match checked {
            CheckResult::Report(_) => None,
            CheckResult::Not(failure) => Some(failure),
        })
    }
}

/// Renders the reports in this format, with a final newline.
pub fn render(reports: &Reports, format: ReportFormat) -> String {
    match format {
        ReportFormat::Text => text::render(reports),
        ReportFormat::Json => document(&json(reports)),
        ReportFormat::Junit => junit::render(reports),
        ReportFormat::Sarif => document(&sarif::render(reports)),
    }
}

/// Returns the reports as a JSON document. A single report is the document itself. Otherwise the document contains a
/// list of reports.
pub fn json(reports: &Reports) -> Value {
    let value = |report: &CheckReport| serde_json::to_value(report).expect("a report has no keys but text");
    if let [CheckResult::Report(report)] = reports.0.as_slice() {
        return value(report);
    }
    object!({
        "schema": SCHEMA,
        "passed": !reports.has_violations() && !reports.has_failed_inputs(),
        "reports": reports.reports().map(value).collect::<Vec<_>>(),
        "not_checked": reports.failures().map(not_checked).collect::<Vec<_>>(),
    })
}

fn not_checked(failure: &FailedInput) -> Value {
    let mut value = serde_json::to_value(failure).expect("it has no keys but text");
    value["hint"] = object!(failure.advice());
    value
}

fn document(value: &Value) -> String {
    format!("{value:#}\n")
}
