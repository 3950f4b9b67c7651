//! Components of a directory, by the SHA-256 of their bytes. Loading them needs no configuration and no
//! database.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use latchwork_core::memory::{ManualClock, Memory};
use latchwork_core::model::ids::Hash;
use latchwork_core::model::manifest::WasiMode;
use latchwork_engine::capability::Secrets;
use latchwork_engine::capability::grants::Grants;
use latchwork_engine::capability::settings::{LimitsConfig, ManifestSource, PluginSettings};
use latchwork_engine::{Engine, PinnedComponents, Plugin, Runnable};

/// Every `.wasm` file of a directory and its subdirectories.
pub struct ComponentDirectory {
    engine: Engine,
    files: BTreeMap<Hash, PathBuf>,
    loaded: Mutex<HashMap<Hash, Arc<Plugin>>>,
}

impl ComponentDirectory {
    /// Reads a directory and hashes its components.
    ///
    /// # Errors
    /// A file or directory cannot be read.
    pub fn open(engine: Engine, dir: &Path) -> io::Result<Self> {
        let mut files = BTreeMap::new();
        let mut folders = vec![dir.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder)? {
                let entry = entry?;
                let path = entry.path();
                // A symbolic link to a directory is not followed, because the link may form a cycle.
                if entry.file_type()?.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "wasm") && path.is_file() {
                    // A pipe or a device with this extension is skipped, because reading it would block.
                    files.insert(Hash::of(&[&std::fs::read(&path)?]), path);
                }
            }
        }
        Ok(Self { engine, files, loaded: Mutex::default() })
    }

    /// Returns true if the directory contains a component with this digest.
    pub fn has(&self, digest: Hash) -> bool {
        self.files.contains_key(&digest)
    }
}

impl PinnedComponents for ComponentDirectory {
    fn by_digest(&self, digest: Hash, wasi: WasiMode) -> Result<Arc<dyn Runnable>, String> {
        let loaded = || self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(plugin) = loaded().get(&digest) {
            return Ok(plugin.clone());
        }
        let path = self.files.get(&digest).ok_or_else(|| format!("no component has the digest {digest}"))?;
        let bytes = std::fs::read(path).map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
        if Hash::of(&[&bytes]) != digest {
            return Err(format!("{} changed while it was being read", path.display()));
        }
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let settings = PluginSettings { wasi, operators: ManifestSource::Sealed, ..jobless_step_settings(&name) };
        let plugin = self.engine.load(&bytes, settings).map_err(|error| error.to_string())?;
        loaded().insert(digest, plugin.clone());
        Ok(plugin)
    }
}

/// Plugin settings for a step that runs without a job.
pub fn jobless_step_settings(name: &str) -> PluginSettings {
    PluginSettings {
        name: name.to_owned(),
        grants: Grants::default(),
        limits: LimitsConfig::default(),
        wasi: WasiMode::None,
        config: BTreeMap::new(),
        operators: ManifestSource::default(),
        secrets: Arc::new(NoSecrets),
        kv: Arc::new(Memory::new(Arc::new(ManualClock::default()), 0)),
        http_stub: None,
        scratch: None,
        interruption: None,
    }
}

/// Source of secrets that contains no secret. Only step plugins are run. Step plugins have no access to secrets.
struct NoSecrets;

impl Secrets for NoSecrets {
    fn value(&self, _name: &str) -> Option<String> {
        None
    }
}
