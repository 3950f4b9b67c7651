//! Interfaces of a store and its clock.

use async_trait::async_trait;

use crate::event::DecidedBy;
use crate::model::effect::Effect;
use crate::model::ids::{Hash, JobId, Operator};
use crate::rules::cost;
use crate::rules::ledger::{LedgerRow, Quiescence};
use crate::rules::reuse::ReusableResult;
use crate::storage::action_row::ActionRow;
use crate::storage::batch::Batch;
use crate::storage::error::{StoreError, WriteError};
use crate::storage::inbox::{InboxError, InboxRequest, InboxRow};
use crate::storage::map::{MapName, SetError};
use crate::storage::query::{ClaimExclusions, Counters, JobFilter, LeaseRequest};
use crate::storage::rows::{Claim, JobRow, JobTail, StoredJob};
use crate::storage::state_reason::StateReason;
use crate::storage::submission::{NewJob, Submitted};

/// Store of jobs with their logs, ledgers and inboxes. One journal is one database.
#[async_trait]
pub trait Journal: Send + Sync {
    /// Accepts a job, or finds the existing job with the same request key.
    async fn submit(&self, job: NewJob) -> Result<Submitted, WriteError>;

    /// Claims the next claimable job and increments its attempt. Claimable jobs are `PENDING` jobs, `WAITING` jobs
    /// whose time has come, and `RUNNING` jobs whose lease has expired or whose owner is dead.
    ///
    /// Jobs are claimed by descending priority, then in the order of acceptance. Timers that are due fire first: see
    /// [`Journal::fire_timers`].
    async fn claim(&self, claimer: &LeaseRequest) -> Result<Option<Claim>, StoreError> {
        self.claim_excluding(claimer, &ClaimExclusions::default()).await
    }

    /// Claims a job like [`Journal::claim`] but skips the jobs that `except` describes.
    async fn claim_excluding(
        &self,
        claimer: &LeaseRequest,
        except: &ClaimExclusions,
    ) -> Result<Option<Claim>, StoreError>;

    /// Claims this job if it is claimable now.
    async fn claim_job(&self, job_id: &JobId, claimer: &LeaseRequest) -> Result<Option<Claim>, StoreError>;

    /// Extends the leases of the given jobs and returns the jobs whose lease is lost. A lease is lost if the given
    /// attempt no longer holds the running job. An expired lease that no newer attempt has taken is extended.
    async fn heartbeat(&self, held: &[(JobId, u32)], lease_ms: u32) -> Result<Vec<JobId>, StoreError>;

    /// Writes a batch atomically and returns once the batch is durable.
    ///
    /// The first poll of the future puts the batch into the write queue. Batches are therefore written in the order
    /// in which their futures are first polled. Dropping the future after the first poll does not withdraw the batch.
    async fn write(&self, batch: Batch) -> Result<(), WriteError>;

    /// Loads everything stored about a job. Returns `None` if the job does not exist.
    async fn load(&self, job_id: &JobId) -> Result<Option<StoredJob>, StoreError>;

    /// Reads only the data that is needed to park or release a job without loading it. Returns `None` if the
    /// job does not exist.
    async fn job_tail(&self, job_id: &JobId) -> Result<Option<JobTail>, StoreError>;

    /// Reads the row of a job. Returns `None` if the job does not exist.
    async fn job(&self, job_id: &JobId) -> Result<Option<JobRow>, StoreError>;

    /// Lists rows of jobs, newest first.
    async fn jobs(&self, filter: &JobFilter) -> Result<Vec<JobRow>, StoreError>;

    /// Returns for each row the reason for the job's current state, in the order of `rows`. Reads only the
    /// events that contain these reasons.
    async fn state_reasons(&self, rows: &[JobRow]) -> Result<Vec<StateReason>, StoreError>;

    /// Lists the ledger rows of the job's invocations with an undecided outcome: the `INFLIGHT` and `INDETERMINATE`
    /// rows.
    async fn recover(&self, job_id: &JobId) -> Result<Vec<LedgerRow>, StoreError>;

    /// Determines if the owner of the row's open try can still touch the outside world (§5, quiescence first). The
    /// owner is the process that started the try.
    ///
    /// The owner is quiescent once `settling_ms` have passed since the earliest of the following times. All times are
    /// read from the lease clock, which is the boot-time clock of the machine.
    /// - The row's deadline plus the clock margin.
    /// - The time at which this store first saw that the owner process is dead. The claim of `row.attempt` names a lock
    ///   file. The process is dead if the file exists with the same device, inode and content, and no process holds its
    ///   lock.
    /// - The start of the current boot, if the owner ran under another boot id.
    ///
    /// An absent or different lock file proves nothing.
    async fn quiescence(&self, job_id: &JobId, row: &LedgerRow, settling_ms: u32) -> Result<Quiescence, StoreError>;

    /// Puts a request into a job's inbox. The request is durable when this method returns. In the same transaction,
    /// [`crate::storage::expected_requests::check_request`] refuses a request that the job does not expect.
    ///
    /// The transaction also changes the state `WAITING`, `PARKED` or `DIVERGED` to `PENDING`.
    /// [`InboxRequest::Cancel`] also sets the cancel flag.
    async fn put_decision(&self, job_id: &JobId, by: DecidedBy, request: InboxRequest) -> Result<i64, InboxError>;

