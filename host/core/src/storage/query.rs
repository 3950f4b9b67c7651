//! Parameters and results of queries over jobs.

use serde::Serialize;

use crate::model::ids::JobId;
use crate::model::job::JobState;
use crate::storage::rows::Owner;

/// Selection of jobs to list. All conditions must hold.
#[derive(Clone, Debug, Default)]
pub struct JobFilter {
    /// Only jobs in this state.
    pub state: Option<JobState>,
    /// Only jobs that are not terminal.
    pub open: bool,
    /// Only terminal jobs with pending inbox rows. Their logs still lack the audit events for these rows.
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

/// The process that requests a lease, and the length of the lease.
#[derive(Clone, Debug)]
pub struct LeaseRequest {
    /// The claiming process.
    pub owner: Owner,
    /// Length of the lease in milliseconds.
    pub lease_ms: u32,
}
