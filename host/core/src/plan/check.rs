//! Checking: JSON text to a [`Plan`] in normal form, or every rule it breaks.
//!
//! Short steps are expanded first ([`super::expand`]), so that every rule sees a full plan. The
//! work is done in layers, each over the whole plan: the text has one meaning, every value has
//! its shape, the steps form a graph, each step agrees with its operator and its own
//! template and bindings. A layer goes on as far as it can with what is there, so that one
//! mistake does not hide another; only a text that is no JSON ends the check at once.

use serde_json::Value;

use super::{Plan, Step, expand};
use crate::canon;
use crate::manifest::{Determinism, Effect, PluginKind};

mod contexts;
mod graph;
mod llm;
mod operator;
mod parameters;
mod position;
mod references;
mod report;
mod shape;

mod values;
mod view;
mod waits;
pub(super) mod whole;

#[cfg(test)]
pub(super) mod tests;

pub use operator::uncovered;
pub(super) use report::parameter_rule;
pub use report::{CONTEXT_RULE, RULES};
pub use values::parse_timeout;

use report::{Report, rule};
use view::View;

/// A plan's text may be so long: it is copied into the log of every job.
pub const PLAN_BYTES_MAX: usize = 1 << 20;
/// A plan may have so many steps.
pub const STEPS_MAX: usize = 1_000;

/// A rule that a plan breaks, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column} {pointer:?} {code}: {message}")]
pub struct Violation {
    /// JSON pointer to the value; what is missing is reported where it should be added.
    pub pointer: String,
    /// Stable name of the rule, one of [`RULES`]: `P012`.
    pub code: &'static str,
    /// What is wrong, and what to do.
    pub message: String,
    /// Line of the value, from 1.
    pub line: usize,
    /// Column of the value in characters, from 1.
    pub column: usize,
}

impl Violation {
    /// A violation whose value is looked up in the text, which is known to be JSON.
    pub(super) fn at(pointer: String, code: &'static str, message: String, text: &[u8]) -> Self {
        let positions = position::Positions::of(text);
        let (line, column) = positions.line_column(positions.offset(&pointer));
        Self { pointer, code, message, line, column }
    }
}

/// How a value breaks a JSON Schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// The object at the pointer lacks a property that is required.
    Missing {
        /// JSON pointer to the object.
        pointer: String,
        /// The property.
        name: String,
    },
    /// The object at the pointer has a property that is not admitted.
    Unknown {
        /// JSON pointer to the object.
        pointer: String,
        /// The property.
        name: String,
    },
    /// The value at the pointer breaks another rule.
    Wrong {
        /// JSON pointer to the value.
        pointer: String,
        /// What is wrong with it.
        why: String,
    },
}

/// What a check has to know of an operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperatorInfo {
    /// What it may do to the world.
    pub effects: Vec<Effect>,
    /// How repeatable it is.
    pub determinism: Determinism,
    /// Which world its plugin belongs to.
    pub kind: PluginKind,
    /// Whether its plugin exports `compensate`: it can undo its own calls.
    pub compensate: bool,
}

/// The operators that are loaded.
pub trait Catalog {
    /// The operator named `name`.
    fn operator(&self, name: &str) -> Option<OperatorInfo>;
    /// The names of all, for suggestions.
    fn names(&self) -> Vec<String>;
    /// Whether what it says of operators is known; where not, a plan is believed about them.
    fn is_known(&self) -> bool {
        true
    }
    /// How a value breaks the JSON Schema of a plan's parameters; the kernel evaluates none itself.
    ///
    /// # Errors
    /// The schema cannot be used: why.
    fn misfits(&self, _schema: &Value, _value: &Value) -> Result<Vec<Misfit>, String> {
        Ok(vec![])
    }
}

/// Check the text of a plan. The violations are in the order of the text.
pub fn check(text: &[u8], catalog: &dyn Catalog) -> Result<Plan, Vec<Violation>> {
    if text.len() > PLAN_BYTES_MAX {
        let message = format!("a plan has at most {PLAN_BYTES_MAX} bytes, this one has {}", text.len());
        return Err(vec![Violation { pointer: String::new(), code: rule::TOO_LARGE, message, line: 1, column: 1 }]);
    }
    let not_json = |error: &canon::CanonError| {
        let (line, column) = error.line_column(text);
        let message = format!("line {line}, column {column}: {}", error.refusal);
        Violation { pointer: String::new(), code: rule::NOT_JSON, message, line, column }
    };
    let (value, passed) = canon::parse_tolerant(text).map_err(|error| vec![not_json(&error)])?;
    let mut report = Report::default();
    let expanded = expand::expand(&value);
    rules((&value, &expanded), &[], catalog, &mut report);
    if report.is_empty() && passed.is_empty() {
        match normalize(expanded) {
            Ok(plan) => return Ok(plan),
            // The shapes say what the types say; should they ever differ, the plan is refused.
            Err(error) => report.add("", rule::WRONG_VALUE, error.to_string()),
        }
    }
    let mut violations = report.into_violations(text);
    violations.extend(passed.iter().map(not_json));
    violations.sort_by_key(|violation| (violation.line, violation.column));
    Err(violations)
}

/// Everything that can be wrong with a plan, as written and expanded, that comes with contexts of
/// these names.
fn rules((written, expanded): (&Value, &Value), contexts: &[&str], catalog: &dyn Catalog, report: &mut Report) {
    shape::plan(expanded, report);
    parameters::check(expanded.get("parameters"), catalog, report);
    let steps = View::of_plan(written, expanded);
    if steps.len() <= STEPS_MAX {
        graph::check(&steps, report);
        references::check(&steps, expanded.get("parameters"), report);
        contexts::check(&steps, contexts, report);
        operator::check(&steps, catalog, report);
        waits::check(&steps, report);
        llm::check(&steps, catalog, report);
    }
}

/// Defaults filled, sets sorted, steps in topological order and then by `step_id`.
fn normalize(value: Value) -> Result<Plan, serde_json::Error> {
    let mut plan: Plan = serde_json::from_value(value)?;
    for step in &mut plan.steps {
        let Step { depends_on, effects, policy_tags, .. } = step;
        depends_on.sort_unstable();
        effects.sort_unstable();
        policy_tags.sort_unstable();
    }
    plan.steps = graph::in_order(plan.steps);
    Ok(plan)
}
