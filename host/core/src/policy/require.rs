//! Requirements of a policy on the answers of external operators.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Rules;
use crate::error::{Code, Failure};
use crate::ids::Operator;
use crate::manifest::{Determinism, PinnedOperator};

/// A requirement on an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerRequirement {
    /// The answer has a non-empty list `citations` at its top level.
    Citations,
    /// The answer has `"verified": true` at its top level.
    Verified,
}

impl AnswerRequirement {
    /// All requirements.
    pub const ALL: [AnswerRequirement; 2] = [AnswerRequirement::Citations, AnswerRequirement::Verified];

    /// Returns the name of the requirement in policies.
    pub fn as_str(self) -> &'static str {
        match self {
            AnswerRequirement::Citations => "citations",
            AnswerRequirement::Verified => "verified",
        }
    }

    fn is_met(self, answer: &Value) -> bool {
        match self {
            AnswerRequirement::Citations => {
                answer.get("citations").and_then(Value::as_array).is_some_and(|citations| !citations.is_empty())
            }
            AnswerRequirement::Verified => answer.get("verified") == Some(&Value::Bool(true)),
        }
    }
}

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

/// Returns a failure if the rules have requirements on the answers of a world-changing external operator. The answer of
/// such a call could be checked only after the change, so the call is refused.
pub fn refuse_unverifiable(rules: &Rules, name: &Operator, operator: &PinnedOperator) -> Option<Failure> {
    demands(rules, name, operator)?;
    let message = format!("the policy requires more of {name} than can be checked before it changes the world");
    operator.is_world_changing().then(|| Failure::new(Code::PolicyDenied, message))
}

fn demands<'a>(rules: &'a Rules, name: &Operator, operator: &PinnedOperator) -> Option<&'a [AnswerRequirement]> {
    let is_external = operator.determinism == Determinism::External;
    rules.require.get(name).map(Vec::as_slice).filter(|demands| is_external && !demands.is_empty())
}

/// Adds the requirements of `others` to `ours`. An answer must then meet the requirements of both policies.
pub(super) fn narrow(
    ours: &mut BTreeMap<Operator, Vec<AnswerRequirement>>,
    others: &BTreeMap<Operator, Vec<AnswerRequirement>>,
) {
    for (operator, demands) in others {
        let all = ours.entry(operator.clone()).or_default();
        all.extend(demands);
        all.sort_unstable();
        all.dedup();
    }
}
