//! What a fork takes over from the job it comes from, and what a dry run would have done.

use serde::{Deserialize, Serialize};

use super::{PayloadRef, ResultType};
use crate::ids::{Hash, JobId, Operator, Slot, StepId};
use crate::manifest::Pinned;

/// A step that a fork did not execute: what the job did that executed it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Copied {
    /// The step.
    pub step_id: StepId,
    /// Its resolved input.
    pub input: PayloadRef,
    /// When it first started: the origin of its clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_us: Option<i64>,
    /// Its output.
    pub output: PayloadRef,
    /// Whether the output is one that was given with the fork, in place of the step's own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_set: bool,
    /// What it meant for the world.
    pub result_type: ResultType,
    /// Who executed it, and with what code.
    pub maker: Box<Maker>,
    /// Its calls, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<CopiedCall>,
    /// What it announced: name, calls made before, payload.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub emits: Vec<(String, u32, PayloadRef)>,
    /// The outcome it produced: id, type, status, sensitivity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<(String, String, String, Option<String>)>,
}

/// Who executed a copied step: what a replay of it needs to know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Maker {
    /// The job: the origin, or the one that the origin itself was forked from.
    pub job_id: JobId,
    /// Who had asked for it.
    pub actor_id: String,
    /// Its name for the whole request across systems.
    pub correlation_id: String,
    /// What it had pinned of the step's operator, where the step has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinned: Option<Pinned>,
}

/// A call of a copied step plugin: it is answered, and never executed here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopiedCall {
    /// Where it stands.
    pub slot: Slot,
    /// What was called.
    pub operator: Operator,
    /// With what, where the arguments were kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<PayloadRef>,
    /// The action key it was asked under.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action_key: Option<Hash>,
    /// When its answer was recorded: what the step's clock moved to.
    pub time_us: i64,
    /// The recorded answer.
    pub answer: PayloadRef,
}

/// A call that a dry run did not make.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WouldCall {
    /// Where it would have stood.
    pub slot: Slot,
    /// What would have been called.
    pub operator: Operator,
    /// With what.
    pub args: PayloadRef,
}
