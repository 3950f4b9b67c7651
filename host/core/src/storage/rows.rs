//! Rows that the store returns.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::event::Event;
use crate::model::ids::{Hash, JobId};
use crate::model::job::JobState;
use crate::rules::ledger::LedgerRow;
use crate::storage::changes::Payload;
use crate::storage::inbox::InboxRow;

/// The process that claims jobs. Other processes use these fields to check whether this process is still alive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// Human-readable name of the process: host name, process id and start time.
    pub worker: String,
    /// Boot id of the kernel.
    pub boot_id: String,
    /// Path of the lock file. The process keeps this file locked while it is alive.
    pub lock_path: String,
    /// Device number of the lock file.
    pub lock_dev: u64,
    /// Inode number of the lock file.
    pub lock_ino: u64,
    /// Content of the lock file.
    pub lock_content: String,
}

impl Owner {
    /// Returns an owner without a lock file and without a boot id. SQLite and the memory store count the leases of this
    /// owner as expired, because its boot id is not the current boot id. Its jobs may then read and compute, but cannot
    /// start a call that changes the world.
    pub fn unlocked(worker: impl Into<String>) -> Self {
        Self {
            worker: worker.into(),
            boot_id: String::new(),
            lock_path: String::new(),
            lock_dev: 0,
            lock_ino: 0,
            lock_content: String::new(),
        }
    }

    /// Returns the directory of the lock files for a database in a file: `<path>.owners`.
    pub fn lock_dir(database: &Path) -> PathBuf {
        let mut dir = OsString::from(database);
        dir.push(".owners");
        dir.into()
    }
}

/// The stored row of a job, separate from its event log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobRow {
    /// Id of the job.
    pub job_id: JobId,
    /// Tenant that owns the job.
    pub tenant_id: String,
    /// Actor that submitted the job.
    pub actor_id: String,
    /// Identity of the request.
    pub request_key: Hash,
    /// Label of the plan. The plan's identity is `plan_hash`.
    pub plan_id: String,
    /// Hash of the plan's normal form, which is the identity of the plan.
    pub plan_hash: Hash,
    /// Execution mode, such as `HUMAN_GATED`.
    pub mode: String,
    /// State of the job.
    pub state: JobState,
    /// The latest attempt. 0 before the first claim.
    pub attempt: u32,
    /// Number of events in the log, which is also the next sequence number.
    pub next_seq: u64,
    /// Hash of the last event.
    pub head: Hash,
    /// True if pending inbox rows exist.
    pub inbox_pending: bool,
    /// True if a request to cancel the job was accepted. A request to undo the job sets this flag too.
    pub cancel_requested: bool,
    /// Earliest time at which a worker may claim the `WAITING` job without a new request, in microseconds since 1970
    /// UTC. A request makes the job claimable earlier.
    pub wake_at_us: Option<i64>,
    /// Claim priority. Higher values are claimed first, and jobs of equal priority are claimed in the order of
    /// acceptance.
    pub priority: i16,
    /// Time of acceptance, microseconds since 1970 UTC.
    pub created_us: i64,
    /// Time of the last change, microseconds since 1970 UTC.
    pub updated_us: i64,
}

/// Everything that the journal stores about a job.
#[derive(Clone, Debug)]
pub struct StoredJob {
    /// Row of the job.
    pub row: JobRow,
    /// Secret from which the payload salts derive.
    pub secret: Hash,
    /// The event log. Its hash chain has been checked.
    pub events: Vec<Event>,
    /// Ledger rows of the job.
    pub ledger: Vec<LedgerRow>,
    /// Payloads of the job.
    pub payloads: Vec<Payload>,
    /// Pending inbox rows, in order of arrival.
    pub inbox: Vec<InboxRow>,
}

/// The part of a job's data that is needed to park or release the job without loading it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobTail {
    /// Position of the last event in the log.
    pub end: LogEnd,
    /// The retry or undo request that reopens the job, if one exists. The event for the reopening is not written yet,
    /// so the log still ends with a terminal state.
    pub reopen: Option<InboxRow>,
}

/// Position of the last event in a log, without the event's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct LogEnd {
    /// Sequence number of the event.
    pub seq: u64,
    /// Time of the event, microseconds since 1970 UTC.
    pub time_us: i64,
    /// Attempt that appended the event. 0 before the first claim.
    pub attempt: u32,
}

/// A claimed job.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Row of the job. Its `attempt` is the attempt of this claim.
    pub row: JobRow,
    /// Database time of the claim, microseconds since 1970 UTC.
    pub now_us: i64,
}
