//! Determinism classes of the tools in the configuration.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use latchwork::config::{Config, PluginConfig};
use latchwork_core::model::manifest::{Determinism, PluginKind};
use latchwork_engine::{Engine, Plugin};
use latchwork_tooling::build::component_of;

use crate::files::source;
use crate::plugins::catalog;

/// The tools of a configuration. They are loaded when a class is needed for the first time, because a plugin that is not
/// compiled yet takes seconds.
pub(super) struct ToolClasses<'a> {
    engine: &'a Engine,
    config: &'a Config,
    classes: OnceLock<BTreeMap<String, Determinism>>,
}

impl<'a> ToolClasses<'a> {
    pub(super) fn new(engine: &'a Engine, config: &'a Config) -> Self {
        Self { engine, config, classes: OnceLock::new() }
    }

    /// Returns the class of the configured tool that serves an operator.
    pub(super) fn of(&self, operator: &str) -> Option<Determinism> {
        self.classes.get_or_init(|| self.load()).get(operator).copied()
    }

    /// Loads every configured tool. A plugin that cannot be loaded is left out: other commands report it.
    fn load(&self) -> BTreeMap<String, Determinism> {
        let mut classes = BTreeMap::new();
        for entry in self.config.plugins() {
            let Some(plugin) = self.load_plugin(entry) else { continue };
            if plugin.kind == PluginKind::Tool {
                let of_operator =
                    plugin.manifest.operators.iter().map(|spec| (spec.name.to_string(), spec.determinism));
                classes.extend(of_operator);
            }
        }
        classes
    }

    fn load_plugin(&self, entry: &PluginConfig) -> Option<Arc<Plugin>> {
        let bytes = source::file(&component_of(&entry.source)?).ok()?;
        let load = || self.engine.load(&bytes, catalog::settings(self.config, entry.clone()));
        tokio::task::block_in_place(load).ok()
    }
}
