//! Renders the reports in the requested format.

use serde_json::{Value, json as object};

use crate::check::render::reports::{CheckResult, FailedInput, ReportFormat, Reports};
use crate::check::render::{junit, sarif, text};
use crate::check::report::CheckReport;

/// Version of the JSON format of several reports.
const SCHEMA: &str = "latchwork.checks/1";

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
