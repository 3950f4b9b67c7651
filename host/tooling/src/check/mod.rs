//! `latch plugin check`: finds defects of a plugin before it is used in a job.
//!
//! * `rule` is the registry of rules. Each rule has a stable id, a severity and a page (`rules/*.md`).
//! * `finding` is one violation of a rule, and `report` collects all findings. `render` writes reports for
//!   people, CI systems and code hosts.
//! * `accepted` marks findings that a baseline knows or an exception accepts.
//! * `static_rules` inspect the component without running its steps. `dynamic` runs its steps with cases
//!   under different hosts. `tools` runs a tool against stubs of the servers and directories it may reach.
//!   `history` runs the steps of real jobs again.
//!
//! The same component, cases and histories give the same report, byte for byte. A report does not depend on the time,
//! on the machine, or on the order in which runs finish.
//!
//! # Floors
//!
//! Floors, top first: `run` · `accepted`, `input` · `history` · `dynamic`, `render`, `static_rules`, `tools` ·
//! `report` · `case_problem`, `finding` · `acceptance`, `exception`, `other_ids`, `parallel`, `rule`, `variations`.

mod acceptance;
mod accepted;
mod case_problem;
mod dynamic;
mod exception;
mod finding;
mod history;
mod input;
mod other_ids;
mod parallel;
pub mod render;
mod report;
mod rule;
mod run;
mod static_rules;
pub(crate) mod tools;
mod variations;

pub use acceptance::Acceptance;
pub use accepted::{Baseline, Exception};
pub use case_problem::CaseProblem;
#[cfg(test)]
pub(crate) use dynamic::ANSWER;
pub use dynamic::{
    CaseAnswer, DeclarationOf, OtherProcess, RebuiltComponent, RecordedEnvironment, StepCase, ToolDeclaration, parse,
    serve,
};
pub use finding::{Finding, SourceLocation};
pub use history::{HistoryFile, HistoryFileError};
pub use input::{CheckInputs, InputError, Subject};
pub use report::{CaseRun, CheckReport, CheckedComponent, HistoryRun, RuleState};
pub use rule::{RULES, Rule, RuleKind, Severity, find_rule};
pub use run::check;
pub use static_rules::StaticInput;
pub use variations::KnownValues;
