//! Runtime: claims jobs and carries out the decisions of the kernel (`latchwork_core::decide`).
//!
//! ```text
//! worker  what all jobs of a process share
//!   worker_state   the worker: settings, stores, held jobs, limits
//!   lease          claims and their leases; `heartbeat` extends them
//!   limits         concurrency limits and rate limits per operator
//!   pool           claims jobs for a worker, many concurrently, until it is stopped
//! job     one job in one attempt (`Run`)
//!   drive          main loop: drains the inbox, advances, starts steps
//!   step           one try of one step: guest or tool
//!   confirm        checks recorded changes of earlier attempts once per attempt
//!   undo           compensates the job's calls, one after the other
//!   timers         waits for durable timers and fires them
//!   finish         settles the job
//!   write          seals drafts into batches and writes them in order
//! call    one invocation
//!   perform        carries out the ledger's decisions
//!   execute        the only place that calls a tool
//!   record         records the answer; `late_answers` does so without the job
//! ```
//!
//! Floors, top first: `call`, `job` · `worker`.
//!
//! `call` and `job` stand on one floor: files of both implement methods of `job::Run` and call methods of the other
//! folder, such as `Run::perform` and `Run::write`. No files call each other in a circle.

mod call;
mod job;
mod worker;

pub(crate) use job::load_durable;
pub use job::{ReloadCause, Run, RunAborted, audit_finished_inbox};
pub use worker::{
    ChangeDetector, CrashPoint, EXECUTE_POINTS, NoCrash, NoObserver, Observer, Pool, PoolEvent, PoolSettings,
    PoolTally, StopHandle, TraceIds, Worker, WorkerError, WorkerParts, WorkerSettings,
};
