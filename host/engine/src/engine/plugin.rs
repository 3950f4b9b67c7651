//! A loaded plugin: its manifest and the functions that run it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use latchwork_core::model::effect::StateChange;
use latchwork_core::model::error::{Code, Failure};
use latchwork_core::model::ids::{Hash, Operator};
use latchwork_core::model::manifest::{
    Limits, Manifest, OperatorSpec, PluginKind, RecoveryClass, RequestedLimits, WasiMode,
};

use crate::capability::open_dirs::OpenDirs;
use crate::capability::settings::{LimitsConfig, PluginSettings};
use crate::engine::schema::Schemas;
use crate::engine::step::StepCode;
use crate::engine::step_end::{ResourceUsage, RunResult, StepEnd, StepOutcome};
use crate::engine::tool::{ReconcileVerdict, ToolCode, ToolEnd, ToolFunctionCall, ToolReturn, VerifyResult};
use crate::engine::tool_output::check_tool_output;
use crate::engine::untyped::CallableFunction;
use crate::guest::convert;
use crate::guest::json_gate;
use crate::guest::permissions::CallPermissions;
use crate::guest::step_calls::StepCalls;
use crate::guest::tool_call::ToolCallContext;
use crate::os::Machine;

/// A component that passed all checks of its world.
pub struct Plugin {
    /// Name of the plugin in `latch.toml`.
    pub name: String,
    /// SHA-256 of the component. For an untyped component, the hash also covers the manifest derived from its
    /// exports.
    pub digest: Hash,
    /// World of the component.
    pub kind: PluginKind,
    /// Manifest of the plugin.
    pub manifest: Manifest,
    /// True if the plugin exports `reconcile`, which answers questions about calls in doubt.
    pub reconcile: bool,
    /// True if the plugin exports `verify`, which checks its recorded effects.
    pub verify: bool,
    /// True if the plugin exports `compensate`, which undoes its effects.
    pub compensate: bool,
    /// True for an untyped component, which was not written for Latchwork. Its functions are its operators.
    pub is_untyped: bool,
    /// Sealed manifest of an untyped component. A job pins this manifest together with the bytes of the component.
    pub(crate) seal: Option<Vec<u8>>,
    /// Imports, as the component names them.
    pub imports: Vec<String>,
    pub(crate) settings: Arc<PluginSettings>,
    pub(crate) machine: Machine,
    pub(crate) schemas: Arc<BTreeMap<Operator, Schemas>>,
    pub(crate) code: LinkedCode,
}

/// Linked code of one of the two worlds.
pub(crate) enum LinkedCode {
    Step(StepCode),
    Tool(ToolCode),
}

impl fmt::Debug for Plugin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plugin").field("name", &self.name).field("digest", &self.digest).finish_non_exhaustive()
    }
}

impl Plugin {
    /// Returns the operator with this name if the plugin serves it.
    pub fn operator(&self, operator: &str) -> Option<&OperatorSpec> {
        self.manifest.operators.iter().find(|spec| spec.name.as_str() == operator)
    }

    /// Returns the effective limits of an operator. A limit in the configuration takes precedence over the
    /// operator's request. Otherwise the request applies, but at most the default limit.
    pub fn limits(&self, operator: &str) -> Limits {
        let wanted = self.operator(operator).map_or(RequestedLimits::default(), |spec| spec.limits);
        limits(&self.settings.limits, wanted)
    }

    /// Lists imports that the plugin's world does not allow or its grants do not cover, each with the
    /// alternative to use.
    pub fn refused_imports(&self) -> Vec<(String, String)> {
        let foreign = |import: &String| {
            let instead = crate::interfaces::imports::import_refusal(
                self.kind,
                import,
                &self.settings.grants,
                self.settings.wasi,
            )?;
            Some((import.clone(), instead))
        };
        self.imports.iter().filter_map(foreign).collect()
    }

    /// Appends the sealed manifest to the component's bytes. The SHA-256 of the result is the plugin's
    /// digest.
    pub fn with_seal(&self, mut component: Vec<u8>) -> Vec<u8> {
        component.extend(self.seal.iter().flatten());
        component
    }

