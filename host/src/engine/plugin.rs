//! A loaded plugin: its manifest and the functions that run it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use latchwork_core::effect::StateChange;
use latchwork_core::error::{Code, Failure};
use latchwork_core::ids::{Hash, Operator};
use latchwork_core::manifest::{
    Class, Determinism, Limits, LimitsWanted, Manifest, OperatorSpec, PluginKind, WasiMode,
};
use latchwork_core::storage::KeyValue;
use serde_json::Value;

use super::convert;
use super::plain::Function;
use super::schema::Schemas;
use super::step::{self, Spent, StepCalls, StepCode, StepEnd, StepOutcome};
use super::tool::{self, Ask, Finding, ReconcileVerdict, Said, ToolCallContext, ToolCode, ToolEnd};
use crate::capability::grant::Rights;
use crate::capability::{Secrets, Servers};
use crate::config::{Grants, LimitsConfig, OperatorStatement};

/// Configuration of a plugin and the sources of its capabilities.
#[derive(Clone)]
pub struct PluginSettings {
    /// Unique name.
    pub name: String,
    /// Capabilities that the plugin may use.
    pub grants: Grants,
    /// Configured limits.
    pub limits: LimitsConfig,
    /// WASI interfaces that a step may import.
    pub wasi: WasiMode,
    /// The plugin's `config` table.
    pub config: BTreeMap<String, Value>,
    /// Source of the manifest, for a plugin that does not describe itself.
    pub operators: Statements,
    /// Values of secrets.
    pub secrets: Arc<dyn Secrets>,
    /// Store behind `latchwork:plugin/kv`.
    pub kv: Arc<dyn KeyValue>,
    /// Stub that answers in place of all servers. `None`: requests go to the real servers.
    pub servers: Option<Arc<dyn Servers>>,
}

/// Part of the configuration that decides whether a component may be loaded.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'a> {
    /// The plugin's name.
    pub name: &'a str,
    /// Capabilities that the plugin may use.
    pub grants: &'a Grants,
    /// WASI interfaces that a step may import.
    pub wasi: WasiMode,
    /// True if the configuration describes the plugin's operators.
    pub states_operators: bool,
}

impl PluginSettings {
    /// Returns the settings that can be checked against a component without compiling it.
    pub fn terms(&self) -> Terms<'_> {
        let states_operators = self.operators.says_anything();
        Terms { name: &self.name, grants: &self.grants, wasi: self.wasi, states_operators }
    }
}

/// Source of an untyped component's manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statements {
    /// Derived from its exports and from their settings in `latch.toml`.
    Stated(BTreeMap<String, OperatorStatement>),
    /// Read from the sealed manifest that was stored with the component when a job pinned it.
    Sealed,
}

impl Default for Statements {
    fn default() -> Self {
        Statements::Stated(BTreeMap::new())
    }
}

impl Statements {
    pub(crate) fn says_anything(&self) -> bool {
        matches!(self, Statements::Stated(stated) if !stated.is_empty())
    }
}

impl fmt::Debug for PluginSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PluginSettings").field("name", &self.name).field("grants", &self.grants).finish_non_exhaustive()
    }
}

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
    pub is_plain: bool,
    /// Sealed manifest of an untyped component, which a job pins together with the component's bytes.
    pub(crate) seal: Option<Vec<u8>>,
    /// Imports, as the component names them.
    pub imports: Vec<String>,
    pub(crate) settings: Arc<PluginSettings>,
    pub(crate) schemas: Arc<BTreeMap<Operator, Schemas>>,
    pub(crate) code: Linked,
}

/// Linked code of one of the two worlds.
pub(crate) enum Linked {
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

    /// Effective limits of an operator. Configured limits win. Otherwise the operator's own wish applies, up
    /// to the default.
    pub fn limits(&self, operator: &str) -> Limits {
        let wanted = self.operator(operator).map_or(LimitsWanted::default(), |spec| spec.limits);
        limits(&self.settings.limits, wanted)
    }

    /// Lists imports that the plugin's world does not allow or its grants do not cover, each with the
    /// alternative to use.
    pub(crate) fn foreign_imports(&self) -> Vec<(String, String)> {
        let foreign = |import: &String| {
            let instead = super::component::refuse(self.kind, import, &self.settings.grants, self.settings.wasi)?;
            Some((import.clone(), instead))
        };
        self.imports.iter().filter_map(foreign).collect()
    }

    /// Appends the sealed manifest to the component's bytes. The SHA-256 of the result is the plugin's
    /// digest.
    pub(crate) fn sealed(&self, mut component: Vec<u8>) -> Vec<u8> {
        component.extend(self.seal.iter().flatten());
        component
    }

    /// Configuration of the plugin.
    pub(crate) fn settings(&self) -> &PluginSettings {
        &self.settings
    }

