//! The parts of a validated configuration, with defaults filled in and absolute paths.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;

use hyper::Uri;
use serde_json::Value;

use latchwork_core::model::answer_requirement::AnswerRequirement;
use latchwork_core::model::auto_exec::AutoExec;
use latchwork_core::model::budget::Budget;
use latchwork_core::model::ids::{Hash, Operator};
use latchwork_core::model::manifest::{Confirmation, EffectKind, OnIndeterminate, WasiMode};
use latchwork_core::model::mode::Mode;
use latchwork_core::model::person::Assurance;
use latchwork_core::model::retry::RetrySpec;
use latchwork_core::response::notice::NoticeKind;
use latchwork_core::rules::cost::Prices;
use latchwork_core::storage::QueueLimit;
use latchwork_engine::capability::grants::{Grants, Origin};
use latchwork_engine::capability::settings::{LimitsConfig, OperatorOverride};

use super::headers::HeaderTemplate;
use crate::config::limits::OperatorLimit;

/// `[worker]`: limits of one process. Each further process adds the same capacity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerConfig {
    /// Maximum number of jobs the process holds at the same time.
    pub jobs: u32,
    /// Time that calls in flight may take when the process stops, in milliseconds.
    pub drain_ms: u32,
    /// Maximum number of jobs of one tenant that the process holds at the same time.
    pub tenants: BTreeMap<String, u32>,
    /// Limits on the calls of each operator, in all jobs of the process.
    pub operators: BTreeMap<Operator, OperatorLimit>,
}

impl Default for WorkerConfig {
    fn default() -> Self {
        // `drain_ms` is longer than the default timeout of a tool call (30 seconds), so that calls in flight can end
        // before the process stops.
        Self { jobs: 16, drain_ms: 40_000, tenants: BTreeMap::new(), operators: BTreeMap::new() }
    }
}

/// `[queue]`: maximum numbers of pending jobs. A job above the maximum is refused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueConfig {
    /// Maximum for all tenants together.
    pub pending: Option<u32>,
    /// Maximum for each tenant.
    pub tenants: BTreeMap<String, u32>,
}

impl QueueConfig {
    /// Returns the limits that apply to a job of this tenant.
    pub fn limit(&self, tenant: &str) -> QueueLimit {
        QueueLimit { all: self.pending, tenant: self.tenants.get(tenant).copied() }
    }
}

/// `[notify]`: the webhook.
#[derive(Clone, PartialEq, Eq)]
pub struct NotifyConfig {
    /// URL that notifications are posted to.
    pub webhook: Uri,
    /// Scheme, host and port of the URL.
    pub origin: Origin,
    /// Headers sent with each post.
    pub headers: Vec<HeaderTemplate>,
    /// Timeout of one post, in milliseconds.
    pub timeout_ms: u32,
    /// Events that are posted.
    pub events: BTreeSet<NoticeKind>,
    /// Flags that are appended to suggested commands. With these flags, the commands find the same jobs. Each flag has
    /// a leading space.
    pub flags: String,
}

impl fmt::Debug for NotifyConfig {
    /// Omits the path of the webhook, because the path is often its secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Notify").field("place", &self.origin).finish_non_exhaustive()
    }
}

/// Value of the key `verifier`: `"etag"`, or `{ name = "etag", headers = { … } }`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifierConfig {
    /// The verifier's name.
    pub name: String,
    /// Headers sent with each request of the verifier.
    pub headers: Vec<HeaderTemplate>,
}

/// Commit protocol for an answered call: one transaction, or three durable writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CommitMode {
    /// Effect, events and ledger row in one transaction.
    #[default]
    Atomic,
    /// Effect, then events, then ledger row.
    Staged,
}

/// Required durability of the database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// The host refuses to run on a database that is not durable.
    #[default]
    Full,
    /// The host runs anyway, and every response states the reduced durability.
    Relaxed,
}

/// Treatment of a PostgreSQL standby that takes over from the primary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Failover {
    /// A promoted standby counts as a restored database until an administrator has accepted it, because it may lack
    /// acknowledged writes.
    #[default]
    Accepted,
    /// A promoted standby counts as the same database. With this setting, the commits of the primary must wait for the
    /// standby, so that the standby has every acknowledged write.
    Synchronous,
}

/// Permissions of a tenant. A policy narrows plans and never widens them.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// Allowed modes.
    pub modes: Vec<Mode>,
    /// Effects whose calls always need an approval.
    pub gate_effects: Vec<EffectKind>,
    /// Policy tags whose steps always need an approval.
    pub gate_tags: Vec<String>,
    /// True if approvals given in advance with `--approve` are accepted.
    pub standing_approvals: bool,
    /// Time after which an undecided gate expires, in milliseconds.
    pub gate_expires_ms: u32,
    /// Number of different people who must approve.
    pub gate_quorum: u32,
    /// True if the actor who submitted a job may approve its calls.
    pub self_approve: bool,
    /// True if an approval must state a reason.
    pub gate_reason: bool,
    /// Assurance that an approval must have.
    pub gate_approvals: Assurance,
    /// Limits on the spending of the tenant's jobs.
    pub budget: Budget,
    /// Settings of the mode `AUTO_EXEC`: the trust that a call needs to run without approval.
    pub auto_exec: AutoExec,
    /// Properties that the answers of external operators must have.
    pub require: BTreeMap<Operator, Vec<AnswerRequirement>>,
    /// Version number that the author of the policy assigned.
    pub version: Option<u32>,
    /// SHA-256 of the policy in canonical form. The hash is part of request keys.
    pub hash: Hash,
}

/// One `[[plugin]]`.
#[derive(Clone, Debug)]
pub struct PluginConfig {
    /// Unique name.
    pub name: String,
    /// A component file, or a directory with a `latch-plugin.toml`.
    pub source: PathBuf,
    /// SHA-256 that the component must have.
    pub digest: Option<Hash>,
    /// WASI interfaces that a step plugin may import.
    pub wasi: WasiMode,
    /// Granted capabilities.
    pub grants: Grants,
    /// Configured limits.
    pub limits: LimitsConfig,
    /// Number and delays of retries of retryable failures.
    pub retry: Option<RetrySpec>,
    /// Overrides `on_indeterminate`. The override may only tighten the setting.
    pub on_indeterminate: Option<OnIndeterminate>,
    /// Overrides `confirmation`.
    pub confirmation: Option<Confirmation>,
    /// Verifier of the host that checks the plugin's recorded effects instead of the plugin's own `verify`.
    pub verifier: Option<VerifierConfig>,
    /// Declarations about the functions of an untyped component.
    pub operators: BTreeMap<String, OperatorOverride>,
    /// The `config` table.
    pub config: BTreeMap<String, Value>,
    /// Prices in the table `model_prices` of `config`.
    pub prices: Option<Prices>,
}
