//! Implementation of [`Journal`] that delegates to the other modules.

use async_trait::async_trait;
use latchwork_core::cost::{self, By};
use latchwork_core::ids::{Hash, JobId, Operator};
use latchwork_core::ledger::{Quiescence, Row};
use latchwork_core::reuse::Reusable;
use latchwork_core::storage::{
    ActionRow, Batch, Claim, Claimer, Counters, Except, Filter, InboxError, InboxRow, JobRow, Journal, NewJob, Outline,
    Record, Request, StoreError, Submitted, Why, WriteError,
};

use crate::Database;
use crate::bell::Bell;
use crate::leases::Wanted;

#[async_trait]
impl Journal for Database {
    async fn submit(&self, job: NewJob) -> Result<Submitted, WriteError> {
        self.accept(job).await
    }

    async fn claim_except(&self, claimer: &Claimer, except: &Except) -> Result<Option<Claim>, StoreError> {
        self.take_job(Wanted::Any(except.clone()), claimer).await
    }

    async fn claim_job(&self, job_id: &JobId, claimer: &Claimer) -> Result<Option<Claim>, StoreError> {
        self.take_job(Wanted::Job(job_id.clone()), claimer).await
    }

    async fn heartbeat(&self, held: &[(JobId, u32)], lease_ms: u32) -> Result<Vec<JobId>, StoreError> {
        self.prolong(held, lease_ms).await
    }

    async fn write(&self, batch: Batch) -> Result<(), WriteError> {
        self.writer.batch(batch).await
    }

    async fn load(&self, job_id: &JobId) -> Result<Option<Record>, StoreError> {
        self.read_record(job_id).await
    }

    async fn outline(&self, job_id: &JobId) -> Result<Option<Outline>, StoreError> {
        self.read_outline(job_id).await
    }

    async fn job(&self, job_id: &JobId) -> Result<Option<JobRow>, StoreError> {
        self.read_job(job_id).await
    }

    async fn jobs(&self, filter: &Filter) -> Result<Vec<JobRow>, StoreError> {
        self.read_jobs(filter).await
    }

    async fn whys(&self, rows: &[JobRow]) -> Result<Vec<Why>, StoreError> {
        self.read_whys(rows).await
    }

    async fn recover(&self, job_id: &JobId) -> Result<Vec<Row>, StoreError> {
        self.read_open_rows(job_id).await
    }

    async fn quiescence(&self, job_id: &JobId, row: &Row, settling_ms: u32) -> Result<Quiescence, StoreError> {
        self.judge(job_id, row, settling_ms).await
    }

    async fn put_inbox(
        &self,
        job_id: &JobId,
        actor: &str,
        reason: Option<&str>,
        request: Request,
    ) -> Result<i64, InboxError> {
        self.put_request(job_id, actor, reason, request).await
    }

    async fn fire_timers(&self) -> Result<Option<i64>, StoreError> {
        self.fire().await
    }

    async fn inbox(&self, job_id: &JobId) -> Result<Vec<InboxRow>, StoreError> {
        self.read_inbox(job_id).await
    }

    async fn action(&self, tenant: &str, operator: &Operator, key: Hash) -> Result<Option<ActionRow>, StoreError> {
        self.read_action(tenant, operator, key).await
    }

    async fn reusable(
        &self,
        tenant: &str,
        operator: &Operator,
        input_hash: Hash,
    ) -> Result<Option<Reusable>, StoreError> {
        self.read_reusable(tenant, operator, input_hash).await
    }

    async fn payload(&self, job_id: &JobId, label: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.read_payload(job_id, label).await
    }

    async fn costs(&self, by: By, job_id: Option<&JobId>) -> Result<Vec<cost::Row>, StoreError> {
        self.read_costs(by, job_id).await
    }

    async fn spent(&self, tenant: &str, month: &str) -> Result<u64, StoreError> {
        self.read_spent(tenant, month).await
    }

    fn news(&self) -> u64 {
        self.bell.as_ref().map_or(0, Bell::count)
    }

    async fn news_after(&self, of: Option<&JobId>, seen: u64) -> u64 {
        match &self.bell {
            Some(bell) => bell.wait(of, seen).await,
            None => std::future::pending().await,
        }
    }

    fn hears_news(&self) -> bool {
        self.bell.as_ref().is_some_and(Bell::is_heard)
    }

    async fn now_us(&self) -> Result<i64, StoreError> {
        match self.time.here() {
            Some(now) => Ok(now.now_us),
            None => Ok(self.next_timer().await?.1),
        }
    }

    fn counters(&self) -> Counters {
        self.tally.read()
    }
}
