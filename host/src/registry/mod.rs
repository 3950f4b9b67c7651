//! The plugins of a configuration, by operator and by digest.
//!
//! A plugin that cannot be loaded is left out, and [`Registry::refused`] lists it with the reasons. The other plugins
//! are loaded. Each component is stored under its digest, so that a job continues with its pinned component even after
//! a newer component is configured.
//!
//! The module `survey` finds the problems that are known without compiling a plugin.
//!
//! Floors, top first: the registry · `survey` · `components`, `granted_folders`, `pins`,
//! `settings_fingerprint` · `source_places` · `host_places`, `source`.

mod components;
mod granted_folders;
mod host_places;
mod pins;
mod settings_fingerprint;
mod source;
mod source_places;
mod survey;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::runtime::{Handle, RuntimeFlavor};

use latchwork_core::model::ids::{Hash, Operator};
use latchwork_core::model::manifest::{
    Confirmation, Manifest, OWN_VERIFIER, OnIndeterminate, PinnedOperator, PluginKind, WasiMode,
};
use latchwork_core::plan::Plan;
use latchwork_core::storage::KeyValue;
use latchwork_engine::capability::settings::{ManifestSource, PluginSettings};
use latchwork_engine::capability::{EnvOrFile, Secrets};
use latchwork_engine::native::NativePlugin;
use latchwork_engine::{Engine, LoadError, PinnedComponents, Plugin, PluginProblem, Runnable};

use crate::config::{Config, PluginConfig};
use components::Components;
use pins::PluginPins;

pub use components::{DamagedComponent, StoredComponentInfo};
pub(crate) use settings_fingerprint::settings_fingerprint;
pub use survey::Survey;

/// Defines whether loading stores components and creates granted directories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComponentStorage {
    /// Components are stored, because jobs may pin them from now on.
    Yes,
    /// Nothing is written. The plugins are only inspected.
    No,
}

/// Returns the secrets of the environment and of the state directory.
pub fn default_secrets(config: &Config) -> Arc<dyn Secrets> {
    Arc::new(EnvOrFile { dir: config.secrets_dir() })
}

/// All plugins of a configuration.
pub struct Registry {
    engine: Engine,
    components: Components,
    settings: BTreeMap<String, PluginSettings>,
    plugins: Vec<Arc<Plugin>>,
    refused: Vec<LoadError>,
    by_operator: BTreeMap<Operator, Arc<Plugin>>,
    pinned: BTreeMap<Operator, PinnedOperator>,
    native: HashMap<Hash, Arc<NativePlugin>>,
    by_digest: Mutex<HashMap<Hash, Arc<Plugin>>>,
}

impl Registry {
    /// Loads every plugin of the configuration, or returns all problems.
    ///
    /// # Errors
    /// One [`LoadError`] for each refused plugin, in the order of the configuration.
    pub fn load(engine: Engine, config: &Config, kv: Arc<dyn KeyValue>) -> Result<Self, Vec<LoadError>> {
        let survey = Survey::of(config, engine.explain());
        let secrets = default_secrets(config);
        let registry = Self::load_surveyed(engine, config, kv, survey, ComponentStorage::Yes, vec![], secrets);
        if registry.refused.is_empty() { Ok(registry) } else { Err(registry.refused) }
    }

