//! A native tool as the worker runs it: limits, checks of values, panics.

use std::collections::BTreeMap;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use async_trait::async_trait;
use futures::FutureExt as _;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use latchwork_core::encoding::{canon, truncate};
use latchwork_core::model::bounds;
use latchwork_core::model::effect::{Answer, Output, StateChange};
use latchwork_core::model::error::{Code, Failure};
use latchwork_core::model::ids::{Hash, Operator};
use latchwork_core::model::manifest::{Limits, Manifest, OperatorSpec, PluginKind};

use crate::capability::call_window::CallWindow;
use crate::capability::settings::LimitsConfig;
use crate::engine::schema::Schemas;
use crate::engine::{
    LoadError, Plugin, ReconcileVerdict, Runnable, StepEnd, ToolEnd, VerifyResult, check_manifest, check_tool_output,
    effective_limits,
};
use crate::guest::convert::MESSAGE_BYTES_MAX;
use crate::guest::step_calls::StepCalls;
use crate::guest::tool_call::ToolCallContext;
use crate::native::tool::{CommittedCall, NativeFunctions, NativeTool};
use crate::os::Machine;

/// A native tool whose manifest passed all checks.
pub struct NativePlugin {
    name: String,
    manifest: Manifest,
    digest: Hash,
    functions: NativeFunctions,
    schemas: BTreeMap<Operator, Schemas>,
    tool: Arc<dyn NativeTool>,
    machine: Machine,
}

impl fmt::Debug for NativePlugin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NativePlugin").field("name", &self.name).field("digest", &self.digest).finish_non_exhaustive()
    }
}

impl NativePlugin {
    /// Checks the manifest of a tool and compiles its schemas. Deadlines and durations of calls are times of the boot
    /// clock of `machine`.
    ///
    /// # Errors
    /// Every rule that the manifest breaks.
    pub fn load(tool: Arc<dyn NativeTool>, machine: Machine) -> Result<Self, LoadError> {
        let (name, manifest) = (tool.name().to_owned(), tool.manifest());
        let schemas = check_manifest(&manifest, PluginKind::Tool)
            .map_err(|problems| LoadError { plugin: name.clone(), problems })?;
        let functions = tool.functions();
        let NativeFunctions { reconcile, verify, compensate } = functions;
        let pinned = json!({ "name": name, "manifest": manifest, "functions": [reconcile, verify, compensate] });
        let digest = Hash::of(&[b"native tool", &canon::value_to_canonical(&pinned)]);
        Ok(Self { name, manifest, digest, functions, schemas, tool, machine })
    }

    /// Returns the name of the plugin.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the manifest of the tool.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Returns the SHA-256 over the name, the manifest and the optional functions. Jobs pin this digest.
    pub fn digest(&self) -> Hash {
        self.digest
    }

    /// Returns the optional functions that the tool has.
    pub fn functions(&self) -> NativeFunctions {
        self.functions
    }

    /// Returns the limits of an operator: the limits that its manifest requests, but never more than the defaults. Of
    /// these limits, only the time limit and the size of the answer apply to a native tool.
    pub fn limits(&self, operator: &OperatorSpec) -> Limits {
        effective_limits(&LimitsConfig::default(), operator.limits)
    }

    fn schemas(&self, operator: &str) -> Result<&Schemas, Failure> {
        self.schemas.get(operator).ok_or_else(|| {
            Failure::new(Code::InvalidInput, format!("plugin {:?} serves no operator {operator:?}", self.name))
        })
    }

    fn changes_world(&self, operator: &str) -> bool {
        let spec = self.manifest.operators.iter().find(|spec| spec.name.as_str() == operator);
        spec.is_none_or(OperatorSpec::is_world_changing)
    }

    fn window(&self, call: &ToolCallContext) -> CallWindow {
        let deadline_us = call.started_boot_us.saturating_add(u64::from(call.timeout_ms) * 1_000);
        CallWindow::with_deadline(self.machine.clone(), deadline_us)
    }

    /// Checks that the call has time left. Otherwise the tool is not called, and the call has certainly changed nothing.
    fn check_time_left(&self, call: &ToolCallContext) -> Result<(), Failure> {
        match self.window(call).time_left().is_zero() {
            true => Err(late(call, "begin")),
            false => Ok(()),
        }
    }

    /// Runs one function of the tool within the time limit of its call. The caller must pass an `async` block that
    /// calls the function. Otherwise a panic before the first `await` would not be caught.
    async fn run<T>(&self, call: &ToolCallContext, function: impl Future<Output = T> + Send) -> Result<T, Failure> {
        let left = self.window(call).time_left();
        match AssertUnwindSafe(tokio::time::timeout(left, function)).catch_unwind().await {
            Ok(Ok(returned)) => Ok(returned),
            Ok(Err(_)) => Err(late(call, "end")),
            Err(panic) => {
                // The text goes to the log of the process and not into the records of the job, because it may contain a
                // secret.
                tracing::error!(plugin = self.name, panic = message(&*panic), "a native tool panicked");
                Err(Failure::new(Code::PluginTrap, "the tool panicked; the log of the process has the message"))
            }
        }
    }

