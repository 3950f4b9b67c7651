//! Reports as text, JSON, JUnit XML or SARIF.

mod junit;
mod sarif;
mod text;

use serde::Serialize;
use serde_json::{Value, json as object};

use super::Report;

/// Version of the JSON form of several reports.
const SCHEMA: &str = "latchwork.checks/1";

/// How a report is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// Everything, for programs.
    Json,
    /// For CI systems that show tests.
    Junit,
    /// SARIF 2.1.0, for code hosts that show findings beside the code.
    Sarif,
}

/// An input that could not be checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unchecked {
    /// The file or folder, as it was named.
    pub file: String,
    /// The error's code.
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
    /// Every single problem with its place, if there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}

impl Unchecked {
    /// What to do about it.
    fn advice(&self) -> String {
        format!("correct the input; `latch explain {}` says more", self.code)
    }

    /// The message with every problem.
    fn text(&self) -> String {
        std::iter::once(&self.message).chain(&self.problems).cloned().collect::<Vec<_>>().join("\n")
    }
}

/// What came of one input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Checked {
    /// It was checked.
    Report(Box<Report>),
    /// It could not be.
    Not(Unchecked),
}

/// What came of every input, in the order in which they were named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reports(pub Vec<Checked>);

impl Reports {
    /// Whether a rule is violated.
    pub fn violated(&self) -> bool {
        self.reports().any(|report| !report.passed)
    }

    /// Whether an input could not be checked.
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

/// The reports in this form, with an end of line.
pub fn render(reports: &Reports, format: Format) -> String {
    match format {
        Format::Text => text::render(reports),
        Format::Json => document(&json(reports)),
        Format::Junit => junit::render(reports),
        Format::Sarif => document(&sarif::render(reports)),
    }
}

/// The reports as a JSON document: of one plugin its report, of several a list.
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
