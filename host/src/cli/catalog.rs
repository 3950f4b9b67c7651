//! Plugins without a database: for commands that look at them and call none. They write nothing beside compiled code.

use std::sync::Arc;

use latchwork_core::memory::{ManualClock, Memory};

use super::open;
use crate::capability::EnvOrFile;
use crate::config::{Config, PluginConfig};
use crate::engine::{Engine, EngineError, EngineOptions, PluginSettings, Statements};
use crate::registry::{Kept, Registry, Survey};

/// An engine with the configured cache.
pub(super) fn engine(config: &Config) -> Result<Engine, EngineError> {
    Engine::new(EngineOptions { cache_dir: config.cache_dir.clone() })
}

/// Every configured plugin; all problems of all of them otherwise.
pub(super) fn registry(config: &Config) -> anyhow::Result<Registry> {
    let registry = surveyed(config, open::survey(config))?;
    match registry.refused() {
        [] => Ok(registry),
        errors => Err(open::plugins(errors).into()),
    }
}

/// The plugins that a first look did not refuse, and the reasons why the others are not there.
pub(super) fn surveyed(config: &Config, survey: Survey) -> Result<Registry, EngineError> {
    let engine = engine(config)?;
    // Compiling keeps the thread busy; other tasks go on elsewhere.
    let load = || Registry::load_surveyed(engine, config, nowhere(), survey, Kept::No);
    Ok(tokio::task::block_in_place(load))
}

/// What a plugin would be run with.
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

/// A map that is forgotten: describing a plugin calls no import, so nobody writes to it.
fn nowhere() -> Arc<Memory> {
    Arc::new(Memory::new(Arc::new(ManualClock::default()), 0))
}