    /// Returns the end of a try. The host checks the answer with `check`. If the check fails and the operator changes
    /// the world, the call is in doubt.
    fn end(
        &self,
        operator: &str,
        returned: Result<Answer, Failure>,
        check: impl FnOnce(&Output) -> Result<(), Failure>,
        begun_us: u64,
    ) -> ToolEnd {
        let kept = |text: &str| truncate::at_bytes(text, bounds::KEPT_ANSWER_BYTES).start.to_owned();
        let doubtful = |failure, text: Option<&str>| match self.changes_world(operator) {
            true => Answer::Unknown { failure, kept: text.map(kept) },
            false => Answer::NotApplied(failure),
        };
        let answer = match returned {
            Ok(Answer::Ok(output)) => match check(&output) {
                Ok(()) => Answer::Ok(output),
                Err(failure) => doubtful(failure, Some(&output.result)),
            },
            Ok(Answer::NotApplied(failure)) => Answer::NotApplied(shortened(failure)),
            Ok(Answer::Unknown { failure, kept: text }) => {
                Answer::Unknown { failure: shortened(failure), kept: text.as_deref().map(kept) }
            }
            Err(failure) => doubtful(failure, None),
        };
        let wall_us = self.machine.boot_us().saturating_sub(begun_us);
        ToolEnd { answer, fuel: 0, wall_us, functions: vec![] }
    }
}

/// Returns the failure of a call that did not `begin` or `end` in time.
fn late(call: &ToolCallContext, verb: &str) -> Failure {
    Failure::new(Code::WallClockLimit, format!("the call did not {verb} within its {} ms", call.timeout_ms))
}

/// Truncates the message of a failure, and converts its detail to JSON. A failure of a component is treated in the same
/// way.
fn shortened(failure: Failure) -> Failure {
    let message = truncate::at_bytes(&failure.message, MESSAGE_BYTES_MAX).start.to_owned();
    let detail = failure.detail.map(|text| match serde_json::from_str::<IgnoredAny>(&text) {
        Ok(_) => text,
        Err(_) => Value::String(text).to_string(),
    });
    Failure { message, detail, ..failure }
}

/// Returns the message of a panic.
fn message(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

fn parse(text: &str) -> Result<Value, Failure> {
    serde_json::from_str(text).map_err(|error| Failure::new(Code::InvalidInput, format!("not JSON: {error}")))
}

#[async_trait]
impl Runnable for NativePlugin {
    fn check_input(&self, operator: &str, value: &Value) -> Result<(), Failure> {
        self.schemas(operator)?.check_input(value)
    }

    fn check_output(&self, operator: &str, value: &Value) -> Result<(), Failure> {
        self.schemas(operator)?.check_output(value)
    }

    async fn run_step(&self, _: &str, _: &str, _: &Limits, _: Box<dyn StepCalls>) -> StepEnd {
        StepEnd::not_run(Failure::new(Code::Internal, format!("plugin {:?} is not a step", self.name)))
    }

    async fn invoke(&self, operator: &str, args: &str, call: ToolCallContext, limits: &Limits) -> ToolEnd {
        let begun_us = self.machine.boot_us();
        let checked = self.check_time_left(&call).and_then(|()| Ok((self.schemas(operator)?, parse(args)?)));
        let (schemas, args) = match checked {
            Ok(checked) => checked,
            Err(failure) => return not_called(failure),
        };
        let returned = self.run(&call, async { self.tool.invoke(operator, &args, &call).await }).await;
        self.end(operator, returned, |output| check_tool_output(output, limits, Some(schemas)), begun_us)
    }

    async fn reconcile(
        &self,
        operator: &str,
        args: &str,
        call: ToolCallContext,
        limits: &Limits,
    ) -> Result<ReconcileVerdict, Failure> {
        let (schemas, args) = (self.schemas(operator)?, parse(args)?);
        self.check_time_left(&call)?;
        let verdict = self.run(&call, async { self.tool.reconcile(operator, &args, &call).await }).await??;
        if let ReconcileVerdict::Happened(output) = &verdict {
            check_tool_output(output, limits, Some(schemas))?;
        }
        Ok(verdict)
    }

    async fn verify(
        &self,
        operator: &str,
        change: &StateChange,
        call: ToolCallContext,
        _: &Limits,
    ) -> Result<VerifyResult, Failure> {
        self.check_time_left(&call)?;
        self.run(&call, async { self.tool.verify(operator, change, &call).await }).await?
    }

    async fn compensate(
        &self,
        operator: &str,
        (external_key, args, result): (&str, &str, &str),
        call: ToolCallContext,
        limits: &Limits,
    ) -> ToolEnd {
        let begun_us = self.machine.boot_us();
        let checked = self.check_time_left(&call).and_then(|()| Ok((parse(args)?, parse(result)?)));
        let (args, result) = match checked {
            Ok(parsed) => parsed,
            Err(failure) => return not_called(failure),
        };
        let of = CommittedCall { external_key, args: &args, result: &result };
        let returned = self.run(&call, async { self.tool.compensate(operator, of, &call).await }).await;
        // The result of a compensating call has no schema.
        self.end(operator, returned, |output| check_tool_output(output, limits, None), begun_us)
    }

    fn as_plugin(&self) -> Option<&Plugin> {
        None
    }
}

fn not_called(failure: Failure) -> ToolEnd {
    ToolEnd { answer: Answer::NotApplied(failure), fuel: 0, wall_us: 0, functions: vec![] }
}
