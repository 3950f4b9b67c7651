//! Connection of a process to the in-memory store. Requests and answers on the connection are delayed, lost and
//! reordered.

use std::sync::Arc;

use async_trait::async_trait;

use latchwork_core::event::DecidedBy;
use latchwork_core::memory::Memory;
use latchwork_core::model::effect::Effect;
use latchwork_core::model::ids::{Hash, JobId, Operator};
use latchwork_core::rules::cost;
use latchwork_core::rules::cost::CostGrouping;
use latchwork_core::rules::ledger::{LedgerRow, Quiescence};
use latchwork_core::rules::reuse::ReusableResult;
use latchwork_core::storage::{
    ActionRow, Batch, Claim, ClaimExclusions, Counters, EffectStore, InboxError, InboxRequest, InboxRow, JobFilter,
    JobRow, JobTail, Journal, LeaseRequest, NewJob, StateReason, StoreError, StoredJob, Submitted, WriteError,
};

use crate::workers::process::Process;
use crate::workers::writer::Queue;

/// Statements that write, in addition to batches.
const WRITES: [&str; 5] = ["claim", "heartbeat", "fire_timers", "put_inbox", "put_effects"];

pub(crate) struct StoreConnection {
    process: Arc<Process>,
    queue: Queue,
}

/// A statement that did not reach the store, or whose answer did not return.
struct LostStatement {
    /// True if the statement may have been executed.
    executed: bool,
}

impl LostStatement {
    fn message(&self) -> String {
        format!("the {} was lost", if self.executed { "answer" } else { "request" })
    }
}

impl From<LostStatement> for StoreError {
    fn from(lost: LostStatement) -> Self {
        StoreError::Unavailable(lost.message())
    }
}

impl From<LostStatement> for WriteError {
    fn from(lost: LostStatement) -> Self {
        match lost.executed {
            true => WriteError::Unknown(lost.message()),
            false => WriteError::Unavailable(lost.message()),
        }
    }
}

impl StoreConnection {
    pub(crate) fn of(process: &Arc<Process>) -> Self {
        Self { process: process.clone(), queue: Queue::of(process) }
    }

    /// Sends a statement to the store.
    async fn send_statement(&self, name: &'static str) -> Result<&Memory, LostStatement> {
        let process = &self.process;
        let scene = &process.scene;
        process.wait_while_paused().await;
        process.pass_crash_point(name, false);
        process.wait_while_paused().await;
        process.statement_sent();
        if WRITES.contains(&name) {
            process.wait_for_write_delay().await;
        }
        scene.transit_delay().await;
        if process.is_store_unreachable() || scene.fault_occurs(scene.weather.request_lost_in, "lost request") {
            process.statement_arrived();
            process.wait_while_paused().await;
            return Err(LostStatement { executed: false });
        }
        Ok(scene.store())
    }

    /// Returns the result of a statement to the process. Never returns if the process died meanwhile.
    async fn return_result<T>(&self, name: &'static str, result: T) -> Result<T, LostStatement> {
        let process = &self.process;
        let scene = &process.scene;
        process.statement_arrived();
        process.pass_crash_point(name, true);
        scene.transit_delay().await;
        process.wait_while_paused().await;
        match scene.fault_occurs(scene.weather.answer_lost_in, "lost answer") {
            true => Err(LostStatement { executed: true }),
            false => Ok(result),
        }
    }

    fn note(&self, what: std::fmt::Arguments<'_>) {
        self.process.scene.add_trace_line(format_args!("{} {what}", self.process.name()));
    }
}

#[async_trait]
impl Journal for StoreConnection {
    async fn submit(&self, job: NewJob) -> Result<Submitted, WriteError> {
        let result = self.send_statement("submit").await?.submit(job).await;
        self.return_result("submit", result).await?
    }

    async fn claim_excluding(
        &self,
        claimer: &LeaseRequest,
        except: &ClaimExclusions,
    ) -> Result<Option<Claim>, StoreError> {
        let claimed = self.send_statement("claim").await?.claim_excluding(claimer, except).await;
        if let Ok(Some(claim)) = &claimed {
            self.note(format_args!("claims {} as attempt {}", claim.row.job_id, claim.row.attempt));
            self.process.scene.record_claim(self.process.name(), &claim.row.job_id, claim.row.attempt).await;
        }
        self.return_result("claim", claimed).await?
    }

    async fn claim_job(&self, job_id: &JobId, claimer: &LeaseRequest) -> Result<Option<Claim>, StoreError> {
        let result = self.send_statement("claim").await?.claim_job(job_id, claimer).await;
        self.return_result("claim", result).await?
    }

    async fn heartbeat(&self, held: &[(JobId, u32)], lease_ms: u32) -> Result<Vec<JobId>, StoreError> {
        let lost = self.send_statement("heartbeat").await?.heartbeat(held, lease_ms).await;
        self.note(format_args!("renews {held:?}, lost leases: {lost:?}"));
        let lost = self.return_result("heartbeat", lost).await??;
        if !lost.is_empty() {
            self.process.scene.tally.count("lease lost, found by the heartbeat");
        }
        Ok(lost)
    }

    async fn write(&self, batch: Batch) -> Result<(), WriteError> {
        match self.queue.put(batch).await {
            Ok(result) => result,
            // The writer has ended because the process is over.
            Err(_) => std::future::pending().await,
        }
    }

