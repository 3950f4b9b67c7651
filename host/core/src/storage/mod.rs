//! Interfaces that a worker needs from its stores. The implementations are [`crate::memory`], which is the
//! reference model of a store, and `latchwork-store`. All implementations pass the same conformance suite.
//!
//! A [`Batch`] is one atomic write to one job. A store writes a batch completely or not at all. Batches of many jobs
//! share transactions, and a conflict in one job never fails the batch of another job.
//!
//! Batches of one job take effect in the order in which the futures of [`Journal::write`] are first polled.
//! [`crate::admit`] decides for all stores which batches may be written.

mod state_reason;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::cost;
use crate::effect::Effect;
use crate::event::Event;
use crate::expectation::{Expectation, TimerWrite};
use crate::ids::{Hash, JobId, Operator, Slot};
use crate::job::JobState;
use crate::ledger::{LedgerRow, Quiescence, RowState};
use crate::reuse::ReusableResult;

mod error;
mod inbox;

pub use crate::storage::state_reason::{StateReason, reason_event_markers, state_reason};
pub use error::{StoreError, WriteError};
pub use inbox::{InboxError, InboxRequest, InboxRow, ManualVerdict};

/// Urgency with which a batch is made durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flush {
    /// The store flushes the batch immediately, because the caller needs it to be durable.
    Now,
    /// The store flushes the batch together with the next flushed batch, or after a few milliseconds.
    Linger,
}

/// A payload stored under a label, such as `input/<step>` or `args/<slot>`. [`crate::state::label`] lists the labels.
///
/// A payload is written once. Equal bytes are accepted again, and different bytes are refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payload {
    /// Label, unique within the job.
    pub label: String,
    /// Bytes of the payload, exactly as they were hashed.
    pub bytes: Vec<u8>,
}

/// A change of one ledger row.
///
/// The store computes `deadline_us` of the row. A batch with `acquire` that leaves the row `INFLIGHT` sets the
/// deadline to the current lease clock time plus `timeout_ms`. Every other update keeps the stored deadline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LedgerWrite {
    /// Inserts a row. The batch is refused if the slot already has a row.
    Insert(LedgerRow),
    /// Replaces a row. The batch is refused if the stored row differs from one of the three expected values.
    Update {
        /// Expected state of the stored row.
        expect: RowState,
        /// Expected try number of the stored row.
        expect_try: u32,
        /// Expected nonce of the stored row.
        expect_nonce: u64,
        /// The new row.
        row: LedgerRow,
    },
}

impl LedgerWrite {
    /// Returns the row as it is after the write.
    pub fn row(&self) -> &LedgerRow {
        match self {
            LedgerWrite::Insert(row) | LedgerWrite::Update { row, .. } => row,
        }
    }
}

/// A change of the reservation of an action key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ActionWrite {
    /// Reserves `(tenant, operator, key)` for this job and slot. Refused if another slot holds the key, if the
    /// key is settled with a receipt, or if the key was reserved with other arguments. The same slot may
    /// reserve its key again.
    Reserve {
        /// Operator of the reserved call.
        operator: Operator,
        /// The action key.
        key: Hash,
        /// Unsalted hash of the canonical arguments. A reservation of the same key with different arguments
        /// fails with `INVALID_INPUT`.
        args_hash: Hash,
        /// Slot that reserves the key.
        slot: Slot,
    },
    /// Settles the reservation because its call is finished. In the same transaction, every job that waits for
    /// the key gets [`InboxRequest::KeySettled`] in its inbox.
    Settle {
        /// Operator of the reserved call.
        operator: Operator,
        /// The action key.
        key: Hash,
        /// Slot that holds the key.
        slot: Slot,
        /// Receipt or result of the committed call. `None` releases the key.
        receipt: Option<Vec<u8>>,
    },
    /// Withdraws the receipt of this slot's settled call. The call is being undone, or its effect no longer matches the
    /// record. Until the key is settled again, no job can get the receipt. Does nothing if this slot holds no receipt.
    WithdrawReceipt {
        /// Operator of the reserved call.
        operator: Operator,
        /// The action key.
        key: Hash,
        /// Slot that holds the key.
        slot: Slot,
    },
    /// Registers this job to wait until the reservation is settled. If the key is already free or settled, the
    /// write is refused with [`WriteError::ActionKeyFree`], and the caller must read the key again.
    Wait {
        /// Operator of the reserved call.
        operator: Operator,
        /// The action key.
        key: Hash,
    },
}