    /// Returns the same code with other settings. Only possible for a tool, because a tool's grants are read
    /// at each call.
    pub(crate) fn under(&self, settings: PluginSettings) -> Option<Self> {
        let Linked::Tool(code) = &self.code else { return None };
        Some(Self {
            name: self.name.clone(),
            digest: self.digest,
            kind: self.kind,
            manifest: self.manifest.clone(),
            reconcile: self.reconcile,
            verify: self.verify,
            compensate: self.compensate,
            is_plain: self.is_plain,
            seal: self.seal.clone(),
            imports: self.imports.clone(),
            settings: Arc::new(settings),
            schemas: self.schemas.clone(),
            code: Linked::Tool(code.clone()),
        })
    }

    /// WASI mode that the plugin was linked with.
    pub fn wasi(&self) -> WasiMode {
        self.settings.wasi
    }

    /// First resolution step for calls of this operator that are in doubt (§5). After the window of a keyed
    /// operator, the next step applies: [`Plugin::reconcile`], if the plugin exports it.
    pub fn class(&self, operator: &str) -> Class {
        match self.operator(operator) {
            Some(spec) if !spec.is_world_changing() => Class::Read,
            Some(spec) if spec.resolution.idempotent_by_key_seconds > 0 => Class::Keyed,
            Some(_) if self.reconcile => Class::Queryable,
            _ => Class::Opaque,
        }
    }

