//! Settings and dependencies of a worker, and its crash points.

use std::collections::BTreeMap;
use std::sync::Arc;

use latchwork_core::model::ids::{Hash, Operator};
use latchwork_core::model::person::People;
use latchwork_core::model::rules::Rules;
use latchwork_core::rules::cost::Prices;
use latchwork_core::storage::{EffectStore, Journal, Owner};
use latchwork_engine::PinnedComponents;
use latchwork_engine::os::Machine;

use crate::config::DEFAULT_TENANT;
use crate::config::limits::OperatorLimit;
use crate::notify::Notifier;
use crate::validate::Validators;
use crate::verifier::Verifiers;

use super::trace_ids::TraceIds;

/// Names of the crash points before and after the calls of tools: `execute` runs a try, and `reconcile` asks about an
/// earlier try.
pub const EXECUTE_POINTS: &[&str] = &["execute", "reconcile"];

/// Hook that is called at each crash point. Crash tests kill the process in this hook. Production code uses
/// [`NoCrash`].
pub trait CrashPoint: Send + Sync {
    /// Called at the crash point `name`. `after` is false before the call of the tool, and true after the call.
    fn at(&self, name: &'static str, after: bool);
}

/// Crash point hook that does nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoCrash;

impl CrashPoint for NoCrash {
    fn at(&self, _: &'static str, _: bool) {}
}

/// Settings of a worker. Durations are in milliseconds.
#[derive(Clone, Debug)]
pub struct WorkerSettings {
    /// Duration of a lease.
    pub lease_ms: u32,
    /// Interval between two heartbeats.
    pub heartbeat_ms: u32,
    /// Maximum difference between the clocks of two machines.
    pub clock_margin_ms: u32,
    /// Number of attempts without progress after which a job is parked.
    pub max_attempts_without_progress: u32,
    /// True for staged commit: effect, events and ledger row are three separate writes.
    pub staged: bool,
    /// Concurrency limit and rate limit of each operator in this process.
    pub limits: BTreeMap<Operator, OperatorLimit>,
    /// People and the keys with which they sign their decisions.
    pub people: People,
}

/// Dependencies and settings of a worker. [`WorkerParts::new`] returns them, and the caller may then set more fields.
#[non_exhaustive]
pub struct WorkerParts {
    /// Store of jobs, event logs, ledgers and inboxes.
    pub journal: Arc<dyn Journal>,
    /// Effect store.
    pub effects: Arc<dyn EffectStore>,
    /// Source of plugins.
    pub components: Arc<dyn PinnedComponents>,
    /// Digest of the engine profile for steps.
    pub engine_profile: Hash,
    /// Identity of this process, recorded with each of its claims.
    pub owner: Owner,
    /// Settings of the worker.
    pub settings: WorkerSettings,
    /// Rules by tenant. The entry `default` always exists.
    pub rules: BTreeMap<String, Rules>,
    /// Prices of language models, by the name of the plugin that calls the models.
    pub prices: BTreeMap<String, Prices>,
    /// Verifiers of the host. The configuration of a plugin can select one of these verifiers instead of the plugin's
    /// own `verify`.
    pub verifiers: Verifiers,
    /// Validators that run before a step starts.
    pub validators: Validators,
    /// Sends a notification when a job waits for a person or has ended.
    pub notifier: Option<Arc<Notifier>>,
    /// Hook with which tests kill the process at a crash point.
    pub crash: Arc<dyn CrashPoint>,
    /// Clock and entropy of the host.
    pub machine: Machine,
    /// List to which the worker adds the trace id of each job that it loads.
    pub trace_ids: TraceIds,
}

impl WorkerParts {
    /// Returns the parts of a worker with the default rules. It has no prices, verifiers and validators of the host, and
    /// sends no notifications.
    pub fn new(
        journal: Arc<dyn Journal>,
        effects: Arc<dyn EffectStore>,
        components: Arc<dyn PinnedComponents>,
        owner: Owner,
        settings: WorkerSettings,
        machine: Machine,
    ) -> Self {
        Self {
            journal,
            effects,
            components,
            engine_profile: Hash::default(),
            owner,
            settings,
            rules: BTreeMap::from([(DEFAULT_TENANT.to_owned(), Rules::default())]),
            prices: BTreeMap::new(),
            verifiers: Verifiers::default(),
            validators: Validators::default(),
            notifier: None,
            crash: Arc::new(NoCrash),
            machine,
            trace_ids: TraceIds::default(),
        }
    }
}
