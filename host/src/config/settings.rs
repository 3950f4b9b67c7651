//! All settings of `latch.toml`, validated, with defaults filled in and absolute paths.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use latchwork_core::model::manifest::{Confirmation, OnIndeterminate};
use latchwork_core::model::person::People;

use super::problem::SettingSource;
use super::types::{CommitMode, Durability, Failover, NotifyConfig, PluginConfig, Policy, QueueConfig, WorkerConfig};
use crate::config::validator::BuiltinValidator;

/// All settings of `latch.toml`, with environment and flags applied. [`Config::load`] and
/// [`Config::with_defaults`] make them. The methods `with_…` change a setting.
#[derive(Clone, Debug)]
pub struct Config {
    pub(crate) root: PathBuf,
    pub(crate) file: Option<PathBuf>,
    pub(crate) database: String,
    pub(crate) database_source: Option<SettingSource>,
    pub(crate) commit: CommitMode,
    pub(crate) effect_store: Option<String>,
    pub(crate) durability: Durability,
    pub(crate) failover: Failover,
    pub(crate) on_indeterminate: OnIndeterminate,
    pub(crate) lease_ms: u32,
    pub(crate) heartbeat_ms: u32,
    pub(crate) clock_margin_ms: u32,
    pub(crate) max_attempts_without_progress: u32,
    pub(crate) cache_dir: Option<PathBuf>,
    pub(crate) cache_secret_dir: Option<PathBuf>,
    /// Directories in which `latch plugin build` keeps programs that it runs.
    pub(crate) tools_dirs: Vec<PathBuf>,
    /// Directories of the user in which `latch` keeps files for all projects, each with its name.
    pub(crate) user_dirs: Vec<(&'static str, PathBuf)>,
    pub(crate) state_dir: PathBuf,
    pub(crate) policy: BTreeMap<String, Policy>,
    pub(crate) people: People,
    pub(crate) confirmation: Confirmation,
    pub(crate) validators: Vec<BuiltinValidator>,
    pub(crate) notify: Option<NotifyConfig>,
    pub(crate) keep_undoable_ms: u64,
    pub(crate) worker: WorkerConfig,
    pub(crate) queue: QueueConfig,
    pub(crate) plugins: Vec<PluginConfig>,
}

impl Config {
    /// Base directory of relative paths: the folder of `latch.toml`, or the working directory if there is no
    /// such file.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Path of `latch.toml`, if there is one.
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// Database URL: `sqlite://…` with an absolute path, or `postgres://…`.
    pub fn database(&self) -> &str {
        &self.database
    }

    /// Flag or variable that names the database. `None` if the file or the default names it.
    pub fn database_source(&self) -> Option<&SettingSource> {
        self.database_source.as_ref()
    }

    /// Commit protocol for an answered call: one transaction, or three durable writes.
    pub fn commit(&self) -> CommitMode {
        self.commit
    }

    /// URL of a separate database for effects (staged commit only).
    pub fn effect_store(&self) -> Option<&str> {
        self.effect_store.as_deref()
    }

    /// Required durability of the database.
    pub fn durability(&self) -> Durability {
        self.durability
    }

    /// Treatment of a standby that takes over from the primary.
    pub fn failover(&self) -> Failover {
        self.failover
    }

    /// Treatment of a call in doubt that the other resolution steps cannot decide.
    pub fn on_indeterminate(&self) -> OnIndeterminate {
        self.on_indeterminate
    }

    /// Length of a lease in milliseconds.
    pub fn lease_ms(&self) -> u32 {
        self.lease_ms
    }

    /// Interval between two heartbeats, in milliseconds.
    pub fn heartbeat_ms(&self) -> u32 {
        self.heartbeat_ms
    }

    /// Maximum difference between clocks, in milliseconds.
    pub fn clock_margin_ms(&self) -> u32 {
        self.clock_margin_ms
    }

    /// Number of attempts without progress after which a job is parked.
    pub fn max_attempts_without_progress(&self) -> u32 {
        self.max_attempts_without_progress
    }

    /// Directory of the cache of compiled code: a directory of the user, never inside the project. `None` if
    /// code is compiled at each start.
    pub fn cache_dir(&self) -> Option<&Path> {
        self.cache_dir.as_deref()
    }

    /// Directory of the secret that authenticates compiled code. `None` if it is the cache directory itself.
    pub fn cache_secret_dir(&self) -> Option<&Path> {
        self.cache_secret_dir.as_deref()
    }

    /// Directory of stored components and of secrets in files.
    pub fn state_dir(&self) -> &Path {
        &self.state_dir
    }

    /// Policies by tenant. The tenant `default` always exists.
    pub fn policy(&self) -> &BTreeMap<String, Policy> {
        &self.policy
    }

    /// People and the keys with which they sign their decisions.
    pub fn people(&self) -> &People {
        &self.people
    }

    /// Reaction to a recorded effect that no longer matches the world. A plugin can override this reaction.
    pub fn confirmation(&self) -> Confirmation {
        self.confirmation
    }

    /// Validators called before a step starts.
    pub fn validators(&self) -> &[BuiltinValidator] {
        &self.validators
    }

    /// Webhook that is notified when a job waits for a person or has ended.
    pub fn notify(&self) -> Option<&NotifyConfig> {
        self.notify.as_ref()
    }

    /// Retention time for undoing, in milliseconds, counted from the completion of a job. For this time `latch
    /// plugin prune` keeps the components that are needed to undo the job.
    pub fn keep_undoable_ms(&self) -> u64 {
        self.keep_undoable_ms
    }

    /// Limits on the work of this process.
    pub fn worker(&self) -> &WorkerConfig {
        &self.worker
    }

    /// Limits on the number of pending jobs.
    pub fn queue(&self) -> &QueueConfig {
        &self.queue
    }

    /// Plugins in the order of the file.
    pub fn plugins(&self) -> &[PluginConfig] {
        &self.plugins
    }

    /// Directory of the secrets in files.
    pub fn secrets_dir(&self) -> PathBuf {
        self.state_dir.join("secrets")
    }
}

/// Changes of settings.
impl Config {
    /// Uses another database: `sqlite://…` with an absolute path, or `postgres://…`.
    #[must_use]
    pub fn with_database(mut self, url: impl Into<String>) -> Self {
        self.database = url.into();
        self
    }

    /// Keeps the database, its auxiliary files and the state directory in a scratch folder, and disables notices. A run
    /// leaves nothing outside the folder.
    #[must_use]
    pub fn with_scratch_folder(mut self, folder: &Path) -> Self {
        self.database = format!("sqlite://{}", folder.join("latch.db").display());
        self.effect_store = None;
        self.commit = CommitMode::default();
        self.notify = None;
        self.state_dir = folder.join("state");
        self
    }

    /// Keeps compiled code in another directory. The secret that authenticates the code is in the same directory.
    #[must_use]
    pub fn with_cache_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        (self.cache_dir, self.cache_secret_dir) = (Some(dir.into()), None);
        self
    }

    /// Appends these flags to the commands that a notice suggests. Each flag has a leading space.
    #[must_use]
    pub fn with_notice_flags(mut self, flags: impl Into<String>) -> Self {
        if let Some(notify) = &mut self.notify {
            notify.flags = flags.into();
        }
        self
    }

    /// Loads these plugins instead of the configured ones.
    #[must_use]
    pub fn with_plugins(mut self, plugins: Vec<PluginConfig>) -> Self {
        self.plugins = plugins;
        self
    }
}
