//! A loaded plugin: what it says of itself, and how to run it.

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

/// What the configuration says of a plugin, and where its capabilities come from.
#[derive(Clone)]
pub struct PluginSettings {
    /// Unique name.
    pub name: String,
    /// What it may reach.
    pub grants: Grants,
    /// Limits it is given.
    pub limits: LimitsConfig,
    /// What of WASI a step may import.
    pub wasi: WasiMode,
    /// Its `config` table.
    pub config: BTreeMap<String, Value>,
    /// What is said of its functions, where it does not describe itself.
    pub operators: Statements,
    /// Values of secrets.
    pub secrets: Arc<dyn Secrets>,
    /// The map behind `latchwork:plugin/kv`.
    pub kv: Arc<dyn KeyValue>,
    /// What answers instead of every server; none: the servers do.
    pub servers: Option<Arc<dyn Servers>>,
}

/// What of the configuration decides whether a component may be loaded at all.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'a> {
    /// The plugin's name.
    pub name: &'a str,
    /// What it may reach.
    pub grants: &'a Grants,
    /// What of WASI a step may import.
    pub wasi: WasiMode,
    /// Whether the configuration says what its operators are.
    pub states_operators: bool,
}

impl PluginSettings {
    /// The part that can be held against a component without compiling it.
    pub fn terms(&self) -> Terms<'_> {
        let states_operators = self.operators.says_anything();
        Terms { name: &self.name, grants: &self.grants, wasi: self.wasi, states_operators }
    }
}

/// Where the manifest of a plain component comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statements {
    /// From its exports, and from what `latch.toml` says of them.
    Stated(BTreeMap<String, OperatorStatement>),
    /// From what was kept with it when a job pinned it.
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

/// A component that holds what its world demands.
pub struct Plugin {
    /// Its name in `latch.toml`.
    pub name: String,
    /// SHA-256 of the component; of a plain one, together with what was made of its exports.
    pub digest: Hash,
    /// Its world.
    pub kind: PluginKind,
    /// What it says of itself.
    pub manifest: Manifest,
    /// Whether it can be asked about calls in doubt.
    pub reconcile: bool,
    /// Whether it can check its recorded effects.
    pub verify: bool,
    /// Whether it can undo its effects.
    pub compensate: bool,
    /// Whether it knows nothing of Latchwork: its functions are its operators.
    pub is_plain: bool,
    /// What a job pins of it beside its bytes: what was made of its exports.
    pub(crate) seal: Option<Vec<u8>>,
    /// What it imports, as the component names it.
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
    /// The operator of that name, if this plugin serves it.
    pub fn operator(&self, operator: &str) -> Option<&OperatorSpec> {
        self.manifest.operators.iter().find(|spec| spec.name.as_str() == operator)
    }

    /// Limits in force for an operator: the configuration, else its wish up to the default.
    pub fn limits(&self, operator: &str) -> Limits {
        let wanted = self.operator(operator).map_or(LimitsWanted::default(), |spec| spec.limits);
        limits(&self.settings.limits, wanted)
    }

    /// Imports that its world does not have, or its grants do not open, and what to use instead.
    pub(crate) fn foreign_imports(&self) -> Vec<(String, String)> {
        let foreign = |import: &String| {
            let instead = super::component::refuse(self.kind, import, &self.settings.grants, self.settings.wasi)?;
            Some((import.clone(), instead))
        };
        self.imports.iter().filter_map(foreign).collect()
    }

    /// The bytes that have its digest, from those of its component.
    pub(crate) fn sealed(&self, mut component: Vec<u8>) -> Vec<u8> {
        component.extend(self.seal.iter().flatten());
        component
    }

    /// What the configuration says of it.
    pub(crate) fn settings(&self) -> &PluginSettings {
        &self.settings
    }

    /// The same code under other settings; a tool only, since grants are looked at when it is called.
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

