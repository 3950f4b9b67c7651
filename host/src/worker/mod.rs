//! The worker: claims jobs and carries out the decisions of the kernel (`latchwork_core::decide`).
//!
//! ```text
//! Worker ── claims ──► Run (one job, one attempt)
//!                        ├─ drive    main loop: drain the inbox, advance, start steps, settle the job
//!                        ├─ step     one try of one step: guest or tool
//!                        ├─ perform  one invocation: carries out the ledger's decision
//!                        ├─ execute  the only place that calls a tool
//!                        ├─ confirm  checks recorded changes of earlier attempts once per attempt
//!                        ├─ undo     compensates the job's calls, one after the other
//!                        ├─ timers   waits for durable timers and fires them
//!                        ├─ limits   concurrency limits and rate limits per operator
//!                        └─ write    seals drafts into batches and writes them in order
//! Pool ─── claims for a worker, many jobs concurrently, until it is stopped
//! ```

mod audit;
mod budgets;
mod calls;
mod claim_reports;
mod confirm;
mod deferred_writes;
mod drive;
mod execute;
mod in_flight;
mod lease;
mod limits;
mod lookup;
mod observe;
mod perform;
mod pool;
mod quarantine;
mod run;
mod step;
mod timers;
mod traces;
mod unacknowledged;
mod undo;
mod unloaded;
mod validate;
mod write;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use tokio::sync::Notify;

use latchwork_core::model::ids::{Hash, JobId, Operator};
use latchwork_core::model::rules::Rules;
use latchwork_core::response::Response;
use latchwork_core::rules::cost::Prices;
use latchwork_core::storage::{Claim, EffectStore, Journal, LeaseRequest, Owner, StoreError};

use crate::config::limits::OperatorLimit;
use crate::engine::PinnedComponents;
use crate::notify::Notifier;
use crate::os::Machine;
use crate::validate::Validators;
use crate::verifier::Verifiers;

pub use audit::audit_finished_inbox;
pub use claim_reports::ChangeDetector;
pub use observe::{NoObserver, Observer};
pub use pool::{Pool, PoolEvent, PoolSettings, PoolTally, StopHandle};
pub(crate) use run::load_durable;
pub use run::{Run, RunAborted};
pub use traces::{remember_trace_id, trace_id};

/// Names of the crash points before and after the calls of tools: `execute` runs a try, and `reconcile` asks
/// about an earlier one.
pub const EXECUTE_POINTS: &[&str] = &["execute", "reconcile"];

/// Hook that is called at each crash point. Crash tests kill the process in this hook. Production code uses
/// [`NoCrash`].
pub trait CrashPoint: Send + Sync {
    /// Called at the crash point `name`, before the call of the tool if `after` is false, and after the call
    /// if `after` is true.
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
}

/// Dependencies and settings of a worker.
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
    /// Verifiers of the host. The configuration of a plugin can select one instead of the plugin's own
    /// `verify`.
    pub verifiers: Verifiers,
    /// Validators that run before a step starts.
    pub validators: Validators,
    /// Sends a notification when a job waits for a person or has ended.
    pub notifier: Option<Arc<Notifier>>,
    /// Hook with which tests kill the process at a crash point.
    pub crash: Arc<dyn CrashPoint>,
    /// Clocks and randomness.
    pub machine: Arc<dyn Machine>,
}

/// Drives the jobs that this process has claimed.
pub struct Worker {
    pub(crate) parts: WorkerParts,
    held: Mutex<BTreeMap<JobId, HeldJob>>,
    limits: limits::OperatorLimits,
    stopping: AtomicBool,
    /// Notified when the worker stops.
    stopped: Notify,
    /// Number of answers to calls that have arrived but are not recorded yet.
    answers_unrecorded: AtomicU32,
}

/// Guard that counts one answer as not recorded yet.
struct UnrecordedGuard<'w>(&'w AtomicU32);

impl Drop for UnrecordedGuard<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Reason why this worker could not settle a job.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// Another worker holds the job.
    #[error("job {0} is now held by another worker")]
    LeaseLost(JobId),
    /// The worker is stopping and has released the job.
    #[error("job {0} was released because this worker is stopping")]
    Released(JobId),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The stored data of the job is inconsistent, or the host violated its own rules.
    #[error("job {job_id}: {message}")]
    Broken {
        /// The job.
        job_id: JobId,
        /// Description of the inconsistency.
        message: String,
    },
    /// The plugin version that the job pinned is not available here. The job was released.
    #[error("job {job_id} needs the plugin version for {operator} that was installed when the job was accepted: {why}")]
    PluginMissing {
        /// The job.
        job_id: JobId,
        /// Operator served by the missing plugin.
        operator: latchwork_core::model::ids::Operator,
        /// Reason why the plugin is not available.
        why: String,
    },
    /// The job was parked without being loaded: too many processes in a row died before they recorded anything.
    #[error("job {job_id} is parked with ATTEMPTS_EXHAUSTED: {cause}")]
    ParkedUnloaded {
        /// The job.
        job_id: JobId,
        /// Cause recorded with the parked job.
        cause: String,
    },
    /// The effect store is unavailable, so the job could not be loaded. The job was released.
    #[error("job {job_id} cannot be loaded: {why}")]
    NotLoaded {
        /// The job.
        job_id: JobId,
        /// Error of the effect store.
        why: StoreError,
    },
    /// The job does not exist.
    #[error("job {0} does not exist")]
    NoJob(JobId),
}

