//! A plugin as those see it who run it for a job: the worker, and replay. [`Plugin`] is the one
//! there is; a simulation of workers puts others in its place.

use std::sync::Arc;

use async_trait::async_trait;
use latchwork_core::effect::StateChange;
use latchwork_core::error::Failure;
use latchwork_core::ids::Hash;
use latchwork_core::manifest::{Limits, WasiMode};
use serde_json::Value;

use super::plugin::Plugin;
use super::step::{StepCalls, StepEnd};
use super::tool::{Finding, ReconcileVerdict, ToolCallContext, ToolEnd};

/// What can be run under the digest that a job pinned. Each function is that of [`Plugin`].
#[async_trait]
pub trait Runnable: Send + Sync {
    /// Whether a value is what the operator takes.
    fn check_input(&self, operator: &str, value: &Value) -> Result<(), Failure>;
    /// Run a step once.
    async fn run_step(&self, operator: &str, input: &str, limits: &Limits, calls: Box<dyn StepCalls>) -> StepEnd;
    /// Call a tool once.
    async fn invoke(&self, operator: &str, args: &str, call: ToolCallContext, limits: &Limits) -> ToolEnd;
    /// Ask the world whether a call happened.
    async fn reconcile(
        &self,
        operator: &str,
        args: &str,
        call: ToolCallContext,
        limits: &Limits,
    ) -> Result<ReconcileVerdict, Failure>;
    /// Check a recorded change against the world.
    async fn verify(
        &self,
        operator: &str,
        change: &StateChange,
        call: ToolCallContext,
        limits: &Limits,
    ) -> Result<Finding, Failure>;
    /// Undo a committed call: the one with this external key, these arguments and this result.
    async fn compensate(
        &self,
        operator: &str,
        of: (&str, &str, &str),
        call: ToolCallContext,
        limits: &Limits,
    ) -> ToolEnd;
    /// The component behind it, which validators and verifiers of the host look at.
    fn component(&self) -> Option<&Plugin>;
}

/// Where the code comes from that a job pinned.
pub trait Components: Send + Sync {
    /// What has this digest, with the WASI it was pinned with.
    ///
    /// # Errors
    /// It is not there, or is refused: why.
    fn by_digest(&self, digest: Hash, wasi: WasiMode) -> Result<Arc<dyn Runnable>, String>;
}

#[async_trait]
impl Runnable for Plugin {
    fn check_input(&self, operator: &str, value: &Value) -> Result<(), Failure> {
        Plugin::check_input(self, operator, value)
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
    ) -> Result<Finding, Failure> {
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

    fn component(&self) -> Option<&Plugin> {
        Some(self)
    }
}