    /// Clock and entropy of the engine that loaded the plugin. Deadlines of calls are times of its boot clock.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Configuration of the plugin.
    pub fn settings(&self) -> &PluginSettings {
        &self.settings
    }

    /// The granted directories, open since the plugin was loaded. `None` for a step.
    pub fn open_dirs(&self) -> Option<&OpenDirs> {
        match &self.code {
            LinkedCode::Tool(code) => Some(&code.dirs),
            LinkedCode::Step(_) => None,
        }
    }

    /// Returns the same tool with other settings, and opens the directories that they grant. Returns `None` for a step.
    /// The other grants of a tool are read at each call, so the code need not be linked again.
    pub fn with_settings(&self, settings: PluginSettings) -> Option<Self> {
        let LinkedCode::Tool(code) = &self.code else { return None };
        let code = code.with_dirs(OpenDirs::open(&settings.grants.dirs));
        Some(Self {
            name: self.name.clone(),
            digest: self.digest,
            kind: self.kind,
            manifest: self.manifest.clone(),
            reconcile: self.reconcile,
            verify: self.verify,
            compensate: self.compensate,
            is_untyped: self.is_untyped,
            seal: self.seal.clone(),
            imports: self.imports.clone(),
            settings: Arc::new(settings),
            machine: self.machine.clone(),
            schemas: self.schemas.clone(),
            code: LinkedCode::Tool(code),
        })
    }

    /// WASI mode that the plugin was linked with.
    pub fn wasi(&self) -> WasiMode {
        self.settings.wasi
    }

    /// Returns the class of an operator. The class determines the first resolution step for the operator's calls in
    /// doubt (§5). A keyed operator may be repeated only during the time that the operator declares. After this time,
    /// the host asks the tool through [`Plugin::reconcile`] if the plugin exports `reconcile`.
    pub fn class(&self, operator: &str) -> RecoveryClass {
        self.operator(operator).map_or(RecoveryClass::Opaque, |spec| spec.recovery_class(self.reconcile))
    }

    /// Checks a value against the operator's input schema.
    ///
    /// # Errors
    /// `INVALID_INPUT` if the value does not fit.
    pub fn check_input(&self, operator: &str, value: &Value) -> Result<(), Failure> {
        let schemas = self.schemas(operator)?;
        match self.untyped_function(operator) {
            Some(function) => function.check_input(value),
            None => schemas.check_input(value),
        }
    }

    /// Checks a value against the operator's output schema.
    ///
    /// # Errors
    /// `SCHEMA_VALIDATION_FAILED` if the value does not fit.
    pub fn check_output(&self, operator: &str, value: &Value) -> Result<(), Failure> {
        let schemas = self.schemas(operator)?;
        match self.untyped_function(operator) {
            Some(function) => function.check_output(value),
            None => schemas.check_output(value),
        }
    }

    /// Runs a step once, in a new instance. A returned output is JSON that fits the output schema.
    pub async fn run_step(&self, operator: &str, input: &str, limits: &Limits, calls: Box<dyn StepCalls>) -> StepEnd {
        let code = match (&self.code, self.schemas(operator)) {
            (LinkedCode::Step(code), Ok(_)) => code,
            (LinkedCode::Tool(_), _) => return StepEnd::not_run(self.wrong_kind("step")),
            (_, Err(failure)) => return StepEnd::not_run(failure),
        };
        let is_recorded = calls.output_is_recorded();
        self.step_end(operator, code.run(operator, input, limits, calls).await, is_recorded)
    }

    /// Runs a step several times in the same new instance, once for each host. A worker never calls this function.
    /// Returns the end of each run. A run that returns no output is the last one.
    pub async fn run_step_repeatedly(
        &self,
        operator: &str,
        input: &str,
        limits: &Limits,
        calls: Vec<Box<dyn StepCalls>>,
    ) -> Vec<StepEnd> {
        let LinkedCode::Step(code) = &self.code else { return vec![] };
        let ended = code.run_repeatedly(operator, input, limits, calls).await;
        ended.into_iter().map(|ended| self.step_end(operator, ended, false)).collect()
    }

