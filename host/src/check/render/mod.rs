//! A report as text, JSON, JUnit XML or SARIF.

mod junit;
mod sarif;
mod text;

use serde_json::Value;

use super::Report;

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

/// The report in this form, with an end of line.
pub fn render(report: &Report, format: Format) -> String {
    match format {
        Format::Text => text::render(report),
        Format::Json => document(&json(report)),
        Format::Junit => junit::render(report),
        Format::Sarif => document(&sarif::render(report)),
    }
}

/// The report as a JSON document.
pub fn json(report: &Report) -> Value {
    serde_json::to_value(report).expect("a report has no keys but text")
}

fn document(value: &Value) -> String {
    format!("{value:#}\n")
}
