//! Options for opening a database.

use std::path::PathBuf;
use std::sync::Arc;

use latchwork_core::storage::{Clock, Owner};

use crate::os::probe::{NoProbe, Probe};
use crate::sql::durability::CommitDurability;

/// Location of a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DatabaseTarget {
    /// Path of a SQLite file.
    File(PathBuf),
    /// URL of a PostgreSQL database: `postgres://user@host/database`.
    Server(String),
}

/// Options for opening a database.
#[derive(Clone)]
pub struct OpenOptions {
    /// Location of the database.
    pub target: DatabaseTarget,
    /// True if a missing file, or missing tables in a server database, are created.
    pub create: bool,
    /// True if the caller only reads. If true, a file that cannot be written is opened for reading. If false, the file
    /// is refused. SQLite only.
    pub reads_only: bool,
    /// Guarantee required on a power failure.
    pub durability: CommitDurability,
    /// Tolerated difference between clocks, in milliseconds. A deadline counts as passed only after this additional
    /// time.
    pub clock_margin_ms: u32,
    /// Directory beside the database for the generation file and for lock files of owners.
    pub owner_dir: PathBuf,
    /// Called before and after every statement.
    pub probe: Arc<dyn Probe>,
    /// Clock to use. `None` uses this machine's clock on SQLite and the server's clock on PostgreSQL.
    pub clock: Option<Arc<dyn Clock>>,
    /// Maximum size of the database in pages of 4 KiB. `None` means no limit. A database at the limit behaves
    /// like a full disk. SQLite only.
    pub pages_max: Option<u32>,
    /// True if the commits of the primary wait for a standby. A promoted standby then has every acknowledged write.
    /// PostgreSQL only.
    pub synchronous_failover: bool,
    /// True if opening retries while the server is unavailable. Meant for long-running programs.
    pub retry_unavailable: bool,
    /// Number that differs between the processes that have the database open: the process id by default. Processes with
    /// different numbers do not overwrite each other's high-water mark.
    pub process_id: u32,
}

impl OpenOptions {
    /// Returns the default options for a file: full durability, created if missing, lock files in
    /// `<path>.owners`, clock margin of 2 s.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        let owner_dir = Owner::lock_dir(&path);
        Self::of(DatabaseTarget::File(path), owner_dir)
    }

    /// Returns the default options for a server. `owner_dir` is the directory on this machine for the
    /// generation file and the lock files.
    pub fn server(url: impl Into<String>, owner_dir: impl Into<PathBuf>) -> Self {
        Self::of(DatabaseTarget::Server(url.into()), owner_dir.into())
    }

    fn of(target: DatabaseTarget, owner_dir: PathBuf) -> Self {
        Self {
            target,
            create: true,
            reads_only: false,
            durability: CommitDurability::Full,
            clock_margin_ms: 2000,
            owner_dir,
            probe: Arc::new(NoProbe),
            clock: None,
            pages_max: None,
            synchronous_failover: false,
            retry_unavailable: false,
            process_id: std::process::id(),
        }
    }
}