/// The job state that a batch sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatusWrite {
    /// The new job state.
    pub to: JobState,
    /// Time from which a worker may claim the `WAITING` job without any request, in microseconds since 1970
    /// UTC.
    pub wake_at_us: Option<i64>,
}

/// One atomic write to one job.
#[derive(Clone, Debug)]
pub struct Batch {
    /// Job to write to.
    pub job_id: JobId,
    /// Attempt of the writer. The batch is refused if this attempt is superseded.
    pub attempt: u32,
    /// Sequence number of the first entry of `events`. The batch is refused if the stored log does not end directly
    /// before this number.
    pub expect_seq: u64,
    /// Hash of the last stored event, which precedes `events`.
    pub expect_head: Hash,
    /// Events to append.
    pub events: Vec<Event>,
    /// Changes of ledger rows.
    pub ledger: Vec<LedgerWrite>,
    /// Effects to store. With atomic commit they are written together with the events that mention them.
    pub effects: Vec<Effect>,
    /// Payloads to store.
    pub payloads: Vec<Payload>,
    /// Changes of action key reservations.
    pub actions: Vec<ActionWrite>,
    /// Ids of the inbox rows that this batch turns into events.
    pub inbox_done: Vec<i64>,
    /// Results that later jobs may reuse. For one input, the newest result replaces older results.
    pub reusables: Vec<ReusableResult>,
    /// Changed expectations of the job: the signals and gate decisions that the job awaits.
    pub expectations: Vec<Expectation>,
    /// Changed durable timers.
    pub timers: Vec<TimerWrite>,
    /// True if the batch ends a wait or a gate because its time has come. `inbox_done` and
    /// `compatible_inbox_ids` together must then contain all pending inbox rows. Otherwise the batch is refused
    /// with [`WriteError::InboxPending`], because another row may be the awaited signal or decision.
    pub requires_empty_inbox: bool,
    /// Ids of pending inbox rows that do not prevent a batch with `requires_empty_inbox`. Such rows only report
    /// that other timers are due.
    pub compatible_inbox_ids: Vec<i64>,
    /// New state of the job. Every state except `RUNNING` releases the claim.
    ///
    /// If the job ends, parks, waits or diverges, the batch is refused with [`WriteError::InboxPending`] while pending
    /// inbox rows exist. A batch with `parks_unloaded` may park the job despite pending rows.
    pub status: Option<StatusWrite>,
    /// True if the batch parks a job that could not be loaded. The pending inbox rows of the job stay pending.
    pub parks_unloaded: bool,
    /// True if the batch starts invocations. The batch is refused if the lease has expired. For a cancelled job, the
    /// batch is also refused if one of the invocations is not a compensation (`~c` slot).
    pub acquire: bool,
    /// Slot of an invocation that continues under a barrier from an earlier batch. Set only with `acquire`. The
    /// slot is stated here because such a batch contains no ledger row that names it.
    pub continues: Option<Slot>,
    /// True if the batch is written to a terminal job. The batch is refused if the job is not terminal. The batch may
    /// contain only audit events, reservation changes and ids of processed inbox rows.
    pub audit: bool,
    /// Urgency with which the batch is made durable.
    pub flush: Flush,
}

