//! Steps that a fork copies from another job, and calls that a dry run did not make.

use serde::{Deserialize, Serialize};

use crate::model::ids::{Hash, JobId, Operator, Slot, StepId};
use crate::model::manifest::PinnedOperator;
use crate::model::payload::PayloadRef;
use crate::model::result_type::ResultType;

/// A step that a fork did not execute, with the record of its original execution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CopiedStep {
    /// Id of the step.
    pub step_id: StepId,
    /// Resolved input of the step.
    pub input: PayloadRef,
    /// Time at which the original step first started, microseconds since 1970 UTC. The step's clock begins at
    /// this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_us: Option<i64>,
    /// Output of the step.
    pub output: PayloadRef,
    /// True if the fork request replaced the recorded output of the step.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_set: bool,
    /// Effect of the step on the world (§7).
    pub result_type: ResultType,
    /// Job and plugin that executed the step.
    pub maker: Box<OriginalExecution>,
    /// Calls of the step, in call order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<CopiedCall>,
    /// Events that the step emitted. Each entry has the name of the event, the number of calls that the step
    /// had made before the event, and the payload.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub emits: Vec<(String, u32, PayloadRef)>,
    /// Outcome of the step: id, type, status, sensitivity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<(String, String, String, Option<String>)>,
}

/// Original execution of a copied step, with everything that its replay needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OriginalExecution {
    /// Job that executed the step. It is the origin of the fork, or an earlier job if the origin is itself a fork and
    /// copied the step.
    pub job_id: JobId,
    /// Actor that submitted the executing job.
    pub actor_id: String,
    /// Correlation id of the executing job.
    pub correlation_id: String,
    /// Data of the plugin that was pinned for the step's operator in the executing job. `None` if the step has no
    /// operator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinned: Option<PinnedOperator>,
}

/// A call that a copied step plugin made. The fork uses the recorded answer and never executes the call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopiedCall {
    /// Slot of the call.
    pub slot: Slot,
    /// Operator that was called.
    pub operator: Operator,
    /// Arguments of the call, if they were stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<PayloadRef>,
    /// Action key of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action_key: Option<Hash>,
    /// Time at which the answer was recorded, microseconds since 1970 UTC. The step's clock moves to this time.
    pub time_us: i64,
    /// The recorded answer.
    pub answer: PayloadRef,
}

/// A call that a dry run did not make.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WouldCall {
    /// Slot that the call would have had.
    pub slot: Slot,
    /// Operator that would have been called.
    pub operator: Operator,
    /// Arguments of the call.
    pub args: PayloadRef,
}
