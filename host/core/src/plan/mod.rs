//! Plans: the DAG of steps one job executes, as data.
//!
//! [`check`] turns JSON text into a [`Plan`] in normal form, or lists every violation by JSON
//! pointer. Everything behind it works on plans that hold.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ids::{Hash, Operator, StepId};
use crate::manifest::Effect;

mod check;
mod expand;
mod parameters;
mod request;
mod schema;

pub use check::{
    CONTEXT_RULE, Catalog, Misfit, OperatorInfo, PLAN_BYTES_MAX, RULES, STEPS_MAX, Violation, check, parse_timeout,
    uncovered,
};
pub use parameters::{INTENT, Refused, VALUES_BYTES_MAX, admits, declared, intent_payload};
pub use request::{Intent, Request, check_request};
pub use schema::SCHEMA;

/// A plan in normal form: defaults filled, steps in topological order then by `step_id`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// A label; the hash of the normal form is the identity.
    pub plan_id: String,
    /// `"1.0"`.
    pub schema_version: String,
    /// The intent it was made for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent_id: Option<String>,
    /// What happens to committed effects when the job fails.
    #[serde(default)]
    pub on_failure: OnFailure,
    /// JSON Schema of the values that each request gives: see [`Plan::values`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Value>,
    /// The steps.
    pub steps: Vec<Step>,
}

/// One node of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Stable name within the plan.
    pub step_id: StepId,
    /// What kind of node it is.
    pub kind: Kind,
    /// The operator.
    pub name: Operator,
    /// Input, with bindings still in place.
    pub payload: Value,
    /// Steps that must be over before it starts, sorted.
    #[serde(default)]
    pub depends_on: Vec<StepId>,
    /// What it may do to the world, sorted.
    pub effects: Vec<Effect>,
    /// Words that policies speak of, sorted.
    pub policy_tags: Vec<String>,
    /// Whether a person has to approve.
    #[serde(default)]
    pub gate: Gate,
    /// When an earlier result may stand in.
    pub cache_policy: CachePolicy,
    /// Action key of world-changing steps, cache key of others. Without one a world-changing step
    /// has no action key, and no earlier result stands in for the step.
    pub idempotency_template: Option<String>,
    /// Named inputs of the template.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub hashes: BTreeMap<String, Value>,
    /// The outcome it produces; overrides the operator's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<OutcomeSpec>,
    /// Whether facts in it age.
    #[serde(default, skip_serializing_if = "is_false")]
    pub time_sensitive: bool,
    /// Allowed plugin versions for reuse.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reuse: Option<ReuseSpec>,
    /// Retry overrides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<RetrySpec>,
    /// Time one try may take: `"30s"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<String>,
    /// The operator that undoes it, or `"self"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compensate_with: Option<String>,
}

/// Kinds of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A step plugin or a tool.
    Operator,
    /// It waits for a signal, a person or a time ([`crate::wait`]); its name is a label.
    Wait,
    /// A model, asked through the tool that serves it.
    Llm,
}

/// Whether a person has to approve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    /// No gate of the plan's own.
    #[default]
    None,
    /// Somebody approves the exact arguments.
    HumanConfirm,
}

/// When an earlier result may stand in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CachePolicy {
    /// Never.
    Never,
    /// When the rules of safe reuse hold.
    UseIfSafe,
    /// For so long.
    #[serde(untagged)]
    Ttl {
        /// Seconds after the result was made.
        ttl_seconds: u32,
    },
}

/// What happens to committed effects when the job fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnFailure {
    /// They stay.
    #[default]
    Keep,
    /// They are undone in reverse order.
    Compensate,
}

/// Type and standing of an outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutcomeSpec {
    /// `Draft.Email`.
    #[serde(rename = "type")]
    pub outcome_type: String,
    /// `draft` or `final`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// Who may see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sensitivity: Option<String>,
}

/// Allowed plugin versions for reuse.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReuseSpec {
    /// A range: `">=1.2"`.
    pub plugin: String,
}

/// Retry overrides of a step; they never make a final code retryable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetrySpec {
    /// Retries after the first try, whatever the code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<u32>,
    /// First backoff in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_ms: Option<u32>,
    /// Longest backoff in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cap_ms: Option<u32>,
}

/// The context that an entry of `hashes` names: `{"$context": "cv"}`.
pub fn context_name(value: &Value) -> Option<&str> {
    let fields = value.as_object().filter(|fields| fields.len() == 1)?;
    fields.get("$context")?.as_str()
}

fn is_false(value: &bool) -> bool {
    !*value
}

impl Step {
    /// Milliseconds that one try may take, where the plan says so.
    pub fn timeout_ms(&self) -> Option<u32> {
        self.timeout.as_deref().and_then(parse_timeout)
    }
}

impl Plan {
    /// The normal form as canonical JSON.
    pub fn to_canonical(&self) -> Vec<u8> {
        let value = serde_json::to_value(self).expect("a plan is plain data");
        crate::canon::value_to_canonical(&value)
    }
    /// SHA-256 of the normal form: the plan's identity.
    pub fn hash(&self) -> Hash {
        Hash::of(&[&self.to_canonical()])
    }
    /// The step named `id`.
    pub fn step(&self, id: &StepId) -> Option<&Step> {
        self.steps.iter().find(|step| step.step_id == *id)
    }
}
