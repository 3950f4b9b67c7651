//! Connection of a process to the store. The store is the in-memory model. Requests and answers on the
//! connection are delayed, lost and reordered.

use std::sync::Arc;

use async_trait::async_trait;
use latchwork_core::cost::{self, By};
use latchwork_core::effect::Effect;
use latchwork_core::ids::{Hash, JobId, Operator};
use latchwork_core::ledger::{Quiescence, Row};
use latchwork_core::memory::Memory;
use latchwork_core::reuse::Reusable;
use latchwork_core::storage::{
    ActionRow, Batch, Claim, Claimer, Counters, EffectStore, Except, Filter, InboxError, InboxRow, JobRow, Journal,
    NewJob, Outline, Record, Request, StoreError, Submitted, Why, WriteError,
};

use crate::process::Process;
use crate::writer::Queue;

/// Statements that write, in addition to batches.
const WRITES: [&str; 5] = ["claim", "heartbeat", "fire_timers", "put_inbox", "put_effects"];

pub(crate) struct Link {
    process: Arc<Process>,
    queue: Queue,
}

/// A statement that did not reach the store, or whose answer did not return.
struct Lost {
    /// True if the statement may have been executed.
    executed: bool,
}

impl Lost {
    fn message(&self) -> String {
        format!("the {} was lost", if self.executed { "answer" } else { "request" })
    }
}

impl From<Lost> for StoreError {
    fn from(lost: Lost) -> Self {
        StoreError::Unavailable(lost.message())
    }
}

impl From<Lost> for WriteError {
    fn from(lost: Lost) -> Self {
        match lost.executed {
            true => WriteError::Unknown(lost.message()),
            false => WriteError::Unavailable(lost.message()),
        }
    }
}

impl Link {
    pub(crate) fn of(process: &Arc<Process>) -> Self {
        Self { process: process.clone(), queue: Queue::of(process) }
    }

    /// Sends a statement to the store.
    async fn there(&self, name: &'static str) -> Result<&Memory, Lost> {
        let process = &self.process;
        let scene = &process.scene;
        process.lives().await;
        process.passes(name, false);
        process.lives().await;
        process.leaves();
        if WRITES.contains(&name) {
            process.is_hampered().await;
        }
        scene.travel().await;
        if process.is_cut_off() || scene.strikes(scene.weather.request_lost_in, "lost request") {
            process.landed();
            process.lives().await;
            return Err(Lost { executed: false });
        }
        Ok(scene.store())
    }

    /// Returns the result of a statement to the process. Never returns if the process died meanwhile.
    async fn back<T>(&self, name: &'static str, result: T) -> Result<T, Lost> {
        let process = &self.process;
        let scene = &process.scene;
        process.landed();
        process.passes(name, true);
        scene.travel().await;
        process.lives().await;
        match scene.strikes(scene.weather.answer_lost_in, "lost answer") {
            true => Err(Lost { executed: true }),
            false => Ok(result),
        }
    }

    fn note(&self, what: std::fmt::Arguments<'_>) {
        self.process.scene.note(format_args!("{} {what}", self.process.name()));
    }
}

#[async_trait]
impl Journal for Link {
    async fn submit(&self, job: NewJob) -> Result<Submitted, WriteError> {
        let result = self.there("submit").await?.submit(job).await;
        self.back("submit", result).await?
    }

    async fn claim_except(&self, claimer: &Claimer, except: &Except) -> Result<Option<Claim>, StoreError> {
        let claimed = self.there("claim").await?.claim_except(claimer, except).await;
        if let Ok(Some(claim)) = &claimed {
            self.note(format_args!("claims {} as attempt {}", claim.row.job_id, claim.row.attempt));
            self.process.scene.saw_claim(self.process.name(), &claim.row.job_id, claim.row.attempt).await;
        }
        self.back("claim", claimed).await?
    }

    async fn claim_job(&self, job_id: &JobId, claimer: &Claimer) -> Result<Option<Claim>, StoreError> {
        let result = self.there("claim").await?.claim_job(job_id, claimer).await;
        self.back("claim", result).await?
    }

