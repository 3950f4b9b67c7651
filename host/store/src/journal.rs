//! Implementation of [`Journal`] that delegates to the other modules.

use async_trait::async_trait;

use latchwork_core::model::ids::{Hash, JobId, Operator};
use latchwork_core::rules::cost;
use latchwork_core::rules::cost::CostGrouping;
use latchwork_core::rules::ledger::{LedgerRow, Quiescence};
use latchwork_core::rules::reuse::ReusableResult;
use latchwork_core::storage::{
    ActionRow, Batch, Claim, ClaimExclusions, Counters, InboxError, InboxRequest, InboxRow, JobFilter, JobRow, JobTail,
    Journal, LeaseRequest, NewJob, StateReason, StoreError, StoredJob, Submitted, WriteError,
};

use crate::Database;
use crate::leases::ClaimTarget;
use crate::listener::NotificationListener;

#[async_trait]
impl Journal for Database {
    async fn submit(&self, job: NewJob) -> Result<Submitted, WriteError> {
        self.accept(job).await
    }

    async fn claim_excluding(
        &self,
        claimer: &LeaseRequest,
        except: &ClaimExclusions,
    ) -> Result<Option<Claim>, StoreError> {
        self.claim_matching(ClaimTarget::Any(except.clone()), claimer).await
    }

    async fn claim_job(&self, job_id: &JobId, claimer: &LeaseRequest) -> Result<Option<Claim>, StoreError> {
        self.claim_matching(ClaimTarget::Job(job_id.clone()), claimer).await
    }

    async fn heartbeat(&self, held: &[(JobId, u32)], lease_ms: u32) -> Result<Vec<JobId>, StoreError> {
        self.extend_leases(held, lease_ms).await
    }

    async fn write(&self, batch: Batch) -> Result<(), WriteError> {
        self.writer.batch(batch).await
    }

    async fn load(&self, job_id: &JobId) -> Result<Option<StoredJob>, StoreError> {
        self.read_record(job_id).await
    }

    async fn job_tail(&self, job_id: &JobId) -> Result<Option<JobTail>, StoreError> {
        self.read_outline(job_id).await
    }

    async fn job(&self, job_id: &JobId) -> Result<Option<JobRow>, StoreError> {
        self.read_job(job_id).await
    }

    async fn jobs(&self, filter: &JobFilter) -> Result<Vec<JobRow>, StoreError> {
        self.read_jobs(filter).await
    }

    async fn state_reasons(&self, rows: &[JobRow]) -> Result<Vec<StateReason>, StoreError> {
        self.read_reasons(rows).await
    }

    async fn recover(&self, job_id: &JobId) -> Result<Vec<LedgerRow>, StoreError> {
        self.read_open_rows(job_id).await
    }

    async fn quiescence(&self, job_id: &JobId, row: &LedgerRow, settling_ms: u32) -> Result<Quiescence, StoreError> {
        self.owner_quiescence(job_id, row, settling_ms).await
    }

    async fn put_inbox(
        &self,
        job_id: &JobId,
        actor: &str,
        reason: Option<&str>,
        request: InboxRequest,
    ) -> Result<i64, InboxError> {
        self.put_request(job_id, actor, reason, request).await
    }

    async fn fire_timers(&self) -> Result<Option<i64>, StoreError> {
        self.fire().await
    }

    async fn inbox(&self, job_id: &JobId) -> Result<Vec<InboxRow>, StoreError> {
        self.read_inbox(job_id).await
    }

    async fn action_reservation(
        &self,
        tenant: &str,
        operator: &Operator,
        key: Hash,
    ) -> Result<Option<ActionRow>, StoreError> {
        self.read_action(tenant, operator, key).await
    }

    async fn reusable(
        &self,
        tenant: &str,
        operator: &Operator,
        input_hash: Hash,
    ) -> Result<Option<ReusableResult>, StoreError> {
        self.read_reusable(tenant, operator, input_hash).await
    }

    async fn payload(&self, job_id: &JobId, label: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.read_payload(job_id, label).await
    }

    async fn costs(&self, by: CostGrouping, job_id: Option<&JobId>) -> Result<Vec<cost::CostRow>, StoreError> {
        self.read_costs(by, job_id).await
    }

    async fn spent(&self, tenant: &str, month: &str) -> Result<u64, StoreError> {
        self.read_spent(tenant, month).await
    }

    fn watermark(&self) -> u64 {
        self.listener.as_ref().map_or(0, NotificationListener::revision)
    }

    async fn wait_for_change(&self, of: Option<&JobId>, seen: u64) -> u64 {
        match &self.listener {
            Some(bell) => bell.wait(of, seen).await,
            None => std::future::pending().await,
        }
    }

    fn receives_notifications(&self) -> bool {
        self.listener.as_ref().is_some_and(NotificationListener::is_listening)
    }

    async fn now_us(&self) -> Result<i64, StoreError> {
        match self.time_source.local_now() {
            Some(now) => Ok(now.now_us),
            None => Ok(self.next_timer().await?.1),
        }
    }

    fn counters(&self) -> Counters {
        self.counters.read()
    }
}
