//! One job in one attempt: its durable state as this worker knows it.

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
    /// Told when the claim is lost.
    pub(super) gone: Notify,
    pub(super) is_gone: AtomicBool,
    /// The attempt before was cut off: until this one has ended something, all that it begins is recorded before it
    /// begins it. Whatever ends its process too is then named.
    pub(super) is_careful: AtomicBool,
    /// How much news of others was there when the inbox was last looked at.
    pub(super) heard: AtomicU64,
    pub(super) shown: Option<Shown>,
    /// Calls of tools whose answers are not recorded yet.
    pub(super) under_way: UnderWay,
    /// Writes that nobody waited for.
    pub(super) lingering: Arc<Lingering>,
    /// Barriers whose commits got no answer.
    pub(super) unheard: Unheard,
    /// What was found of recorded changes in this attempt: none is looked at twice.
    pub(super) looked: Mutex<BTreeMap<(Slot, Resource), Looked>>,
}

/// What changes.
pub(super) struct State {
    pub(super) durable: Durable,
    /// Steps whose try runs here.
    pub(super) running: BTreeSet<StepId>,
    /// The first difference to the log, once there is one.
    pub(super) divergence: Option<Divergence>,
    /// The most that calls under way here may still cost.
    pub(super) in_flight: InFlight,
}

/// Why a try, or the driving of a job, stopped in the middle.
#[derive(Debug)]
pub enum Dropped {
    /// Another attempt holds the job.
    Lost,
    /// This worker stops: the job is given back.
    Stopping,
    /// What is stored is not what was thought: load it again, then go on.
    Reload(WriteError),
    /// The database cannot be used.
    Store(StoreError),
    /// A plugin that the job pinned is not there; nothing was decided.
    PluginMissing {
        /// The operator it serves.
        operator: Operator,
        /// Why not.
        why: String,
    },
    /// The host broke its own rules.
    Broken(String),
}

impl Run {
    /// What is stored of a claimed job.
    pub(super) async fn load(
        worker: Arc<Worker>,
        claim: Claim,
        observer: Arc<dyn Observer>,
    ) -> Result<Arc<Run>, WorkerError> {
        let job_id = claim.row.job_id.clone();
        let record = record(&worker, &job_id).await?;
        let effects = match worker.parts.effects.effects(&job_id).await {
            Ok(effects) => effects,
            // They may be in a database of their own.
            Err(why @ StoreError::Unavailable(_)) => return Err(worker.give_back_unread(&claim, record, why).await),
            Err(error) => return Err(error.into()),
        };
        let durable = durable(&job_id, record, effects)?;
        let header = &durable.job.header;
        observer.begins(&durable);
        let rules = worker.rules(&header.tenant_id);
        // What was allowed when the job was accepted and is not now, is not; nor the other way round.
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

    /// Load everything again, in the same attempt.
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

    /// The attempt.
    pub(super) fn attempt(&self) -> u32 {
        self.attempt
    }

    /// The claim is lost: whatever is under way is dropped.
    pub(super) fn lose(&self) {
        self.is_gone.store(true, Ordering::Release);
        self.gone.notify_waiters();
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nothing panics while it holds the state")
    }

    /// Time and randomness.
    pub(super) fn machine(&self) -> &dyn Machine {
        &*self.worker.parts.machine
    }

    /// What decisions know beside the durable state.
    pub(super) fn context(&self) -> Context<'_> {
        Context {
            now_us: self.machine().now_us(),
            random: self.machine().random(),
            rules: &self.rules,
            clock_margin_ms: self.worker.parts.settings.clock_margin_ms,
        }
    }
}

/// Everything stored of a job, effects included.
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
