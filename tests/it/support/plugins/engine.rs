//! One engine for all tests, and the settings of plugins that it loads.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use latchwork_core::memory::{ManualClock, Memory};
use latchwork_core::model::manifest::WasiMode;
use latchwork_engine::capability::Secrets;
use latchwork_engine::capability::grants::Grants;
use latchwork_engine::capability::settings::{LimitsConfig, ManifestSource, PluginSettings};
use latchwork_engine::{Engine, EngineOptions};
use latchwork_tooling::inspect;

/// Engine shared by all tests, because one engine must survive every fault.
pub(crate) fn engine() -> &'static Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(|| Engine::new(EngineOptions { explain: inspect::EXPLAIN, ..EngineOptions::default() }).unwrap())
}

pub(crate) fn settings(name: &str, grants: Grants, limits: LimitsConfig) -> PluginSettings {
    PluginSettings {
        name: name.to_owned(),
        grants,
        limits,
        wasi: WasiMode::None,
        config: BTreeMap::from([("from".to_owned(), "me@example.org".into())]),
        operators: ManifestSource::default(),
        secrets: Arc::new(OneSecret),
        kv: empty_maps(),
        http_stub: None,
        scratch: None,
        interruption: None,
    }
}

struct OneSecret;

impl Secrets for OneSecret {
    fn value(&self, name: &str) -> Option<String> {
        (name == "TOKEN").then(|| "the-real-token".to_owned())
    }
}

/// Returns a store of key-value maps in memory.
pub(crate) fn empty_maps() -> Arc<Memory> {
    Arc::new(Memory::new(Arc::new(ManualClock::default()), 0))
}
