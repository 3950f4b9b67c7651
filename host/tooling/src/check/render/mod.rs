//! Reports as text, JSON, JUnit XML or SARIF.
//!
//! Floors, top first: `document` · `junit`, `sarif`, `text` · `reports`.

mod document;
mod junit;
mod reports;
mod sarif;
mod text;

pub use document::{json, render};
pub use reports::{CheckResult, FailedInput, ReportFormat, Reports};
