//! What the worker needs of the stores. Implemented by [`crate::memory`] (the model) and by
//! `latchwork-store`; one conformance suite holds for all.
//!
//! A [`Batch`] is one job's atomic write: all of it or nothing. Batches of many jobs share
//! transactions, and one job's conflict never fails another's batch. Batches of one job take
//! effect in the order of the calls to [`Journal::write`]. What a batch must fulfil to be
//! written is decided in one place for all stores: [`crate::admit`].

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::awaited::{Awaited, TimerWrite};
use crate::cost;
use crate::effect::Effect;
use crate::event::Event;
use crate::ids::{Hash, JobId, Operator, Slot};
use crate::job::JobState;
use crate::ledger::{Quiescence, Row, RowState};
use crate::reuse::Reusable;

mod error;
mod inbox;
mod why;

pub use error::{StoreError, WriteError};
pub use inbox::{InboxError, InboxRow, Request, Resolved};
pub use why::{Why, says_why, why};

/// When a batch has to be durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flush {
    /// Now: the caller waits for it.
    Now,
    /// With the next batch that is flushed, or after a few milliseconds.
    Linger,
}

/// A payload under its label: `input/<step>`, `output/<step>`, `args/<slot>`, `event/<step>/<n>`,
/// `plan`. Write-once: equal bytes are accepted again, others refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payload {
    /// Unique within the job.
    pub label: String,
    /// The bytes that were hashed.
    pub bytes: Vec<u8>,
}

/// A change of one ledger row.
///
/// `deadline_us` of the row is the store's: an `acquire` batch that leaves a row `INFLIGHT` sets
/// it to the lease clock's now plus `timeout_ms`; every other update keeps what is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LedgerWrite {
    /// The slot must have no row.
    Insert(Row),
    /// The row must be in this state, of this try, with this nonce.
    Update {
        /// State that is expected.
        expect: RowState,
        /// Try that is expected.
        expect_try: u32,
        /// Nonce that is expected.
        expect_nonce: u64,
        /// The row from now on.
        row: Row,
    },
}

impl LedgerWrite {
    /// The row it leaves.
    pub fn row(&self) -> &Row {
        match self {
            LedgerWrite::Insert(row) | LedgerWrite::Update { row, .. } => row,
        }
    }
}

/// A change of the reservation of an action key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ActionWrite {
    /// Reserve `(tenant, operator, key)` for this job and slot. Refused where another slot holds
    /// it, where it is settled with a receipt, or where it was reserved with other arguments;
    /// the same slot may ask again.
    Reserve {
        /// The operator.
        operator: Operator,
        /// The key.
        key: Hash,
        /// Unsalted hash of the canonical arguments: same key with others is `INVALID_INPUT`.
        args_hash: Hash,
        /// The slot that reserves.
        slot: Slot,
    },
    /// The reservation's call is over. Every job that waits for the key finds
    /// [`Request::KeySettled`] in its inbox, in the same transaction.
    Settle {
        /// The operator.
        operator: Operator,
        /// The key.
        key: Hash,
        /// The slot that holds it.
        slot: Slot,
        /// Committed, with this receipt (or result); none frees the key.
        receipt: Option<Vec<u8>>,
    },
    /// What the settled call of this slot did is being undone, or is not as it was recorded: nobody is
    /// given its receipt until it is settled again. Nothing where this slot holds no receipt.
    TakeBack {
        /// The operator.
        operator: Operator,
        /// The key.
        key: Hash,
        /// The slot that holds it.
        slot: Slot,
    },
    /// This job waits until the reservation is settled. Refused ([`WriteError::KeyOpen`]) where
    /// the key is free or settled by now: look again.
    Wait {
        /// The operator.
        operator: Operator,
        /// The key.
        key: Hash,
    },
}

/// Where the job goes with a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatusWrite {
    /// The state from now on.
    pub to: JobState,
    /// When it may be claimed again by itself (`WAITING`), microseconds since 1970 UTC.
    pub wake_at_us: Option<i64>,
}

