//! The WebAssembly engine. Loads plugins with all checks, and runs them under limits. Steps and tools have separate
//! profiles.
//!
//! * `profile` is the only module that builds a [`wasmtime::Config`].
//! * `component` decides which imports a component may have. `describe` calls the component's `describe`.
//! * `step` and `tool` run each try in a new instance under `limits`. `fault` converts the engine's errors
//!   into failures with their own codes.
//! * `untyped` derives tools from components that were not written for Latchwork.
//! * `virtual_wasi` answers a step's WASI calls deterministically.
//! * `cache` stores compiled code, up to a limit.
//!
//! Floors, top first: `runnable` · `component_interface`, `plugin` · `component`, `tool` · `untyped` · `describe` ·
//! `cache`, `profile`, `pure_reads`, `start_phase`, `step` · `announce`, `code_size`, `describe_host`, `error`,
//! `hindrance`, `instance_pool`, `schema`, `shape`, `stated_effects`, `step_end`, `step_state`,
//! `tool_output`, `tool_state`, `virtual_wasi`.

mod announce;
mod cache;
mod code_size;
mod component;
mod component_interface;
mod describe;
mod describe_host;
mod error;
mod hindrance;
mod instance_pool;
mod plugin;
mod profile;
mod pure_reads;
mod runnable;
pub mod schema;
mod shape;
mod start_phase;
mod stated_effects;
pub(crate) mod step;
mod step_end;
mod step_state;
pub(crate) mod tool;
pub(crate) mod tool_output;
mod tool_state;
pub(crate) mod untyped;
pub(crate) mod virtual_wasi;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use wasmtime::component::Component;

use latchwork_core::model::ids::Hash;
use latchwork_core::model::manifest::PluginKind;

use crate::capability::open_dirs::OpenDirs;
use crate::capability::settings::{LoadSettings, PluginSettings};
use crate::engine::instance_pool::InstancePool;
use crate::os::Machine;

pub use crate::interfaces::{Explain, PluginProblem};
pub use announce::{CompilationListener, CompilationStart};
pub use component_interface::ComponentInterface;
pub use error::{EngineError, LoadError};
pub use instance_pool::PoolSize;
pub use plugin::Plugin;
pub use profile::EngineVariation;
pub use pure_reads::READS as IMPURE_READS;
pub use runnable::{PinnedComponents, Runnable};
pub use step_end::{StepEnd, StepOutcome};
pub use tool::{ReconcileVerdict, ToolEnd, VerifyResult};

pub(crate) use describe::check_manifest;
pub(crate) use plugin::limits as effective_limits;
pub(crate) use tool_output::check_tool_output;

/// Options of an [`Engine`].
#[derive(Clone, Debug, Default)]
pub struct EngineOptions {
    /// Directory for compiled code. `None`: components are compiled at each start.
    pub cache_dir: Option<PathBuf>,
    /// Directory of the secret that authenticates compiled code. If `None`, the secret is in `cache_dir`. All engines
    /// that use the same `cache_dir` need the same secret.
    pub cache_secret_dir: Option<PathBuf>,
    /// Function that adds details to the reasons of a refusal.
    pub explain: Explain,
    /// Listener that is called before each compilation. Engines of one process share no listener.
    pub on_compile: CompilationListener,
    /// Number of instances that can run at the same time.
    pub pool_size: PoolSize,
    /// Clock and entropy. Deadlines and durations of tool calls are times of its boot clock.
    pub machine: Machine,
}

/// Compiles and loads plugins. A process needs one engine. Cloning is cheap.
#[derive(Clone)]
pub struct Engine {
    step: Profile,
    tool: Profile,
    cache: Option<cache::CodeCache>,
    explain: Explain,
    on_compile: CompilationListener,
    machine: Machine,
    /// Held while a component is compiled.
    compilation: Arc<Mutex<()>>,
}

#[derive(Clone)]
struct Profile {
    engine: wasmtime::Engine,
    digest: Hash,
    pool: InstancePool,
    /// Size of the thread's stack that a synchronous call of a guest needs. `None` if the stack of every thread is
    /// large enough.
    thread_stack_bytes: Option<usize>,
}

impl Profile {
    /// Runs a function that calls a guest without a fiber, on a thread with the stack that the profile needs.
    fn with_stack<R: Send>(&self, call: impl FnOnce() -> R + Send) -> R {
        let Some(bytes) = self.thread_stack_bytes else { return call() };
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().name("latch-describe".to_owned()).stack_size(bytes);
            let thread = thread.spawn_scoped(scope, call).expect("the operating system starts a thread");
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }
}

