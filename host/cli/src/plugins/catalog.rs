//! Loads plugins without a database, for commands that inspect plugins and call none of them. These commands write only
//! compiled code, to the cache.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use latchwork::config::{Config, PluginConfig};
use latchwork::registry::{ComponentStorage, Registry, Survey, default_secrets};
use latchwork_core::memory::{ManualClock, Memory};
use latchwork_engine::capability::settings::{ManifestSource, PluginSettings};
use latchwork_engine::{CompilationListener, Engine, EngineError, EngineOptions, PoolSize};
use latchwork_tooling::inspect;

use crate::error::plugins_not_loaded;
use crate::open;
use crate::session::Session;

/// Returns an engine that uses the configured cache.
pub(crate) fn engine(session: &Session, config: &Config) -> Result<Engine, EngineError> {
    engine_with_cache(session, config.cache_dir().map(Path::to_owned), config.cache_secret_dir().map(Path::to_owned))
}

/// Returns an engine that stores no compiled code.
pub(crate) fn engine_without_cache(session: &Session) -> Result<Engine, EngineError> {
    engine_with_cache(session, None, None)
}

/// Returns an engine that announces compilations on stderr. Without a directory, compiled code is not stored.
fn engine_with_cache(
    session: &Session,
    cache_dir: Option<PathBuf>,
    cache_secret_dir: Option<PathBuf>,
) -> Result<Engine, EngineError> {
    let on_compile = CompilationListener::new(session.compilation_lines());
    let (machine, pool_size) = (session.machine().clone(), PoolSize::Small);
    Engine::new(EngineOptions {
        cache_dir,
        cache_secret_dir,
        explain: inspect::EXPLAIN,
        on_compile,
        pool_size,
        machine,
    })
}

/// Loads every configured plugin. The error lists the problems of all plugins that cannot be loaded.
pub(crate) fn registry(session: &Session, config: &Config) -> anyhow::Result<Registry> {
    let registry = load_from_survey(session, config, open::survey(config))?;
    match registry.refused() {
        [] => Ok(registry),
        errors => Err(plugins_not_loaded(errors).into()),
    }
}

/// Loads the plugins that the survey did not refuse. The registry keeps the reason for each refusal.
pub(crate) fn load_from_survey(session: &Session, config: &Config, survey: Survey) -> Result<Registry, EngineError> {
    let engine = engine(session, config)?;
    // Compilation blocks this thread; other tasks run on other threads.
    let load = || {
        let secrets = default_secrets(config);
        Registry::load_surveyed(engine, config, discarded_kv(), survey, ComponentStorage::No, vec![], secrets)
    };
    Ok(tokio::task::block_in_place(load))
}

/// Returns the settings with which the plugin would be loaded.
pub(crate) fn settings(config: &Config, plugin: PluginConfig) -> PluginSettings {
    PluginSettings {
        name: plugin.name,
        grants: plugin.grants,
        limits: plugin.limits,
        wasi: plugin.wasi,
        config: plugin.config,
        operators: ManifestSource::Overrides(plugin.operators),
        secrets: default_secrets(config),
        kv: discarded_kv(),
        http_stub: None,
        scratch: None,
        interruption: None,
    }
}

/// Returns an in-memory key-value map. The map stays empty, because describing a plugin calls no import.
fn discarded_kv() -> Arc<Memory> {
    Arc::new(Memory::new(Arc::new(ManualClock::default()), 0))
}
