//! Plan check: turns JSON text into a [`Plan`] in normal form, or lists every violation.
//!
//! [`super::expand`] first fills the keys that the plan and its steps omit. Every rule therefore sees complete steps.
//!
//! The check consists of four layers, and each layer covers the whole plan:
//! 1. The text is unambiguous JSON.
//! 2. Every value has the correct form.
//! 3. The steps form an acyclic graph.
//! 4. Each step agrees with its operator, its template and its bindings.
//!
//! Each layer checks all readable parts, so one mistake does not hide another mistake. The check ends early only if
//! the text is too large or not JSON, or if the plan has too many steps.

mod bounds;
mod catalog;
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
mod violation;
mod waits;
pub(crate) mod whole_request;

use serde_json::Value;

use super::{Plan, PlanStep, expand};
use crate::encoding::canon;
use report::{ViolationReport, rule};
use view::StepFields;

#[cfg(test)]
pub(super) mod tests;

pub use crate::plan::timeout::parse_timeout;
pub use bounds::{PLAN_BYTES_MAX, STEPS_MAX};
pub use catalog::{Catalog, OperatorInfo};
pub use operator::uncovered;
pub(super) use report::parameter_rule;
pub use report::{CONTEXT_RULE, RULES};
pub use violation::{SchemaMismatch, Violation};

/// Checks the text of a plan. Violations are in the order of the text.
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
    let mut report = ViolationReport::default();
    let expanded = expand::expand(&value);
    rules((&value, &expanded), &[], catalog, &mut report);
    if report.is_empty() && passed.is_empty() {
        match normalize(expanded) {
            Ok(plan) => return Ok(plan),
            // The shape rules should accept exactly the values that the type [`Plan`] accepts. A value that only the
            // type refuses is reported here.
            Err(error) => report.add("", rule::WRONG_VALUE, error.to_string()),
        }
    }
    let mut violations = report.into_violations(text);
    violations.extend(passed.iter().map(not_json));
    violations.sort_by_key(|violation| (violation.line, violation.column));
    Err(violations)
}

/// Applies all rules to a plan. `written` is the submitted form of the plan, and `expanded` is the form with all
/// defaults. `contexts` has the names of the request's contexts.
fn rules(
    (written, expanded): (&Value, &Value),
    contexts: &[&str],
    catalog: &dyn Catalog,
    report: &mut ViolationReport,
) {
    shape::plan(expanded, report);
    parameters::check(expanded.get("parameters"), catalog, report);
    let steps = StepFields::of_plan(written, expanded);
    if steps.len() <= STEPS_MAX {
        graph::check(&steps, report);
        references::check(&steps, expanded.get("parameters"), report);
        contexts::check(&steps, contexts, report);
        operator::check(&steps, catalog, report);
        waits::check(&steps, report);
        llm::check(&steps, catalog, report);
    }
}

/// Returns the normal form of a plan whose defaults are already filled. Sorts `depends_on`, `effects` and `policy_tags`
/// of each step, and puts the steps in topological order. `step_id` decides the order of steps that do not depend on
/// each other.
fn normalize(value: Value) -> Result<Plan, serde_json::Error> {
    let mut plan: Plan = serde_json::from_value(value)?;
    for step in &mut plan.steps {
        let PlanStep { depends_on, effects, policy_tags, .. } = step;
        depends_on.sort_unstable();
        effects.sort_unstable();
        policy_tags.sort_unstable();
    }
    plan.steps = graph::in_order(plan.steps);
    Ok(plan)
}