/// One job's atomic write.
#[derive(Clone, Debug)]
pub struct Batch {
    /// The job.
    pub job_id: JobId,
    /// The writer's attempt: refused if superseded.
    pub attempt: u32,
    /// The number of the first of `events`: refused unless the log ends just before it.
    pub expect_seq: u64,
    /// Hash of the log's last event before `events`.
    pub expect_head: Hash,
    /// Appended.
    pub events: Vec<Event>,
    /// Ledger rows.
    pub ledger: Vec<LedgerWrite>,
    /// Effects (atomic commit: they travel with the events that mention them).
    pub effects: Vec<Effect>,
    /// Payloads.
    pub payloads: Vec<Payload>,
    /// Action keys.
    pub actions: Vec<ActionWrite>,
    /// Inbox rows that have become events.
    pub inbox_done: Vec<i64>,
    /// Results that later jobs may reuse; the newest of one input replaces older ones.
    pub reusables: Vec<Reusable>,
    /// What the job awaits, as far as it changed.
    pub awaited: Vec<Awaited>,
    /// Durable timers, as far as they changed.
    pub timers: Vec<TimerWrite>,
    /// Whether it ends a wait or a gate because of its time: refused
    /// ([`WriteError::InboxPending`]) while undone inbox rows beside `inbox_done` and `beside` exist,
    /// because one of them may be what was waited for.
    pub drained: bool,
    /// Undone inbox rows that contradict no end because of a time: other times that have come.
    pub beside: Vec<i64>,
    /// New state of the job. One that ends, parks, waits or diverges gives up the claim, and is
    /// refused ([`WriteError::InboxPending`]) while undone inbox rows exist, unless it is `unread`.
    pub status: Option<StatusWrite>,
    /// Whether it parks a job that nobody could load: its inbox waits with it.
    pub unread: bool,
    /// Whether it starts invocations: refused if the lease is over, or if the job is cancelled
    /// and anything but compensations (`~c` slots) would start.
    pub acquire: bool,
    /// The invocation that goes on under a barrier which was written before, where it acquires that: no row of its own
    /// says which.
    pub goes_on: Option<Slot>,
    /// Whether it is written to a job that is over: refused unless the job is, and unless all that it
    /// holds are audit events, reservations and inbox rows.
    pub audit: bool,
    /// When it has to be durable.
    pub flush: Flush,
}

impl Batch {
    /// An empty batch at this place of the log.
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
            awaited: Vec::new(),
            timers: Vec::new(),
            drained: false,
            beside: Vec::new(),
            status: None,
            unread: false,
            acquire: false,
            goes_on: None,
            audit: false,
            flush: Flush::Now,
        }
    }
}

/// A reservation of an action key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionRow {
    /// The job that holds it.
    pub job_id: JobId,
    /// The slot that holds it.
    pub slot: Slot,
    /// Hash of the canonical arguments.
    pub args_hash: Hash,
    /// What it answered, once committed: result and receipt.
    pub receipt: Option<Vec<u8>>,
}

/// The process that claims: how others tell whether it still lives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// A name for people: host, process, start.
    pub worker: String,
    /// The kernel's boot id.
    pub boot_id: String,
    /// The lock file that the process holds locked while it lives.
    pub lock_path: String,
    /// Device of the lock file.
    pub lock_dev: u64,
    /// Inode of the lock file.
    pub lock_ino: u64,
    /// Content of the lock file.
    pub lock_content: String,
}

