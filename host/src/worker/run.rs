//! One job in one attempt, with its durable state as known to this worker.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use latchwork_core::decide::{Context, InFlight, Looked};
use latchwork_core::effect::Effect;
use latchwork_core::event::Resource;
use latchwork_core::ids::{JobId, Operator, Slot, StepId};
use latchwork_core::policy::Rules;
use latchwork_core::replay::Divergence;
use latchwork_core::state::{Durable, FoldError};
use latchwork_core::storage::{Claim, Record, StoreError, WriteError};
use tokio::sync::Notify;

use super::lingering::Lingering;
use super::observe::Observer;
use super::traces::remember_trace_id;
use super::under_way::UnderWay;
use super::unheard::Unheard;
use super::write::Shown;
use super::{Worker, WorkerError};
use crate::os::Machine;

/// One job in one attempt.
pub struct Run {
    pub(super) worker: Arc<Worker>,
    pub(super) job_id: JobId,
    pub(super) attempt: u32,
    pub(super) rules: Rules,
    pub(super) observer: Arc<dyn Observer>,
    pub(super) state: Mutex<State>,
    /// Notified when the lease is lost.
    pub(super) gone: Notify,
    pub(super) is_gone: AtomicBool,
    /// True if the previous attempt was cut off and this attempt has not ended anything yet. Until then every
    /// write is flushed immediately, so each step and call is recorded before it begins. If this process dies
    /// too, the log names the step or call that it was executing.
    pub(super) is_careful: AtomicBool,
    /// Revision of the store's change notifications at the last read of the inbox.
    pub(super) heard: AtomicU64,
    pub(super) shown: Option<Shown>,
    /// Tool calls whose answers are not recorded yet.
    pub(super) under_way: UnderWay,
    /// Writes that no caller waits for.
    pub(super) lingering: Arc<Lingering>,
    /// Barriers whose commit was never acknowledged.
    pub(super) unheard: Unheard,
    /// Results of checking recorded changes in this attempt. Each change is checked at most once per attempt.
    pub(super) looked: Mutex<BTreeMap<(Slot, Resource), Looked>>,
}

/// Mutable state of a run.
pub(super) struct State {
    pub(super) durable: Durable,
    /// Steps whose try is running in this attempt.
    pub(super) running: BTreeSet<StepId>,
    /// First divergence from the event log, if one was found.
    pub(super) divergence: Option<Divergence>,
    /// Maximum cost of each call that is in flight in this run.
    pub(super) in_flight: InFlight,
}

/// Reason why a try, or the driving of a job, was aborted.
#[derive(Debug)]
pub enum Dropped {
    /// Another attempt holds the job.
    Lost,
    /// The worker is stopping and releases the job.
    Stopping,
    /// The store contradicts the state in memory. The job must be loaded again.
    Reload(WriteError),
    /// The database is not usable.
    Store(StoreError),
    /// A plugin that the job pinned is not available. No decision was made.
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
        let record = record(&worker, &job_id).await?;
        let effects = match worker.parts.effects.effects(&job_id).await {
            Ok(effects) => effects,
            // The effects may be in a separate database, which can be unavailable alone.
            Err(why @ StoreError::Unavailable(_)) => return Err(worker.give_back_unread(&claim, record, why).await),
            Err(error) => return Err(error.into()),
        };
        let durable = durable(&job_id, record, effects)?;
        let header = &durable.job.header;
        observer.begins(&durable);
        let rules = worker.rules(&header.tenant_id);
        // An action is allowed only if both the rules recorded at acceptance and the current rules allow it.
        let rules = header.rules.iter().fold(rules, Rules::narrowed_by);
        let lingering = Arc::new(Lingering::default());
        let shown = observer.watches().then(|| Shown::start(job_id.clone(), observer.clone(), lingering.clone()));
        Ok(Arc::new(Run {
            attempt: claim.row.attempt,
            rules,
            observer,
            state: Mutex::new(State {
                durable,
                running: BTreeSet::new(),
                divergence: None,
                in_flight: InFlight::new(),
            }),
            gone: Notify::new(),
            is_gone: AtomicBool::new(false),
            is_careful: AtomicBool::new(false),
            heard: AtomicU64::new(0),
            shown,
            under_way: UnderWay::default(),
            lingering,
            unheard: Unheard::default(),
            looked: Mutex::default(),
            worker,
            job_id,
        }))
    }

    /// Loads the job again in the same attempt.
    pub(super) async fn reload(&self) -> Result<(), WorkerError> {
        let durable = load(&self.worker, &self.job_id).await?;
        self.lingering.forget();
        let mut state = self.state();
        let look_first = state.durable.seen.look_first;
        state.durable = durable;
        state.durable.seen.look_first = look_first;
        state.durable.job.drop_tries();
        state.running.clear();
        state.in_flight.clear();
        Ok(())
    }

    /// Returns the attempt id.
    pub(super) fn attempt(&self) -> u32 {
        self.attempt
    }

    /// Marks the lease as lost, which aborts everything in flight.
    pub(super) fn lose(&self) {
        self.is_gone.store(true, Ordering::Release);
        self.gone.notify_waiters();
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
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
pub(crate) async fn load(worker: &Worker, job_id: &JobId) -> Result<Durable, WorkerError> {
    let record = record(worker, job_id).await?;
    let effects = worker.parts.effects.effects(job_id).await?;
    durable(job_id, record, effects)
}

async fn record(worker: &Worker, job_id: &JobId) -> Result<Record, WorkerError> {
    worker.parts.journal.load(job_id).await?.ok_or_else(|| WorkerError::NoJob(job_id.clone()))
}

fn durable(job_id: &JobId, record: Record, effects: Vec<Effect>) -> Result<Durable, WorkerError> {
    let durable =
        Durable::load(record, effects).map_err(|error| StoreError::Damaged(format!("job {job_id}: {error}")))?;
    remember_trace_id(job_id, &durable.job.header.trace_id);
    Ok(durable)
}

impl From<FoldError> for Dropped {
    fn from(error: FoldError) -> Self {
        Dropped::Broken(error.to_string())
    }
}

impl From<StoreError> for Dropped {
    fn from(error: StoreError) -> Self {
        Dropped::Store(error)
    }
}

impl From<WriteError> for Dropped {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::Fenced { .. } | WriteError::LeaseExpired | WriteError::NotHeld { .. } => Dropped::Lost,
            WriteError::Unavailable(message) => Dropped::Store(StoreError::Unavailable(message)),
            WriteError::Damaged(message) => Dropped::Store(StoreError::Damaged(message)),
            WriteError::Restored(message) => Dropped::Store(StoreError::Restored(message)),
            WriteError::Broken(message) => Dropped::Broken(message),
            other => Dropped::Reload(other),
        }
    }
}