impl Batch {
    /// Creates an empty batch that follows the log's end at `expect_seq` and `expect_head`.
    pub fn new(job_id: JobId, attempt: u32, expect_seq: u64, expect_head: Hash) -> Self {
        Self {
            job_id,
            attempt,
            expect_seq,
            expect_head,
            events: Vec::new(),
            ledger: Vec::new(),
            effects: Vec::new(),
            payloads: Vec::new(),
            actions: Vec::new(),
            inbox_done: Vec::new(),
            reusables: Vec::new(),
            expectations: Vec::new(),
            timers: Vec::new(),
            requires_empty_inbox: false,
            compatible_inbox_ids: Vec::new(),
            status: None,
            parks_unloaded: false,
            acquire: false,
            continues: None,
            audit: false,
            flush: Flush::Now,
        }
    }
}

/// A stored reservation of an action key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionRow {
    /// Job that holds the key.
    pub job_id: JobId,
    /// Slot that holds the key.
    pub slot: Slot,
    /// Unsalted hash of the canonical arguments.
    pub args_hash: Hash,
    /// Result and receipt of the call. `None` until the call is committed.
    pub receipt: Option<Vec<u8>>,
}

/// The process that claims jobs. Other processes use these fields to find out whether this process is still
/// alive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// Human-readable name of the process: host name, process id and start time.
    pub worker: String,
    /// Boot id of the kernel.
    pub boot_id: String,
    /// Path of the lock file. The process keeps this file locked while it is alive.
    pub lock_path: String,
    /// Device number of the lock file.
    pub lock_dev: u64,
    /// Inode number of the lock file.
    pub lock_ino: u64,
    /// Content of the lock file.
    pub lock_content: String,
}

/// The stored row of a job, which exists in addition to its event log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobRow {
    /// Id of the job.
    pub job_id: JobId,
    /// Tenant that owns the job.
    pub tenant_id: String,
    /// Actor that submitted the job.
    pub actor_id: String,
    /// Identity of the request.
    pub request_key: Hash,
    /// Label of the plan. The plan's identity is `plan_hash`.
    pub plan_id: String,
    /// Hash of the plan's normal form, which is the identity of the plan.
    pub plan_hash: Hash,
    /// Execution mode, such as `HUMAN_GATED`.
    pub mode: String,
    /// State of the job.
    pub state: JobState,
    /// The latest attempt. 0 before the first claim.
    pub attempt: u32,
    /// Number of events in the log, which is also the next sequence number.
    pub next_seq: u64,
    /// Hash of the last event.
    pub head: Hash,
    /// True if pending inbox rows exist.
    pub inbox_pending: bool,
    /// True if a request to cancel the job was accepted. A request to undo the job sets this flag too.
    pub cancel_requested: bool,
    /// Time from which a worker may claim the `WAITING` job without any request, in microseconds since 1970
    /// UTC.
    pub wake_at_us: Option<i64>,
    /// Claim priority. Higher values are claimed first, and jobs of equal priority are claimed in the order of
    /// acceptance.
    pub priority: i16,
    /// Time of acceptance, microseconds since 1970 UTC.
    pub created_us: i64,
    /// Time of the last change, microseconds since 1970 UTC.
    pub updated_us: i64,
}

/// A job to accept: its row, its first events and its payloads.
#[derive(Clone, Debug)]
pub struct NewJob {
    /// The row as it will be stored.
    pub row: JobRow,
    /// The first events: `intent_accepted` and `plan_created`.
    pub events: Vec<Event>,
    /// Secret from which the payload salts derive.
    pub secret: Hash,
    /// Payloads of the job.
    pub payloads: Vec<Payload>,
    /// Expectations of the job, as [`crate::expectation::of_plan`] derives them from the plan.
    pub expectations: Vec<Expectation>,
    /// Lease to take on the new job in the same transaction. `None` leaves the job unclaimed.
    pub claim: Option<LeaseRequest>,
    /// Limits on the number of pending jobs. They apply only if the job is not claimed immediately.
    pub queue: QueueLimit,
}

/// Maximum numbers of `PENDING` jobs. A submission beyond a limit is refused. `None` means no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueLimit {
    /// Maximum number of pending jobs over all tenants.
    pub all: Option<u32>,
    /// Maximum number of pending jobs of the tenant that submits the job.
    pub tenant: Option<u32>,
}

