//! Measures the cost of durable execution on this machine, next to the limits of the machine itself.
//!
//! * `workload` defines the jobs. `load` runs concurrent jobs.
//! * `disk` measures appends that are flushed one by one. No store can flush faster than this rate.
//! * `pgbench` measures the transaction rate of a PostgreSQL server.
//! * `workers` measures jobs of one database that several worker processes share.
//! * `sandbox` compares an empty step with a call of the engine alone.
//!
//! The figures are for people. Nothing in this module asserts a figure. Tests count the flushes and
//! statements of a call instead.

mod disk;
mod load;
mod pgbench;
mod sandbox;
mod workers;
mod workload;

pub use disk::flushed_appends_per_second;
pub use load::{Load, Measured, run};
pub use pgbench::{BenchTransaction, pgbench, transactions_per_second};
pub use sandbox::{SandboxTimes, measure_sandbox};
pub use workers::{SharedMeasurement, enqueue_jobs, jobs_before, measure_completed};
pub use workload::{CALLS_PER_JOB, Workload};

/// Reasons why a measurement could not be made.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// The plan is refused. The cause: the loaded plugins are not the benchmark plugins of this version.
    #[error("the plan of {workload} is refused: {first}")]
    Plan {
        /// Name of the workload.
        workload: &'static str,
        /// Text of the first violation.
        first: String,
    },
    /// A job could not be submitted.
    #[error(transparent)]
    Submit(#[from] crate::host::SubmitError),
    /// The worker failed to settle a job.
    #[error(transparent)]
    Worker(#[from] crate::runtime::WorkerError),
    /// A job did not complete, or the request belongs to an existing job. Contains the id of the job and a
    /// text with the cause.
    #[error("job {0} ended {1}: see its events")]
    NotCompleted(latchwork_core::model::ids::JobId, String),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] latchwork_core::storage::StoreError),
    /// The scratch directory cannot be used.
    #[error("the scratch folder cannot be used: {0}")]
    Io(#[from] std::io::Error),
    /// The engine failed.
    #[error("the engine failed: {0}")]
    Engine(String),
}