    async fn heartbeat(&self, held: &[(JobId, u32)], lease_ms: u32) -> Result<Vec<JobId>, StoreError> {
        let lost = self.there("heartbeat").await?.heartbeat(held, lease_ms).await;
        self.note(format_args!("renews {held:?}, lost leases: {lost:?}"));
        let lost = self.back("heartbeat", lost).await??;
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

    async fn load(&self, job_id: &JobId) -> Result<Option<Record>, StoreError> {
        let result = self.there("load").await?.load(job_id).await;
        self.back("load", result).await?
    }

    async fn outline(&self, job_id: &JobId) -> Result<Option<Outline>, StoreError> {
        let result = self.there("outline").await?.outline(job_id).await;
        self.back("outline", result).await?
    }

    async fn job(&self, job_id: &JobId) -> Result<Option<JobRow>, StoreError> {
        let result = self.there("job").await?.job(job_id).await;
        self.back("job", result).await?
    }

    async fn jobs(&self, filter: &Filter) -> Result<Vec<JobRow>, StoreError> {
        let result = self.there("jobs").await?.jobs(filter).await;
        self.back("jobs", result).await?
    }

    async fn whys(&self, rows: &[JobRow]) -> Result<Vec<Why>, StoreError> {
        let result = self.there("whys").await?.whys(rows).await;
        self.back("whys", result).await?
    }

    async fn recover(&self, job_id: &JobId) -> Result<Vec<Row>, StoreError> {
        let result = self.there("recover").await?.recover(job_id).await;
        self.back("recover", result).await?
    }

    async fn quiescence(&self, job_id: &JobId, row: &Row, settling_ms: u32) -> Result<Quiescence, StoreError> {
        let found = self.there("quiescence").await?.quiescence(job_id, row, settling_ms).await;
        self.note(format_args!("checks quiescence of {job_id} {} try {}: {found:?}", row.slot, row.try_no));
        self.back("quiescence", found).await?
    }

    async fn put_inbox(
        &self,
        job_id: &JobId,
        actor: &str,
        reason: Option<&str>,
        request: Request,
    ) -> Result<i64, InboxError> {
        let store = self.there("put_inbox").await.map_err(StoreError::from)?;
        self.note(format_args!("puts {request:?} into the inbox of {job_id}"));
        self.process.scene.tally.count("late answer reported");
        let told = store.put_inbox(job_id, actor, reason, request).await;
        self.process.scene.saw_note(Some(self.process.name()), job_id).await;
        self.back("put_inbox", told).await.map_err(StoreError::from)?
    }

    async fn fire_timers(&self) -> Result<Option<i64>, StoreError> {
        let result = self.there("fire_timers").await?.fire_timers().await;
        self.back("fire_timers", result).await?
    }

    async fn inbox(&self, job_id: &JobId) -> Result<Vec<InboxRow>, StoreError> {
        let result = self.there("inbox").await?.inbox(job_id).await;
        self.back("inbox", result).await?
    }

    async fn action(&self, tenant: &str, operator: &Operator, key: Hash) -> Result<Option<ActionRow>, StoreError> {
        let result = self.there("action").await?.action(tenant, operator, key).await;
        self.back("action", result).await?
    }

    async fn reusable(&self, tenant: &str, operator: &Operator, input: Hash) -> Result<Option<Reusable>, StoreError> {
        let result = self.there("reusable").await?.reusable(tenant, operator, input).await;
        self.back("reusable", result).await?
    }

    async fn payload(&self, job_id: &JobId, label: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let result = self.there("payload").await?.payload(job_id, label).await;
        self.back("payload", result).await?
    }

    async fn costs(&self, by: By, job_id: Option<&JobId>) -> Result<Vec<cost::Row>, StoreError> {
        let result = self.there("costs").await?.costs(by, job_id).await;
        self.back("costs", result).await?
    }

    async fn spent(&self, tenant: &str, month: &str) -> Result<u64, StoreError> {
        let result = self.there("spent").await?.spent(tenant, month).await;
        self.back("spent", result).await?
    }

    async fn now_us(&self) -> Result<i64, StoreError> {
        let result = self.there("now").await?.now_us().await;
        self.back("now", result).await?
    }

    fn counters(&self) -> Counters {
        self.process.scene.store().counters()
    }
}

#[async_trait]
impl EffectStore for Link {
    async fn put(&self, job_id: &JobId, effects: &[Effect]) -> Result<(), WriteError> {
        let taken = self.there("put_effects").await?.put(job_id, effects).await;
        let tries: Vec<String> = effects.iter().map(|effect| format!("{} {}", effect.slot, effect.try_no)).collect();
        self.note(format_args!("stores effects of {job_id}, {}: accepted {}", tries.join(", "), taken.is_ok()));
        if taken.is_ok() {
            self.process.scene.answered_by(self.process.name(), job_id, effects);
        }
        self.process.scene.saw_answers(self.process.name(), job_id, effects, taken.is_ok()).await;
        self.back("put_effects", taken).await?
    }

    async fn effects(&self, job_id: &JobId) -> Result<Vec<Effect>, StoreError> {
        let result = self.there("effects").await?.effects(job_id).await;
        self.back("effects", result).await?
    }
}
