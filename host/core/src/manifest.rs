//! What a plugin says of itself, and what a job remembers of it.

use serde::{Deserialize, Serialize};

use crate::ids::{Hash, Operator};
use crate::plan::RetrySpec;

/// What an operator may do to the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Looks and changes nothing.
    ReadOnly,
    /// Makes a value for the user; always covered.
    ProduceOutcome,
    /// Changes a system of the operator's own house.
    InternalWrite,
    /// Changes somebody else's system.
    ExternalWrite,
    /// Sends something to somebody.
    ExternalSend,
}

impl Effect {
    /// All effects, as a plan may name them.
    pub const ALL: [Effect; 5] =
        [Effect::ReadOnly, Effect::ProduceOutcome, Effect::InternalWrite, Effect::ExternalWrite, Effect::ExternalSend];

    /// Whether it changes the world.
    pub fn is_world_changing(self) -> bool {
        matches!(self, Effect::InternalWrite | Effect::ExternalWrite | Effect::ExternalSend)
    }
    /// Whether it leaves the house.
    pub fn is_external(self) -> bool {
        matches!(self, Effect::ExternalWrite | Effect::ExternalSend)
    }
    /// The word used in plans and manifests.
    pub fn as_str(self) -> &'static str {
        match self {
            Effect::ReadOnly => "read_only",
            Effect::ProduceOutcome => "produce_outcome",
            Effect::InternalWrite => "internal_write",
            Effect::ExternalWrite => "external_write",
            Effect::ExternalSend => "external_send",
        }
    }
}

/// How repeatable an operator is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Determinism {
    /// Byte-identical for equal input.
    Pure,
    /// A model.
    Stable,
    /// The world.
    External,
}

/// Which world a component belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PluginKind {
    /// Deterministic code.
    Step,
    /// Code that touches the world.
    Tool,
}

/// What of WASI a step plugin may import.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WasiMode {
    /// Nothing.
    #[default]
    None,
    /// WASI 0.2 whose every answer follows from the step's own history.
    Virtual,
}

/// How doubt about a call is resolved (§5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Not world-changing: execute again.
    Read,
    /// The downstream dedupes on the external key.
    Keyed,
    /// The tool exports `reconcile`.
    Queryable,
    /// Nobody can tell.
    Opaque,
}

/// How calls in doubt are resolved, as far as the operator declares it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resolution {
    /// The downstream dedupes on the external key for so many seconds; 0: it does not.
    #[serde(default)]
    pub idempotent_by_key_seconds: u32,
    /// How long after a call ended its effect may still appear, in milliseconds.
    #[serde(default)]
    pub settling_ms: u32,
}

/// Limits that an operator wants; the configuration decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitsWanted {
    /// Linear memory in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u32>,
    /// Wall clock in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u32>,
    /// Answer in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_bytes: Option<u32>,
}

/// One operator as its plugin describes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperatorSpec {
    /// `Noun.Verb`.
    pub name: Operator,
    /// One sentence.
    pub description: String,
    /// JSON Schema of what it takes: JSON text.
    pub input_schema: String,
    /// JSON Schema of what it gives: JSON text.
    pub output_schema: String,
    /// What it may do to the world.
    pub effects: Vec<Effect>,
    /// How repeatable it is.
    pub determinism: Determinism,
    /// `Draft.Email`, where it produces an outcome.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome_type: Option<String>,
    /// `draft` or `final`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome_status: Option<String>,
    /// How doubt is resolved.
    #[serde(default)]
    pub resolution: Resolution,
    /// Limits wanted.
    #[serde(default)]
    pub limits: LimitsWanted,
}

impl OperatorSpec {
    /// Whether it may change the world.
    pub fn is_world_changing(&self) -> bool {
        self.effects.iter().any(|effect| effect.is_world_changing())
    }
}

/// What `describe` answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Semantic version.
    pub version: String,
    /// The operators it serves.
    pub operators: Vec<OperatorSpec>,
}