    async fn load(&self, job_id: &JobId) -> Result<Option<StoredJob>, StoreError> {
        let result = self.send_statement("load").await?.load(job_id).await;
        self.return_result("load", result).await?
    }

    async fn job_tail(&self, job_id: &JobId) -> Result<Option<JobTail>, StoreError> {
        let result = self.send_statement("outline").await?.job_tail(job_id).await;
        self.return_result("outline", result).await?
    }

    async fn job(&self, job_id: &JobId) -> Result<Option<JobRow>, StoreError> {
        let result = self.send_statement("job").await?.job(job_id).await;
        self.return_result("job", result).await?
    }

    async fn jobs(&self, filter: &JobFilter) -> Result<Vec<JobRow>, StoreError> {
        let result = self.send_statement("jobs").await?.jobs(filter).await;
        self.return_result("jobs", result).await?
    }

    async fn state_reasons(&self, rows: &[JobRow]) -> Result<Vec<StateReason>, StoreError> {
        let result = self.send_statement("whys").await?.state_reasons(rows).await;
        self.return_result("whys", result).await?
    }

    async fn recover(&self, job_id: &JobId) -> Result<Vec<LedgerRow>, StoreError> {
        let result = self.send_statement("recover").await?.recover(job_id).await;
        self.return_result("recover", result).await?
    }

    async fn quiescence(&self, job_id: &JobId, row: &LedgerRow, settling_ms: u32) -> Result<Quiescence, StoreError> {
        let found = self.send_statement("quiescence").await?.quiescence(job_id, row, settling_ms).await;
        self.note(format_args!("checks quiescence of {job_id} {} try {}: {found:?}", row.slot, row.try_no));
        self.return_result("quiescence", found).await?
    }

    async fn put_decision(&self, job_id: &JobId, by: DecidedBy, request: InboxRequest) -> Result<i64, InboxError> {
        let store = self.send_statement("put_inbox").await.map_err(StoreError::from)?;
        self.note(format_args!("puts {request:?} into the inbox of {job_id}"));
        self.process.scene.tally.count("late answer reported");
        let put_result = store.put_decision(job_id, by, request).await;
        self.process.scene.record_request(Some(self.process.name()), job_id).await;
        self.return_result("put_inbox", put_result).await.map_err(StoreError::from)?
    }

    async fn fire_timers(&self) -> Result<Option<i64>, StoreError> {
        let result = self.send_statement("fire_timers").await?.fire_timers().await;
        self.return_result("fire_timers", result).await?
    }

    async fn inbox(&self, job_id: &JobId) -> Result<Vec<InboxRow>, StoreError> {
        let result = self.send_statement("inbox").await?.inbox(job_id).await;
        self.return_result("inbox", result).await?
    }

    async fn action_reservation(
        &self,
        tenant: &str,
        operator: &Operator,
        key: Hash,
    ) -> Result<Option<ActionRow>, StoreError> {
        let result = self.send_statement("action").await?.action_reservation(tenant, operator, key).await;
        self.return_result("action", result).await?
    }

    async fn reusable(
        &self,
        tenant: &str,
        operator: &Operator,
        input: Hash,
    ) -> Result<Option<ReusableResult>, StoreError> {
        let result = self.send_statement("reusable").await?.reusable(tenant, operator, input).await;
        self.return_result("reusable", result).await?
    }

    async fn payload(&self, job_id: &JobId, label: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let result = self.send_statement("payload").await?.payload(job_id, label).await;
        self.return_result("payload", result).await?
    }

    async fn costs(&self, by: CostGrouping, job_id: Option<&JobId>) -> Result<Vec<cost::CostRow>, StoreError> {
        let result = self.send_statement("costs").await?.costs(by, job_id).await;
        self.return_result("costs", result).await?
    }

    async fn spent(&self, tenant: &str, month: &str) -> Result<u64, StoreError> {
        let result = self.send_statement("spent").await?.spent(tenant, month).await;
        self.return_result("spent", result).await?
    }

    async fn now_us(&self) -> Result<i64, StoreError> {
        let result = self.send_statement("now").await?.now_us().await;
        self.return_result("now", result).await?
    }

    fn counters(&self) -> Counters {
        self.process.scene.store().counters()
    }
}

#[async_trait]
impl EffectStore for StoreConnection {
    async fn put(&self, job_id: &JobId, effects: &[Effect]) -> Result<(), WriteError> {
        let taken = self.send_statement("put_effects").await?.put(job_id, effects).await;
        let tries: Vec<String> = effects.iter().map(|effect| format!("{} {}", effect.slot, effect.try_no)).collect();
        self.note(format_args!("stores effects of {job_id}, {}: accepted {}", tries.join(", "), taken.is_ok()));
        if taken.is_ok() {
            self.process.scene.note_recorded_results(self.process.name(), job_id, effects);
        }
        self.process.scene.record_answers(self.process.name(), job_id, effects, taken.is_ok()).await;
        self.return_result("put_effects", taken).await?
    }

    async fn effects(&self, job_id: &JobId) -> Result<Vec<Effect>, StoreError> {
        let result = self.send_statement("effects").await?.effects(job_id).await;
        self.return_result("effects", result).await?
    }
}
