//! Plans in normal form: data only.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::ids::{Hash, Operator, StepId};
use crate::model::manifest::EffectKind;
use crate::model::retry::RetrySpec;
use crate::plan::check::parse_timeout;

/// A plan in normal form. Defaults are filled, and steps are in topological order. If several steps could come next,
/// the step with the smallest `step_id` comes first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Label of the plan. The plan's identity is the hash of its normal form.
    pub plan_id: String,
    /// Version of the plan format: `"1.0"`.
    pub schema_version: String,
    /// Id of the intent for which the plan was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent_id: Option<String>,
    /// Treatment of committed effects when the job fails.
    #[serde(default)]
    pub on_failure: OnFailure,
    /// JSON Schema of the values that each request gives. See [`Plan::values`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Value>,
    /// The steps.
    pub steps: Vec<PlanStep>,
}

impl Plan {
    /// Returns the normal form as canonical JSON.
    pub fn to_canonical(&self) -> Vec<u8> {
        let value = serde_json::to_value(self).expect("a plan is plain data");
        crate::encoding::canon::value_to_canonical(&value)
    }
    /// Returns the SHA-256 of the normal form, which is the plan's identity.
    pub fn hash(&self) -> Hash {
        Hash::of(&[&self.to_canonical()])
    }
    /// Returns the step named `id`.
    pub fn step(&self, id: &StepId) -> Option<&PlanStep> {
        self.steps.iter().find(|step| step.step_id == *id)
    }
}

/// One step of a plan, which is a node of the plan's graph.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlanStep {
    /// Name of the step, unique within the plan.
    pub step_id: StepId,
    /// Kind of the step.
    pub kind: StepKind,
    /// Name of the operator. For a wait step, the name is only a label.
    pub name: Operator,
    /// Input of the step, with unresolved bindings.
    pub payload: Value,
    /// Steps that must end before this step starts, sorted.
    #[serde(default)]
    pub depends_on: Vec<StepId>,
    /// Declared effects of the step, sorted.
    pub effects: Vec<EffectKind>,
    /// Tags to which policies refer, sorted.
    pub policy_tags: Vec<String>,
    /// Approval that the step needs.
    #[serde(default)]
    pub gate: PlanGate,
    /// Condition under which an earlier result may replace the execution.
    pub cache_policy: CachePolicy,
    /// Template of the step's key. For a world-changing step, this key is the action key. For any other step, this
    /// key finds an earlier result to reuse.
    ///
    /// A world-changing step without a template has no action key. Any other step without a template never reuses an
    /// earlier result.
    pub idempotency_template: Option<String>,
    /// Additional named values that the template may use.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub hashes: BTreeMap<String, Value>,
    /// Outcome that the step produces. It overrides the operator's own outcome.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<OutcomeSpec>,
    /// True if facts in the step's result can become outdated.
    #[serde(default, skip_serializing_if = "is_false")]
    pub time_sensitive: bool,
    /// Plugin versions whose results may be reused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reuse: Option<ReuseSpec>,
    /// Retry settings that override the defaults.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<RetrySpec>,
    /// Maximum time of one try, such as `"30s"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<String>,
    /// Operator that undoes the step, or `"self"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compensate_with: Option<String>,
}

impl PlanStep {
    /// Returns the maximum time of one try in milliseconds, if the plan sets one.
    pub fn timeout_ms(&self) -> Option<u32> {
        self.timeout.as_deref().and_then(parse_timeout)
    }
}

/// Kind of a step in a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepKind {
    /// An operation of a step plugin or a tool plugin.
    Operator,
    /// A wait for a signal, a person or a time ([`crate::plan::wait`]). The step's name is only a label.
    Wait,
    /// A call to a model, made through the tool that serves the model.
    Llm,
}

/// Approval that a step needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanGate {
    /// The plan itself requires no gate.
    #[default]
    None,
    /// A person must approve the exact arguments.
    HumanConfirm,
}

/// Condition under which an earlier result may replace the execution of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CachePolicy {
    /// An earlier result is never used.
    Never,
    /// An earlier result is used if the rules of safe reuse hold.
    UseIfSafe,
    /// An earlier result is used for a limited time.
    #[serde(untagged)]
    Ttl {
        /// Maximum age of the result, in seconds.
        ttl_seconds: u32,
    },
}

/// Treatment of committed effects when a job fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnFailure {
    /// Committed effects are kept.
    #[default]
    Keep,
    /// Effects are undone in reverse order.
    Compensate,
}

/// Type and status of an outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutcomeSpec {
    /// Type of the outcome, such as `Draft.Email`.
    #[serde(rename = "type")]
    pub outcome_type: String,
    /// Status of the outcome: `draft` or `final`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// Label that limits the readers of the outcome.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sensitivity: Option<String>,
}

/// Plugin versions whose results may be reused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReuseSpec {
    /// Range of versions, such as `">=1.2"`.
    pub plugin: String,
}

/// Returns the name of the context to which an entry of `hashes` refers: `cv` for the entry `{"$context": "cv"}`.
pub fn context_name(value: &Value) -> Option<&str> {
    let fields = value.as_object().filter(|fields| fields.len() == 1)?;
    fields.get("$context")?.as_str()
}

pub(crate) fn is_false(value: &bool) -> bool {
    !*value
}