    /// Checks a value against the operator's input schema.
    ///
    /// # Errors
    /// `INVALID_INPUT` if the value does not fit.
    pub fn check_input(&self, operator: &str, value: &Value) -> Result<(), Failure> {
        let schemas = self.schemas(operator)?;
        match self.function(operator) {
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
        match self.function(operator) {
            Some(function) => function.check_output(value),
            None => schemas.check_output(value),
        }
    }

    /// Runs a step once, in a new instance. Its output is JSON that fits the output schema.
    pub async fn run_step(&self, operator: &str, input: &str, limits: &Limits, calls: Box<dyn StepCalls>) -> StepEnd {
        let code = match (&self.code, self.schemas(operator)) {
            (Linked::Step(code), Ok(_)) => code,
            (Linked::Tool(_), _) => return StepEnd::not_run(self.other_kind("step")),
            (_, Err(failure)) => return StepEnd::not_run(failure),
        };
        self.step_end(operator, code.run(operator, input, limits, calls, None).await)
    }

    /// Runs a step twice in the same new instance, which a worker never does. Returns the end of the second
    /// run. Returns `None` if the first run did not return an output.
    pub(crate) async fn run_step_twice(
        &self,
        operator: &str,
        input: &str,
        limits: &Limits,
        [first, second]: [Box<dyn StepCalls>; 2],
    ) -> Option<StepEnd> {
        let Linked::Step(code) = &self.code else { return None };
        let mut began = false;
        let again = step::Again { calls: second, began: &mut began };
        let ended = code.run(operator, input, limits, first, Some(again)).await;
        began.then(|| self.step_end(operator, ended))
    }

    fn step_end(&self, operator: &str, (answer, spent): step::Ran) -> StepEnd {
        let outcome = match answer {
            Ok(Ok(output)) => match self.check_text(operator, &output) {
                Ok(()) => StepOutcome::Output(output),
                Err(failure) => StepOutcome::Fault(failure),
            },
            Ok(Err(failure)) => StepOutcome::Failed(failure),
            Err(outcome) => outcome,
        };
        let Spent { fuel, memory_bytes, functions } = spent;
        StepEnd { outcome, fuel, memory_bytes, functions }
    }

    /// Runs a step without limits, checks or records, to measure the engine's own cost.
    pub(crate) async fn run_bare(
        &self,
        operator: &str,
        input: &str,
        calls: Box<dyn StepCalls>,
    ) -> wasmtime::Result<()> {
        match &self.code {
            Linked::Step(code) => code.run_bare(operator, input, calls).await,
            Linked::Tool(_) => Err(wasmtime::Error::msg("a tool cannot run as a step")),
        }
    }

    /// Calls a tool once, in a new instance. The answer says whether the world may have changed.
    pub async fn invoke(&self, operator: &str, args: &str, call: ToolCallContext, limits: &Limits) -> ToolEnd {
        let (code, spec) = match self.tool(operator) {
            Ok(found) => found,
            Err(failure) => return not_called(failure),
        };
        let ask = Ask::Invoke { args };
        let asked = code.ask(&self.settings, operator, ask, call, rights(spec), limits).await;
        asked.into_end(limits, self.schemas.get(operator))
    }

    /// Asks the tool whether the call with the context's external key happened. The tool may read but not
    /// change anything. During resolution, any failure counts as [`ReconcileVerdict::Unknown`].
    pub async fn reconcile(
        &self,
        operator: &str,
        args: &str,
        call: ToolCallContext,
        limits: &Limits,
    ) -> Result<ReconcileVerdict, Failure> {
        use super::bindings::export::reconcile::Verdict;
        let (code, _) = self.tool(operator)?;
        self.exported(self.reconcile, "reconcile")?;
        let ask = Ask::Reconcile { args };
        match code.ask(&self.settings, operator, ask, call, Rights::READ, limits).await.said? {
            Said::Verdict(Verdict::Happened(output)) => {
                let output = convert::output(output);
                tool::check(&output, limits, self.schemas.get(operator))?;
                Ok(ReconcileVerdict::Happened(output))
            }
            Said::Verdict(Verdict::DidNotHappen) => Ok(ReconcileVerdict::DidNotHappen),
            Said::Verdict(Verdict::NotYet(ms)) => Ok(ReconcileVerdict::NotYet(ms)),
            Said::Verdict(Verdict::Unknown) => Ok(ReconcileVerdict::Unknown),
            other => Err(unexpected(other)),
        }
    }

    /// Checks a recorded change against the world. The tool may read but not change anything.
    pub async fn verify(
        &self,
        operator: &str,
        change: &StateChange,
        call: ToolCallContext,
        limits: &Limits,
    ) -> Result<Finding, Failure> {
        let (code, _) = self.tool(operator)?;
        self.exported(self.verify, "verify")?;
        let ask = Ask::Verify { change };
        match code.ask(&self.settings, operator, ask, call, Rights::READ, limits).await.said? {
            Said::Finding(super::bindings::export::verify::Finding::Confirmed) => Ok(Finding::Confirmed),
            Said::Finding(super::bindings::export::verify::Finding::Mismatch(found)) => Ok(Finding::Mismatch(found)),
            other => Err(unexpected(other)),
        }
    }

    /// Undoes the committed call with this external key, these arguments and this result. The context is that
    /// of the compensating call, which has its own key.
    pub async fn compensate(
        &self,
        operator: &str,
        (external_key, args, result): (&str, &str, &str),
        call: ToolCallContext,
        limits: &Limits,
    ) -> ToolEnd {
        let found = self.tool(operator).and_then(|found| self.exported(self.compensate, "compensate").map(|()| found));
        let (code, spec) = match found {
            Ok(found) => found,
            Err(failure) => return not_called(failure),
        };
        let ask = Ask::Compensate { external_key, args, result };
        let asked = code.ask(&self.settings, operator, ask, call, rights(spec), limits).await;
        // The result of a compensating call has no schema.
        asked.into_end(limits, None)
    }

    fn schemas(&self, operator: &str) -> Result<&Schemas, Failure> {
        self.schemas.get(operator).ok_or_else(|| {
            Failure::new(Code::InvalidInput, format!("plugin {:?} serves no operator {operator:?}", self.name))
        })
    }

    /// Returns the function of an untyped component that serves an operator. Its type is stricter than a schema.
    fn function(&self, operator: &str) -> Option<&Function> {
        let Linked::Tool(code) = &self.code else { return None };
        code.functions()?.get(operator)
    }

    fn check_text(&self, operator: &str, text: &str) -> Result<(), Failure> {
        let value: Value = serde_json::from_str(text).map_err(|error| {
            Failure::new(Code::SchemaValidationFailed, format!("the step's output is not JSON: {error}"))
        })?;
        self.check_output(operator, &value)
    }

    fn tool(&self, operator: &str) -> Result<(&ToolCode, &OperatorSpec), Failure> {
        let Linked::Tool(code) = &self.code else { return Err(self.other_kind("tool")) };
        self.schemas(operator)?;
        let spec = self.operator(operator).expect("an operator with schemas is in the manifest");
        Ok((code, spec))
    }

    fn exported(&self, exported: bool, function: &str) -> Result<(), Failure> {
        if exported {
            return Ok(());
        }
        Err(Failure::new(Code::InvalidInput, format!("plugin {:?} does not export {function}", self.name)))
    }

    fn other_kind(&self, wanted: &str) -> Failure {
        Failure::new(Code::Internal, format!("plugin {:?} is not a {wanted}", self.name))
    }
}

/// Rights within the plugin's grants that follow from the operator's declaration.
fn rights(spec: &OperatorSpec) -> Rights {
    Rights { write: spec.is_world_changing(), post: spec.determinism == Determinism::Stable }
}

fn limits(config: &LimitsConfig, wanted: LimitsWanted) -> Limits {
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
    ToolEnd { answer: latchwork_core::effect::Answer::NotApplied(failure), fuel: 0, wall_us: 0 }
}

fn unexpected(said: Said) -> Failure {
    match said {
        Said::Error(error) => convert::failure(error),
        _ => Failure::new(Code::Internal, "the tool answered another question"),
    }
}
