//! Builder of a host.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use latchwork_core::model::rules::Rules;
use latchwork_core::storage::{EffectStore, Journal, KeyValue, Owner};
use latchwork_engine::capability::Secrets;
use latchwork_engine::native::{NativePlugin, NativeTool};
use latchwork_engine::os::Machine;
use latchwork_engine::{
    CompilationListener, CompilationStart, Engine, EngineError, EngineOptions, Explain, LoadError, PoolSize,
};

use crate::config::{self, CommitMode, Config};
use crate::host::Host;
use crate::notify::Notifier;
use crate::registry::{ComponentStorage, Registry, Survey, default_secrets};
use crate::runtime::{CrashPoint, NoCrash, TraceIds, Worker, WorkerParts, WorkerSettings};
use crate::validate::{self, StepValidator, Validators};
use crate::verifier::{ResourceVerifier, Verifiers};

/// The stores of a host. The embedding program opens them.
#[derive(Clone)]
pub struct Stores {
    journal: Arc<dyn Journal>,
    effects: Arc<dyn EffectStore>,
    kv: Arc<dyn KeyValue>,
    owner: Owner,
}

impl Stores {
    /// Uses one store for everything. `owner` is the identity of this process, which holds the owner lock of the store.
    pub fn new<S: Journal + EffectStore + KeyValue + 'static>(store: Arc<S>, owner: Owner) -> Self {
        Self { journal: store.clone(), effects: store.clone(), kv: store, owner }
    }

    /// Keeps effects in a separate store. Needs staged commits ([`CommitMode::Staged`]).
    #[must_use]
    pub fn with_effects(self, effects: Arc<dyn EffectStore>) -> Self {
        Self { effects, ..self }
    }

    /// The store of jobs, event logs, ledgers and inboxes.
    pub fn journal(&self) -> &Arc<dyn Journal> {
        &self.journal
    }

    /// The effect store.
    pub fn effects(&self) -> &Arc<dyn EffectStore> {
        &self.effects
    }
}

/// Reasons why a host could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The engine refused its settings.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The manifest of a native tool is invalid.
    #[error(transparent)]
    Tool(#[from] LoadError),
    /// The name of a native tool is invalid, or another plugin has it.
    #[error("native tool {name:?}: {why}")]
    ToolName {
        /// The name.
        name: String,
        /// The reason.
        why: String,
    },
}

/// Builder of a [`Host`], see [`Host::builder`].
pub struct HostBuilder {
    stores: Stores,
    config: Config,
    survey: Option<Survey>,
    storage: ComponentStorage,
    tools: Vec<Arc<dyn NativeTool>>,
    verifiers: Verifiers,
    validators: Vec<Arc<dyn StepValidator>>,
    machine: Machine,
    secrets: Option<Arc<dyn Secrets>>,
    explain: Explain,
    on_compile: CompilationListener,
    pool_size: PoolSize,
    trace_ids: TraceIds,
    crash: Arc<dyn CrashPoint>,
}

impl HostBuilder {
    fn new(stores: Stores) -> Self {
        Self {
            stores,
            config: Config::with_defaults(Path::new(".")),
            survey: None,
            storage: ComponentStorage::Yes,
            tools: vec![],
            verifiers: Verifiers::builtin(),
            validators: vec![],
            machine: Machine::system(),
            secrets: None,
            explain: Explain::default(),
            on_compile: CompilationListener::default(),
            pool_size: PoolSize::default(),
            trace_ids: TraceIds::default(),
            crash: Arc::new(NoCrash),
        }
    }

    /// Sets the configuration. The default configuration has no plugins, and its relative paths start at the working
    /// directory.
    #[must_use]
    pub fn config(self, config: Config) -> Self {
        Self { config, ..self }
    }

    /// Adds a tool that the program implements in Rust. If a plugin of the configuration serves an operator of this
    /// tool, that plugin is refused.
    #[must_use]
    pub fn tool(mut self, tool: Arc<dyn NativeTool>) -> Self {
        self.tools.push(tool);
        self
    }

    /// Adds a verifier of recorded effects, or replaces the verifier with the same name.
    /// [`PluginConfig::verifier`](crate::config::PluginConfig::verifier) selects a verifier by name.
    #[must_use]
    pub fn verifier(mut self, verifier: Arc<dyn ResourceVerifier>) -> Self {
        self.verifiers.add(verifier);
        self
    }

    /// Adds a validator. Before a step starts, the validators of the configuration run first, then the added
    /// validators.
    #[must_use]
    pub fn validator(mut self, validator: Arc<dyn StepValidator>) -> Self {
        self.validators.push(validator);
        self
    }

    /// Sets the clock and the source of entropy. By default the host uses the clock and the entropy of the operating
    /// system. Two hosts of one process share a clock only if both get clones of the same machine. A host that starts
    /// world-changing calls must use the clock of its stores, because it compares the lease times in those stores with
    /// its own clock.
    #[must_use]
    pub fn machine(self, machine: Machine) -> Self {
        Self { machine, ..self }
    }

    /// Sets the source of secret values. By default the value of `NAME` is in the variable `LATCH_SECRET_NAME` of the
    /// environment, or else in the file `secrets/NAME` of [`Config::state_dir`]. Two hosts of one process therefore get
    /// the same secrets from the environment.
    #[must_use]
    pub fn secrets(self, secrets: Arc<dyn Secrets>) -> Self {
        Self { secrets: Some(secrets), ..self }
    }

