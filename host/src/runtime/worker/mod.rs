//! Workers: the state that all jobs of a process share, and the pool that claims jobs.
//!
//! Floors, top first: `heartbeat`, `pool` · `claim_reports`, `worker_state` · `pool_event`, `settings` · `error`,
//! `lease`, `limits`, `observer`, `quarantine`, `trace_ids`.

mod claim_reports;
mod error;
mod heartbeat;
mod lease;
mod limits;
mod observer;
mod pool;
mod pool_event;
mod quarantine;
mod settings;
mod trace_ids;
mod worker_state;

pub use claim_reports::ChangeDetector;
pub use error::WorkerError;
pub(crate) use lease::Lease;
pub(crate) use limits::Permit;
pub use observer::{NoObserver, Observer};
pub use pool::{Pool, PoolSettings, StopHandle};
pub use pool_event::{PoolEvent, PoolTally};
pub use settings::{CrashPoint, EXECUTE_POINTS, NoCrash, WorkerParts, WorkerSettings};
pub use trace_ids::TraceIds;
pub use worker_state::Worker;
