//! Inspection result of a component file.

use std::path::Path;
use std::sync::Arc;

use latchwork::config::{Config, PluginConfig};
use latchwork_core::model::ids::Hash;
use latchwork_core::model::manifest::WasiMode;
use latchwork_engine::{LoadError, Plugin};
use latchwork_tooling::inspect::{ComponentInfo, ExternItem, InterfaceDifference, Reachability};

use crate::plugins::effect_verifier::EffectVerifier;

/// Inspection result of a component file.
pub(super) struct Inspection<'a> {
    pub(super) file: &'a Path,
    pub(super) bytes: usize,
    pub(super) digest: Hash,
    pub(super) anatomy: &'a ComponentInfo,
    /// Imports, each with the path by which the code reaches it.
    pub(super) imports: Vec<(ExternItem, Reachability)>,
    pub(super) config: &'a Config,
    pub(super) configured: Option<&'a PluginConfig>,
    /// Configuration entry that the inspection assumes: the component's entry in `latch.toml` or, without such an
    /// entry, one that grants everything the component needs.
    pub(super) judged: &'a PluginConfig,
    /// Differences between the component and its nearest world, under the settings of `judged`. The nearest world is
    /// the world of steps or of tools that needs the fewest changes.
    pub(super) difference: Vec<InterfaceDifference>,
    /// Result of loading the component, or `None` if loading was not tried.
    pub(super) loaded: Option<Result<Arc<Plugin>, LoadError>>,
    pub(super) confirmed: EffectVerifier,
}

impl Inspection<'_> {
    pub(super) fn plugin(&self) -> Option<&Plugin> {
        self.loaded.as_ref()?.as_deref().ok()
    }

    pub(super) fn problems(&self) -> &[latchwork_engine::PluginProblem] {
        match &self.loaded {
            Some(Err(error)) => &error.problems,
            _ => &[],
        }
    }

    pub(super) fn has_wasi(&self) -> bool {
        self.judged.wasi == WasiMode::Virtual
    }
}
