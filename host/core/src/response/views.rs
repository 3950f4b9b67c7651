//! What a response consists of.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::cost::Totals;
use crate::error::{Code, Failure};
use crate::event::{Consequence, Holder, Resource, ResultType, Unconfirmed};
use crate::ids::{Hash, JobId, Slot, StepId};
use crate::job::JobState;
use crate::pending::Asked;
use crate::step::StepState;

/// What a job came to, or where it stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Response {
    /// `completed`, `partial`, `failed`, `cancelled`, `running`.
    pub status: String,
    /// `HUMAN_GATED`
    pub mode: String,
    /// The job.
    pub job_id: JobId,
    /// Label of its plan.
    pub plan_id: String,
    /// Where it stands: `PARKED`.
    pub state: JobState,
    /// Why the job as a whole goes no further: parked or diverged, or its database was restored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason_code: Option<Code>,
    /// What is known of how it came to that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// `relaxed` where the configuration lets a power failure undo what was acknowledged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub durability: Option<String>,
    /// Plugins that are configured otherwise now than when the job was accepted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<ChangedView>,
    /// Values for the user.
    pub outcomes: Vec<OutcomeView>,
    /// What each step returned, whole: JSON values. Steps without an output are not in it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub outputs: BTreeMap<StepId, Value>,
    /// The steps that no other step depends on: their outputs are the result of the job.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub last_steps: Vec<StepId>,
    /// Every step.
    pub steps: Vec<StepView>,
    /// Steps that failed.
    pub failed: Vec<FailedView>,
    /// Steps that wait for somebody or something.
    pub blocked: Vec<BlockedView>,
    /// The first of `blocked`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocked_on: Option<BlockedView>,
    /// What was asked of the job and is not taken in yet: it is when the job goes on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pending: Vec<PendingView>,
    /// Who cancelled the job, while that is not over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancelled_by: Option<String>,
    /// Who asked to undo what the finished job did: while that goes on, and after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undone_by: Option<String>,
    /// What became of each call that took effect, where the job undoes what it did: the last one first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub compensations: Vec<CompensationView>,
    /// Commands to type.
    pub next_actions: Vec<String>,
    /// What earlier calls changed and is not as it was recorded, or nobody could tell.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unconfirmed: Vec<UnconfirmedView>,
    /// Calls of which something else was learned than what somebody had decided.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contradicted: Vec<Slot>,
    /// How often such a change was found and the job went on.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub confirmation_replay_warnings_total: u32,
    /// How the job diverged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub divergence: Option<crate::replay::Divergence>,
    /// What its calls cost: charges of answers; fuel and time of every try.
    pub cost: Totals,
}

impl Response {
    /// The same, where the database is not the one that was used last: what is shown may be of
    /// the past, and nothing is executed until a person has looked.
    #[must_use]
    pub fn of_restored(self) -> Response {
        let next_actions = vec!["latch doctor --accept-restore".to_owned()];
        Response { reason_code: Some(Code::Restored), next_actions, ..self }
    }
}

/// A value for the user.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutcomeView {
    /// `Draft.Email`
    #[serde(rename = "type")]
    pub outcome_type: String,
    /// Its id.
    pub outcome_id: String,
    /// `draft` or `final`.
    pub status: String,
    /// The step that made it.
    pub step_id: StepId,
    /// Its beginning: JSON text, cut.
    pub preview: String,
}

/// One step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepView {
    /// The step.
    pub step_id: StepId,
    /// Its operator.
    pub operator: String,
    /// Where it stands.
    pub state: StepState,
    /// What it meant for the world.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_type: Option<ResultType>,
    /// Why it is not further.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason_code: Option<Code>,
    /// Whether a model had a part in it: another run may come to something else.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub nondeterministic: bool,
    /// What a dry run would have done here, with the exact arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub would_call: Option<WouldCallView>,
    /// Calls of the step that are not simply executed and committed, or that a model answered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A step that failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FailedView {
    /// The step.
    pub step_id: StepId,
    /// Why.
    pub reason_code: Code,
    /// Why, for a person.
    pub message: String,
}

