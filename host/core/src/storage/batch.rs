//! Writes of one transaction to one job.

use crate::event::Event;
use crate::model::effect::Effect;
use crate::model::ids::{Hash, JobId, Operator, Slot};
use crate::model::job::JobState;
use crate::rules::ledger::{LedgerRow, RowState};
use crate::rules::reuse::ReusableResult;
use crate::storage::expectation::{Expectation, TimerWrite};

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
/// The store computes `deadline_us` of the row. If a batch of the kind [`BatchKind::StartCalls`] leaves the row
/// `INFLIGHT`, the deadline becomes the current lease clock time plus `timeout_ms`. Every other update keeps the
/// stored deadline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LedgerWrite {
    /// Inserts a row. The batch is refused if the slot already has a row.
    Insert(LedgerRow),
    /// Replaces a row. The batch is refused if the stored row differs from any of the three expected values.
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
    /// Reserves `(tenant, operator, key)` for this job and slot. The batch is refused if another slot holds the key, if
    /// the key is settled with a receipt, or if the key was reserved with other arguments. The slot that holds the key
    /// may reserve it again.
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
    /// the key gets [`InboxRequest::KeySettled`](crate::storage::InboxRequest::KeySettled) in its inbox.
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
    /// Withdraws the receipt of this slot's settled call. Reason: the call is being undone, or its effect no longer
    /// matches the record. No job can get the receipt until the key is settled again. Does nothing if this slot holds
    /// no receipt.
    WithdrawReceipt {
        /// Operator of the reserved call.
        operator: Operator,
        /// The action key.
        key: Hash,
        /// Slot that holds the key.
        slot: Slot,
    },
    /// Registers this job to wait until the reservation is settled. If the key is already free or settled, the batch is
    /// refused with [`WriteError::ActionKeyFree`](crate::storage::WriteError::ActionKeyFree). The caller must then read
    /// the key again.
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
    /// Time from which a worker may claim the `WAITING` job even if no request arrives, in microseconds since 1970
    /// UTC.
    pub wake_at_us: Option<i64>,
}

/// Purpose of a batch, which decides what the store checks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum BatchKind {
    /// Records what happened in a running job.
    #[default]
    Record,
    /// Starts invocations. The batch is refused if the lease has expired. If the job is cancelled, every invocation
    /// must be a compensation (`~c` slot).
    StartCalls {
        /// Slots of calls whose barrier is in an earlier batch. The worker continues these calls, and the ledger rows
        /// of this batch do not name them.
        continued: Vec<Slot>,
    },
    /// Ends a wait or a gate because its time has come. The batch is refused with
    /// [`WriteError::InboxPending`](super::WriteError::InboxPending) if an inbox row is pending, because the row may be
    /// the awaited signal or decision. Two kinds of rows do not count: rows in `inbox_done`, and rows in
    /// `compatible_inbox_ids`.
    EndWait {
        /// Ids of pending inbox rows that only report that other timers are due.
        compatible_inbox_ids: Vec<i64>,
    },
    /// Parks a job that could not be loaded. The pending inbox rows of the job stay pending.
    ParkUnloaded,
    /// Writes to a terminal job. The batch is refused if the job is not terminal. The batch may contain only audit
    /// events, reservation changes and ids of processed inbox rows.
    Audit,
}

impl BatchKind {
    /// The kind of a batch that starts new invocations only: `continued` is empty.
    pub const START_CALLS: BatchKind = BatchKind::StartCalls { continued: Vec::new() };

    /// Returns true if the batch starts invocations.
    pub fn starts_calls(&self) -> bool {
        matches!(self, BatchKind::StartCalls { .. })
    }

    /// Returns true if the batch ends a wait or a gate because its time has come.
    pub fn ends_wait(&self) -> bool {
        matches!(self, BatchKind::EndWait { .. })
    }

    /// Returns the kind of a batch that contains the writes of two batches. `Record` can be combined with every kind.
    /// Equal kinds can be combined, and so can two `StartCalls`.
    ///
    /// # Panics
    /// Panics for any other combination, because the store would check only one of the two kinds. No decision makes
    /// such a combination.
    pub fn combined_with(self, other: BatchKind) -> BatchKind {
        match (self, other) {
            (BatchKind::Record, kind) | (kind, BatchKind::Record) => kind,
            (BatchKind::StartCalls { mut continued }, BatchKind::StartCalls { continued: more }) => {
                continued.extend(more);
                BatchKind::StartCalls { continued }
            }
            (one, other) if one == other => one,
            (one, other) => panic!("a batch cannot be {one:?} and {other:?}"),
        }
    }
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
    /// New state of the job. Every state except `RUNNING` releases the claim.
    ///
    /// If the job ends, parks, waits or diverges, the batch is refused with
    /// [`WriteError::InboxPending`](super::WriteError::InboxPending) while pending inbox rows exist. A batch of the
    /// kind [`BatchKind::ParkUnloaded`] may park the job despite pending rows.
    pub status: Option<StatusWrite>,
    /// Purpose of the batch, which decides what the store checks.
    pub kind: BatchKind,
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
            status: None,
            kind: BatchKind::Record,
            flush: Flush::Now,
        }
    }
}
