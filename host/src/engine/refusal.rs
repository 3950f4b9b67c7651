//! Adds details to refusals, if this program registered a function for this purpose.
//!
//! The engine knows the first obstacle of a component. The details come from an analysis of the whole file, which is not
//! a part of the engine.

use std::sync::OnceLock;

use crate::interfaces::Problem;

/// Adds details to the problems of a component with these bytes.
pub type ExplainProblems = fn(&[u8], Vec<Problem>) -> Vec<Problem>;

static EXPLAIN: OnceLock<ExplainProblems> = OnceLock::new();

/// Registers the function that adds details to all refusals of this process. Later calls have no effect. Without a
/// function, a refusal has only the engine's own text.
pub fn explain_refusals_with(explain: ExplainProblems) {
    // A second command in the same process registers the same function again.
    let _ = EXPLAIN.set(explain);
}

/// Returns the problems with the details of the registered function.
pub(super) fn explained(bytes: &[u8], problems: Vec<Problem>) -> Vec<Problem> {
    match EXPLAIN.get() {
        Some(explain) => explain(bytes, problems),
        None => problems,
    }
}