/// What is stored of a job beside its log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobRow {
    /// The job.
    pub job_id: JobId,
    /// Whose house.
    pub tenant_id: String,
    /// Who asked.
    pub actor_id: String,
    /// Identity of the request.
    pub request_key: Hash,
    /// Label of the plan.
    pub plan_id: String,
    /// Identity of the plan.
    pub plan_hash: Hash,
    /// How it is executed: `HUMAN_GATED`.
    pub mode: String,
    /// Where it stands.
    pub state: JobState,
    /// The last attempt; 0 before the first claim.
    pub attempt: u32,
    /// Number of events.
    pub next_seq: u64,
    /// Hash of the last event.
    pub head: Hash,
    /// Whether undone inbox rows exist.
    pub inbox_pending: bool,
    /// Whether somebody asked to cancel.
    pub cancel_requested: bool,
    /// `WAITING`: when it may be claimed by itself.
    pub wake_at_us: Option<i64>,
    /// Jobs of a higher one are claimed first; of the same one in the order they were accepted.
    pub priority: i16,
    /// When it was accepted, microseconds since 1970 UTC.
    pub created_us: i64,
    /// When it last changed, microseconds since 1970 UTC.
    pub updated_us: i64,
}

/// A job to accept: its first events, and the row.
#[derive(Clone, Debug)]
pub struct NewJob {
    /// The row as it will be stored.
    pub row: JobRow,
    /// `intent_accepted`, `plan_created`.
    pub events: Vec<Event>,
    /// Secret that payload salts derive from.
    pub secret: Hash,
    /// Its payloads.
    pub payloads: Vec<Payload>,
    /// What it will await from others: [`crate::awaited::of_plan`].
    pub awaited: Vec<Awaited>,
    /// Claim it at once, in the same transaction.
    pub claim: Option<Claimer>,
    /// How many jobs may wait, where it is not claimed at once.
    pub queue: QueueLimit,
}

/// How many jobs may be `PENDING`: one more is refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueLimit {
    /// Of all tenants.
    pub all: Option<u32>,
    /// Of the job's own tenant.
    pub tenant: Option<u32>,
}

/// Who claims, and for how long.
#[derive(Clone, Debug)]
pub struct Claimer {
    /// The process.
    pub owner: Owner,
    /// Length of the lease in milliseconds.
    pub lease_ms: u32,
}

/// What became of a submission.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "one a submission, taken apart at once")]
pub enum Submitted {
    /// A job of its own, at attempt 1 where it was to be claimed at once.
    New,
    /// The same request is known: attach to this job.
    Attached(JobRow),
    /// Too many jobs wait already; nothing was written.
    QueueFull {
        /// Whether it is the tenant's own limit that is reached, or that of all.
        of_tenant: bool,
        /// The limit.
        limit: u32,
    },
}

/// A claimed job.
#[derive(Clone, Debug)]
pub struct Claim {
    /// The row, its `attempt` being ours.
    pub row: JobRow,
    /// Database time of now, microseconds since 1970 UTC.
    pub now_us: i64,
}

/// Everything that is stored of a job.
#[derive(Clone, Debug)]
pub struct Record {
    /// Its row.
    pub row: JobRow,
    /// Secret that payload salts derive from.
    pub secret: Hash,
    /// Its log; the chain has been checked.
    pub events: Vec<Event>,
    /// Its ledger rows.
    pub ledger: Vec<Row>,
    /// Its payloads.
    pub payloads: Vec<Payload>,
    /// Its undone inbox rows, in order.
    pub inbox: Vec<InboxRow>,
}

/// What a job that is not loaded can be parked or given back by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outline {
    /// The last event of its log.
    pub end: LogEnd,
    /// The request that opens it again (retry or undo), if there is one: its log says that it is over.
    pub reopen: Option<InboxRow>,
}

/// The last event of a log, without what it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct LogEnd {
    /// Its number.
    pub seq: u64,
    /// Its time, microseconds since 1970 UTC.
    pub time_us: i64,
    /// The attempt that appended it; 0 before the first claim.
    pub attempt: u32,
}

/// Which jobs to list.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Only in this state.
    pub state: Option<JobState>,
    /// Only jobs that are not terminal.
    pub open: bool,
    /// Only jobs that are over, and of which something was said since that is not in their log yet.
    pub to_audit: bool,
    /// Only jobs accepted before this one.
    pub older_than: Option<JobId>,
    /// At most so many, the newest first.
    pub limit: u32,
}

/// How often the store did what: counted since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counters {
    /// Durable commits of the writer.
    pub flushes: u64,
    /// Batches written.
    pub batches: u64,
    /// Statements executed.
    pub statements: u64,
    /// Batches refused.
    pub refused: u64,
}

