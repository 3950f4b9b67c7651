//! Requirements of a policy on the answers of operators.
//!
//! A requirement applies to every operator that the policy names. The manifest of a plugin never decides whether a
//! requirement applies.

use serde_json::Value;

use crate::model::answer_requirement::AnswerRequirement;
use crate::model::error::{Code, Failure};
use crate::model::ids::Operator;
use crate::model::manifest::PinnedOperator;
use crate::model::rules::Rules;

/// Returns a failure if an answer of the operator does not meet the requirements of the rules.
pub fn refuse_unmet(rules: &Rules, name: &Operator, answer: &[u8]) -> Option<Failure> {
    let demands = demands(rules, name)?;
    let answer: Value = serde_json::from_slice(answer).unwrap_or(Value::Null);
    let lacking: Vec<&str> = demands.iter().filter(|demand| !demand.is_met(&answer)).map(|d| d.as_str()).collect();
    let words = lacking.join(" and ");
    (!lacking.is_empty()).then(|| {
        Failure::new(Code::PolicyDenied, format!("the policy requires {words} of {name}, and they are missing"))
    })
}

/// Returns true if some policy could refuse this answer. An answer that has every field that a policy can require is
/// never refused.
pub fn may_be_refused(answer: &[u8]) -> bool {
    let answer: Value = serde_json::from_slice(answer).unwrap_or(Value::Null);
    AnswerRequirement::ALL.iter().any(|demand| !demand.is_met(&answer))
}

/// Returns a failure if the rules have requirements on the answers of a world-changing operator. The call is then
/// refused, because its answer could be checked only after the call has changed the world.
pub fn refuse_unverifiable(rules: &Rules, name: &Operator, operator: &PinnedOperator) -> Option<Failure> {
    demands(rules, name)?;
    let message = format!("the policy requires more of {name} than can be checked before it changes the world");
    operator.is_world_changing().then(|| Failure::new(Code::PolicyDenied, message))
}

fn demands<'a>(rules: &'a Rules, name: &Operator) -> Option<&'a [AnswerRequirement]> {
    rules.require.get(name).map(Vec::as_slice).filter(|demands| !demands.is_empty())
}