/// The process that requests a lease, and the length of the lease.
#[derive(Clone, Debug)]
pub struct LeaseRequest {
    /// The claiming process.
    pub owner: Owner,
    /// Length of the lease in milliseconds.
    pub lease_ms: u32,
}

/// Result of a submission.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "one a submission, taken apart at once")]
pub enum Submitted {
    /// A new job was stored. The job is at attempt 1 if it was claimed immediately.
    New,
    /// The request is already known. The caller gets this existing job instead of a new one.
    Attached(JobRow),
    /// Too many jobs are pending. Nothing was written.
    QueueFull {
        /// True if the tenant's own limit is reached. False if the limit over all tenants is reached.
        of_tenant: bool,
        /// The limit that is reached.
        limit: u32,
    },
}

/// A claimed job.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Row of the job. Its `attempt` is the attempt of this claim.
    pub row: JobRow,
    /// Database time of the claim, microseconds since 1970 UTC.
    pub now_us: i64,
}

/// Everything that the journal stores about a job.
#[derive(Clone, Debug)]
pub struct StoredJob {
    /// Row of the job.
    pub row: JobRow,
    /// Secret from which the payload salts derive.
    pub secret: Hash,
    /// The event log. Its hash chain has been checked.
    pub events: Vec<Event>,
    /// Ledger rows of the job.
    pub ledger: Vec<LedgerRow>,
    /// Payloads of the job.
    pub payloads: Vec<Payload>,
    /// Pending inbox rows, in order of arrival.
    pub inbox: Vec<InboxRow>,
}

/// The part of a job's data that is needed to park or release the job without loading it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobTail {
    /// Position of the last event in the log.
    pub end: LogEnd,
    /// The retry or undo request that reopens the job, if one exists. The log of a job that is being reopened
    /// still ends with a terminal state, so the request is needed as well.
    pub reopen: Option<InboxRow>,
}

/// Position of the last event in a log, without the event's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct LogEnd {
    /// Sequence number of the event.
    pub seq: u64,
    /// Time of the event, microseconds since 1970 UTC.
    pub time_us: i64,
    /// Attempt that appended the event. 0 before the first claim.
    pub attempt: u32,
}

/// Selection of jobs to list. All conditions must hold.
#[derive(Clone, Debug, Default)]
pub struct JobFilter {
    /// Only jobs in this state.
    pub state: Option<JobState>,
    /// Only jobs that are not terminal.
    pub open: bool,
    /// Only terminal jobs with pending inbox rows. The audit events for these rows are still missing from the
    /// log.
    pub needs_audit: bool,
    /// Only jobs accepted before this job.
    pub older_than: Option<JobId>,
    /// Maximum number of jobs. The newest jobs come first.
    pub limit: u32,
}

/// Counts of operations of a store since the store was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counters {
    /// Durable commits made by the writer.
    pub flushes: u64,
    /// Batches written.
    pub batches: u64,
    /// SQL statements executed.
    pub statements: u64,
    /// Batches refused.
    pub refused: u64,
}