    fn step_end(&self, operator: &str, (answer, spent): RunResult, is_recorded: bool) -> StepEnd {
        let outcome = match answer {
            Ok(Ok(output)) => match self.check_output_text(operator, &output, is_recorded) {
                Ok(()) => StepOutcome::Output(output),
                Err(failure) => StepOutcome::Fault(failure),
            },
            Ok(Err(failure)) => StepOutcome::Failed(failure),
            Err(outcome) => outcome,
        };
        let ResourceUsage { fuel, memory_bytes, functions } = spent;
        StepEnd { outcome, fuel, memory_bytes, functions }
    }

    /// Runs a step with no checks and no records, to measure the engine's own cost. The operator's limits do not apply.
    pub async fn run_bare(&self, operator: &str, input: &str, calls: Box<dyn StepCalls>) -> wasmtime::Result<()> {
        match &self.code {
            LinkedCode::Step(code) => code.run_bare(operator, input, calls).await,
            LinkedCode::Tool(_) => Err(wasmtime::Error::msg("a tool cannot run as a step")),
        }
    }

    /// Calls a tool once, in a new instance. The answer says whether the world may have changed.
    pub async fn invoke(&self, operator: &str, args: &str, call: ToolCallContext, limits: &Limits) -> ToolEnd {
        let code = match self.tool_code(operator) {
            Ok(code) => code,
            Err(failure) => return not_called(failure),
        };
        let permissions = call.permissions;
        let ask = ToolFunctionCall::Invoke { args };
        let asked = code.call_function(&self.settings, operator, ask, call, permissions, limits).await;
        asked.into_end(limits, self.schemas.get(operator))
    }

    /// Asks the tool if an earlier call happened. The context contains the external key of the earlier call. The tool
    /// may read but not change anything. The resolution of calls in doubt treats a failure as
    /// [`ReconcileVerdict::Unknown`].
    pub async fn reconcile(
        &self,
        operator: &str,
        args: &str,
        call: ToolCallContext,
        limits: &Limits,
    ) -> Result<ReconcileVerdict, Failure> {
        use crate::guest::bindings::export::reconcile::Verdict;
        let code = self.tool_code(operator)?;
        self.require_export(self.reconcile, "reconcile")?;
        let ask = ToolFunctionCall::Reconcile { args };
        let asked = code.call_function(&self.settings, operator, ask, call, CallPermissions::QUESTION, limits).await;
        let was_denied = asked.was_denied();
        match asked.into_return(limits)? {
            ToolReturn::Verdict(Verdict::Happened(output)) => {
                let output = convert::output(output);
                check_tool_output(&output, limits, self.schemas.get(operator))?;
                Ok(ReconcileVerdict::Happened(output))
            }
            // If the host refused a part of the query, this verdict proves nothing. The verdict permits a repetition of
            // the call, so `Unknown` replaces it.
            ToolReturn::Verdict(Verdict::DidNotHappen) if was_denied => Ok(ReconcileVerdict::Unknown),
            ToolReturn::Verdict(Verdict::DidNotHappen) => Ok(ReconcileVerdict::DidNotHappen),
            ToolReturn::Verdict(Verdict::NotYet(ms)) => Ok(ReconcileVerdict::NotYet(ms)),
            ToolReturn::Verdict(Verdict::Unknown) => Ok(ReconcileVerdict::Unknown),
            other => Err(unexpected_answer(other)),
        }
    }

    /// Checks a recorded change against the world. The tool may read but not change anything.
    pub async fn verify(
        &self,
        operator: &str,
        change: &StateChange,
        call: ToolCallContext,
        limits: &Limits,
    ) -> Result<VerifyResult, Failure> {
        let code = self.tool_code(operator)?;
        self.require_export(self.verify, "verify")?;
        let ask = ToolFunctionCall::Verify { change };
        let asked = code.call_function(&self.settings, operator, ask, call, CallPermissions::QUESTION, limits).await;
        match asked.into_return(limits)? {
            ToolReturn::Finding(crate::guest::bindings::export::verify::Finding::Confirmed) => {
                Ok(VerifyResult::Confirmed)
            }
            ToolReturn::Finding(crate::guest::bindings::export::verify::Finding::Mismatch(found)) => {
                Ok(VerifyResult::Mismatch(found))
            }
            other => Err(unexpected_answer(other)),
        }
    }

