//! Loads plugins without a database, for commands that inspect plugins and call none of them. Only compiled
//! code is written.

use std::sync::Arc;

use latchwork_core::memory::{ManualClock, Memory};

use super::open;
use crate::capability::EnvOrFile;
use crate::config::{Config, PluginConfig};
use crate::engine::{Engine, EngineError, EngineOptions, PluginSettings, Statements};
use crate::registry::{Kept, Registry, Survey};

/// Returns an engine that uses the configured cache.
pub(super) fn engine(config: &Config) -> Result<Engine, EngineError> {
    Engine::new(EngineOptions { cache_dir: config.cache_dir.clone() })
}

/// Loads every configured plugin. If any fails, the error lists the problems of all of them.
pub(super) fn registry(config: &Config) -> anyhow::Result<Registry> {
    let registry = surveyed(config, open::survey(config))?;
    match registry.refused() {
        [] => Ok(registry),
        errors => Err(open::plugins(errors).into()),
    }
}

/// Loads the plugins that the survey did not refuse. The registry keeps the reasons for the refused ones.
pub(super) fn surveyed(config: &Config, survey: Survey) -> Result<Registry, EngineError> {
    let engine = engine(config)?;
    // Compilation blocks this thread; other tasks run on other threads.
    let load = || Registry::load_surveyed(engine, config, nowhere(), survey, Kept::No);
    Ok(tokio::task::block_in_place(load))
}

/// Returns the settings with which the plugin would be loaded.
pub(super) fn settings(config: &Config, plugin: PluginConfig) -> PluginSettings {
    PluginSettings {
        name: plugin.name,
        grants: plugin.grants,
        limits: plugin.limits,
        wasi: plugin.wasi,
        config: plugin.config,
        operators: Statements::Stated(plugin.operators),
        secrets: Arc::new(EnvOrFile { dir: config.state_dir.join("secrets") }),
        kv: nowhere(),
        servers: None,
    }
}

/// Returns an in-memory map that is discarded. Describing a plugin calls no import, so the map is never
/// written to.
fn nowhere() -> Arc<Memory> {
    Arc::new(Memory::new(Arc::new(ManualClock::default()), 0))
}
