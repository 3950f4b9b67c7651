//! Measures the cost of durable execution on this machine, next to the limits of the machine itself.
//!
//! * `workload` defines the jobs. `load` runs concurrent jobs.
//! * `disk` measures appends that are flushed one by one. No store can flush faster than this rate.
//! * `pgbench` measures the transaction rate of a PostgreSQL server.
//! * `workers` measures jobs that several worker processes claim from one database.
//! * `sandbox` compares an empty step with a call of the engine alone.
//!
//! The figures are for people, and no test checks them. Tests count the flushes and statements of a call instead.
//!
//! Floors, top first: `sandbox` · `load`, `workers` · `disk`, `workload` · `error`, `pgbench`.

mod disk;
mod error;
mod load;
mod pgbench;
mod sandbox;
mod workers;
mod workload;

pub use disk::flushed_appends_per_second;
pub use error::BenchError;
pub use load::{Load, LoadMeasurement, run};
pub use pgbench::{BenchTransaction, pgbench, transactions_per_second};
pub use sandbox::SandboxTimes;
pub(crate) use sandbox::measure_sandbox;
pub use workers::{SharedMeasurement, enqueue_jobs, jobs_before, measure_completed};
pub use workload::{CALLS_PER_JOB, Workload};
