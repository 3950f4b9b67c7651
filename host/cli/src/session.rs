//! State of one command: clock and entropy, the databases that it opened, its owner lock, and notices that are not
//! posted yet. The function that starts the command owns the state.

use std::mem::ManuallyDrop;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use latchwork::builder::{HostBuilder, Stores};
use latchwork::host::Host;
use latchwork::notify::Notifier;
use latchwork::runtime::TraceIds;
use latchwork_core::storage::{Owner, StoreError};
use latchwork_engine::CompilationStart;
use latchwork_engine::os::Machine;
use latchwork_store::{Database, OwnerLock, StoreClock};

use crate::output::{Printer, StderrLines, announce_compilation};

/// Maximum time that a command waits for a webhook before the command ends.
const NOTIFY_WAIT: Duration = Duration::from_secs(5);
/// Maximum time that an immediate exit of the process waits for unreachable services.
const IMMEDIATE_EXIT_WAIT: Duration = Duration::from_secs(1);

/// State of one command.
pub(crate) struct Session {
    machine: Machine,
    trace_ids: TraceIds,
    lines: StderrLines,
    /// Databases that the command has opened.
    databases: Mutex<Vec<Arc<Database>>>,
    /// Senders of webhook notices. Notices may still be queued when the command ends.
    notifiers: Mutex<Vec<Arc<Notifier>>>,
    /// Owner lock of the process. The lock is never dropped. Calls may still run in other threads when the command
    /// ends, so only the end of the process may release the lock.
    lock: OnceLock<ManuallyDrop<OwnerLock>>,
}

impl Session {
    /// Creates the state of a command that has opened nothing. The command has the clock of its printer.
    pub(crate) fn new(printer: &Printer) -> Self {
        Self {
            machine: printer.machine().clone(),
            trace_ids: printer.trace_ids().clone(),
            lines: printer.stderr_lines().clone(),
            databases: Mutex::default(),
            notifiers: Mutex::default(),
            lock: OnceLock::new(),
        }
    }

    /// Returns the clock and the entropy of the command. Every host that the command starts uses this clock and this
    /// entropy.
    pub(crate) fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Returns the time in microseconds since 1970 UTC: the time of the database server if one was opened, else the
    /// time of this machine.
    pub(crate) fn now_us(&self) -> i64 {
        self.machine.now_us()
    }

    /// Returns a builder of a host with the clock and the entropy of the command. The host announces its compilations
    /// on stderr, and the lines on stderr have the trace ids of its jobs.
    pub(crate) fn host_builder(&self, stores: Stores) -> HostBuilder {
        Host::builder(stores)
            .machine(self.machine.clone())
            .trace_ids(self.trace_ids.clone())
            .on_compile(self.compilation_lines())
    }

    /// Returns a listener that writes a line on stderr before each compilation.
    pub(crate) fn compilation_lines(&self) -> impl Fn(&CompilationStart<'_>) + Send + Sync + 'static {
        let lines = self.lines.clone();
        move |compiling| announce_compilation(&lines, compiling)
    }

    /// Adds an opened database, which is closed at the end of the command.
    pub(crate) fn add_database(&self, database: Arc<Database>) {
        lock(&self.databases).push(database);
    }

    /// Adds a sender of notices. At its end, the command waits for the sender to post its notices.
    pub(crate) fn add_notifier(&self, notifier: Arc<Notifier>) {
        lock(&self.notifiers).push(notifier);
    }

    /// Returns this process as an owner of jobs. The owner lock is held until the process ends.
    pub(crate) fn owner(&self, dir: &Path) -> anyhow::Result<Owner> {
        if let Some(lock) = self.lock.get() {
            return Ok(lock.owner().clone());
        }
        let content = hex::encode(self.machine.random_bytes::<16>());
        let lock = OwnerLock::acquire(dir, &worker_name(), &content, &StoreClock::new()?)?;
        Ok(self.lock.get_or_init(|| ManuallyDrop::new(lock)).owner().clone())
    }

    /// Returns true if the database was restored, for example from a backup. Checks the first database that the command
    /// opened. If its generation differs from the generation that this machine last used, the database was restored.
    pub(crate) async fn is_restored(&self) -> anyhow::Result<bool> {
        let opened = lock(&self.databases).first().cloned();
        let Some(store) = opened else { return Ok(false) };
        match store.check_generation().await {
            Ok(()) => Ok(false),
            Err(StoreError::Restored(_)) => Ok(true),
            Err(error) => Err(error.into()),
        }
    }

    /// Writes all queued data and closes every database.
    ///
    /// The last process that closes a SQLite database merges the write-ahead log into the file. A copy of an unmerged
    /// file could lack recent data. If `hurries` is true, closing stops after [`IMMEDIATE_EXIT_WAIT`].
    pub(crate) async fn close(&self, hurries: bool) {
        if !hurries {
            return self.close_all().await;
        }
        if tokio::time::timeout(IMMEDIATE_EXIT_WAIT, self.close_all()).await.is_err() {
            tracing::warn!("the database or the webhook does not answer: this process ends without waiting for it");
        }
    }

    async fn close_all(&self) {
        let notifiers = std::mem::take(&mut *lock(&self.notifiers));
        for notifier in notifiers {
            let left = notifier.wait_until_delivered(NOTIFY_WAIT).await;
            if left > 0 {
                tracing::warn!("{left} notices were not accepted by the webhook and are dropped");
            }
        }
        let opened = std::mem::take(&mut *lock(&self.databases));
        // A lock file is needed while a claim of an open job refers to it. The claims are in the database that was
        // opened first. Only that database can therefore determine the lock files that may be removed.
        if let (Some(store), Some(lock)) = (opened.first(), self.lock.get())
            && let Some(dir) = Path::new(&lock.owner().lock_path).parent()
            && let Err(error) = store.sweep_owners(dir, lock).await
        {
            tracing::debug!("lock files of dead owners were not removed: {error}");
        }
        for store in opened {
            store.close().await;
        }
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the name of this process as a worker.
pub(crate) fn worker_name() -> String {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    format!("{host} pid {}", std::process::id())
}
