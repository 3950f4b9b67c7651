//! What a configuration says once it holds: defaults filled, paths absolute.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;

use hyper::Uri;
use latchwork_core::cost::{Budget, Prices};
use latchwork_core::event::Mode;
use latchwork_core::ids::{Hash, Operator};
use latchwork_core::manifest::{Confirmation, Effect, OnIndeterminate, WasiMode};
use latchwork_core::notice::Kind;
use latchwork_core::plan::RetrySpec;
use latchwork_core::policy::{AutoExec, Demand};
use latchwork_core::storage::QueueLimit;
use serde_json::Value;

use super::headers::HeaderTemplate;
use super::operators::OperatorStatement;
use super::problem::Origin;
use crate::validate::Shipped;
use crate::worker::OperatorLimit;

/// The whole of `latch.toml` with environment and flags applied.
#[derive(Clone, Debug)]
pub struct Config {
    /// Directory that relative paths start from: where `latch.toml` lies.
    pub root: PathBuf,
    /// The file, where there is one.
    pub file: Option<PathBuf>,
    /// `sqlite://…`, the path absolute, or `postgres://…`.
    pub database: String,
    /// The flag or variable that names the database; none: the file or the default does.
    pub database_from: Option<Origin>,
    /// One transaction or three.
    pub commit: Commit,
    /// A database of its own for effects (staged commit only).
    pub effect_store: Option<String>,
    /// Whether the database must be durable.
    pub durability: Durability,
    /// What a standby is that takes over.
    pub failover: Failover,
    /// Last rung of the resolution ladder.
    pub on_indeterminate: OnIndeterminate,
    /// Length of a lease in milliseconds.
    pub lease_ms: u32,
    /// Between two heartbeats, in milliseconds.
    pub heartbeat_ms: u32,
    /// How far clocks may be apart, in milliseconds.
    pub clock_margin_ms: u32,
    /// Attempts without progress until a job is parked.
    pub max_attempts_without_progress: u32,
    /// Where compiled code is kept: the user's own place, never the project's. None: it is compiled
    /// at each start.
    pub cache_dir: Option<PathBuf>,
    /// Where components and secrets are kept.
    pub state_dir: PathBuf,
    /// By tenant; `default` always exists.
    pub policy: BTreeMap<String, Policy>,
    /// What follows where a recorded effect is not as it was recorded, unless the plugin says otherwise.
    pub confirmation: Confirmation,
    /// Who is asked before a step starts.
    pub validators: Vec<Shipped>,
    /// Who is told when a job waits for somebody.
    pub notify: Option<Notify>,
    /// How long `latch plugin prune` keeps the components of completed jobs that can be undone, in milliseconds.
    pub keep_undoable_ms: u64,
    /// How much of the work this process takes on.
    pub worker: WorkerConfig,
    /// How much may wait.
    pub queue: QueueConfig,
    /// In the order of the file.
    pub plugins: Vec<PluginConfig>,
}

/// `[worker]`: limits of one process; so many processes, so many times as much.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerConfig {
    /// Jobs in hand at the same time.
    pub jobs: u32,
    /// How long calls that are under way may take when the process is to stop, in milliseconds.
    pub drain_ms: u32,
    /// Jobs of one tenant in hand at the same time.
    pub tenants: BTreeMap<String, u32>,
    /// Calls of one operator, whatever runs it.
    pub operators: BTreeMap<Operator, OperatorLimit>,
}

impl Default for WorkerConfig {
    fn default() -> Self {
        // A call of a tool has 30 seconds, where nothing else is said.
        Self { jobs: 16, drain_ms: 40_000, tenants: BTreeMap::new(), operators: BTreeMap::new() }
    }
}

/// `[queue]`: jobs that may wait to be started; one more is refused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueConfig {
    /// Of all tenants.
    pub pending: Option<u32>,
    /// Of one tenant.
    pub tenants: BTreeMap<String, u32>,
}

impl QueueConfig {
    /// What holds for a job of this tenant.
    pub fn limit(&self, tenant: &str) -> QueueLimit {
        QueueLimit { all: self.pending, tenant: self.tenants.get(tenant).copied() }
    }
}

/// `[notify]`
#[derive(Clone, PartialEq, Eq)]
pub struct Notify {
    /// Where it is posted.
    pub webhook: Uri,
    /// The same: scheme, host and port.
    pub place: HttpGrant,
    /// What is sent along.
    pub headers: Vec<HeaderTemplate>,
    /// How long one post may take, in milliseconds.
    pub timeout_ms: u32,
    /// The events that are posted.
    pub events: BTreeSet<Kind>,
    /// Flags with which commands find the same jobs, with a blank before each: ` --config /srv/latch.toml`.
    pub flags: String,
}