    /// Sets the function that adds details to the reasons why a component is refused.
    #[must_use]
    pub fn explain(self, explain: Explain) -> Self {
        Self { explain, ..self }
    }

    /// Sets the listener for compilations. It is called on the thread that compiles, before each compilation. Only the
    /// compilations of this host are announced. The default does nothing.
    #[must_use]
    pub fn on_compile(self, listener: impl Fn(&CompilationStart<'_>) + Send + Sync + 'static) -> Self {
        Self { on_compile: CompilationListener::new(listener), ..self }
    }

    /// Sets the maximum number of concurrent steps, and of concurrent tool calls. The default is [`PoolSize::Large`].
    #[must_use]
    pub fn pool_size(self, pool_size: PoolSize) -> Self {
        Self { pool_size, ..self }
    }

    /// Sets the list to which the host adds the trace id of each job that it loads. A log formatter of the program can
    /// read this list. The default is a list that only this host has.
    #[must_use]
    pub fn trace_ids(self, trace_ids: TraceIds) -> Self {
        Self { trace_ids, ..self }
    }

    /// Uses a survey of the configured plugins that the caller has already made. By default [`start`](Self::start)
    /// makes the survey.
    #[doc(hidden)]
    #[must_use]
    pub fn survey(self, survey: Survey) -> Self {
        Self { survey: Some(survey), ..self }
    }

    /// Defines whether components are stored. A host that only reads passes [`ComponentStorage::No`].
    #[doc(hidden)]
    #[must_use]
    pub fn component_storage(self, storage: ComponentStorage) -> Self {
        Self { storage, ..self }
    }

    /// Sets the hook that is called before and after the execution of a call.
    #[doc(hidden)]
    #[must_use]
    pub fn crash_points(self, crash: Arc<dyn CrashPoint>) -> Self {
        Self { crash, ..self }
    }

    /// Builds the engine, loads the plugins and starts a worker that holds no job yet. A plugin that cannot be loaded
    /// is listed in [`Registry::refused`], and the other plugins are served.
    ///
    /// # Errors
    /// See [`StartError`].
    pub fn start(self) -> Result<Host, StartError> {
        let Self { stores, config, survey, storage, tools, mut verifiers, validators, machine, .. } = self;
        let Self { explain, on_compile, pool_size, trace_ids, crash, secrets, .. } = self;
        let secrets = secrets.unwrap_or_else(|| default_secrets(&config));
        let tools =
            tools.into_iter().map(|tool| NativePlugin::load(tool, machine.clone())).collect::<Result<Vec<_>, _>>()?;
        check_tool_names(&tools, &config)?;
        let survey = survey.unwrap_or_else(|| Survey::of(&config, explain));
        let shipped = config.validators.iter().map(|validator| validate::create(*validator));
        let validators = Validators(shipped.chain(validators).collect());
        verifiers.configure(&config.plugins);
        let notify = config.notify.clone();
        let notifier = notify.map(|notify| Notifier::start(notify, secrets.clone(), machine.clone()));
        let engine = Engine::new(EngineOptions {
            cache_dir: config.cache_dir.clone(),
            cache_secret_dir: config.cache_secret_dir.clone(),
            explain,
            on_compile,
            pool_size,
            machine: machine.clone(),
        })?;
        let engine_profile = engine.step_profile();
        let registry = Arc::new(Registry::load_surveyed(engine, &config, stores.kv, survey, storage, tools, secrets));
        let rules = config.policy.iter().map(|(tenant, policy)| (tenant.clone(), Rules::from(policy))).collect();
        let settings = WorkerSettings {
            lease_ms: config.lease_ms,
            heartbeat_ms: config.heartbeat_ms,
            clock_margin_ms: config.clock_margin_ms,
            max_attempts_without_progress: config.max_attempts_without_progress,
            staged: config.commit == CommitMode::Staged,
            limits: config.worker.operators.clone(),
            people: config.people.clone(),
        };
        let prices = config.plugins.iter().filter_map(|plugin| Some((plugin.name.clone(), plugin.prices.clone()?)));
        let prices = prices.collect();
        let worker = Worker::start(WorkerParts {
            journal: stores.journal,
            effects: stores.effects,
            components: registry.clone(),
            engine_profile,
            owner: stores.owner,
            settings,
            rules,
            prices,
            verifiers,
            validators,
            notifier,
            crash,
            machine,
            trace_ids,
        });
        Ok(Host::new(config, registry, worker, engine_profile))
    }
}

/// Checks that each native tool has a valid name, and that no other plugin has the same name. Limits and prices belong
/// to a plugin by its name, so two plugins with one name would share them.
fn check_tool_names(tools: &[NativePlugin], config: &Config) -> Result<(), StartError> {
    let mut taken: BTreeSet<&str> = config.plugins.iter().map(|plugin| plugin.name.as_str()).collect();
    for name in tools.iter().map(NativePlugin::name) {
        let checked = config::plugin_name(name).and_then(|_| match taken.insert(name) {
            true => Ok(()),
            false => Err("another tool, or a [[plugin]] of the configuration, has this name".to_owned()),
        });
        checked.map_err(|why| StartError::ToolName { name: name.to_owned(), why })?;
    }
    Ok(())
}

impl Host {
    /// Returns a builder of a host with these stores.
    pub fn builder(stores: Stores) -> HostBuilder {
        HostBuilder::new(stores)
    }
}
