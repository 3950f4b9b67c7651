//! Settings of a plugin and the sources of its capabilities.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use latchwork_core::model::bounds;
use latchwork_core::model::ids::Operator;
use latchwork_core::model::manifest::{Determinism, EffectKind, WasiMode};
use latchwork_core::storage::KeyValue;

use crate::capability::grants::Grants;
use crate::capability::scratch_folders::ScratchFolders;
use crate::capability::{HttpStub, Interruption, Secrets};

/// Configured limits of a plugin. A configured limit takes precedence over every other value. If a limit is not
/// configured, the plugin's requested limit applies, but at most the default. If the plugin requests no limit, the
/// default applies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LimitsConfig {
    /// Maximum linear memory in bytes.
    pub memory_bytes: Option<u64>,
    /// Maximum fuel of one try.
    pub fuel: Option<u64>,
    /// Maximum wall-clock time of one try, in milliseconds.
    pub timeout_ms: Option<u32>,
    /// Maximum size of an answer, in bytes.
    pub output_bytes: Option<u32>,
    /// Maximum number of host calls in one try.
    pub host_calls: Option<u32>,
    /// Maximum size of the component in bytes.
    pub component_bytes: Option<u64>,
}

impl LimitsConfig {
    /// Returns the maximum size of the component in bytes.
    pub fn max_component_bytes(&self) -> u64 {
        self.component_bytes.unwrap_or(bounds::COMPONENT_BYTES as u64)
    }
}

/// Declaration about one function or one interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OperatorOverride {
    /// `false`: the function is not offered as an operator.
    LeftOut,
    /// A table of declarations.
    Stated(OperatorSettings),
}

/// Declarations in a table. A value that is `None` is derived from the component.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OperatorSettings {
    /// Name of the operator, instead of the derived name.
    pub name: Option<Operator>,
    /// Description in one sentence.
    pub description: Option<String>,
    /// Effects that a call may have on the outside world.
    pub effects: Option<Vec<EffectKind>>,
    /// Determinism of the operator: `pure`, `stable` or `external`.
    pub determinism: Option<Determinism>,
    /// Type of the outcome that the operator produces.
    pub outcome_type: Option<String>,
    /// Status of the outcome: `draft` or `final`.
    pub outcome_status: Option<String>,
}

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
    /// Source of the manifest of an untyped component, which does not describe itself.
    pub operators: ManifestSource,
    /// Source of the values of secrets.
    pub secrets: Arc<dyn Secrets>,
    /// Storage of the key-value map behind `latchwork:plugin/kv`.
    pub kv: Arc<dyn KeyValue>,
    /// Stub that answers in place of all servers. `None`: requests go to the real servers.
    pub http_stub: Option<Arc<dyn HttpStub>>,
    /// Set if the granted folders exist for one run only. `None`, as in jobs: files are flushed to the disk when the tool
    /// asks for it.
    pub scratch: Option<Arc<ScratchFolders>>,
    /// Simulated death of the host that ends a call of the tool. `None`, as in jobs: the host is not killed.
    pub interruption: Option<Arc<Interruption>>,
}

impl PluginSettings {
    /// Returns the part of the settings that can be checked without compiling the component.
    pub fn load_settings(&self) -> LoadSettings<'_> {
        let states_operators = self.operators.has_overrides();
        LoadSettings {
            name: &self.name,
            grants: &self.grants,
            wasi: self.wasi,
            has_operator_overrides: states_operators,
            component_bytes_max: self.limits.max_component_bytes(),
        }
    }
}

impl fmt::Debug for PluginSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PluginSettings").field("name", &self.name).field("grants", &self.grants).finish_non_exhaustive()
    }
}

/// Part of the configuration that decides whether a component may be loaded.
#[derive(Clone, Copy, Debug)]
pub struct LoadSettings<'a> {
    /// The plugin's name.
    pub name: &'a str,
    /// Capabilities that the plugin may use.
    pub grants: &'a Grants,
    /// WASI interfaces that a step may import.
    pub wasi: WasiMode,
    /// True if the configuration describes the plugin's operators.
    pub has_operator_overrides: bool,
    /// Maximum size of the component in bytes.
    pub component_bytes_max: u64,
}

/// Source of an untyped component's manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ManifestSource {
    /// Derived from its exports and from their settings in `latch.toml`.
    Overrides(BTreeMap<String, OperatorOverride>),
    /// Read from the sealed manifest. This manifest was stored with the component when a job pinned the component.
    Sealed,
}

impl Default for ManifestSource {
    fn default() -> Self {
        ManifestSource::Overrides(BTreeMap::new())
    }
}

impl ManifestSource {
    pub(crate) fn has_overrides(&self) -> bool {
        matches!(self, ManifestSource::Overrides(stated) if !stated.is_empty())
    }
}

/// Returns settings with these grants, without configuration and without secrets that have values.
#[cfg(test)]
pub(crate) fn settings_with(grants: Grants) -> PluginSettings {
    let clock = Arc::new(latchwork_core::memory::ManualClock::default());
    PluginSettings {
        name: "p".to_owned(),
        grants,
        limits: LimitsConfig::default(),
        wasi: WasiMode::None,
        config: BTreeMap::new(),
        operators: ManifestSource::default(),
        secrets: Arc::new(crate::capability::EnvOrFile { dir: "none".into() }),
        kv: Arc::new(latchwork_core::memory::Memory::new(clock, 0)),
        http_stub: None,
        scratch: None,
        interruption: None,
    }
}
