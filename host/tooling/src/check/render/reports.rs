//! The reports of all inputs.

use serde::Serialize;

use crate::check::report::CheckReport;

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
    pub(super) fn advice(&self) -> String {
        format!("correct the input; `latch explain {}` says more", self.code)
    }

    /// Returns the message followed by every problem.
    pub(super) fn text(&self) -> String {
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

    /// Returns the reports of the inputs that were checked.
    pub fn reports(&self) -> impl Iterator<Item = &CheckReport> + Clone {
        self.0.iter().filter_map(|checked| match checked {
            CheckResult::Report(report) => Some(&**report),
            CheckResult::Not(_) => None,
        })
    }

    /// Returns the reports of the inputs that were checked, as mutable references.
    pub fn reports_mut(&mut self) -> impl Iterator<Item = &mut CheckReport> {
        self.0.iter_mut().filter_map(|checked| match checked {
            CheckResult::Report(report) => Some(&mut **report),
            CheckResult::Not(_) => None,
        })
    }

    pub(super) fn failures(&self) -> impl Iterator<Item = &FailedInput> {
        self.0.iter().filter_map(|checked| match checked {
            CheckResult::Report(_) => None,
            CheckResult::Not(failure) => Some(failure),
        })
    }
}
