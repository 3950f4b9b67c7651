//! The plugins of a configuration, by operator and by digest.
//!
//! Loading is all or nothing, and lists every problem of every plugin. Each component is kept
//! under its digest, so that a job that pinned it can go on with it when a newer one is
//! configured.

mod components;
mod source;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use latchwork_core::ids::{Hash, Operator};
use latchwork_core::manifest::{Confirmation, OWN_VERIFIER, OnIndeterminate, Pinned, PluginKind, WasiMode};
use latchwork_core::storage::KeyValue;

use crate::capability::EnvOrFile;
use crate::config::{Config, PluginConfig};
use crate::engine::{self, Engine, LoadError, Plugin, PluginSettings, Problem, Runnable, Statements};

use components::Components;

pub use components::Stored;

/// All plugins of a configuration.
pub struct Registry {
    engine: Engine,
    components: Components,
    settings: BTreeMap<String, PluginSettings>,
    plugins: Vec<Arc<Plugin>>,
    by_operator: BTreeMap<Operator, Arc<Plugin>>,
    pinned: BTreeMap<Operator, Pinned>,
    by_digest: Mutex<HashMap<Hash, Arc<Plugin>>>,
}

impl Registry {
    /// Load every plugin of the configuration, or say everything that is wrong with them.
    ///
    /// # Errors
    /// One [`LoadError`] for each plugin that was refused, in the order of the configuration.
    pub fn load(engine: Engine, config: &Config, kv: Arc<dyn KeyValue>) -> Result<Self, Vec<LoadError>> {
        let secrets = Arc::new(EnvOrFile { dir: config.state_dir.join("secrets") });
        let components = Components::at(config.state_dir.join("components"));
        let mut registry = Self {
            engine,
            components,
            settings: BTreeMap::new(),
            plugins: Vec::new(),
            by_operator: BTreeMap::new(),
            pinned: BTreeMap::new(),
            by_digest: Mutex::default(),
        };
        let mut errors = Vec::new();
        for plugin in &config.plugins {
            let settings = PluginSettings {
                name: plugin.name.clone(),
                grants: plugin.grants.clone(),
                limits: plugin.limits,
                wasi: plugin.wasi,
                config: plugin.config.clone(),
                operators: Statements::Stated(plugin.operators.clone()),
                secrets: secrets.clone(),
                kv: kv.clone(),
                servers: None,
            };
            registry.settings.insert(plugin.name.clone(), settings.clone());
            let added = registry.read(plugin, settings).and_then(|loaded| registry.add(&loaded, config, plugin));
            errors.extend(added.err());
        }
        if errors.is_empty() { Ok(registry) } else { Err(errors) }
    }

    /// Every plugin, in the order of the configuration.
    pub fn plugins(&self) -> &[Arc<Plugin>] {
        &self.plugins
    }

    /// The plugin that serves an operator.
    pub fn by_operator(&self, operator: &str) -> Option<&Arc<Plugin>> {
        self.by_operator.get(operator)
    }

    /// The plugin with a digest: a configured one, or an earlier version that a job pinned, with
    /// the present settings of the plugin of that name, but for the WASI it was pinned with.
    ///
    /// # Errors
    /// The component is not kept any more, or its plugin is not configured any more.
    pub fn by_digest(&self, digest: Hash, wasi: WasiMode) -> Result<Arc<Plugin>, LoadError> {
        if let Some(plugin) = self.digests().get(&digest) {
            return Ok(plugin.clone());
        }
        let kept = self.components.get(digest).map_err(|problem| LoadError::one(&digest.to_hex(), problem))?;
        let Some(settings) = self.settings.get(&kept.plugin) else {
            let text = format!(
                "a job pinned it with the digest {digest}, but no [[plugin]] in latch.toml has this name any more; \
                 configure it again until the job has ended"
            );
            return Err(LoadError::one(&kept.plugin, Problem::Source(text)));
        };
        // Loading takes time; two at once waste some of it and agree on the result.
        let settings = PluginSettings { wasi, operators: Statements::Sealed, ..settings.clone() };
        let plugin = self.engine.load(&kept.bytes, settings)?;
        Ok(self.digests().entry(digest).or_insert(plugin).clone())
    }

    /// Remove the kept components that are neither configured nor in `needed`; those that were
    /// removed. One that another process kept within the last hour may be about to be pinned,
    /// and stays.
    ///
    /// # Errors
    /// The folder cannot be read, or a file not be removed.
    pub fn prune(&self, needed: &BTreeSet<Hash>) -> std::io::Result<Vec<Stored>> {
        let configured: BTreeSet<Hash> = self.plugins.iter().map(|plugin| plugin.digest).collect();
        self.components.prune(|digest| configured.contains(&digest) || needed.contains(&digest))
    }

