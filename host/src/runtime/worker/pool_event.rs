//! Events and counters of a pool, for its caller.

use std::collections::BTreeMap;

use serde::Serialize;

use latchwork_core::model::ids::JobId;
use latchwork_core::response::{ChangedPluginView, Response};
use latchwork_core::storage::StoreError;

use super::error::WorkerError;

/// Event of a pool, for its caller.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "one per job, destructured immediately")]
pub enum PoolEvent {
    /// A job was claimed, with this attempt id. The list contains the configuration changes since the job's acceptance.
    /// Changes that were reported before are left out.
    Claimed(JobId, u32, Vec<ChangedPluginView>),
    /// A job settled: it ended, waits, is parked or has diverged.
    Settled(Response),
    /// A job was parked without being loaded, for this cause.
    ParkedUnloaded(JobId, String),
    /// A job was released because the worker stops.
    Released(JobId),
    /// Another worker holds the job.
    LeaseLost(JobId),
    /// The worker failed to settle the job. The job can be claimed again after its lease has expired.
    Failed(JobId, WorkerError),
    /// The effects of the job are unavailable. The job was released, and the pool claims no job for a while.
    NotLoaded(JobId, WorkerError),
    /// This worker cannot advance the job and does not claim it for a while. If the plugin of the job is missing, the
    /// job was released. The event is sent after each failed attempt. The `bool` is true if the job was not in the
    /// quarantine before, and no other job was removed from the quarantine to make room for this job.
    Quarantined(JobId, WorkerError, bool),
    /// The database is not usable. The pool retries until the database is usable again.
    Unavailable(StoreError),
    /// The database is usable again.
    Available,
}

/// Counters of a pool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PoolTally {
    /// Jobs that settled, by state.
    #[serde(rename = "rested")]
    pub settled: BTreeMap<String, u64>,
    /// Jobs released because the worker stopped.
    pub released: u64,
    /// Jobs taken over by another worker.
    pub lost: u64,
    /// Number of times that a job was released because this worker lacks its plugin. A job that is released
    /// repeatedly counts each time.
    #[serde(rename = "left")]
    pub plugin_missing: u64,
    /// Number of times that the worker failed to settle a job.
    pub failed: u64,
}