    /// Puts a request of a claimed actor into a job's inbox, as [`Journal::put_decision`] does.
    async fn put_inbox(
        &self,
        job_id: &JobId,
        actor: &str,
        reason: Option<&str>,
        request: InboxRequest,
    ) -> Result<i64, InboxError> {
        self.put_decision(job_id, DecidedBy::claimed(actor, reason.map(str::to_owned)), request).await
    }

    /// Fires all timers that are due. A due timer becomes an [`InboxRequest::Timer`] in its job's inbox and is deleted
    /// in the same transaction. The job may be in any state. If the job is finished, the timer is only deleted.
    ///
    /// A `WAITING` job becomes `PENDING` when its time has come. Returns the time at which the next timer or `WAITING`
    /// job is due.
    async fn fire_timers(&self) -> Result<Option<i64>, StoreError>;

    /// Lists the pending inbox rows of a job.
    async fn inbox(&self, job_id: &JobId) -> Result<Vec<InboxRow>, StoreError>;

    /// Reads the reservation of an action key. Returns `None` if the key is free.
    async fn action_reservation(
        &self,
        tenant: &str,
        operator: &Operator,
        key: Hash,
    ) -> Result<Option<ActionRow>, StoreError>;

    /// Reads the newest reusable result of an operator for this input.
    async fn reusable(
        &self,
        tenant: &str,
        operator: &Operator,
        input_hash: Hash,
    ) -> Result<Option<ReusableResult>, StoreError>;

    /// Reads one payload of a job.
    async fn payload(&self, job_id: &JobId, label: &str) -> Result<Option<Vec<u8>>, StoreError>;
    /// Returns the sums of the costs of calls, one per group, newest group first. If `job_id` is set, only the calls
    /// of this job are counted. The cost of a call is added in the transaction that records its answer.
    async fn costs(&self, by: cost::CostGrouping, job_id: Option<&JobId>) -> Result<Vec<cost::CostRow>, StoreError>;

    /// Returns the amount that a tenant's jobs have spent in a month, in millionths of a US dollar. The month
    /// is written as `2026-11`.
    async fn spent(&self, tenant: &str, month: &str) -> Result<u64, StoreError>;

    /// Returns the revision of the latest change by another process that this store has seen. To miss no change, a
    /// caller first reads this revision, then reads the store, and then calls [`Journal::wait_for_change`] with the
    /// revision.
    fn watermark(&self) -> u64 {
        0
    }

    /// Waits until the revision is greater than `seen`, and returns the new revision. If `of` names a job, only a new
    /// inbox row of this job counts as a change. If `of` is `None`, two things count: a job that has become claimable,
    /// and a newly set timer.
    ///
    /// In a store without notifications (SQLite, memory), this method never returns. A notification can be lost when
    /// its connection is lost, so the caller must also poll the store from time to time.
    async fn wait_for_change(&self, of: Option<&JobId>, seen: u64) -> u64 {
        let _ = (of, seen);
        std::future::pending().await
    }

    /// Returns true if [`Journal::wait_for_change`] currently reports changes.
    fn receives_notifications(&self) -> bool {
        false
    }

    /// Reads the database time, microseconds since 1970 UTC.
    async fn now_us(&self) -> Result<i64, StoreError>;

    /// Returns the operation counts of this store.
    fn counters(&self) -> Counters;
}

/// Clock that a database uses for decisions about time. On SQLite this clock is the machine's clock. Tests replace
/// it.
pub trait Clock: Send + Sync {
    /// Event time: microseconds since 1970 UTC.
    fn now_us(&self) -> i64;
    /// Lease time: microseconds since the kernel started, including the time in which the machine sleeps. Leases and
    /// deadlines use only this clock, because it cannot be set.
    fn boot_us(&self) -> i64;
    /// Boot id of the kernel start from which `boot_us` counts.
    fn boot_id(&self) -> String;
}

/// Store of the recorded answers of tools. It may be in a separate database.
#[async_trait]
pub trait EffectStore: Send + Sync {
    /// Writes effects, each at most once per slot and try. Equal bytes are accepted again, and different bytes
    /// are refused with [`WriteError::EffectExists`]. The write is not fenced, so a worker that lost its lease
    /// can still record an answer.
    async fn put(&self, job_id: &JobId, effects: &[Effect]) -> Result<(), WriteError>;

    /// Lists all effects of a job, ordered by slot and try.
    async fn effects(&self, job_id: &JobId) -> Result<Vec<Effect>, StoreError>;
}

/// Small persistent key-value maps of tools.
#[async_trait]
pub trait KeyValue: Send + Sync {
    /// Returns the value of a key.
    async fn get(&self, map: &MapName, key: &str) -> Result<Option<Vec<u8>>, StoreError>;
    /// Sets the value of a key. The value is durable when this method returns.
    ///
    /// # Errors
    /// Fails if the entry grows and the map would have more than `quota` bytes
    /// ([`map::entry_bytes`](crate::storage::map::entry_bytes)). Nothing is written then. The bytes of the map are
    /// counted in the transaction of the write.
    async fn set(&self, map: &MapName, key: &str, value: &[u8], quota: u64) -> Result<(), SetError>;
    /// Deletes a key. Returns true if the key existed.
    async fn delete(&self, map: &MapName, key: &str) -> Result<bool, StoreError>;
}
