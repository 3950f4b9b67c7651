//! Implementation of [`Journal`].

use async_trait::async_trait;

use latchwork_core::event::DecidedBy;
use latchwork_core::model::ids::{Hash, JobId, Operator};
use latchwork_core::rules::cost::{self, CostGrouping};
use latchwork_core::rules::ledger::{LedgerRow, Quiescence};
use latchwork_core::rules::reuse::ReusableResult;
use latchwork_core::storage::{
    ActionRow, Batch, Claim, ClaimExclusions, Counters, InboxError, InboxRequest, InboxRow, JobFilter, JobRow, JobTail,
    Journal, LeaseRequest, NewJob, StateReason, StoreError, StoredJob, Submitted, WriteError, admit,
};

use crate::database::handle::Database;
use crate::server::listener::NotificationListener;
use crate::tables::inbox::PutRequest;
use crate::tables::leases::ClaimTarget;
use crate::tables::submit::AcceptJob;
use crate::tables::{actions, costs, events, inbox, jobs, ledger, payloads, record, reusables};

#[async_trait]
impl Journal for Database {
    async fn submit(&self, job: NewJob) -> Result<Submitted, WriteError> {
        admit::check_new(&job)?;
        if job.claim.is_some() {
            self.generation.begin_use(&self.access()).await?;
        }
        self.writer.work(AcceptJob(job)).await?
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
        record::read_record(&self.readers, job_id).await
    }

    async fn job_tail(&self, job_id: &JobId) -> Result<Option<JobTail>, StoreError> {
        events::read_outline(&self.readers, job_id).await
    }

    async fn job(&self, job_id: &JobId) -> Result<Option<JobRow>, StoreError> {
        jobs::read_job(&self.readers, job_id).await
    }

    async fn jobs(&self, filter: &JobFilter) -> Result<Vec<JobRow>, StoreError> {
        jobs::read_jobs(&self.readers, filter).await
    }

    async fn state_reasons(&self, rows: &[JobRow]) -> Result<Vec<StateReason>, StoreError> {
        events::read_reasons(&self.readers, rows).await
    }

    async fn recover(&self, job_id: &JobId) -> Result<Vec<LedgerRow>, StoreError> {
        ledger::read_open_rows(&self.readers, job_id).await
    }

    async fn quiescence(&self, job_id: &JobId, row: &LedgerRow, settling_ms: u32) -> Result<Quiescence, StoreError> {
        self.owner_quiescence(job_id, row, settling_ms).await
    }

    async fn put_decision(&self, job_id: &JobId, by: DecidedBy, request: InboxRequest) -> Result<i64, InboxError> {
        self.writer.work(PutRequest { job_id: job_id.clone(), by, request }).await?
    }

    async fn fire_timers(&self) -> Result<Option<i64>, StoreError> {
        self.fire().await
    }

    async fn inbox(&self, job_id: &JobId) -> Result<Vec<InboxRow>, StoreError> {
        inbox::read_inbox(&self.readers, job_id).await
    }

    async fn action_reservation(
        &self,
        tenant: &str,
        operator: &Operator,
        key: Hash,
    ) -> Result<Option<ActionRow>, StoreError> {
        actions::read_action(&self.readers, tenant, operator, key).await
    }

    async fn reusable(
        &self,
        tenant: &str,
        operator: &Operator,
        input_hash: Hash,
    ) -> Result<Option<ReusableResult>, StoreError> {
        reusables::read_reusable(&self.readers, tenant, operator, input_hash).await
    }

    async fn payload(&self, job_id: &JobId, label: &str) -> Result<Option<Vec<u8>>, StoreError> {
        payloads::read_payload(&self.readers, job_id, label).await
    }

    async fn costs(&self, by: CostGrouping, job_id: Option<&JobId>) -> Result<Vec<cost::CostRow>, StoreError> {
        costs::read_costs(&self.readers, by, job_id).await
    }

    async fn spent(&self, tenant: &str, month: &str) -> Result<u64, StoreError> {
        costs::read_spent(&self.readers, tenant, month).await
    }

    fn watermark(&self) -> u64 {
        self.listener.as_ref().map_or(0, NotificationListener::revision)
    }

    async fn wait_for_change(&self, of: Option<&JobId>, seen: u64) -> u64 {
        match &self.listener {
            Some(listener) => listener.wait(of, seen).await,
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
