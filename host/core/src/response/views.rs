//! Data types of a response.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::event::{Consequence, KeyHolder, Resource, UnconfirmedReason};
use crate::model::error::{Code, Failure};
use crate::model::ids::{Hash, JobId, Slot, StepId};
use crate::model::job::JobState;
use crate::model::person::Assurance;
use crate::model::result_type::ResultType;
use crate::model::step::StepState;
use crate::rules::cost::CostTotals;
use crate::state::pending::RequestKind;

/// Result of a job, or its current state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Response {
    /// Status: `completed`, `partial`, `failed`, `cancelled` or `running`.
    pub status: String,
    /// Execution mode, such as `HUMAN_GATED`.
    pub mode: String,
    /// Id of the job.
    pub job_id: JobId,
    /// Label of the plan.
    pub plan_id: String,
    /// State of the job, such as `PARKED`.
    pub state: JobState,
    /// Reason why the whole job does not continue: it is parked, it diverged, or its database was restored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason_code: Option<Code>,
    /// Description of how the job was parked, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// `relaxed` if the database is configured so that a power failure may lose acknowledged writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub durability: Option<String>,
    /// Plugins whose configuration has changed since the job was accepted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<ChangedPluginView>,
    /// Outcomes for the user.
    pub outcomes: Vec<OutcomeView>,
    /// Complete output of each step, as JSON. Steps without an output are omitted.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub outputs: BTreeMap<StepId, Value>,
    /// Steps on which no other step depends. Their outputs are the result of the job.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub last_steps: Vec<StepId>,
    /// All steps.
    pub steps: Vec<StepView>,
    /// Failed steps.
    pub failed: Vec<FailedView>,
    /// Steps that wait.
    pub blocked: Vec<BlockedView>,
    /// The first entry of `blocked`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocked_on: Option<BlockedView>,
    /// Accepted requests that the job has not applied yet. The job applies them when it continues.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pending: Vec<PendingView>,
    /// Actor that cancelled the job. Set only while the cancellation is in progress.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancelled_by: Option<String>,
    /// Actor that requested to undo the finished job. Set while the effects are being undone and afterwards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undone_by: Option<String>,
    /// State of the compensation of each call that took effect, in the order of undoing. Empty if the job does not undo
    /// its effects.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub compensations: Vec<CompensationView>,
    /// Commands to run next.
    pub next_actions: Vec<String>,
    /// Recorded changes that a check could not confirm. Either the change differs from its record, or the check gave no
    /// result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unconfirmed: Vec<UnconfirmedView>,
    /// Calls for which later evidence contradicts a person's verdict.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contradicted: Vec<Slot>,
    /// Number of mismatches between an effect and its record that did not stop the job, because the plugin's
    /// confirmation policy is `warn`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub confirmation_replay_warnings_total: u32,
    /// First difference found by replay, if the job diverged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub divergence: Option<crate::model::divergence::Divergence>,
    /// Cost of the job's calls: charges for answers, and fuel and time of every try.
    pub cost: CostTotals,
}

impl Response {
    /// Marks this response as read from a restored or cloned database. The response may be out of date. Nothing is
    /// executed until an administrator accepts the database.
    #[must_use]
    pub fn with_restored_database(self) -> Response {
        let next_actions = vec!["latch doctor --accept-restore".to_owned()];
        Response { reason_code: Some(Code::Restored), next_actions, ..self }
    }
}

/// An outcome for the user.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutcomeView {
    /// Type of the outcome, such as `Draft.Email`.
    #[serde(rename = "type")]
    pub outcome_type: String,
    /// Id of the outcome.
    pub outcome_id: String,
    /// Status: `draft` or `final`.
    pub status: String,
    /// Step that produced the outcome.
    pub step_id: StepId,
    /// Beginning of the outcome's JSON text.
    pub preview: String,
}

/// View of one step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepView {
    /// Id of the step.
    pub step_id: StepId,
    /// Operator of the step.
    pub operator: String,
    /// State of the step.
    pub state: StepState,
    /// Effect of the step on the world (§7).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_type: Option<ResultType>,
    /// Reason why the step failed, was skipped or waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason_code: Option<Code>,
    /// True if a model answered a call of the step. Another run may then give another result.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub nondeterministic: bool,
    /// Call that a dry run did not make, with its exact arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub would_call: Option<WouldCallView>,
    /// Notes about answers with an unusual provenance and about answers of models.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A step that failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FailedView {
    /// Id of the step.
    pub step_id: StepId,
    /// Error code.
    pub reason_code: Code,
    /// Error message for people.
    pub message: String,
}