impl fmt::Debug for Notify {
    /// Without the path: many a webhook's path is its secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Notify").field("place", &self.place).finish_non_exhaustive()
    }
}

/// `verifier = "etag"`, or `{ name = "etag", headers = { … } }`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifierConfig {
    /// The verifier's name.
    pub name: String,
    /// What it sends along.
    pub headers: Vec<HeaderTemplate>,
}

/// One transaction or three.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Commit {
    /// Effect, events and ledger row in one transaction.
    #[default]
    Atomic,
    /// Effect, then events, then ledger row.
    Staged,
}

/// Whether the database must be durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// Refuse to run where it is not.
    #[default]
    Full,
    /// Run anyway; every response says so.
    Relaxed,
}

/// What a PostgreSQL standby is that takes over from the primary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Failover {
    /// A restored database, until a person has accepted it: it may lack what was acknowledged.
    #[default]
    Accepted,
    /// The same database, where its commits wait for standbys.
    Synchronous,
}

/// What a tenant allows. It narrows plans, never widens them.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// Modes allowed.
    pub modes: Vec<Mode>,
    /// Effects that are always gated.
    pub gate_effects: Vec<Effect>,
    /// Policy tags that are always gated.
    pub gate_tags: Vec<String>,
    /// Whether `--approve` counts.
    pub standing_approvals: bool,
    /// Time after which an undecided gate expires, in milliseconds.
    pub gate_expires_ms: u32,
    /// How many different people have to approve.
    pub gate_quorum: u32,
    /// Whether the one who asked for a job may approve its calls.
    pub self_approve: bool,
    /// Whether an approval has to say why.
    pub gate_reason: bool,
    /// What its jobs may spend.
    pub budget: Budget,
    /// Who may act without being asked.
    pub auto_exec: AutoExec,
    /// What answers of external operators must carry.
    pub require: BTreeMap<Operator, Vec<Demand>>,
    /// The number its author gave it.
    pub version: Option<u32>,
    /// SHA-256 of the canonical policy: part of request keys.
    pub hash: Hash,
}

/// One `[[plugin]]`.
#[derive(Clone, Debug)]
pub struct PluginConfig {
    /// Unique name.
    pub name: String,
    /// A component, or a directory with a `latch-plugin.toml`.
    pub source: PathBuf,
    /// SHA-256 the component must have.
    pub digest: Option<Hash>,
    /// What of WASI it may import, if it is a step.
    pub wasi: WasiMode,
    /// What it is granted.
    pub grants: Grants,
    /// Limits it asks or is given.
    pub limits: LimitsConfig,
    /// How often and how fast retryable failures are retried.
    pub retry: Option<RetrySpec>,
    /// Overrides `on_indeterminate`; may only tighten.
    pub on_indeterminate: Option<OnIndeterminate>,
    /// Overrides `confirmation`.
    pub confirmation: Option<Confirmation>,
    /// The host's verifier that looks at its recorded effects, in place of its own `verify`.
    pub verifier: Option<VerifierConfig>,
    /// What is said of a plain component's functions.
    pub operators: BTreeMap<String, OperatorStatement>,
    /// Its `config` table.
    pub config: BTreeMap<String, Value>,
    /// The table `model_prices` of its `config`.
    pub prices: Option<Prices>,
}

/// Capabilities of a tool; empty: none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grants {
    /// Outgoing HTTP.
    pub http: Vec<HttpGrant>,
    /// Outgoing TCP.
    pub tcp: Vec<TcpGrant>,
    /// Directories.
    pub dirs: Vec<DirGrant>,
    /// Names of secrets.
    pub secrets: Vec<String>,
    /// Whether secrets are given in clear.
    pub secrets_clear: bool,
    /// Namespace of its map.
    pub kv: Option<String>,
}

/// `https://api.example.com:443`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpGrant {
    /// `http` or `https`.
    pub scheme: String,
    /// Host name or address, lower case.
    pub host: String,
    /// Port.
    pub port: u16,
}

/// `smtp.example.com:587`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TcpGrant {
    /// Host name or address, lower case.
    pub host: String,
    /// Port.
    pub port: u16,
}

/// `{ host = "outbox", guest = "/outbox", write = true }`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirGrant {
    /// Absolute path on the host.
    pub host: PathBuf,
    /// Path the guest sees.
    pub guest: String,
    /// Whether it may write.
    pub write: bool,
}

/// Limits as configured; none: the plugin's wish up to the default, or the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LimitsConfig {
    /// Linear memory in bytes.
    pub memory_bytes: Option<u64>,
    /// Fuel for one try.
    pub fuel: Option<u64>,
    /// Wall clock of one try in milliseconds.
    pub timeout_ms: Option<u32>,
    /// Bytes of an answer.
    pub output_bytes: Option<u32>,
    /// Host calls of one try.
    pub host_calls: Option<u32>,
}
