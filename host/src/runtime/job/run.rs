//! One job in one attempt, with its durable state as known to this worker.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex, MutexGuard};

use latchwork_core::decide::{ConfirmationResult, Context, ReservedCosts};
use latchwork_core::event::Resource;
use latchwork_core::model::divergence::Divergence;
use latchwork_core::model::ids::{JobId, Slot, StepId};
use latchwork_core::model::rules::Rules;
use latchwork_core::state::Durable;
use latchwork_core::storage::{Claim, StoreError};
use latchwork_engine::os::Machine;

use super::deferred_writes::DeferredWrites;
use super::in_flight::InFlightCalls;
use super::live_view::LiveView;
use super::stored::load_durable;
use super::unacknowledged::UnacknowledgedBarriers;
use crate::runtime::job::stored::{fold_stored, load_stored};
use crate::runtime::worker::{Lease, Observer, Worker, WorkerError};

/// One job in one attempt.
pub struct Run {
    pub(crate) worker: Arc<Worker>,
    pub(crate) job_id: JobId,
    pub(crate) attempt: u32,
    pub(crate) rules: Rules,
    pub(crate) observer: Arc<dyn Observer>,
    pub(crate) state: Mutex<RunState>,
    pub(crate) lease: Arc<Lease>,
    /// True if the previous attempt ended without settling or releasing the job. Becomes false when this attempt
    /// completes a step or a call. While true, every write is flushed immediately, so that each step and call is
    /// recorded before it begins. If this process dies too, the log shows the step or call that was being executed.
    pub(crate) flush_every_write: AtomicBool,
    /// Revision of the store's change notifications at the last read of the inbox.
    pub(crate) seen_revision: AtomicU64,
    pub(crate) live_view: Option<LiveView>,
    /// Tool calls whose answers are not recorded yet.
    pub(crate) in_flight_calls: Arc<InFlightCalls>,
    /// Lock for recording an answer that stops its step. Without the lock, several concurrent calls of a step could
    /// each stop this step.
    pub(crate) stopping_step: tokio::sync::Mutex<()>,
    /// Writes that no caller waits for.
    pub(crate) deferred_writes: Arc<DeferredWrites>,
    /// Barriers that were sent and whose commit was never acknowledged.
    pub(crate) unacknowledged: UnacknowledgedBarriers,
    /// Results of checking recorded changes in this attempt. Each change is checked at most once per attempt.
    pub(crate) checked_changes: Mutex<BTreeMap<(Slot, Resource), ConfirmationResult>>,
}

/// Mutable state of a run.
pub(crate) struct RunState {
    pub(crate) durable: Durable,
    /// Steps whose try is running in this attempt.
    pub(crate) running_steps: BTreeSet<StepId>,
    /// First divergence from the event log, if one was found.
    pub(crate) divergence: Option<Divergence>,
    /// Maximum cost of each call that is in flight in this run.
    pub(crate) reserved_costs: ReservedCosts,
}

impl Run {
    /// Loads the stored data of a claimed job. Releases the claim if the effect store is unavailable.
    pub(crate) async fn load(
        worker: Arc<Worker>,
        claim: Claim,
        lease: Arc<Lease>,
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
        let durable = fold_stored(&worker, &job_id, record, effects)?;
        let header = &durable.job.header;
        observer.job_loaded(&durable);
        let rules = worker.rules(&header.tenant_id);
        // A call must be allowed by two sets of rules: the rules recorded when the job was accepted, and the current
        // rules.
        let rules = header.rules.iter().fold(rules, Rules::narrowed_by);
        let lingering = Arc::new(DeferredWrites::default());
        let live_view =
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
            lease,
            flush_every_write: AtomicBool::new(false),
            seen_revision: AtomicU64::new(0),
            live_view,
            in_flight_calls: Arc::default(),
            stopping_step: tokio::sync::Mutex::default(),
            deferred_writes: lingering,
            unacknowledged: UnacknowledgedBarriers::default(),
            checked_changes: Mutex::default(),
            worker,
            job_id,
        }))
    }

    /// Loads the job again in the same attempt.
    pub(crate) async fn reload(&self) -> Result<(), WorkerError> {
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

    pub(crate) fn state(&self) -> MutexGuard<'_, RunState> {
        self.state.lock().expect("nothing panics while it holds the state")
    }

    /// Returns the clocks and the source of randomness.
    pub(crate) fn machine(&self) -> &Machine {
        &self.worker.parts.machine
    }

    /// Returns the inputs of a decision that are not part of the durable state.
    pub(crate) fn context(&self) -> Context<'_> {
        Context {
            now_us: self.machine().now_us(),
            random: self.machine().random(),
            rules: &self.rules,
            clock_margin_ms: self.worker.parts.settings.clock_margin_ms,
        }
    }
}