/// A step that waits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BlockedView {
    /// Id of the step.
    pub step_id: StepId,
    /// Slot of the call for which the step waits.
    pub slot: Slot,
    /// Reason for waiting.
    pub reason_code: Code,
    /// Id of the gate to decide.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate_id: Option<String>,
    /// Hash of the exact call that an approval covers, for `latch job approve --hash`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate_hash: Option<Hash>,
    /// Time until which the step waits if no request arrives, microseconds since 1970 UTC. This is the end of a wait
    /// step, the expiry of a gate, or the time of the next try.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<i64>,
    /// Call that holds the action key for which the step waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<KeyHolder>,
    /// Key that the signal must carry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation_key: Option<String>,
    /// Number of different approvers that the gate needs. `None` if the gate needs only one approver.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quorum: Option<u32>,
    /// Actors that have approved so far.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approved_by: Vec<String>,
    /// Actors among `approved_by` whose names are verified by a signature.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signed_by: Vec<String>,
    /// Minimum assurance of an approval that counts. Omitted if a claimed name is enough.
    #[serde(default, skip_serializing_if = "Assurance::is_claimed")]
    pub approvals: Assurance,
    /// The call for which the step waits, with the data needed to find the call in the external system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<CallView>,
}

/// A request to the job that is acknowledged but not applied yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingView {
    /// Id of the inbox row, as printed by the command that made the request.
    pub inbox_id: i64,
    /// Kind of the request.
    pub asked: RequestKind,
    /// Slot of the call that the request concerns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slot: Option<Slot>,
    /// Key of a signal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation_key: Option<String>,
    /// Actor that made the request.
    pub by: String,
    /// Reason given with the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A call that needs a person's decision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallView {
    /// Operator that is called.
    pub operator: String,
    /// Exact arguments of the call.
    pub args: Value,
    /// Key sent to the external system, once a try has started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_key: Option<String>,
    /// For a call in doubt: the reason why its answer could not be used, if an answer arrived.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
}

/// Returns code and message of a failure in one line, without a stack trace.
pub fn one_line(failure: &Failure) -> String {
    format!("{}: {}", failure.code, failure.message.lines().next().unwrap_or_default())
}

/// A recorded change that was not confirmed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnconfirmedView {
    /// Slot of the call that made the change.
    pub slot: Slot,
    /// The resource that changed.
    #[serde(flatten)]
    pub resource: Resource,
    /// Result of the check: a mismatch, or no result.
    pub outcome: UnconfirmedReason,
    /// The state found instead, or the reason why the check gave no result.
    pub found: String,
    /// Consequence for the job.
    pub consequence: Consequence,
    /// Origin of the settlement: the actor that accepted the current state of the resource, or a later check that found
    /// the recorded state. `None` while the change is unsettled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled_by: Option<String>,
    /// True if a person found that the effect no longer exists.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gone: bool,
}

/// A call that took effect, in a job that undoes its effects.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CompensationView {
    /// Slot of the call.
    pub slot: Slot,
    /// Operator that was called.
    pub operator: String,
    /// Operator and slot of the compensating call, or `None` if no operator can undo the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<CompensatedBy>,
    /// State of the compensation.
    pub state: CompensationState,
    /// Reason why the call is not undone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason_code: Option<Code>,
}

/// A compensating call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CompensatedBy {
    /// Operator of the compensating call.
    pub operator: String,
    /// Slot of the compensating call.
    pub slot: Slot,
    /// True if the call's own plugin undoes it through its `compensate` export.
    pub own: bool,
}

/// State of the compensation of one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompensationState {
    /// Other calls are undone first.
    Waiting,
    /// The compensating call is in flight.
    UnderWay,
    /// The call is undone.
    Compensated,
    /// The call could not be undone, and a person must decide.
    Failed,
    /// The call was not undone, and a person decided to leave its effect.
    Left,
    /// No operator can undo the call.
    Impossible,
    /// The outcome of the call is lost, so it is unknown whether there is an effect to undo.
    Unknown,
}

/// A call that a dry run did not make.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WouldCallView {
    /// Slot that the call would have had.
    pub slot: Slot,
    /// Operator that would have been called.
    pub operator: String,
    /// Arguments of the call. Bindings to outputs that do not exist are left unresolved.
    pub args: Value,
    /// JSON pointers to the bindings in `args` that are left unresolved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<String>,
}

fn is_zero(n: &u32) -> bool {
    *n == 0
}

/// A plugin whose configuration has changed since the job was accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedPluginView {
    /// Name of the plugin in `latch.toml`.
    pub plugin: String,
    /// The setting that changed.
    pub setting: PluginSetting,
    /// Pinned value, if it is short enough to show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinned: Option<String>,
    /// Value configured now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub configured: Option<String>,
}

/// A setting of a plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PluginSetting {
    /// The entry of the plugin in `latch.toml`. It counts as changed if the plugin is no longer configured.
    Plugin,
    /// The component of the plugin.
    Component,
    /// A limit of the plugin.
    Limits,
    /// The WASI mode of the plugin.
    Wasi,
    /// One of several settings: the plugin's grants, its `config` table, or limits that were removed from the
    /// configuration. The job pins only a hash over all these settings, so the changed setting cannot be named.
    Grants,
}