impl Engine {
    /// Builds both profiles and starts the epoch thread. At each tick of this thread, running guests yield and check
    /// their time limit.
    pub fn new(options: EngineOptions) -> Result<Self, EngineError> {
        let EngineOptions { cache_dir, cache_secret_dir, explain, on_compile, pool_size, machine } = options;
        let cache = cache_dir.map(|dir| cache::CodeCache::open(&dir, cache_secret_dir.as_deref(), &machine));
        let cache = cache.transpose()?.flatten();
        let profile = |kind| {
            let (config, digest) = profile::build_profile(kind);
            Ok(Profile {
                engine: new_engine(config, pool_size)?,
                digest,
                pool: InstancePool::new(pool_size),
                thread_stack_bytes: None,
            })
        };
        let (step, tool) = (profile(PluginKind::Step)?, profile(PluginKind::Tool)?);
        start_epoch_ticker(&[&step.engine, &tool.engine]);
        tracing::debug!(step = %step.digest, tool = %tool.digest, "engine profiles");
        Ok(Self { step, tool, cache, explain, on_compile, machine, compilation: Arc::default() })
    }

    /// Returns the number of cache entries with a valid HMAC, and the files of all other entries. Returns `None` if the
    /// engine has no cache.
    pub fn check_cache_entries(&self) -> Option<std::io::Result<(u64, Vec<PathBuf>)>> {
        self.cache.as_ref().map(cache::CodeCache::check_entries)
    }

    /// Returns an engine that runs steps in another way but must give the same results. A check runs a step in both
    /// engines to find out if its results differ. Tools run as in this engine.
    pub fn with_variation(&self, variation: EngineVariation) -> Result<Self, EngineError> {
        let (config, digest) = profile::build_variation(variation);
        // No pool: each instance maps its own memory.
        let engine = wasmtime::Engine::new(&config).map_err(EngineError::Config)?;
        start_epoch_ticker(&[&engine]);
        let step = Profile {
            engine,
            digest,
            pool: InstancePool::new(PoolSize::Large),
            thread_stack_bytes: variation.thread_stack_bytes(),
        };
        Ok(Self { step, ..self.clone() })
    }

    /// Returns the function that explains refusals.
    pub fn explain(&self) -> Explain {
        self.explain
    }

    /// Digest of the profile for steps. It covers everything that may change the result of a step. Jobs record this
    /// digest.
    pub fn step_profile(&self) -> Hash {
        self.step.digest
    }

    /// Digest of everything that may change a tool's results.
    pub fn tool_profile(&self) -> Hash {
        self.tool.digest
    }

    /// Calls the listener of the engine before a component is compiled. `left` is the number of components to be
    /// compiled after this component.
    pub fn announce(&self, plugin: &str, bytes: &[u8], left: usize) {
        self.on_compile.announce(&CompilationStart { plugin, bytes: bytes.len(), remaining: left });
    }

    /// Loads a component: determines its world, checks its imports and exports, calls `describe`, and links it. The
    /// calling thread must be a thread that may block, because compiling a large component takes seconds.
    pub fn load(&self, bytes: &[u8], settings: PluginSettings) -> Result<Arc<Plugin>, LoadError> {
        let refuse =
            |problems| LoadError { plugin: settings.name.clone(), problems: (self.explain.0)(bytes, problems) };
        let not_a_component = |error: wasmtime::Error| refuse(vec![code_size::problem_of(error)]);
        let digest = Hash::of(&[bytes]);
        let known = Self::check_without_compiling(bytes, settings.load_settings(), self.explain)?;
        // The world of an untyped component is first guessed from the bytes. Compilation needs the profile of the
        // world, but the exports that determine the world are known only after compilation. A wrong guess costs a
        // second compilation.
        let mut kind = known.unwrap_or_else(|| component::guess_kind(bytes));
        let (component, shape, profile) = loop {
            let profile = self.profile(kind);
            let component = self.compile(profile, digest, bytes).map_err(not_a_component)?;
            let shape = component::check_component(&profile.engine, &component, &settings.grants, settings.wasi)
                .map_err(refuse)?;
            if shape.kind == kind {
                break (component, shape, profile);
            }
            kind = shape.kind;
        };
        let (engine, slots) = (&profile.engine, &profile.pool);
        component::check_settings(shape, settings.load_settings()).map_err(refuse)?;
        code_size::check_resources(&component).map_err(|problem| refuse(vec![problem]))?;
        let (manifest, schemas, plain) = match shape.is_untyped {
            true => {
                let untyped::LoadedUntyped { manifest, schemas, functions, seal } =
                    untyped::load(engine, &component, bytes, &settings).map_err(refuse)?;
                (manifest, schemas, Some((functions, seal)))
            }
            false => {
                let describe = || describe::describe(engine, &component, shape, &settings);
                let (manifest, schemas) = profile.with_stack(describe).map_err(refuse)?;
                (manifest, schemas, None)
            }
        };
        let (functions, seal) = plain.map_or((None, None), |(functions, seal)| (Some(functions), seal));
        // The digest of an untyped component also covers the manifest derived from its exports.
        let digest = seal.as_ref().map_or(digest, |seal| Hash::of(&[bytes, seal]));
        let imports = component.component_type().imports(engine).map(|(name, _)| name.to_owned()).collect();
        let turns = slots.permits_for(&component);
        let code = match shape.kind {
            PluginKind::Step => {
                step::StepCode::link(engine, &component, turns, settings.wasi).map(plugin::LinkedCode::Step)
            }
            PluginKind::Tool => {
                let dirs = OpenDirs::open(&settings.grants.dirs);
                tool::ToolCode::link(engine, &component, shape, (turns, &self.machine), dirs, functions)
                    .map(plugin::LinkedCode::Tool)
            }
        };
        Ok(Arc::new(Plugin {
            name: settings.name.clone(),
            digest,
            kind: shape.kind,
            manifest,
            reconcile: shape.reconcile,
            verify: shape.verify,
            compensate: shape.compensate,
            is_untyped: shape.is_untyped,
            seal,
            imports,
            code: code.map_err(not_a_component)?,
            schemas: Arc::new(schemas),
            settings: Arc::new(settings),
            machine: self.machine.clone(),
        }))
    }

