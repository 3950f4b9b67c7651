//! Interface of a native tool.

use async_trait::async_trait;
use serde_json::Value;

use latchwork_core::model::effect::{Answer, StateChange};
use latchwork_core::model::error::{Code, Failure};
use latchwork_core::model::manifest::Manifest;

use crate::engine::{ReconcileVerdict, VerifyResult};
use crate::guest::tool_call::ToolCallContext;

/// Optional functions that a native tool has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NativeFunctions {
    /// The tool has [`NativeTool::reconcile`] and can be asked about a call in doubt.
    pub reconcile: bool,
    /// The tool has [`NativeTool::verify`] and can check a recorded change.
    pub verify: bool,
    /// The tool has [`NativeTool::compensate`] and can undo its calls.
    pub compensate: bool,
}

/// A committed call that is undone.
#[derive(Clone, Copy, Debug)]
pub struct CommittedCall<'a> {
    /// External key of the call.
    pub external_key: &'a str,
    /// Arguments of the call.
    pub args: &'a Value,
    /// Result of the call.
    pub result: &'a Value,
}

/// A tool that the embedding program implements in Rust. The tool runs in the process of the host, with the rights of
/// the process and without a sandbox. No function may block the thread.
///
/// A panic counts as a trap of a component. A call that does not end within its time limit is dropped at its next
/// `await`. In both cases, a call of an operator that changes the world is then in doubt.
///
/// If the behaviour of the tool changes, its manifest needs a new version. An open job continues only with a tool of
/// the same name and manifest, so the new version keeps open jobs away from the changed tool.
#[async_trait]
pub trait NativeTool: Send + Sync + 'static {
    /// Name of the plugin in events, messages and limits.
    fn name(&self) -> &str;

    /// Version and operators of the tool.
    fn manifest(&self) -> Manifest;

    /// Optional functions that the tool has.
    fn functions(&self) -> NativeFunctions {
        NativeFunctions::default()
    }

    /// Performs one try of a call. `args` fits the input schema of the operator. The answer says whether the call may
    /// have changed the world. A result must fit the output schema.
    async fn invoke(&self, operator: &str, args: &Value, call: &ToolCallContext) -> Answer;

    /// Asks whether the call with the external key of `call` happened. The function may only read.
    ///
    /// # Errors
    /// The question cannot be answered now. The call stays in doubt.
    async fn reconcile(
        &self,
        _operator: &str,
        _args: &Value,
        _call: &ToolCallContext,
    ) -> Result<ReconcileVerdict, Failure> {
        Ok(ReconcileVerdict::Unknown)
    }

    /// Checks a recorded change against the world. The function may only read.
    ///
    /// # Errors
    /// The change cannot be checked now.
    async fn verify(
        &self,
        _operator: &str,
        _change: &StateChange,
        _call: &ToolCallContext,
    ) -> Result<VerifyResult, Failure> {
        Err(Failure::new(Code::InvalidInput, "the tool has no verify function"))
    }

    /// Undoes a committed call. `call` is the context of the compensating call.
    async fn compensate(&self, _operator: &str, _of: CommittedCall<'_>, _call: &ToolCallContext) -> Answer {
        Answer::NotApplied(Failure::new(Code::InvalidInput, "the tool has no compensate function"))
    }
}
