//! A native tool as the worker runs it: limits, checks of values, panics.

use std::collections::BTreeMap;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use async_trait::async_trait;
use futures::FutureExt as _;
use serde_json::Value;

use latchwork_core::encoding::canon;
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
use crate::guest::step_calls::StepCalls;
use crate::guest::tool_call::ToolCallContext;
use crate::native::tool::{CommittedCall, NativeFunctions, NativeTool};
use crate::os::clock;

/// A native tool whose manifest passed all checks.
pub struct NativePlugin {
    /// Name of the plugin.
    pub name: String,
    /// Manifest of the tool.
    pub manifest: Manifest,
    /// SHA-256 over the name and the manifest. Jobs pin this digest.
    pub digest: Hash,
    /// Optional functions that the tool has.
    pub functions: NativeFunctions,
    schemas: BTreeMap<Operator, Schemas>,
    tool: Arc<dyn NativeTool>,
}

impl fmt::Debug for NativePlugin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NativePlugin").field("name", &self.name).field("digest", &self.digest).finish_non_exhaustive()
    }
}

impl NativePlugin {
    /// Checks the manifest of a tool and compiles its schemas.
    ///
    /// # Errors
    /// Every rule that the manifest breaks.
    pub fn load(tool: Arc<dyn NativeTool>) -> Result<Self, LoadError> {
        let (name, manifest) = (tool.name().to_owned(), tool.manifest());
        let schemas = check_manifest(&manifest, PluginKind::Tool)
            .map_err(|problems| LoadError { plugin: name.clone(), problems })?;
        let text = serde_json::to_value(&manifest).expect("a manifest is plain data");
        let digest = Hash::of(&[b"native tool", name.as_bytes(), &canon::value_to_canonical(&text)]);
        let functions = tool.functions();
        Ok(Self { name, manifest, digest, functions, schemas, tool })
    }

    /// Returns the limits of an operator: its requests, at most the defaults. Only the time limit and the size of the
    /// answer apply to a native tool.
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

    /// Runs one function of the tool within the time limit of its call.
    async fn run<T>(&self, call: &ToolCallContext, function: impl Future<Output = T> + Send) -> Result<T, Failure> {
        let deadline_us = call.started_boot_us.saturating_add(u64::from(call.timeout_ms) * 1_000);
        let left = CallWindow::with_deadline(deadline_us).time_left();
        match tokio::time::timeout(left, AssertUnwindSafe(function).catch_unwind()).await {
            Ok(Ok(returned)) => Ok(returned),
            Ok(Err(panic)) => Err(Failure::new(Code::PluginTrap, format!("the tool panicked: {}", message(&*panic)))),
            Err(_) => Err(Failure::new(
                Code::WallClockLimit,
                format!("the call did not end within its {} ms", call.timeout_ms),
            )),
        }
    }

    /// Returns the end of a try. A failure of the host's own check of the answer leaves the call in doubt if the
    /// operator changes the world.
    fn end(
        &self,
        operator: &str,
        returned: Result<Answer, Failure>,
        check: impl FnOnce(&Output) -> Result<(), Failure>,
        begun_us: u64,
    ) -> ToolEnd {
        let doubtful = |failure, kept| match self.changes_world(operator) {
            true => Answer::Unknown { failure, kept },
            false => Answer::NotApplied(failure),
        };
        let answer = match returned {
            Ok(Answer::Ok(output)) => match check(&output) {
                Ok(()) => Answer::Ok(output),
                Err(failure) => doubtful(failure, None),
            },
            Ok(answer) => answer,
            Err(failure) => doubtful(failure, None),
        };
        ToolEnd { answer, fuel: 0, wall_us: clock::boot_us().saturating_sub(begun_us) }
    }
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

    async fn run_step(&self, _: &str, _: &str, _: &Limits, _: Box<dyn StepCalls>) -> StepEnd {
        StepEnd::not_run(Failure::new(Code::Internal, format!("plugin {:?} is not a step", self.name)))
    }

    async fn invoke(&self, operator: &str, args: &str, call: ToolCallContext, limits: &Limits) -> ToolEnd {
        let begun_us = clock::boot_us();
        let checked = self.schemas(operator).and_then(|schemas| Ok((schemas, parse(args)?)));
        let (schemas, args) = match checked {
            Ok(checked) => checked,
            Err(failure) => return ToolEnd { answer: Answer::NotApplied(failure), fuel: 0, wall_us: 0 },
        };
        let returned = self.run(&call, self.tool.invoke(operator, &args, &call)).await;
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
        let verdict = self.run(&call, self.tool.reconcile(operator, &args, &call)).await??;
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
        self.run(&call, self.tool.verify(operator, change, &call)).await?
    }

    async fn compensate(
        &self,
        operator: &str,
        (external_key, args, result): (&str, &str, &str),
        call: ToolCallContext,
        limits: &Limits,
    ) -> ToolEnd {
        let begun_us = clock::boot_us();
        let (args, result) = match parse(args).and_then(|args| Ok((args, parse(result)?))) {
            Ok(parsed) => parsed,
            Err(failure) => return ToolEnd { answer: Answer::NotApplied(failure), fuel: 0, wall_us: 0 },
        };
        let of = CommittedCall { external_key, args: &args, result: &result };
        let returned = self.run(&call, self.tool.compensate(operator, of, &call)).await;
        // The result of a compensating call has no schema.
        self.end(operator, returned, |output| check_tool_output(output, limits, None), begun_us)
    }

    fn as_plugin(&self) -> Option<&Plugin> {
        None
    }
}
