//! Submission of a new job: its row, the limit of the queue, and the result.

use crate::event::Event;
use crate::model::ids::Hash;
use crate::storage::changes::Payload;
use crate::storage::expectation::Expectation;
use crate::storage::query::LeaseRequest;
use crate::storage::rows::JobRow;

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
    /// Expectations of the job, as [`crate::storage::expectation::of_plan`] derives them from the plan.
    pub expectations: Vec<Expectation>,
    /// Lease of the new job, taken in the transaction that stores the job. `None` leaves the job unclaimed.
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