    /// What of WASI it was linked with.
    pub fn wasi(&self) -> WasiMode {
        self.settings.wasi
    }

    /// How doubt about its calls is resolved first (§5). A keyed operator whose window has
    /// passed goes to the next rung: [`Plugin::reconcile`] if it is there.
    pub fn class(&self, operator: &str) -> Class {
        match self.operator(operator) {
            Some(spec) if !spec.is_world_changing() => Class::Read,
            Some(spec) if spec.resolution.idempotent_by_key_seconds > 0 => Class::Keyed,
            Some(_) if self.reconcile => Class::Queryable,
            _ => Class::Opaque,
        }
    }

    /// Whether a value is what the operator takes (`INVALID_INPUT` otherwise).
    pub fn check_input(&self, operator: &str, value: &Value) -> Result<(), Failure> {
        let schemas = self.schemas(operator)?;
        match self.function(operator) {
            Some(function) => function.check_input(value),
            None => schemas.check_input(value),
        }
    }

    /// Whether a value is what the operator gives (`SCHEMA_VALIDATION_FAILED` otherwise).
    pub fn check_output(&self, operator: &str, value: &Value) -> Result<(), Failure> {
        let schemas = self.schemas(operator)?;
        match self.function(operator) {
            Some(function) => function.check_output(value),
            None => schemas.check_output(value),
        }
    }

    /// Run a step once, in a fresh instance. Its output is JSON that fits its schema.
    pub async fn run_step(&self, operator: &str, input: &str, limits: &Limits, calls: Box<dyn StepCalls>) -> StepEnd {
        let code = match (&self.code, self.schemas(operator)) {
            (Linked::Step(code), Ok(_)) => code,
            (Linked::Tool(_), _) => return StepEnd::not_run(self.other_kind("step")),
            (_, Err(failure)) => return StepEnd::not_run(failure),
        };
        self.step_end(operator, code.run(operator, input, limits, calls, None).await)
    }

    /// Run a step in a fresh instance, and a second time in the same one, which no worker does: how the second
    /// run ended. None: the first did not end well.
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

    /// Run a step with no limits, checks or records: the engine's own cost, for comparison.
    pub(crate) async fn run_bare(
        &self,
        operator: &str,
        input: &str,
        calls: Box<dyn StepCalls>,
    ) -> wasmtime::Result<()> {
        match &self.code {
            Linked::Step(code) => code.run_bare(operator, input, calls).await,
            Linked::Tool(_) => Err(wasmtime::Error::msg("it is a tool")),
        }
    }

    /// Call a tool once, in a fresh instance. The answer says whether the world may have changed.
    pub async fn invoke(&self, operator: &str, args: &str, call: ToolCallContext, limits: &Limits) -> ToolEnd {
        let (code, spec) = match self.tool(operator) {
            Ok(found) => found,
            Err(failure) => return not_called(failure),
        };
        let ask = Ask::Invoke { args };
        let asked = code.ask(&self.settings, operator, ask, call, rights(spec), limits).await;
        asked.into_end(limits, self.schemas.get(operator))
    }

    /// Ask the world whether the call with the context's external key happened. It may look and change nothing. Any failure is
    /// the same as [`ReconcileVerdict::Unknown`] to the ladder.
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

    /// Check a recorded change against the world. It may look and change nothing.
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

    /// Undo a committed call: the one with this external key, these arguments and this result.
    /// The context is that of the undoing, with a key of its own.
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
        // What undoing gives has no schema of its own.
        asked.into_end(limits, None)
    }

    fn schemas(&self, operator: &str) -> Result<&Schemas, Failure> {
        self.schemas.get(operator).ok_or_else(|| {
            Failure::new(Code::InvalidInput, format!("plugin {:?} serves no operator {operator:?}", self.name))
        })
    }

    /// The function of a plain component behind an operator. Its type tells more than a schema.
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

/// What an operator's declaration lets it do within its plugin's grants.
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
