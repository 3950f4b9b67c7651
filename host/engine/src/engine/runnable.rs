//! Interface through which the worker and replay run a plugin for a job. [`Plugin`] is the real implementation.
//! The simulation of workers uses other implementations.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;

use latchwork_core::model::effect::StateChange;
use latchwork_core::model::error::Failure;
use latchwork_core::model::ids::Hash;
use latchwork_core::model::manifest::{Limits, WasiMode};

use crate::engine::plugin::Plugin;
use crate::engine::step_end::StepEnd;
use crate::engine::tool::{ReconcileVerdict, ToolEnd, VerifyResult};
use crate::guest::step_calls::StepCalls;
use crate::guest::tool_call::ToolCallContext;

/// Code of the plugin version that a job pinned. Each function corresponds to the function of the same name in
/// [`Plugin`].
#[async_trait]
pub trait Runnable: Send + Sync {
    /// Checks a value against the operator's input schema.
    fn check_input(&self, operator: &str, value: &Value) -> Result<(), Failure>;
    /// Checks a value against the operator's output schema.
    fn check_output(&self, operator: &str, value: &Value) -> Result<(), Failure>;
    /// Runs a step once.
    async fn run_step(&self, operator: &str, input: &str, limits: &Limits, calls: Box<dyn StepCalls>) -> StepEnd;
    /// Calls a tool once.
    async fn invoke(&self, operator: &str, args: &str, call: ToolCallContext, limits: &Limits) -> ToolEnd;
    /// Asks the tool whether a call happened.
    async fn reconcile(
        &self,
        operator: &str,
        args: &str,
        call: ToolCallContext,
        limits: &Limits,
    ) -> Result<ReconcileVerdict, Failure>;
    /// Checks a recorded change against the world.
    async fn verify(
        &self,
        operator: &str,
        change: &StateChange,
        call: ToolCallContext,
        limits: &Limits,
    ) -> Result<VerifyResult, Failure>;
    /// Undoes the committed call with this external key, these arguments and this result.
    async fn compensate(
        &self,
        operator: &str,
        of: (&str, &str, &str),
        call: ToolCallContext,
        limits: &Limits,
    ) -> ToolEnd;
    /// Returns the loaded plugin, or `None` in a simulation. Validators and verifiers of the host need the
    /// plugin.
    fn as_plugin(&self) -> Option<&Plugin>;
}

/// Source of the code that a job pinned.
pub trait PinnedComponents: Send + Sync {
    /// Returns the code with this digest, linked with the WASI mode that the job pinned.
    ///
    /// # Errors
    /// The reason why the code is missing or refused.
    fn by_digest(&self, digest: Hash, wasi: WasiMode) -> Result<Arc<dyn Runnable>, String>;
}

#[async_trait]
impl Runnable for Plugin {
    fn check_input(&self, operator: &str, value: &Value) -> Result<(), Failure> {
        Plugin::check_input(self, operator, value)
    }

    fn check_output(&self, operator: &str, value: &Value) -> Result<(), Failure> {
        Plugin::check_output(self, operator, value)
    }

    async fn run_step(&self, operator: &str, input: &str, limits: &Limits, calls: Box<dyn StepCalls>) -> StepEnd {
        Plugin::run_step(self, operator, input, limits, calls).await
    }

    async fn invoke(&self, operator: &str, args: &str, call: ToolCallContext, limits: &Limits) -> ToolEnd {
        Plugin::invoke(self, operator, args, call, limits).await
    }

    async fn reconcile(
        &self,
        operator: &str,
        args: &str,
        call: ToolCallContext,
        limits: &Limits,
    ) -> Result<ReconcileVerdict, Failure> {
        Plugin::reconcile(self, operator, args, call, limits).await
    }

    async fn verify(
        &self,
        operator: &str,
        change: &StateChange,
        call: ToolCallContext,
        limits: &Limits,
    ) -> Result<VerifyResult, Failure> {
        Plugin::verify(self, operator, change, call, limits).await
    }

    async fn compensate(
        &self,
        operator: &str,
        of: (&str, &str, &str),
        call: ToolCallContext,
        limits: &Limits,
    ) -> ToolEnd {
        Plugin::compensate(self, operator, of, call, limits).await
    }

    fn as_plugin(&self) -> Option<&Plugin> {
        Some(self)
    }
}
