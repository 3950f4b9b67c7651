//! Manifest of a plugin, and the operator data that a job pins.

use serde::{Deserialize, Serialize};

use crate::model::bounds;
use crate::model::ids::{Hash, Operator};
use crate::model::retry::RetrySpec;

/// A kind of effect that an operator may have on the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectKind {
    /// Reads from the world without changing it.
    ReadOnly,
    /// Produces a value for the user. A plan step need not declare this effect.
    ProduceOutcome,
    /// Writes to granted directories and to the key-value map.
    InternalWrite,
    /// Changes another system.
    ExternalWrite,
    /// Sends something to a recipient outside the organization.
    ExternalSend,
}

impl EffectKind {
    /// All effects that a plan may name.
    pub const ALL: [EffectKind; 5] = [
        EffectKind::ReadOnly,
        EffectKind::ProduceOutcome,
        EffectKind::InternalWrite,
        EffectKind::ExternalWrite,
        EffectKind::ExternalSend,
    ];

    /// Returns true if the effect changes the world.
    pub fn is_world_changing(self) -> bool {
        matches!(self, EffectKind::InternalWrite | EffectKind::ExternalWrite | EffectKind::ExternalSend)
    }
    /// Returns true if the effect reaches another system.
    pub fn is_external(self) -> bool {
        matches!(self, EffectKind::ExternalWrite | EffectKind::ExternalSend)
    }
    /// Returns the name used in plans and manifests.
    pub fn as_str(self) -> &'static str {
        match self {
            EffectKind::ReadOnly => "read_only",
            EffectKind::ProduceOutcome => "produce_outcome",
            EffectKind::InternalWrite => "internal_write",
            EffectKind::ExternalWrite => "external_write",
            EffectKind::ExternalSend => "external_send",
        }
    }
}

/// Degree to which an operator's output depends only on its input. A greater value is a wider class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Determinism {
    /// Gives byte-identical output for equal input.
    Pure,
    /// Asks a model. The same input may give another answer the next time.
    Stable,
    /// Gives output that depends on the outside world.
    External,
}

impl Determinism {
    /// All classes.
    pub const ALL: [Determinism; 3] = [Determinism::Pure, Determinism::Stable, Determinism::External];

    /// Returns the name of the class, as in manifests.
    pub fn as_str(self) -> &'static str {
        match self {
            Determinism::Pure => "pure",
            Determinism::Stable => "stable",
            Determinism::External => "external",
        }
    }
}

/// The WIT world that a component implements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PluginKind {
    /// Deterministic code, which cannot touch the outside world.
    Step,
    /// Code that may touch the outside world.
    Tool,
}

/// The part of WASI that a step plugin may import.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WasiMode {
    /// The plugin may import no part of WASI.
    #[default]
    None,
    /// The plugin may import WASI 0.2. The host derives every answer of WASI from the recorded history of the step.
    Virtual,
}

/// The way to resolve a call in doubt (§5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecoveryClass {
    /// The call does not change the world and is executed again.
    Read,
    /// The outside system recognizes a repeated call by the external key.
    Keyed,
    /// The tool exports `reconcile` and can be asked about an earlier call.
    Queryable,
    /// The tool cannot be asked about a call and cannot safely repeat it. Only a person can resolve the call.
    Opaque,
}

/// The operator's declarations for resolving calls in doubt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResolutionSpec {
    /// Time during which the outside system recognizes a repeated call by the external key, in seconds. 0 if the
    /// system does not recognize repeated calls.
    #[serde(default)]
    pub idempotent_by_key_seconds: u32,
    /// Time after the end of a call during which its effect may still appear, in milliseconds.
    #[serde(default)]
    pub settling_ms: u32,
}

/// Limits that an operator requests. Limits in the configuration take precedence over requested limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestedLimits {
    /// Maximum linear memory in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u32>,
    /// Maximum wall-clock time of a try in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u32>,
    /// Maximum size of an answer in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_bytes: Option<u32>,
}

/// One operator as its plugin describes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperatorSpec {
    /// Name of the operator, in the form `Noun.Verb`.
    pub name: Operator,
    /// Description in one sentence.
    pub description: String,
    /// JSON Schema of the input, as JSON text.
    pub input_schema: String,
    /// JSON Schema of the output, as JSON text.
    pub output_schema: String,
    /// Effects that the operator may have on the world.
    pub effects: Vec<EffectKind>,
    /// Degree to which the operator's output depends only on its input.
    pub determinism: Determinism,
    /// Type of the outcome that the operator produces, such as `Draft.Email`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome_type: Option<String>,
    /// Status of the outcome: `draft` or `final`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome_status: Option<String>,
    /// Declarations for resolving calls in doubt.
    #[serde(default)]
    pub resolution: ResolutionSpec,
    /// Requested limits.
    #[serde(default)]
    pub limits: RequestedLimits,
}

impl OperatorSpec {
    /// Returns an operator with one effect and default limits. It accepts and returns any JSON value, and its output
    /// depends on the outside world.
    pub fn new(name: Operator, effect: EffectKind) -> Self {
        Self {
            name,
            description: String::new(),
            input_schema: "{}".to_owned(),
            output_schema: "{}".to_owned(),
            effects: vec![effect],
            determinism: Determinism::External,
            outcome_type: None,
            outcome_status: None,
            resolution: ResolutionSpec::default(),
            limits: RequestedLimits::default(),
        }
    }