impl WorkerError {
    /// Returns true if another try by this worker would fail the same way. Another worker may succeed if it
    /// has other plugins or another version of this program.
    pub fn is_worker_specific(&self) -> bool {
        matches!(self, Self::PluginMissing { .. } | Self::Broken { .. } | Self::Store(StoreError::Damaged(_)))
    }
}

/// Claim whose lease the heartbeat extends.
struct HeldJob {
    attempt: u32,
    /// The run of the job. `None` until the job is loaded. The heartbeat must extend the lease during a long load too.
    run: Option<Arc<Run>>,
}

/// Guard of a held job. Dropping the guard ends the heartbeat of the job's lease.
struct HeldGuard<'w> {
    worker: &'w Worker,
    job_id: JobId,
}

impl Drop for HeldGuard<'_> {
    fn drop(&mut self) {
        self.worker.held.lock().expect("no holder panics").remove(&self.job_id);
    }
}

impl Worker {
    /// Creates a worker that holds no jobs and starts its heartbeat. The heartbeat runs until the worker is
    /// dropped.
    pub fn start(parts: WorkerParts) -> Arc<Worker> {
        let limits = limits::OperatorLimits::new(&parts.settings.limits, parts.machine.clone());
        let (stopping, stopped) = (AtomicBool::new(false), Notify::new());
        let worker = Arc::new(Worker {
            parts,
            held: Mutex::default(),
            limits,
            stopping,
            stopped,
            answers_unrecorded: AtomicU32::new(0),
        });
        lease::keep_alive(&worker);
        worker
    }

    /// Stops the worker. Tool calls in flight finish and are recorded, then every held job is released.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::Release);
        self.stopped.notify_waiters();
    }

    /// Returns the held jobs.
    pub fn held_jobs(&self) -> Vec<JobId> {
        self.held.lock().expect("no holder panics").keys().cloned().collect()
    }

    /// Returns the number of answers to calls that have arrived but are not recorded yet.
    pub fn answers_unrecorded(&self) -> u32 {
        self.answers_unrecorded.load(Ordering::Relaxed)
    }

    /// Counts one more unrecorded answer until the returned guard is dropped.
    fn count_unrecorded(&self) -> UnrecordedGuard<'_> {
        self.answers_unrecorded.fetch_add(1, Ordering::Relaxed);
        UnrecordedGuard(&self.answers_unrecorded)
    }

    fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }

    /// Completes when the worker stops.
    async fn wait_for_stop(&self) {
        // Registers for the notification before checking the flag. Otherwise a stop in between would be missed.
        let told = self.stopped.notified();
        if !self.is_stopping() {
            told.await;
        }
    }

    /// Returns the owner and lease duration for claims of this worker.
    pub fn lease_request(&self) -> LeaseRequest {
        LeaseRequest { owner: self.parts.owner.clone(), lease_ms: self.parts.settings.lease_ms }
    }

    /// Drives a claimed job until it ends, waits, is parked or diverges.
    ///
    /// # Errors
    /// See [`WorkerError`]. Every acknowledged write is durable.
    pub async fn drive(self: &Arc<Self>, claim: Claim, observer: Arc<dyn Observer>) -> Result<Response, WorkerError> {
        let job_id = claim.row.job_id.clone();
        let attempt = claim.row.attempt;
        let hold = |run| self.held.lock().expect("no holder panics").insert(job_id.clone(), HeldJob { attempt, run });
        hold(None);
        let _held = HeldGuard { worker: self, job_id: job_id.clone() };
        self.park_unloaded(&claim, &*observer).await?;
        let run = Run::load(self.clone(), claim, observer).await?;
        hold(Some(run.clone()));
        run.drive().await
    }

    /// Claims the job and drives it until it settles. Returns `None` if the job cannot be claimed now.
    ///
    /// # Errors
    /// See [`WorkerError`].
    pub async fn resume(
        self: &Arc<Self>,
        job_id: &JobId,
        observer: Arc<dyn Observer>,
    ) -> Result<Option<Response>, WorkerError> {
        match self.parts.journal.claim_job(job_id, &self.lease_request()).await? {
            Some(claim) => self.drive(claim, observer).await.map(Some),
            None => Ok(None),
        }
    }

    /// Returns the currently configured rules of a tenant, or the rules of `default` if the tenant has none.
    pub(crate) fn rules(&self, tenant: &str) -> Rules {
        let rules = &self.parts.rules;
        rules.get(tenant).or_else(|| rules.get("default")).cloned().unwrap_or_default()
    }
}