/// A step that waits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BlockedView {
    /// The step.
    pub step_id: StepId,
    /// The invocation it waits for.
    pub slot: Slot,
    /// Why.
    pub reason_code: Code,
    /// The gate to decide.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate_id: Option<String>,
    /// What an approval of it is bound to: `latch job approve --hash`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate_hash: Option<Hash>,
    /// When it goes on, expires or times out by itself, microseconds since 1970 UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<i64>,
    /// Who performs the action it waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<Holder>,
    /// The key that the signal must carry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation_key: Option<String>,
    /// How many different approvers the gate takes, where one is not enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quorum: Option<u32>,
    /// Who has approved so far.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approved_by: Vec<String>,
    /// The invocation itself, where one is waited for: what to look for in the outside system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<CallView>,
}

/// What somebody asked of the job, acknowledged and not taken in yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingView {
    /// Its number in the inbox, as the command that asked said it.
    pub inbox_id: i64,
    /// What was asked.
    pub asked: Asked,
    /// About which invocation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slot: Option<Slot>,
    /// The key of a signal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation_key: Option<String>,
    /// Who asked.
    pub by: String,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// An invocation that somebody has to decide about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallView {
    /// What is called.
    pub operator: String,
    /// With what, exactly.
    pub args: Value,
    /// The key the outside system was given, once a try has started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_key: Option<String>,
    /// Of a call in doubt: why its answer could not be used, where one came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
}

/// Code and message of a failure in one line, without a stack.
pub fn in_short(failure: &Failure) -> String {
    format!("{}: {}", failure.code, failure.message.lines().next().unwrap_or_default())
}

/// A recorded change that was not confirmed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnconfirmedView {
    /// The call that made it.
    pub slot: Slot,
    /// The thing that changed.
    #[serde(flatten)]
    pub resource: Resource,
    /// Whether it is otherwise, or nobody could tell.
    pub outcome: Unconfirmed,
    /// What was found instead, or why nobody could tell.
    pub found: String,
    /// What followed.
    pub consequence: Consequence,
    /// Who took it as it is, or found it as recorded again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled_by: Option<String>,
    /// Whether that person said that it is gone for good.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gone: bool,
}

/// A call that took effect, in a job that undoes what it did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CompensationView {
    /// The call.
    pub slot: Slot,
    /// What was called.
    pub operator: String,
    /// What undoes it, and the slot of that; none where nothing can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<CompensatedBy>,
    /// How far that is.
    pub state: Undone,
    /// Why it is not undone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason_code: Option<Code>,
}

/// What undoes a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CompensatedBy {
    /// The operator.
    pub operator: String,
    /// Its slot.
    pub slot: Slot,
    /// Whether the call's own plugin does it, by its `compensate` export.
    pub own: bool,
}

/// How far the undoing of a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Undone {
    /// Its turn has not come.
    Waiting,
    /// It is its turn.
    UnderWay,
    /// It is undone.
    Compensated,
    /// It could not be undone, and somebody has to decide.
    Failed,
    /// It was not undone, and stays so.
    Left,
    /// Nothing can undo it.
    Impossible,
    /// Nobody knows whether there is anything to undo.
    Unknown,
}

/// A call that a dry run left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WouldCallView {
    /// Where it would have stood.
    pub slot: Slot,
    /// What would have been called.
    pub operator: String,
    /// With what; bindings to what was not made are still in it.
    pub args: Value,
    /// Those bindings: JSON pointers into the arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<String>,
}

fn is_zero(n: &u32) -> bool {
    *n == 0
}

/// A plugin that is configured otherwise now than when the job was accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedView {
    /// Its name in `latch.toml`.
    pub plugin: String,
    /// What is another.
    pub setting: Setting,
    /// What the job pinned, where that can be said in a word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinned: Option<String>,
    /// What is configured now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub configured: Option<String>,
}

/// What of a plugin was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Setting {
    /// It is not configured any more.
    Plugin,
    /// Its component.
    Component,
    /// One of its limits.
    Limits,
    /// What of WASI it is given.
    Wasi,
    /// Its grants, its `config` table, or limits that were taken away.
    Grants,
}