/// Jobs that a worker excludes from its claims.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClaimExclusions {
    /// Tenants whose jobs are all skipped.
    pub tenants: Vec<String>,
    /// Individual jobs that are skipped.
    pub jobs: Vec<JobId>,
}

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

    /// Extends the leases of the given jobs and returns the jobs whose lease is lost. An expired lease is extended too,
    /// if no newer attempt has superseded it.
    async fn heartbeat(&self, held: &[(JobId, u32)], lease_ms: u32) -> Result<Vec<JobId>, StoreError>;

    /// Writes a batch atomically and returns once the batch is durable.
    ///
    /// The batch enters the write queue when the future is first polled, before the future awaits anything. Batches are
    /// therefore written in the order in which their futures are first polled. Dropping the future after the first poll
    /// does not withdraw the batch.
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

    /// Lists the ledger rows of the job's invocations whose outcome is undecided: the `INFLIGHT` and
    /// `INDETERMINATE` rows.
    async fn recover(&self, job_id: &JobId) -> Result<Vec<LedgerRow>, StoreError>;

    /// Determines whether the owner of the row's open try can still touch the outside world (§5, quiescence
    /// first). The owner is the process that started the try.
    ///
    /// The owner is quiescent once `settling_ms` have passed since the earliest of the following moments. All
    /// moments are read on the lease clock, which is the boot-time clock of the machine.
    /// - The row's deadline plus the clock margin.
    /// - The moment when this store first saw that the owner process is dead. The proof of death is the lock file that
    ///   the claim of `row.attempt` names. The file exists with the same device, inode and content, and no process
    ///   holds its lock.
    /// - The start of the current boot, if the owner ran under another boot id.
    ///
    /// An absent or different lock file proves nothing.
    async fn quiescence(&self, job_id: &JobId, row: &LedgerRow, settling_ms: u32) -> Result<Quiescence, StoreError>;

    /// Puts a request into a job's inbox. The request is durable when this method returns. If the job does not expect
    /// the request, [`crate::expectation::check_request`] refuses it in the same transaction.
    ///
    /// This transaction also changes the state `WAITING`, `PARKED` or `DIVERGED` to `PENDING`. For
    /// [`InboxRequest::Cancel`], it also sets the cancel flag.
    async fn put_inbox(
        &self,
        job_id: &JobId,
        actor: &str,
        reason: Option<&str>,
        request: InboxRequest,
    ) -> Result<i64, InboxError>;

    /// Fires all timers that are due, whatever state their jobs are in. In one transaction, each due timer becomes an
    /// [`InboxRequest::Timer`] in its job's inbox and is deleted.
    ///
    /// `WAITING` jobs whose time has come become `PENDING`. Returns the time at which the next timer or `WAITING` job
    /// is due.
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
    /// Returns the sums of the costs of calls, one per group, newest group first. If `job_id` is set, only the
    /// calls of that job are counted. The cost of a call is added in the transaction that records its answer.
    async fn costs(&self, by: cost::CostGrouping, job_id: Option<&JobId>) -> Result<Vec<cost::CostRow>, StoreError>;

    /// Returns the amount that a tenant's jobs have spent in a month, in millionths of a US dollar. The month
    /// is written as `2026-11`.
    async fn spent(&self, tenant: &str, month: &str) -> Result<u64, StoreError>;

    /// Returns the revision of the latest change that another process made and that this store has seen. A caller that
    /// must miss no change reads the revision first and the store second. The caller then waits with
    /// [`Journal::wait_for_change`].
    fn watermark(&self) -> u64 {
        0
    }

    /// Waits until the revision is greater than `seen`, and returns the new revision. If `of` names a job, only a new
    /// inbox row of this job counts as a change. If `of` is `None`, a change is a job that may now be claimable, or a
    /// newly set timer.
    ///
    /// A store without notifications (SQLite, memory) waits forever. A lost connection can lose a notification, so the
    /// caller must also poll the store from time to time.
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

/// Clock that a database uses for decisions about time. On SQLite this is the machine's clock, and tests
/// replace it.
pub trait Clock: Send + Sync {
    /// Event time: microseconds since 1970 UTC.
    fn now_us(&self) -> i64;
    /// Lease time: microseconds since the kernel started, including sleep. Leases and deadlines use only this
    /// clock, because it cannot be set.
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

/// A small persistent key-value store for tools, separated by namespace.
#[async_trait]
pub trait KeyValue: Send + Sync {
    /// Returns the value of a key.
    async fn get(&self, namespace: &str, key: &str) -> Result<Option<Vec<u8>>, StoreError>;
    /// Sets the value of a key. The value is durable when this method returns.
    async fn set(&self, namespace: &str, key: &str, value: &[u8]) -> Result<(), StoreError>;
    /// Deletes a key. Returns true if the key existed.
    async fn delete(&self, namespace: &str, key: &str) -> Result<bool, StoreError>;
}
