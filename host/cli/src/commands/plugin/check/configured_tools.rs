//! Declarations of the tools in the configuration.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use latchwork::config::{Config, PluginConfig};
use latchwork_core::model::manifest::PluginKind;
use latchwork_engine::{Engine, Plugin};
use latchwork_tooling::build::component_of;
use latchwork_tooling::check::ToolDeclaration;

use crate::files::source;
use crate::plugins::catalog;

/// The tools of a configuration. They are loaded when a declaration is needed for the first time, because a plugin that is
/// not compiled yet takes seconds.
pub(super) struct ConfiguredTools<'a> {
    engine: &'a Engine,
    config: &'a Config,
    declarations: OnceLock<BTreeMap<String, ToolDeclaration>>,
}

impl<'a> ConfiguredTools<'a> {
    pub(super) fn new(engine: &'a Engine, config: &'a Config) -> Self {
        Self { engine, config, declarations: OnceLock::new() }
    }

    /// Returns the declaration of the configured tool that serves an operator.
    pub(super) fn declaration(&self, operator: &str) -> Option<ToolDeclaration> {
        self.declarations.get_or_init(|| self.load()).get(operator).cloned()
    }

    /// Loads every configured tool. A plugin that cannot be loaded is left out: other commands report it.
    fn load(&self) -> BTreeMap<String, ToolDeclaration> {
        let mut declarations = BTreeMap::new();
        for entry in self.config.plugins() {
            let Some(plugin) = self.load_plugin(entry) else { continue };
            if plugin.kind == PluginKind::Tool {
                declarations.extend(plugin.manifest.operators.iter().map(|spec| {
                    let declaration = ToolDeclaration { determinism: spec.determinism, effects: spec.effects.clone() };
                    (spec.name.to_string(), declaration)
                }));
            }
        }
        declarations
    }

    fn load_plugin(&self, entry: &PluginConfig) -> Option<Arc<Plugin>> {
        let bytes = source::file(&component_of(&entry.source)?).ok()?;
        let load = || self.engine.load(&bytes, catalog::settings(self.config, entry.clone()));
        tokio::task::block_in_place(load).ok()
    }
}