    /// Loads the native tools, then the plugins that the survey did not refuse. Plugins that cannot be loaded are
    /// listed in [`Registry::refused`].
    pub fn load_surveyed(
        engine: Engine,
        config: &Config,
        kv: Arc<dyn KeyValue>,
        survey: Survey,
        kept: ComponentStorage,
        tools: Vec<NativePlugin>,
        secrets: Arc<dyn Secrets>,
    ) -> Self {
        let components = Components::at(config.state_dir.join("components"));
        let mut registry = Self {
            engine,
            components,
            settings: BTreeMap::new(),
            plugins: Vec::new(),
            refused: Vec::new(),
            by_operator: BTreeMap::new(),
            pinned: BTreeMap::new(),
            native: HashMap::new(),
            by_digest: Mutex::default(),
        };
        for tool in tools {
            let added = registry.register_native(Arc::new(tool), config);
            registry.refused.extend(added.err());
        }
        let is_new = |seen: &survey::SurveyedPlugin| !registry.engine.is_compiled(&seen.bytes);
        let mut left = survey.plugins.iter().flatten().filter(|seen| is_new(seen)).count();
        for (plugin, seen) in config.plugins.iter().zip(survey.plugins) {
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
                operators: ManifestSource::Overrides(plugin.operators.clone()),
                secrets: secrets.clone(),
                kv: kv.clone(),
                http_stub: None,
                scratch: None,
                interruption: None,
            };
            // The settings of a refused plugin are stored too. An open job may have pinned an earlier component of this
            // plugin, and that component runs with these settings.
            registry.settings.insert(plugin.name.clone(), settings.clone());
            let loaded = seen.and_then(|seen| registry.load_plugin(plugin, seen.bytes, settings, kept));
            let added = loaded.and_then(|loaded| registry.register(&loaded, config, plugin));
            registry.refused.extend(added.err());
        }
        registry
    }

    /// Returns the plugins that could not be loaded, in the order of the configuration. Each error contains all reasons
    /// for its plugin.
    pub fn refused(&self) -> &[LoadError] {
        &self.refused
    }

    /// If any plugin is refused, returns the first operator of the plan that a step plugin serves. The host cannot
    /// accept a plan with such an operator. A step plugin may call any operator, so the job would have to pin all
    /// operators. It cannot pin the operators of a refused plugin.
    pub fn operator_needing_all_plugins<'p>(&self, plan: &'p Plan) -> Option<&'p Operator> {
        let is_step = |name: &&Operator| self.pinned.get(*name).is_some_and(|pinned| pinned.kind == PluginKind::Step);
        plan.steps.iter().map(|step| &step.name).find(is_step).filter(|_| !self.refused.is_empty())
    }

    /// Returns the loaded plugins, in the order of the configuration.
    pub fn plugins(&self) -> &[Arc<Plugin>] {
        &self.plugins
    }

    /// Returns the plugin that serves an operator. If two plugins serve the operator, returns the first plugin. Jobs
    /// cannot pin an operator that two plugins serve.
    pub fn by_operator(&self, operator: &str) -> Option<&Arc<Plugin>> {
        self.by_operator.get(operator)
    }

    /// Returns the component with this digest. The component belongs to a configured plugin, or is an earlier version
    /// that a job pinned. An earlier version gets the current settings of the plugin with the same name. Its WASI mode
    /// is `wasi`, the mode that the job pinned.
    ///
    /// # Errors
    /// The component is no longer stored, its plugin is no longer configured, or the plugin's folders cannot be
    /// granted.
    pub fn component(&self, digest: Hash, wasi: WasiMode) -> Result<Arc<Plugin>, LoadError> {
        if let Some(plugin) = self.plugins_by_digest().get(&digest) {
            return Ok(plugin.clone());
        }
        let kept = self.components.get(digest).map_err(|problem| LoadError::single(&digest.to_hex(), problem))?;
        let Some(settings) = self.settings.get(&kept.plugin) else {
            let text = format!(
                "a job pinned it with the digest {digest}, but no [[plugin]] in latch.toml has this name any more; \
                 configure it again until the job has ended"
            );
            return Err(LoadError::single(&kept.plugin, PluginProblem::Source(text)));
        };
        if let Some(refused) = self.refused_folders(&kept.plugin) {
            return Err(refused);
        }
        // Loading takes time, so the lock is not held meanwhile. Two concurrent calls may both load the plugin. Both
        // then return the plugin that was inserted first.
        let settings = PluginSettings { wasi, operators: ManifestSource::Sealed, ..settings.clone() };
        if !self.engine.is_compiled(&kept.bytes) {
            self.engine.announce(&kept.plugin, &kept.bytes, 0);
        }
        let plugin = without_stopping_others(|| self.engine.load(&kept.bytes, settings))?;
        Ok(self.plugins_by_digest().entry(digest).or_insert(plugin).clone())
    }

    /// Returns the reasons why folders of the plugin cannot be granted. If the configured component does not get a
    /// folder, an earlier component of the plugin does not get the folder either.
    fn refused_folders(&self, plugin: &str) -> Option<LoadError> {
        let of_plugin = self.refused.iter().filter(|refused| refused.plugin == plugin);
        let is_folder = |problem: &&PluginProblem| matches!(problem, PluginProblem::GrantedFolder(_));
        let problems: Vec<PluginProblem> =
            of_plugin.flat_map(|refused| &refused.problems).filter(is_folder).cloned().collect();
        (!problems.is_empty()).then(|| LoadError { plugin: plugin.to_owned(), problems })
    }

    /// Removes and returns the stored components that are not configured and not in `needed`. A component stored within
    /// the last hour is kept, because a new job may be about to pin it.
    ///
    /// # Errors
    /// The directory cannot be read, or a file cannot be removed.
    pub fn prune(&self, needed: &BTreeSet<Hash>) -> std::io::Result<Vec<StoredComponentInfo>> {
        let configured: BTreeSet<Hash> = self.plugins.iter().map(|plugin| plugin.digest).collect();
        self.components.prune(|digest| configured.contains(&digest) || needed.contains(&digest))
    }

    /// Returns the operator table that a job pins when it is accepted.
    pub fn pinned_operators(&self) -> &BTreeMap<Operator, PinnedOperator> {
        &self.pinned
    }

    fn plugins_by_digest(&self) -> std::sync::MutexGuard<'_, HashMap<Hash, Arc<Plugin>>> {
        self.by_digest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Loads one plugin. Stores the component if jobs may pin the component.
    fn load_plugin(
        &self,
        config: &PluginConfig,
        bytes: Vec<u8>,
        settings: PluginSettings,
        kept: ComponentStorage,
    ) -> Result<Arc<Plugin>, LoadError> {
        if kept == ComponentStorage::No {
            return self.engine.load(&bytes, settings);
        }
        source::prepare_dirs(&config.grants.dirs)
            .map_err(|problems| LoadError { plugin: config.name.clone(), problems })?;
        let plugin = self.engine.load(&bytes, settings)?;
        let kept = self.components.store(&config.name, plugin.digest, &plugin.with_seal(bytes));
        kept.map_err(|problem| LoadError::single(&config.name, problem))?;
        Ok(plugin)
    }

    /// Returns a problem for each operator of `manifest` that another plugin already serves. Also removes such an
    /// operator from the operators that jobs can pin, unless a native tool serves it.
    fn withdraw_duplicates(&mut self, manifest: &Manifest) -> Vec<PluginProblem> {
        let mut problems = Vec::new();
        for spec in &manifest.operators {
            let native =
                self.native.values().find(|tool| tool.manifest().operators.iter().any(|one| one.name == spec.name));
            let other = match (native, self.by_operator.get(spec.name.as_str())) {
                (Some(tool), _) => tool.name().to_owned(),
                (None, Some(plugin)) => plugin.name.clone(),
                (None, None) => continue,
            };
            if native.is_none() {
                self.pinned.remove(&spec.name);
            }
            problems.push(PluginProblem::DuplicateOperator { operator: spec.name.to_string(), other });
        }
        problems
    }

    /// Adds a native tool with all its operators, or returns its problems and adds nothing.
    fn register_native(&mut self, tool: Arc<NativePlugin>, config: &Config) -> Result<(), LoadError> {
        let problems = self.withdraw_duplicates(tool.manifest());
        if !problems.is_empty() {
            return Err(LoadError { plugin: tool.name().to_owned(), problems });
        }
        let pins = PluginPins {
            plugin: tool.name().to_owned(),
            version: tool.manifest().version.clone(),
            digest: tool.digest(),
            kind: PluginKind::Tool,
            reconcile: tool.functions().reconcile,
            compensate: tool.functions().compensate,
            on_indeterminate: config.on_indeterminate,
            verifier: tool.functions().verify.then(|| OWN_VERIFIER.to_owned()),
            confirmation: config.confirmation,
            retry: None,
            wasi: WasiMode::None,
            settings: None,
        };
        for spec in &tool.manifest().operators {
            self.pinned.insert(spec.name.clone(), pins.of_operator(spec, tool.limits(spec)));
        }
        self.native.insert(tool.digest(), tool);
        Ok(())
    }

    /// Adds a plugin with all its operators, or returns its problems and adds nothing. If another plugin already serves
    /// one of the operators, jobs can no longer pin that operator, unless a native tool serves it.
    fn register(&mut self, plugin: &Arc<Plugin>, config: &Config, configured: &PluginConfig) -> Result<(), LoadError> {
        let mut problems = Vec::new();
        if plugin.kind == PluginKind::Step && survey::configures_confirmation(configured) {
            problems.push(PluginProblem::ConfirmationOnStep);
        }
        problems.extend(self.withdraw_duplicates(&plugin.manifest));
        if !problems.is_empty() {
            return Err(LoadError { plugin: plugin.name.clone(), problems });
        }
        let pins = PluginPins {
            plugin: plugin.name.clone(),
            version: plugin.manifest.version.clone(),
            digest: plugin.digest,
            kind: plugin.kind,
            reconcile: plugin.reconcile,
            compensate: plugin.compensate,
            on_indeterminate: on_indeterminate(config, configured),
            verifier: verifier_name(plugin, configured),
            confirmation: confirmation(config, configured),
            retry: configured.retry.clone(),
            wasi: plugin.wasi(),
            settings: (plugin.kind == PluginKind::Tool).then(|| settings_fingerprint(&config.root, configured)),
        };
        for spec in &plugin.manifest.operators {
            self.by_operator.insert(spec.name.clone(), plugin.clone());
            let pinned = pins.of_operator(spec, plugin.limits(spec.name.as_str()));
            self.pinned.insert(spec.name.clone(), pinned);
        }
        self.plugins_by_digest().insert(plugin.digest, plugin.clone());
        self.plugins.push(plugin.clone());
        Ok(())
    }
}

