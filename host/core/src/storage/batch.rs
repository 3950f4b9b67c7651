//! Writes of one transaction to one job.

use crate::event::Event;
use crate::model::ids::{Hash, JobId};
use crate::storage::expectation::{Expectation, TimerWrite};
use crate::storage::kind::{BatchKind, Record};
use crate::storage::writes::Writes;

/// One atomic write to one job.
#[derive(Clone, Debug)]
pub struct Batch {
    /// Job to write to.
    pub job_id: JobId,
    /// Attempt of the writer. The batch is refused if this attempt is superseded.
    pub attempt: u32,
    /// Sequence number of the first event. The batch is refused if the stored log does not end directly before this
    /// number.
    pub expect_seq: u64,
    /// Hash of the last stored event, which precedes the events of the batch.
    pub expect_head: Hash,
    /// Writes with their purpose.
    pub writes: Writes<BatchKind, Event>,
    /// Changed expectations of the job: the signals and gate decisions that the job awaits.
    pub expectations: Vec<Expectation>,
    /// Changed durable timers.
    pub timers: Vec<TimerWrite>,
}

impl Batch {
    /// Creates an empty record, flushed immediately, that follows the log's end at `expect_seq` and `expect_head`.
    pub fn new(job_id: JobId, attempt: u32, expect_seq: u64, expect_head: Hash) -> Self {
        let writes = Writes { kind: BatchKind::Record(Record::Flush), ..Writes::default() };
        let (expectations, timers) = (Vec::new(), Vec::new());
        Self { job_id, attempt, expect_seq, expect_head, writes, expectations, timers }
    }
}