/// What a claim passes over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Except {
    /// All jobs of these tenants.
    pub tenants: Vec<String>,
    /// These jobs.
    pub jobs: Vec<JobId>,
}

/// Jobs, their logs, ledgers and inboxes: one database.
#[async_trait]
pub trait Journal: Send + Sync {
    /// Accept a job, or find the one with the same request key.
    async fn submit(&self, job: NewJob) -> Result<Submitted, WriteError>;

    /// Claim the next claimable job: `PENDING`, `RUNNING` with a lease that is over, `WAITING`
    /// whose time has come; the highest priority first, then the order they were accepted in. The
    /// attempt goes up by one. Times that have come fire first: see [`Journal::fire_timers`].
    async fn claim(&self, claimer: &Claimer) -> Result<Option<Claim>, StoreError> {
        self.claim_except(claimer, &Except::default()).await
    }

    /// The same, apart from what is to be passed over.
    async fn claim_except(&self, claimer: &Claimer, except: &Except) -> Result<Option<Claim>, StoreError>;

    /// Claim this job if it is claimable now.
    async fn claim_job(&self, job_id: &JobId, claimer: &Claimer) -> Result<Option<Claim>, StoreError>;

    /// Prolong the leases of jobs still held (also over, but not superseded ones); answers those
    /// that are lost.
    async fn heartbeat(&self, held: &[(JobId, u32)], lease_ms: u32) -> Result<Vec<JobId>, StoreError>;

    /// One job's atomic write. The batch takes its place in the queue when the future is first
    /// polled, before anything is awaited: whoever polls two writes in order gets them written
    /// in that order. Returns once it is durable. Dropping the future afterwards does not take
    /// the batch back.
    async fn write(&self, batch: Batch) -> Result<(), WriteError>;

    /// Everything stored of a job; none where there is no such job.
    async fn load(&self, job_id: &JobId) -> Result<Option<Record>, StoreError>;

    /// The outline of a job, read without the rest of it; none where there is no such job.
    async fn outline(&self, job_id: &JobId) -> Result<Option<Outline>, StoreError>;

    /// The row of a job.
    async fn job(&self, job_id: &JobId) -> Result<Option<JobRow>, StoreError>;

    /// Rows of jobs, the newest first.
    async fn jobs(&self, filter: &Filter) -> Result<Vec<JobRow>, StoreError>;

    /// Why each of these jobs stands where it does, in their order. Only the events that say so are read.
    async fn whys(&self, rows: &[JobRow]) -> Result<Vec<Why>, StoreError>;

    /// Invocations of a job without a verdict: `INFLIGHT` and `INDETERMINATE` rows.
    async fn recover(&self, job_id: &JobId) -> Result<Vec<Row>, StoreError>;

    /// Whether the owner of the row's open try can still touch the world (§5, quiescence first).
    ///
    /// It cannot once `settling_ms` have passed since the earliest of these moments, all read on
    /// the lease clock (the machine's boot-time clock):
    /// - the row's deadline plus the clock margin;
    /// - the moment this store first saw the owner's process gone: the lock file named in the
    ///   claim of `row.attempt` is there (same device, inode and content) and nobody holds it;
    /// - where the owner ran under another boot id: the start of the present boot.
    ///
    /// A lock file that is absent, or another one, proves nothing.
    async fn quiescence(&self, job_id: &JobId, row: &Row, settling_ms: u32) -> Result<Quiescence, StoreError>;

    /// Put a request into a job's inbox: durable when it returns. Refused where it cannot apply any
    /// more ([`crate::awaited::accept`]), decided in the transaction that would accept it. Turns `WAITING`, `PARKED` and
    /// `DIVERGED` into `PENDING`, and [`Request::Cancel`] sets the cancel flag, in the same
    /// transaction.
    async fn put_inbox(
        &self,
        job_id: &JobId,
        actor: &str,
        reason: Option<&str>,
        request: Request,
    ) -> Result<i64, InboxError>;

