//! What durable execution costs on this machine, beside what the machine itself can do.
//!
//! * `workload` says what a job of each kind does; `load` runs so many of them at once.
//! * `disk` measures appends that are flushed one by one: no store can be faster.
//! * `workers` measures jobs that several processes share over a server.
//! * `sandbox` measures a step that does nothing, beside the engine alone.
//!
//! Figures are for people: nothing here is asserted. What a call costs in flushes and statements
//! is counted, and tests hold it.

mod disk;
mod load;
mod sandbox;
mod workers;
mod workload;

pub use disk::flushed_appends_per_second;
pub use load::{Load, Measured, run};
pub use sandbox::{Sandbox, sandbox};
pub use workers::{Shared, done, fill, jobs_before};
pub use workload::{CALLS_PER_JOB, Workload};

/// Why a measurement could not be made.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// The plan is refused: the benchmark's plugins are not the ones this version knows.
    #[error("the plan of {workload} is refused: {first}")]
    Plan {
        /// The workload.
        workload: &'static str,
        /// The first violation.
        first: String,
    },
    /// A job could not be submitted.
    #[error(transparent)]
    Submit(#[from] crate::host::SubmitError),
    /// A job could not be brought to rest.
    #[error(transparent)]
    Worker(#[from] crate::worker::WorkerError),
    /// A job did not complete.
    #[error("job {0} ended {1}: see its events")]
    NotCompleted(latchwork_core::ids::JobId, String),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] latchwork_core::storage::StoreError),
    /// The scratch folder cannot be used.
    #[error("the scratch folder cannot be used: {0}")]
    Io(#[from] std::io::Error),
    /// The engine failed.
    #[error("the engine failed: {0}")]
    Engine(String),
}
