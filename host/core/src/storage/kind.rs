//! Purposes of drafts and batches. A purpose carries the data that only drafts or batches of this purpose have.

use crate::model::ids::Slot;
use crate::model::job::JobState;

/// Purpose of a draft that records what happened in a running job. The value states how soon the record becomes durable
/// with atomic commit, and whether staged commit may divide the record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Record {
    /// The record becomes durable together with the next flushed batch, or after a few milliseconds.
    #[default]
    Linger,
    /// The record is flushed immediately, because a caller waits for it.
    Flush,
    /// Like [`Record::Linger`]. Log and ledger are written in one transaction, even with staged commit.
    LingerWhole,
    /// Like [`Record::Flush`]. Log and ledger are written in one transaction, even with staged commit.
    FlushWhole,
}

/// Purpose of a draft that starts invocations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StartCalls {
    /// Slots of invocations that continue under a barrier from an earlier batch. The draft contains no ledger rows with
    /// these slots, so the slots are stated here.
    pub continued: Vec<Slot>,
}

/// Purpose whose drafts can be merged: two drafts of this purpose can become one batch.
pub trait Merge {
    /// Returns the purpose of the merged draft.
    #[must_use]
    fn merge(self, other: Self) -> Self;
}

impl Record {
    /// Returns true if the record is flushed immediately.
    pub fn flushes(self) -> bool {
        matches!(self, Self::Flush | Self::FlushWhole)
    }

    /// Returns true if log and ledger are written in one transaction, whatever the commit mode.
    pub fn is_whole(self) -> bool {
        matches!(self, Self::LingerWhole | Self::FlushWhole)
    }
}

impl Merge for Record {
    fn merge(self, other: Record) -> Record {
        match (self, other) {
            (Self::Linger, record) | (record, Self::Linger) => record,
            (one, other) if one == other => one,
            _ => Self::FlushWhole,
        }
    }
}

impl Merge for StartCalls {
    fn merge(mut self, other: StartCalls) -> StartCalls {
        self.continued.extend(other.continued);
        self
    }
}

/// State that a job gets at the end of an attempt: each state of [`JobState`] except [`JobState::Running`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttemptEnd {
    /// See [`JobState::Pending`].
    Pending,
    /// See [`JobState::Waiting`].
    Waiting {
        /// Time from which a worker may claim the job without any request, in microseconds since 1970 UTC.
        wake_at_us: Option<i64>,
    },
    /// See [`JobState::Parked`].
    Parked,
    /// See [`JobState::Diverged`].
    Diverged,
    /// See [`JobState::Completed`].
    Completed,
    /// See [`JobState::Partial`].
    Partial,
    /// See [`JobState::Failed`].
    Failed,
    /// See [`JobState::Cancelled`].
    Cancelled,
}

impl AttemptEnd {
    /// Returns the end with this state and without a time, or `None` for `RUNNING`.
    pub fn of(state: JobState) -> Option<Self> {
        Some(match state {
            JobState::Pending => Self::Pending,
            JobState::Running => return None,
            JobState::Waiting => Self::Waiting { wake_at_us: None },
            JobState::Parked => Self::Parked,
            JobState::Diverged => Self::Diverged,
            JobState::Completed => Self::Completed,
            JobState::Partial => Self::Partial,
            JobState::Failed => Self::Failed,
            JobState::Cancelled => Self::Cancelled,
        })
    }

    /// Returns the state of the job.
    pub fn state(self) -> JobState {
        match self {
            Self::Pending => JobState::Pending,
            Self::Waiting { .. } => JobState::Waiting,
            Self::Parked => JobState::Parked,
            Self::Diverged => JobState::Diverged,
            Self::Completed => JobState::Completed,
            Self::Partial => JobState::Partial,
            Self::Failed => JobState::Failed,
            Self::Cancelled => JobState::Cancelled,
        }
    }

    /// Returns the time from which a worker may claim the job without any request, in microseconds since 1970 UTC.
    pub fn wake_at_us(self) -> Option<i64> {
        match self {
            Self::Waiting { wake_at_us } => wake_at_us,
            _ => None,
        }
    }
}

/// Purpose of a batch. The purpose decides what the store checks. Only a [`BatchKind::Record`] may linger or be
/// divided. All other batches are one transaction in both commit modes and are flushed immediately.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BatchKind {
    /// Records what happened in a running job.
    Record(Record),
    /// Starts invocations. The batch is refused if the lease has expired. If the job is cancelled, every invocation
    /// must be a compensation (`~c` slot).
    StartCalls(StartCalls),
    /// Ends a wait or a gate because its time has come. The batch is refused with
    /// [`WriteError::InboxPending`](super::WriteError::InboxPending) if an inbox row is pending, because the row may be
    /// the awaited signal or decision. Two kinds of rows do not count: rows in `inbox_done`, and rows in
    /// `compatible_inbox_ids`.
    EndWait {
        /// Ids of pending inbox rows that only report that other timers are due.
        compatible_inbox_ids: Vec<i64>,
    },
    /// Sets the state of the job at the end of the attempt. Every state except `RUNNING` releases the claim. After the
    /// release, no later batch of the attempt could complete a partial write, so the batch is one transaction.
    ///
    /// If the job ends, parks, waits or diverges, the batch is refused with
    /// [`WriteError::InboxPending`](super::WriteError::InboxPending) while pending inbox rows exist.
    EndAttempt(AttemptEnd),
    /// Parks a job that could not be loaded. The pending inbox rows of the job stay pending.
    ParkUnloaded,
    /// Writes to a terminal job. The batch is refused if the job is not terminal. The batch may contain only audit
    /// events, reservation changes and ids of processed inbox rows.
    Audit,
}

impl BatchKind {
    /// The kind of a batch that starts new invocations only: `continued` is empty.
    pub const START_CALLS: BatchKind = BatchKind::StartCalls(StartCalls { continued: Vec::new() });

    /// Returns true if the batch starts invocations.
    pub fn starts_calls(&self) -> bool {
        matches!(self, BatchKind::StartCalls(_))
    }

    /// Returns true if staged commit may write the parts of the batch one after the other.
    pub fn divides(&self) -> bool {
        matches!(self, BatchKind::Record(record) if !record.is_whole())
    }

    /// Changes a record that may linger into a record that is flushed immediately.
    pub fn flush(&mut self) {
        if let BatchKind::Record(record) = self {
            *record = record.merge(Record::Flush);
        }
    }
}

impl Default for BatchKind {
    fn default() -> Self {
        BatchKind::Record(Record::default())
    }
}
