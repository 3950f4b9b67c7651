//! Reasons why a measurement could not be made.

/// Reasons why a measurement could not be made.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// The plan is refused, because the loaded plugins are not the benchmark plugins of this version.
    #[error("the plan of {workload} is refused: {first}")]
    Plan {
        /// Name of the workload.
        workload: &'static str,
        /// Text of the first violation.
        first: String,
    },
    /// A job could not be submitted.
    #[error(transparent)]
    Submit(#[from] latchwork::host::SubmitError),
    /// The worker failed to settle a job.
    #[error(transparent)]
    Worker(#[from] latchwork::runtime::WorkerError),
    /// A job did not complete, or the request belongs to an existing job. Contains the id of the job, and the state of
    /// the job or a text such as `before it began`.
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