/// Limits of one try, in force (configuration over wishes).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Linear memory in bytes, all memories of the instance together.
    pub memory_bytes: u64,
    /// Elements of all tables together.
    pub table_elements: u32,
    /// Fuel for one try, instantiation not counted.
    pub fuel: u64,
    /// Wall clock of one try in milliseconds.
    pub timeout_ms: u32,
    /// Bytes of an answer.
    pub output_bytes: u32,
    /// Host calls of one try.
    pub host_calls: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory_bytes: 64 << 20,
            table_elements: 100_000,
            fuel: 1_000_000_000,
            timeout_ms: 30_000,
            output_bytes: 1 << 20,
            host_calls: 10_000,
        }
    }
}

/// What a job pins of an operator it can reach, when it is accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pinned {
    /// The plugin's name in `latch.toml`.
    pub plugin: String,
    /// The plugin's version.
    pub version: String,
    /// SHA-256 of the component.
    pub digest: Hash,
    /// Its world.
    pub kind: PluginKind,
    /// What it may do to the world.
    pub effects: Vec<Effect>,
    /// How repeatable it is.
    pub determinism: Determinism,
    /// How doubt about its calls is resolved.
    pub class: Class,
    /// How doubt is resolved, in numbers.
    pub resolution: Resolution,
    /// Whether its plugin can be asked whether a call happened.
    #[serde(default, skip_serializing_if = "is_false")]
    pub reconcile: bool,
    /// Whether its plugin exports `compensate`: it can undo its own calls.
    #[serde(default, skip_serializing_if = "is_false")]
    pub compensate: bool,
    /// What happens to a call in doubt that nobody can resolve.
    pub on_indeterminate: OnIndeterminate,
    /// Who looks at its recorded effects when a job is resumed: [`OWN_VERIFIER`], or one of the host's by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verifier: Option<String>,
    /// What follows where one of them is not as it was recorded.
    #[serde(default, skip_serializing_if = "Confirmation::is_strict")]
    pub confirmation: Confirmation,
    /// Type of the outcome it produces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome_type: Option<String>,
    /// `draft` or `final`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome_status: Option<String>,
    /// Retry overrides of the plugin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<RetrySpec>,
    /// Limits in force.
    pub limits: Limits,
    /// What of WASI it is given.
    #[serde(default, skip_serializing_if = "WasiMode::is_none")]
    pub wasi: WasiMode,
    /// Stands for the grants and settings of a tool's plugin when the job was accepted. The job goes by those of now: this
    /// says whether they are others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<Hash>,
}

impl Pinned {
    /// Whether it may change the world.
    pub fn is_world_changing(&self) -> bool {
        self.effects.iter().any(|effect| effect.is_world_changing())
    }
}

/// The verifier of a plugin that exports `verify` and names no other.
pub const OWN_VERIFIER: &str = "verify";

/// What follows where a recorded effect is not as it was recorded (§11).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Confirmation {
    /// The job ends, for good.
    #[default]
    Strict,
    /// It is counted, and the job goes on.
    Warn,
    /// The job waits for a person.
    HumanInLoop,
}

impl Confirmation {
    /// Every one.
    pub const ALL: [Confirmation; 3] = [Confirmation::Strict, Confirmation::Warn, Confirmation::HumanInLoop];

    /// Whether it is the default.
    pub fn is_strict(&self) -> bool {
        *self == Confirmation::Strict
    }
    /// The word of configuration and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Confirmation::Strict => "strict",
            Confirmation::Warn => "warn",
            Confirmation::HumanInLoop => "human_in_loop",
        }
    }
}

/// The last rung of the resolution ladder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnIndeterminate {
    /// Wait for a person.
    #[default]
    Park,
    /// Record `INVOCATION_LOST`.
    Fail,
}

impl WasiMode {
    fn is_none(&self) -> bool {
        *self == WasiMode::None
    }
}

fn is_false(value: &bool) -> bool {
    !*value
}
