//! The plugins of a configuration, by operator and by digest.
//!
//! A plugin that cannot be loaded is left out with its reasons, and the others are loaded. Each component is kept
//! under its digest, so that a job that pinned it can go on with it when a newer one is configured.
//!
//! * `survey` refuses what can be refused without compiling.

mod components;
mod source;
mod survey;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use latchwork_core::ids::{Hash, Operator};
use latchwork_core::manifest::{Confirmation, OWN_VERIFIER, OnIndeterminate, Pinned, PluginKind, WasiMode};
use latchwork_core::plan::Plan;
use latchwork_core::storage::KeyValue;

use crate::capability::EnvOrFile;
use crate::config::{Config, PluginConfig};
use crate::engine::{self, Engine, LoadError, Plugin, PluginSettings, Problem, Runnable, Statements};

use components::Components;

pub use components::{Damaged, Stored};
pub use survey::Survey;

/// Whether components are kept, and granted folders made, as they are loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// Jobs may pin them from now on, and call them.
    Yes,
    /// They are looked at: nothing is written.
    No,
}

/// All plugins of a configuration.
pub struct Registry {
    engine: Engine,
    components: Components,
    settings: BTreeMap<String, PluginSettings>,
    plugins: Vec<Arc<Plugin>>,
    refused: Vec<LoadError>,
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
        let registry = Self::load_surveyed(engine, config, kv, Survey::of(config), Kept::Yes);
        if registry.refused.is_empty() { Ok(registry) } else { Err(registry.refused) }
    }

    /// Load the plugins that a first look did not refuse. Those that cannot be loaded are in [`Registry::refused`].
    pub fn load_surveyed(engine: Engine, config: &Config, kv: Arc<dyn KeyValue>, survey: Survey, kept: Kept) -> Self {
        let secrets = Arc::new(EnvOrFile { dir: config.state_dir.join("secrets") });
        let components = Components::at(config.state_dir.join("components"));
        let mut registry = Self {
            engine,
            components,
            settings: BTreeMap::new(),
            plugins: Vec::new(),
            refused: Vec::new(),
            by_operator: BTreeMap::new(),
            pinned: BTreeMap::new(),
            by_digest: Mutex::default(),
        };
        let is_new = |seen: &survey::Seen| !registry.engine.is_compiled(&seen.bytes);
        let mut left = survey.seen.iter().flatten().filter(|seen| is_new(seen)).count();
        for (plugin, seen) in config.plugins.iter().zip(survey.seen) {
            if let Ok(seen) = &seen
                && !registry.engine.is_compiled(&seen.bytes)
            {
                left = left.saturating_sub(1);
                registry.engine.announce(&plugin.name, &seen.bytes, left);
            }
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
            // Of a refused plugin too: a job may have pinned an earlier component of it.
            registry.settings.insert(plugin.name.clone(), settings.clone());
            let loaded = seen.and_then(|seen| registry.read(plugin, seen.bytes, settings, kept));
            let added = loaded.and_then(|loaded| registry.add(&loaded, config, plugin));
            registry.refused.extend(added.err());
        }
        registry
    }

    /// The plugins that could not be loaded, with every reason, in the order of the configuration.
    pub fn refused(&self) -> &[LoadError] {
        &self.refused
    }

    /// The first operator of a plan that a step plugin serves, where plugins are refused: a step may call any operator,
    /// so its job pins all of them.
    pub fn lacking<'p>(&self, plan: &'p Plan) -> Option<&'p Operator> {
        let is_step = |name: &&Operator| self.pinned.get(*name).is_some_and(|pinned| pinned.kind == PluginKind::Step);
        plan.steps.iter().map(|step| &step.name).find(is_step).filter(|_| !self.refused.is_empty())
    }

    /// Every plugin, in the order of the configuration.
    pub fn plugins(&self) -> &[Arc<Plugin>] {
        &self.plugins
    }

    /// The plugin that serves an operator; of two that would, the first, and no job can pin the operator.
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
        if !self.engine.is_compiled(&kept.bytes) {
            self.engine.announce(&kept.plugin, &kept.bytes, 0);
        }
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

    /// Load one plugin, and keep its component where jobs are to pin it.
    fn read(
        &self,
        config: &PluginConfig,
        bytes: Vec<u8>,
        settings: PluginSettings,
        kept: Kept,
    ) -> Result<Arc<Plugin>, LoadError> {
        if kept == Kept::No {
            return self.engine.load(&bytes, settings);
        }
        source::prepare_dirs(&config.grants.dirs)
            .map_err(|problems| LoadError { plugin: config.name.clone(), problems })?;
        let plugin = self.engine.load(&bytes, settings)?;
        let kept = self.components.keep(&config.name, plugin.digest, &plugin.sealed(bytes));
        kept.map_err(|problem| LoadError::one(&config.name, problem))?;
        Ok(plugin)
    }

    /// Takes a plugin in, or none of it. An operator that another plugin serves already is served by neither.
    fn add(&mut self, plugin: &Arc<Plugin>, config: &Config, configured: &PluginConfig) -> Result<(), LoadError> {
        let on_indeterminate = on_indeterminate(config, configured);
        let mut problems = Vec::new();
        if plugin.kind == PluginKind::Step && survey::is_confirmed(configured) {
            problems.push(Problem::StepConfirmed);
        }
        for spec in &plugin.manifest.operators {
            let other = self.by_operator.get(spec.name.as_str()).map(|other| other.name.clone());
            let Some(other) = other else { continue };
            self.pinned.remove(&spec.name);
            problems.push(Problem::DuplicateOperator { operator: spec.name.to_string(), other });
        }
        if !problems.is_empty() {
            return Err(LoadError { plugin: plugin.name.clone(), problems });
        }
        for spec in &plugin.manifest.operators {
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
                settings: (plugin.kind == PluginKind::Tool)
                    .then(|| crate::changed::fingerprint(&config.root, configured)),
            };
            self.pinned.insert(spec.name.clone(), pinned);
        }
        self.digests().insert(plugin.digest, plugin.clone());
        self.plugins.push(plugin.clone());
        Ok(())
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

/// The digest of the component that a source holds, where it is not the pinned one. Of a plain component more than the
/// bytes is pinned: what was kept then tells.
pub(crate) fn other_component(state_dir: &std::path::Path, source: &std::path::Path, pinned: Hash) -> Option<Hash> {
    let bytes = source::read(source).ok()?;
    let found = Hash::of(&[&bytes]);
    let kept = || Components::at(state_dir.join("components")).get(pinned);
    let is_same = found == pinned || kept().is_ok_and(|kept| kept.bytes.starts_with(&bytes));
    (!is_same).then_some(found)
}

/// Counts the components of a state directory that have the digests that name them, and lists the others.
///
/// # Errors
/// The folder cannot be read.
pub fn damaged(state_dir: &std::path::Path) -> std::io::Result<(usize, Vec<Damaged>)> {
    Components::at(state_dir.join("components")).damaged()
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
