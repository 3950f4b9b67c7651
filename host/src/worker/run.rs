//! One job in one attempt, with its durable state as known to this worker.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::sync::Notify;

use latchwork_core::decide::{ConfirmationResult, Context, ReservedCosts};
use latchwork_core::event::Resource;
use latchwork_core::model::divergence::Divergence;
use latchwork_core::model::effect::Effect;
use latchwork_core::model::ids::{JobId, Operator, Slot, StepId};
use latchwork_core::model::rules::Rules;
use latchwork_core::state::{Durable, FoldError};
use latchwork_core::storage::{Claim, StoreError, StoredJob, WriteError};

use super::observe::Observer;
use super::traces::remember_trace_id;
use super::write::LiveView;
use super::{Worker, WorkerError};
use crate::os::Machine;
use crate::worker::deferred_writes::DeferredWrites;
use crate::worker::in_flight::InFlightCalls;
use crate::worker::unacknowledged::UnacknowledgedBarriers;

/// One job in one attempt.
pub struct Run {
    pub(super) worker: Arc<Worker>,
    pub(super) job_id: JobId,
    pub(super) attempt: u32,
    pub(super) rules: Rules,
    pub(super) observer: Arc<dyn Observer>,
    pub(super) state: Mutex<RunState>,
    /// Notified when the lease is lost.
    pub(super) lease_lost_notify: Notify,
    pub(super) lease_lost: AtomicBool,
    /// True if the previous attempt ended without settling or releasing the job, and this attempt has not yet completed
    /// a step or a call. While true, every write is flushed immediately. Each step and call is then recorded before it
    /// begins. If this process dies too, the log shows the step or call that was being executed.
    pub(super) flush_every_write: AtomicBool,
    /// Revision of the store's change notifications at the last read of the inbox.
    pub(super) seen_revision: AtomicU64,
    pub(super) live_view: Option<LiveView>,
    /// Tool calls whose answers are not recorded yet.
    pub(super) in_flight_calls: InFlightCalls,
    /// Writes that no caller waits for.
    pub(super) deferred_writes: Arc<DeferredWrites>,
    /// Barriers whose commit was never acknowledged.
    pub(super) unacknowledged: UnacknowledgedBarriers,
    /// Results of checking recorded changes in this attempt. Each change is checked at most once per attempt.
    pub(super) checked_changes: Mutex<BTreeMap<(Slot, Resource), ConfirmationResult>>,
}

/// Mutable state of a run.
pub(super) struct RunState {
    pub(super) durable: Durable,
    /// Steps whose try is running in this attempt.
    pub(super) running_steps: BTreeSet<StepId>,
    /// First divergence from the event log, if one was found.
    pub(super) divergence: Option<Divergence>,
    /// Maximum cost of each call that is in flight in this run.
    pub(super) reserved_costs: ReservedCosts,
}

/// Reason why a try, or the driving of a job, was aborted.
#[derive(Debug)]
pub enum RunAborted {
    /// Another attempt holds the job.
    LeaseLost,
    /// The worker is stopping and releases the job.
    Stopping,
    /// The store contradicts the state in memory. The job must be loaded again.
    Reload(WriteError),
    /// The database is not usable.
    Store(StoreError),
    /// A plugin that the job pinned is not available. Nothing was recorded about the call that needs it.
    PluginMissing {
        /// Operator served by the plugin.
        operator: Operator,
        /// Reason why the plugin is not available.
        why: String,
    },
    /// The host violated its own rules.
    Broken(String),
}