    /// Returns true if the operator may change the world.
    pub fn is_world_changing(&self) -> bool {
        self.effects.iter().any(|effect| effect.is_world_changing())
    }

    /// Returns the class of the operator. `reconcile` is true if its plugin can be asked about a call.
    pub fn recovery_class(&self, reconcile: bool) -> RecoveryClass {
        if !self.is_world_changing() {
            RecoveryClass::Read
        } else if self.resolution.idempotent_by_key_seconds > 0 {
            RecoveryClass::Keyed
        } else if reconcile {
            RecoveryClass::Queryable
        } else {
            RecoveryClass::Opaque
        }
    }
}

/// Answer of a plugin's `describe` export.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Semantic version of the plugin.
    pub version: String,
    /// Operators that the plugin serves.
    pub operators: Vec<OperatorSpec>,
}

/// Limits in force for one try. Limits in the configuration take precedence over the plugin's requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Maximum linear memory in bytes, summed over all memories of the instance.
    pub memory_bytes: u64,
    /// Maximum number of table elements, summed over all tables of the instance.
    pub table_elements: u32,
    /// Maximum fuel for one try. Instantiating the component does not count.
    pub fuel: u64,
    /// Maximum wall-clock time of one try in milliseconds.
    pub timeout_ms: u32,
    /// Maximum size of an answer in bytes.
    pub output_bytes: u32,
    /// Maximum number of host calls in one try.
    pub host_calls: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory_bytes: bounds::MEMORY_BYTES,
            table_elements: bounds::TABLE_ELEMENTS,
            fuel: bounds::FUEL,
            timeout_ms: bounds::TIMEOUT_MS,
            output_bytes: bounds::OUTPUT_BYTES,
            host_calls: bounds::HOST_CALLS,
        }
    }
}

/// Data about an operator that the job can call, pinned when the job was accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PinnedOperator {
    /// Name of the plugin in `latch.toml`.
    pub plugin: String,
    /// Version of the plugin.
    pub version: String,
    /// SHA-256 of the component.
    pub digest: Hash,
    /// WIT world of the component.
    pub kind: PluginKind,
    /// Effects that the operator may have on the world.
    pub effects: Vec<EffectKind>,
    /// Degree to which the operator's output depends only on its input.
    pub determinism: Determinism,
    /// The way to resolve the operator's calls in doubt.
    pub class: RecoveryClass,
    /// Time limits for resolving calls in doubt.
    pub resolution: ResolutionSpec,
    /// True if the plugin exports `reconcile` and can be asked whether a call happened.
    #[serde(default, skip_serializing_if = "is_false")]
    pub reconcile: bool,
    /// True if the plugin exports `compensate` and can undo its own calls.
    #[serde(default, skip_serializing_if = "is_false")]
    pub compensate: bool,
    /// Treatment of calls in doubt that cannot be resolved automatically.
    pub on_indeterminate: OnIndeterminate,
    /// Name of the verifier that checks the operator's recorded effects when a job is resumed. The name is
    /// [`OWN_VERIFIER`] or the name of a verifier of the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verifier: Option<String>,
    /// Consequence if a recorded effect does not match the current state of the outside world.
    #[serde(default, skip_serializing_if = "Confirmation::is_strict")]
    pub confirmation: Confirmation,
    /// Type of the outcome that the operator produces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome_type: Option<String>,
    /// Status of the outcome: `draft` or `final`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome_status: Option<String>,
    /// Retry overrides of the plugin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<RetrySpec>,
    /// Limits in force.
    pub limits: Limits,
    /// The part of WASI that the plugin may import.
    #[serde(default, skip_serializing_if = "WasiMode::is_none")]
    pub wasi: WasiMode,
    /// Hash of the plugin's grants and settings when the job was accepted. Set only for tools. The job uses the
    /// current grants and settings. The hash only shows whether they have changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<Hash>,
}

impl PinnedOperator {
    /// Returns true if the operator may change the world.
    pub fn is_world_changing(&self) -> bool {
        self.effects.iter().any(|effect| effect.is_world_changing())
    }
}

/// Verifier name for the plugin's own `verify` export. This verifier is used if no other verifier is configured for the
/// plugin.
pub const OWN_VERIFIER: &str = "verify";

/// Consequence if a recorded effect does not match the current state of the outside world (§11).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Confirmation {
    /// The job ends and cannot be continued.
    #[default]
    Strict,
    /// The mismatch is counted as a warning and the job continues.
    Warn,
    /// The job waits for a person's decision.
    HumanInLoop,
}

impl Confirmation {
    /// All consequences.
    pub const ALL: [Confirmation; 3] = [Confirmation::Strict, Confirmation::Warn, Confirmation::HumanInLoop];

    /// Returns true if this is the default, `Strict`.
    pub fn is_strict(&self) -> bool {
        *self == Confirmation::Strict
    }
    /// Returns the name used in the configuration and in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Confirmation::Strict => "strict",
            Confirmation::Warn => "warn",
            Confirmation::HumanInLoop => "human_in_loop",
        }
    }
}

/// The last resolution step, used for a call in doubt that cannot be resolved automatically.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnIndeterminate {
    /// Wait for a person's decision.
    #[default]
    Park,
    /// Record `INVOCATION_LOST` as the call's answer.
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