    /// Undoes a committed call. The tuple contains the external key, the arguments and the result of the committed
    /// call. `call` is the context of the compensating call and contains the external key of the compensating call.
    pub async fn compensate(
        &self,
        operator: &str,
        (external_key, args, result): (&str, &str, &str),
        call: ToolCallContext,
        limits: &Limits,
    ) -> ToolEnd {
        let found = self
            .tool_code(operator)
            .and_then(|found| self.require_export(self.compensate, "compensate").map(|()| found));
        let code = match found {
            Ok(code) => code,
            Err(failure) => return not_called(failure),
        };
        let permissions = call.permissions;
        let ask = ToolFunctionCall::Compensate { external_key, args, result };
        let asked = code.call_function(&self.settings, operator, ask, call, permissions, limits).await;
        // The result of a compensating call has no schema.
        asked.into_end(limits, None)
    }

    fn schemas(&self, operator: &str) -> Result<&Schemas, Failure> {
        self.schemas.get(operator).ok_or_else(|| {
            Failure::new(Code::InvalidInput, format!("plugin {:?} serves no operator {operator:?}", self.name))
        })
    }

    /// Returns the function of an untyped component that serves an operator. Values are checked against the type of
    /// this function, which is stricter than a JSON Schema.
    fn untyped_function(&self, operator: &str) -> Option<&CallableFunction> {
        let LinkedCode::Tool(code) = &self.code else { return None };
        code.functions()?.get(operator)
    }

    /// Checks the output of a step. An output that is not in the log yet must have a canonical form.
    fn check_output_text(&self, operator: &str, text: &str, is_recorded: bool) -> Result<(), Failure> {
        let refused = |why: String| Failure::new(Code::SchemaValidationFailed, why);
        let value = match is_recorded {
            true => serde_json::from_str(text).map_err(|error| format!("the step's output is not JSON: {error}")),
            false => json_gate::parse("the step's output", text),
        };
        let value: Value = value.map_err(refused)?;
        self.check_output(operator, &value)
    }

    fn tool_code(&self, operator: &str) -> Result<&ToolCode, Failure> {
        let LinkedCode::Tool(code) = &self.code else { return Err(self.wrong_kind("tool")) };
        self.schemas(operator).map(|_| code)
    }

    fn require_export(&self, exported: bool, function: &str) -> Result<(), Failure> {
        if exported {
            return Ok(());
        }
        Err(Failure::new(Code::InvalidInput, format!("plugin {:?} does not export {function}", self.name)))
    }

    fn wrong_kind(&self, wanted: &str) -> Failure {
        Failure::new(Code::Internal, format!("plugin {:?} is not a {wanted}", self.name))
    }
}

/// Returns the limits in force. A configured limit applies as it is. Otherwise the plugin's requested limit applies,
/// but at most the default. Without a request, the default applies.
pub(crate) fn limits(config: &LimitsConfig, wanted: RequestedLimits) -> Limits {
    let default = Limits::default();
    Limits {
        memory_bytes: config.memory_bytes.unwrap_or_else(|| {
            wanted.memory_bytes.map_or(default.memory_bytes, |wish| u64::from(wish).min(default.memory_bytes))
        }),
        table_elements: default.table_elements,
        fuel: config.fuel.unwrap_or(default.fuel),
        timeout_ms: config
            .timeout_ms
            .unwrap_or_else(|| wanted.timeout_ms.map_or(default.timeout_ms, |wish| wish.min(default.timeout_ms))),
        output_bytes: config
            .output_bytes
            .unwrap_or_else(|| wanted.output_bytes.map_or(default.output_bytes, |wish| wish.min(default.output_bytes))),
        host_calls: config.host_calls.unwrap_or(default.host_calls),
    }
}

fn not_called(failure: Failure) -> ToolEnd {
    let answer = latchwork_core::model::effect::Answer::NotApplied(failure);
    ToolEnd { answer, fuel: 0, wall_us: 0, functions: vec![] }
}

fn unexpected_answer(returned: ToolReturn) -> Failure {
    match returned {
        ToolReturn::Error(error) => convert::failure(error),
        _ => Failure::new(Code::Internal, "the tool answered another question"),
    }
}