    /// The operator table that a job pins when it is accepted.
    pub fn pin(&self) -> &BTreeMap<Operator, Pinned> {
        &self.pinned
    }

    fn digests(&self) -> std::sync::MutexGuard<'_, HashMap<Hash, Arc<Plugin>>> {
        self.by_digest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Find, check and load one plugin, and keep its component.
    fn read(&self, config: &PluginConfig, settings: PluginSettings) -> Result<Arc<Plugin>, LoadError> {
        let refuse = |problem| LoadError::one(&config.name, problem);
        let bytes = source::read(&config.source).map_err(refuse)?;
        let found = Hash::of(&[&bytes]);
        if let Some(expected) = config.digest.filter(|expected| *expected != found) {
            return Err(refuse(Problem::Digest { expected, found }));
        }
        source::prepare_dirs(&config.grants.dirs)
            .map_err(|problems| LoadError { plugin: config.name.clone(), problems })?;
        let plugin = self.engine.load(&bytes, settings)?;
        self.components.keep(&config.name, plugin.digest, &plugin.sealed(bytes)).map_err(refuse)?;
        Ok(plugin)
    }

    fn add(&mut self, plugin: &Arc<Plugin>, config: &Config, configured: &PluginConfig) -> Result<(), LoadError> {
        let on_indeterminate = on_indeterminate(config, configured);
        let mut problems = Vec::new();
        if plugin.kind == PluginKind::Step && (configured.verifier.is_some() || configured.confirmation.is_some()) {
            problems.push(Problem::StepConfirmed);
        }
        for spec in &plugin.manifest.operators {
            if let Some(other) = self.by_operator.get(spec.name.as_str()) {
                let (operator, other) = (spec.name.to_string(), other.name.clone());
                problems.push(Problem::DuplicateOperator { operator, other });
                continue;
            }
            self.by_operator.insert(spec.name.clone(), plugin.clone());
            let pinned = Pinned {
                plugin: plugin.name.clone(),
                version: plugin.manifest.version.clone(),
                digest: plugin.digest,
                kind: plugin.kind,
                effects: spec.effects.clone(),
                determinism: spec.determinism,
                class: plugin.class(spec.name.as_str()),
                resolution: spec.resolution,
                reconcile: plugin.reconcile,
                compensate: plugin.compensate,
                on_indeterminate,
                verifier: verifier(plugin, configured).filter(|_| spec.is_world_changing()),
                confirmation: match plugin.kind {
                    PluginKind::Tool if spec.is_world_changing() => confirmation(config, configured),
                    _ => Confirmation::default(),
                },
                outcome_type: spec.outcome_type.clone(),
                outcome_status: spec.outcome_status.clone(),
                retry: configured.retry.clone(),
                limits: plugin.limits(spec.name.as_str()),
                wasi: plugin.wasi(),
            };
            self.pinned.insert(spec.name.clone(), pinned);
        }
        self.digests().insert(plugin.digest, plugin.clone());
        self.plugins.push(plugin.clone());
        if problems.is_empty() { Ok(()) } else { Err(LoadError { plugin: plugin.name.clone(), problems }) }
    }
}

impl engine::Components for Registry {
    fn by_digest(&self, digest: Hash, wasi: WasiMode) -> Result<Arc<dyn Runnable>, String> {
        match Registry::by_digest(self, digest, wasi) {
            Ok(plugin) => Ok(plugin),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// The components that are kept in a state directory, whoever needs them.
///
/// # Errors
/// The folder cannot be read.
pub fn kept(state_dir: &std::path::Path) -> std::io::Result<Vec<Stored>> {
    Components::at(state_dir.join("components")).list()
}

/// A plugin may only tighten: waiting for a person is stricter than giving a call up.
fn on_indeterminate(config: &Config, plugin: &PluginConfig) -> OnIndeterminate {
    match (config.on_indeterminate, plugin.on_indeterminate) {
        (OnIndeterminate::Fail, None | Some(OnIndeterminate::Fail)) => OnIndeterminate::Fail,
        _ => OnIndeterminate::Park,
    }
}

/// Who looks at what a tool changed: the verifier that its table names, else its own export.
pub(crate) fn verifier(plugin: &Plugin, configured: &PluginConfig) -> Option<String> {
    let named = configured.verifier.as_ref().map(|verifier| verifier.name.clone());
    let own = plugin.verify.then(|| OWN_VERIFIER.to_owned());
    named.or(own).filter(|_| plugin.kind == PluginKind::Tool)
}

/// What follows where that is not as it was recorded.
pub(crate) fn confirmation(config: &Config, configured: &PluginConfig) -> Confirmation {
    configured.confirmation.unwrap_or(config.confirmation)
}