impl Run {
    /// Loads the stored data of a claimed job. Releases the claim if the effect store is unavailable.
    pub(super) async fn load(
        worker: Arc<Worker>,
        claim: Claim,
        observer: Arc<dyn Observer>,
    ) -> Result<Arc<Run>, WorkerError> {
        let job_id = claim.row.job_id.clone();
        let record = load_stored(&worker, &job_id).await?;
        let effects = match worker.parts.effects.effects(&job_id).await {
            Ok(effects) => effects,
            // The effects may be in a separate database. That database may be unavailable while the database of the
            // jobs is available.
            Err(why @ StoreError::Unavailable(_)) => return Err(worker.release_unloaded(&claim, record, why).await),
            Err(error) => return Err(error.into()),
        };
        let durable = fold_stored(&job_id, record, effects)?;
        let header = &durable.job.header;
        observer.job_loaded(&durable);
        let rules = worker.rules(&header.tenant_id);
        // A call is allowed only if both the rules recorded at acceptance and the current rules allow it.
        let rules = header.rules.iter().fold(rules, Rules::narrowed_by);
        let lingering = Arc::new(DeferredWrites::default());
        let shown =
            observer.is_watching().then(|| LiveView::start(job_id.clone(), observer.clone(), lingering.clone()));
        Ok(Arc::new(Run {
            attempt: claim.row.attempt,
            rules,
            observer,
            state: Mutex::new(RunState {
                durable,
                running_steps: BTreeSet::new(),
                divergence: None,
                reserved_costs: ReservedCosts::new(),
            }),
            lease_lost_notify: Notify::new(),
            lease_lost: AtomicBool::new(false),
            flush_every_write: AtomicBool::new(false),
            seen_revision: AtomicU64::new(0),
            live_view: shown,
            in_flight_calls: InFlightCalls::default(),
            deferred_writes: lingering,
            unacknowledged: UnacknowledgedBarriers::default(),
            checked_changes: Mutex::default(),
            worker,
            job_id,
        }))
    }

    /// Loads the job again in the same attempt.
    pub(super) async fn reload(&self) -> Result<(), WorkerError> {
        let durable = load_durable(&self.worker, &self.job_id).await?;
        self.deferred_writes.reset();
        let mut state = self.state();
        let look_first = state.durable.prefetched.query_keys_first;
        state.durable = durable;
        state.durable.prefetched.query_keys_first = look_first;
        state.durable.job.drop_tries();
        state.running_steps.clear();
        state.reserved_costs.clear();
        Ok(())
    }

    /// Returns the attempt id.
    pub(super) fn attempt(&self) -> u32 {
        self.attempt
    }

    /// Marks the lease as lost and wakes the run, which then aborts its tries.
    pub(super) fn revoke_lease(&self) {
        self.lease_lost.store(true, Ordering::Release);
        self.lease_lost_notify.notify_waiters();
    }

    pub(super) fn state(&self) -> MutexGuard<'_, RunState> {
        self.state.lock().expect("nothing panics while it holds the state")
    }

    /// Returns the clocks and the source of randomness.
    pub(super) fn machine(&self) -> &dyn Machine {
        &*self.worker.parts.machine
    }

    /// Returns the inputs of a decision that are not part of the durable state.
    pub(super) fn context(&self) -> Context<'_> {
        Context {
            now_us: self.machine().now_us(),
            random: self.machine().random(),
            rules: &self.rules,
            clock_margin_ms: self.worker.parts.settings.clock_margin_ms,
        }
    }
}

/// Loads everything stored about a job, including its effects.
pub(crate) async fn load_durable(worker: &Worker, job_id: &JobId) -> Result<Durable, WorkerError> {
    let record = load_stored(worker, job_id).await?;
    let effects = worker.parts.effects.effects(job_id).await?;
    fold_stored(job_id, record, effects)
}

async fn load_stored(worker: &Worker, job_id: &JobId) -> Result<StoredJob, WorkerError> {
    worker.parts.journal.load(job_id).await?.ok_or_else(|| WorkerError::NoJob(job_id.clone()))
}

fn fold_stored(job_id: &JobId, record: StoredJob, effects: Vec<Effect>) -> Result<Durable, WorkerError> {
    let durable =
        Durable::load(record, effects).map_err(|error| StoreError::Damaged(format!("job {job_id}: {error}")))?;
    remember_trace_id(job_id, &durable.job.header.trace_id);
    Ok(durable)
}

impl From<FoldError> for RunAborted {
    fn from(error: FoldError) -> Self {
        RunAborted::Broken(error.to_string())
    }
}

impl From<StoreError> for RunAborted {
    fn from(error: StoreError) -> Self {
        RunAborted::Store(error)
    }
}

impl From<WriteError> for RunAborted {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::Fenced { .. } | WriteError::LeaseExpired | WriteError::NotHeld { .. } => RunAborted::LeaseLost,
            WriteError::Unavailable(message) => RunAborted::Store(StoreError::Unavailable(message)),
            WriteError::Damaged(message) => RunAborted::Store(StoreError::Damaged(message)),
            WriteError::Restored(message) => RunAborted::Store(StoreError::Restored(message)),
            WriteError::Defect(message) => RunAborted::Broken(message),
            other => RunAborted::Reload(other),
        }
    }
}