    /// Performs every check that needs no compilation: names of imports and exports, grants, and settings.
    /// [`Engine::load`] may still refuse a component that passes.
    ///
    /// # Errors
    /// The plugin is refused, with every reason known so far.
    pub fn check_without_compiling(
        bytes: &[u8],
        terms: LoadSettings<'_>,
        explain: Explain,
    ) -> Result<Option<PluginKind>, LoadError> {
        let refuse = |problems| LoadError { plugin: terms.name.to_owned(), problems: (explain.0)(bytes, problems) };
        let too_large = |problem| refuse(vec![problem]);
        code_size::check_before_compiling(bytes, terms.component_bytes_max).map_err(too_large)?;
        match component::check_names(bytes, terms).map_err(refuse)? {
            component::NameCheck::Recognized(shape) => {
                component::check_settings(shape, terms).map_err(refuse)?;
                Ok(Some(shape.kind))
            }
            component::NameCheck::Unrecognized => Ok(None),
        }
    }

    /// Returns true if the cache has compiled code for these bytes. Loading these bytes is then fast.
    pub fn is_compiled(&self, bytes: &[u8]) -> bool {
        let profile = self.profile(component::guess_kind(bytes));
        let holds = |cache: &cache::CodeCache| cache.contains(&profile.engine, profile.digest, Hash::of(&[bytes]));
        self.cache.as_ref().is_some_and(holds)
    }

    fn profile(&self, kind: PluginKind) -> &Profile {
        match kind {
            PluginKind::Step => &self.step,
            PluginKind::Tool => &self.tool,
        }
    }

    /// Compiles a component, or reads its compiled code from the cache. One component is compiled at a time, because a
    /// compilation uses every core, and because its memory is bounded for one component. A component whose code is in
    /// the cache does not wait for the compilation of another component.
    fn compile(&self, profile: &Profile, digest: Hash, bytes: &[u8]) -> wasmtime::Result<Component> {
        let turn = || self.compilation.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(cache) = &self.cache else {
            let _turn = turn();
            return code_size::compile(&profile.engine, bytes);
        };
        let key = cache::entry_key(&profile.engine, profile.digest, digest);
        if let Some(component) = cache.read(&profile.engine, key) {
            return Ok(component);
        }
        let _turn = turn();
        // Another thread may have compiled the component in the meantime.
        match cache.read(&profile.engine, key) {
            Some(component) => Ok(component),
            None => cache.compile(&profile.engine, key, bytes),
        }
    }
}

/// Creates an engine whose instances come from a pool. If the address space for the pool is not available, each
/// instance maps its own memory. The results of guests do not depend on the kind of allocation.
fn new_engine(config: wasmtime::Config, size: PoolSize) -> Result<wasmtime::Engine, EngineError> {
    let mut pooled = config.clone();
    pooled.allocation_strategy(wasmtime::InstanceAllocationStrategy::Pooling(instance_pool::pool_config(size)));
    wasmtime::Engine::new(&pooled).or_else(|error| {
        tracing::warn!(
            error = format!("{error:#}"),
            "not enough address space for a pool of instances; each maps its own memory"
        );
        wasmtime::Engine::new(&config).map_err(EngineError::Config)
    })
}

/// Increments the epoch of all given engines at each tick. Ends when one of these engines is dropped.
fn start_epoch_ticker(engines: &[&wasmtime::Engine]) {
    let engines: Vec<_> = engines.iter().map(|engine| engine.weak()).collect();
    let ticker = move || {
        while let Some(alive) = engines.iter().map(|engine| engine.upgrade()).collect::<Option<Vec<_>>>() {
            alive.iter().for_each(wasmtime::Engine::increment_epoch);
            drop(alive);
            std::thread::sleep(Duration::from_millis(profile::EPOCH_TICK_MS));
        }
    };
    std::thread::Builder::new()
        .name("latch-epoch".to_owned())
        .spawn(ticker)
        .expect("a process that cannot start one thread cannot run plugins");
}