/// Runs work that takes seconds on the calling thread. A runtime with several threads first moves the other tasks of
/// this thread to another thread.
fn without_stopping_others<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        _ => work(),
    }
}

impl PinnedComponents for Registry {
    fn by_digest(&self, digest: Hash, wasi: WasiMode) -> Result<Arc<dyn Runnable>, String> {
        if let Some(tool) = self.native.get(&digest) {
            return Ok(tool.clone());
        }
        match self.component(digest, wasi) {
            Ok(plugin) => Ok(plugin),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// Lists all components stored in a state directory, whether needed or not.
///
/// # Errors
/// The directory cannot be read.
pub fn stored_components(state_dir: &std::path::Path) -> std::io::Result<Vec<StoredComponentInfo>> {
    Components::at(state_dir.join("components")).list()
}

/// Returns the digest of the component at `source` if that component differs from the pinned component. The bytes at
/// `source` are compared with the beginning of the stored component, because an untyped component is stored with its
/// manifest appended.
pub(crate) fn changed_component(state_dir: &std::path::Path, source: &std::path::Path, pinned: Hash) -> Option<Hash> {
    let bytes = source::read(source, u64::MAX).ok()?;
    let found = Hash::of(&[&bytes]);
    let kept = || Components::at(state_dir.join("components")).get(pinned);
    let is_same = found == pinned || kept().is_ok_and(|kept| kept.bytes.starts_with(&bytes));
    (!is_same).then_some(found)
}

/// Counts the components of a state directory whose bytes match their digests, and lists the damaged components.
///
/// # Errors
/// The directory cannot be read.
pub fn damaged_components(state_dir: &std::path::Path) -> std::io::Result<(usize, Vec<DamagedComponent>)> {
    Components::at(state_dir.join("components")).find_damaged()
}

/// Returns the stricter of the two settings `on_indeterminate`: the global setting and the plugin's setting. A plugin
/// may only tighten the global setting. Waiting for a person is stricter than failing a call.
fn on_indeterminate(config: &Config, plugin: &PluginConfig) -> OnIndeterminate {
    match (config.on_indeterminate, plugin.on_indeterminate) {
        (OnIndeterminate::Fail, None | Some(OnIndeterminate::Fail)) => OnIndeterminate::Fail,
        _ => OnIndeterminate::Park,
    }
}

/// Returns the verifier of a tool's effects: the verifier that the configuration names, else the plugin's own export.
pub fn verifier_name(plugin: &Plugin, configured: &PluginConfig) -> Option<String> {
    let named = configured.verifier.as_ref().map(|verifier| verifier.name.clone());
    let own = plugin.verify.then(|| OWN_VERIFIER.to_owned());
    named.or(own).filter(|_| plugin.kind == PluginKind::Tool)
}

/// Returns the reaction to an effect that no longer matches its record: the plugin's setting, else the global setting.
pub fn confirmation(config: &Config, configured: &PluginConfig) -> Confirmation {
    configured.confirmation.unwrap_or(config.confirmation)
}
