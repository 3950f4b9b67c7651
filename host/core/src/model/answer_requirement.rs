//! Requirement of a policy on the answers of operators.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::ids::Operator;

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

    pub(crate) fn is_met(self, answer: &Value) -> bool {
        match self {
            AnswerRequirement::Citations => {
                answer.get("citations").and_then(Value::as_array).is_some_and(|citations| !citations.is_empty())
            }
            AnswerRequirement::Verified => answer.get("verified") == Some(&Value::Bool(true)),
        }
    }
}

/// Adds the requirements of `others` to `ours`, so that an answer must meet the requirements of both policies.
pub(crate) fn narrow(
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
