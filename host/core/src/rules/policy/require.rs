//! Requirements of a policy on the answers of external operators.

use serde_json::Value;

use crate::model::answer_requirement::AnswerRequirement;
use crate::model::error::{Code, Failure};
use crate::model::ids::Operator;
use crate::model::manifest::{Determinism, PinnedOperator};
use crate::model::rules::Rules;

/// Returns a failure if the answer of an external operator does not meet the requirements of the rules.
pub fn refuse_unmet(rules: &Rules, name: &Operator, operator: &PinnedOperator, answer: &str) -> Option<Failure> {
    let demands = demands(rules, name, operator)?;
    let answer: Value = serde_json::from_str(answer).unwrap_or(Value::Null);
    let lacking: Vec<&str> = demands.iter().filter(|demand| !demand.is_met(&answer)).map(|d| d.as_str()).collect();
    let words = lacking.join(" and ");
    (!lacking.is_empty()).then(|| {
        Failure::new(Code::PolicyDenied, format!("the policy requires {words} of {name}, and they are missing"))
    })
}

/// Returns a failure if the rules have requirements on the answers of a world-changing external operator. The call is
/// then refused, because its answer could be checked only after the call has changed the world.
pub fn refuse_unverifiable(rules: &Rules, name: &Operator, operator: &PinnedOperator) -> Option<Failure> {
    demands(rules, name, operator)?;
    let message = format!("the policy requires more of {name} than can be checked before it changes the world");
    operator.is_world_changing().then(|| Failure::new(Code::PolicyDenied, message))
}

fn demands<'a>(rules: &'a Rules, name: &Operator, operator: &PinnedOperator) -> Option<&'a [AnswerRequirement]> {
    let is_external = operator.determinism == Determinism::External;
    rules.require.get(name).map(Vec::as_slice).filter(|demands| is_external && !demands.is_empty())
}