    /// Fire the timers that are due, whatever the state of their jobs: each turns into
    /// [`Request::Timer`] in its job's inbox and is gone, in one transaction. Jobs that are `WAITING` and whose time
    /// has come are `PENDING` from then on. Answers when the next of all these is due.
    async fn fire_timers(&self) -> Result<Option<i64>, StoreError>;

    /// Undone inbox rows of a job.
    async fn inbox(&self, job_id: &JobId) -> Result<Vec<InboxRow>, StoreError>;

    /// The reservation of an action key.
    async fn action(&self, tenant: &str, operator: &Operator, key: Hash) -> Result<Option<ActionRow>, StoreError>;

    /// The newest result of an operator from this input that may be reused.
    async fn reusable(
        &self,
        tenant: &str,
        operator: &Operator,
        input_hash: Hash,
    ) -> Result<Option<Reusable>, StoreError>;

    /// One payload of a job.
    async fn payload(&self, job_id: &JobId, label: &str) -> Result<Option<Vec<u8>>, StoreError>;
    /// What calls have cost, grouped, the newest group first; of one job only, where one is named.
    /// Charges are added in the transaction that records the answer.
    async fn costs(&self, by: cost::By, job_id: Option<&JobId>) -> Result<Vec<cost::Row>, StoreError>;

    /// Millionths of a US dollar that a tenant's jobs have spent in a month (`2026-11`).
    async fn spent(&self, tenant: &str, month: &str) -> Result<u64, StoreError>;

    /// How much news of other processes was heard so far. Read it, look at the store, then wait with
    /// [`Journal::news_after`]: what came after the look is not missed.
    fn news(&self) -> u64 {
        0
    }

    /// Wait until there is news after `seen`: something was put into the inbox of this job, or, where
    /// no job is named, something may be claimed or a timer was armed. Answers the new number. On a
    /// store without a bell (SQLite, memory) this waits for ever, and with one news may be lost with a
    /// connection: whoever waits looks by itself now and then.
    async fn news_after(&self, of: Option<&JobId>, seen: u64) -> u64 {
        let _ = (of, seen);
        std::future::pending().await
    }

    /// Whether [`Journal::news_after`] would tell of what happens now.
    fn hears_news(&self) -> bool {
        false
    }

    /// Database time, microseconds since 1970 UTC.
    async fn now_us(&self) -> Result<i64, StoreError>;

    /// What it has done so far.
    fn counters(&self) -> Counters;
}

/// What a database's decisions about time rest on. On SQLite it is this machine's; a test sets it.
pub trait Clock: Send + Sync {
    /// Event time: microseconds since 1970 UTC.
    fn now_us(&self) -> i64;
    /// Lease time: microseconds since the kernel started, sleep included. Leases and deadlines
    /// go by it alone: nobody can set it.
    fn boot_us(&self) -> i64;
    /// Which start of the kernel `boot_us` counts from.
    fn boot_id(&self) -> String;
}

/// What the world answered; perhaps in a database of its own.
#[async_trait]
pub trait EffectStore: Send + Sync {
    /// Write effects, each once per (slot, try): equal bytes are accepted, others refused with
    /// [`WriteError::EffectExists`]. Not fenced: a worker that lost its lease still records.
    async fn put(&self, job_id: &JobId, effects: &[Effect]) -> Result<(), WriteError>;

    /// All effects of a job, by slot and try.
    async fn effects(&self, job_id: &JobId) -> Result<Vec<Effect>, StoreError>;
}

/// A small persistent map for tools, by namespace.
#[async_trait]
pub trait KeyValue: Send + Sync {
    /// The value at a key.
    async fn get(&self, namespace: &str, key: &str) -> Result<Option<Vec<u8>>, StoreError>;
    /// Write; durable when it returns.
    async fn set(&self, namespace: &str, key: &str, value: &[u8]) -> Result<(), StoreError>;
    /// Forget; whether it was there.
    async fn delete(&self, namespace: &str, key: &str) -> Result<bool, StoreError>;
}
