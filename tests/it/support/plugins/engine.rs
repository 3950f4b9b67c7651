//! One engine for all tests, and the settings of plugins that it loads.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, OnceLock};

use async_trait::async_trait;

use latchwork_core::model::manifest::WasiMode;
use latchwork_core::storage::{KeyValue, StoreError};
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
        kv: Arc::new(Map::default()),
        http_stub: None,
        cut_off: None,
    }
}

struct OneSecret;

impl Secrets for OneSecret {
    fn value(&self, name: &str) -> Option<String> {
        (name == "TOKEN").then(|| "the-real-token".to_owned())
    }
}

#[derive(Default)]
pub(crate) struct Map(Mutex<HashMap<(String, String), Vec<u8>>>);

#[async_trait]
impl KeyValue for Map {
    async fn get(&self, namespace: &str, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.0.lock().unwrap().get(&(namespace.to_owned(), key.to_owned())).cloned())
    }
    async fn set(&self, namespace: &str, key: &str, value: &[u8]) -> Result<(), StoreError> {
        self.0.lock().unwrap().insert((namespace.to_owned(), key.to_owned()), value.to_owned());
        Ok(())
    }
    async fn delete(&self, namespace: &str, key: &str) -> Result<bool, StoreError> {
        Ok(self.0.lock().unwrap().remove(&(namespace.to_owned(), key.to_owned())).is_some())
    }
}
