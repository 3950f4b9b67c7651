//! Listener for the notifications that triggers of a PostgreSQL database send. The listener has its own connection.
//!
//! A missed notification costs time but loses no work, because every waiting task also polls. After a reconnect
//! all waiting tasks are woken, because notifications may have been missed.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgListener, PgPoolOptions};
use tokio::sync::watch;

use latchwork_core::model::ids::JobId;

/// Channel of notifications that a job can be claimed. The migrations define the triggers.
const WORK_CHANNEL: &str = "latchwork_work";
/// Channel of notifications about new inbox rows.
const INBOX_CHANNEL: &str = "latchwork_inbox";
/// Pause between two tries to listen.
const RECONNECT_PAUSE: Duration = Duration::from_millis(500);
/// Connection time above which sqlx logs a warning. The value is so high that sqlx never warns. A warning would be
/// useless, because waiting tasks also poll while the connection is slow.
const SLOW_CONNECT_WARNING: Duration = Duration::from_secs(24 * 60 * 60);
/// Maximum number of jobs whose last notification is stored. At this number, all entries are removed and every job
/// counts as notified. A waiting task may then be woken once without a reason, but no notification is lost.
const JOBS_MAX: usize = 10_000;

/// Notifications received so far. Later notifications have higher numbers.
#[derive(Debug, Default)]
struct Notifications {
    /// Number of the last notification that counts for every job and for new work. A reconnect counts as such a
    /// notification.
    all: u64,
    work: u64,
    jobs: BTreeMap<JobId, u64>,
}

impl Notifications {
    /// Returns the number of the last notification for this job, or for new work if `of` is `None`.
    fn last_revision(&self, of: Option<&JobId>) -> u64 {
        let own = match of {
            None => self.work,
            Some(job_id) => self.jobs.get(job_id).copied().unwrap_or_default(),
        };
        own.max(self.all)
    }
}

/// Notification listener. It starts listening when the first task waits.
pub(crate) struct NotificationListener {
    options: PgConnectOptions,
    shared: OnceLock<Arc<ListenerState>>,
}

struct ListenerState {
    notifications: Mutex<Notifications>,
    revision: watch::Sender<u64>,
    /// True while the connection is listening.
    is_listening: AtomicBool,
}

impl NotificationListener {
    pub(crate) fn new(options: PgConnectOptions) -> Self {
        Self { options, shared: OnceLock::new() }
    }

    /// Returns the number of notifications so far.
    pub(crate) fn revision(&self) -> u64 {
        *self.shared().revision.borrow()
    }

    /// Returns true if notifications are being received now.
    pub(crate) fn is_listening(&self) -> bool {
        self.shared().is_listening.load(Ordering::Relaxed)
    }

    /// Waits for a notification after number `seen` for this job, or for new work if `of` is `None`. Returns
    /// the number of notifications so far.
    pub(crate) async fn wait(&self, of: Option<&JobId>, seen: u64) -> u64 {
        let shared = self.shared().clone();
        let mut rung = shared.revision.subscribe();
        loop {
            let count = *rung.borrow_and_update();
            if shared.lock_notifications().last_revision(of) > seen {
                return count;
            }
            if rung.changed().await.is_err() {
                return std::future::pending().await;
            }
        }
    }

    fn shared(&self) -> &Arc<ListenerState> {
        self.shared.get_or_init(|| {
            let shared = Arc::new(ListenerState {
                notifications: Mutex::default(),
                revision: watch::Sender::new(0),
                is_listening: AtomicBool::default(),
            });
            tokio::spawn(listen(self.options.clone(), Arc::downgrade(&shared)));
            shared
        })
    }
}

impl ListenerState {
    fn lock_notifications(&self) -> std::sync::MutexGuard<'_, Notifications> {
        self.notifications.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a notification and wakes the waiting tasks.
    fn notify(&self, note: impl FnOnce(&mut Notifications, u64)) {
        let number = *self.revision.borrow() + 1;
        note(&mut self.lock_notifications(), number);
        self.revision.send_replace(number);
    }

    fn notify_all(&self) {
        self.notify(|heard, number| {
            heard.all = number;
            heard.jobs.clear();
        });
    }
}

/// Listens until the [`NotificationListener`] is dropped.
async fn listen(options: PgConnectOptions, shared: Weak<ListenerState>) {
    while shared.strong_count() > 0 {
        let ended = listen_once(&options, &shared).await;
        if let Some(shared) = shared.upgrade() {
            shared.is_listening.store(false, Ordering::Relaxed);
        }
        if let Err(error) = ended {
            tracing::debug!(%error, "the database's notifications cannot be received; reconnecting");
        }
        tokio::time::sleep(RECONNECT_PAUSE).await;
    }
}

async fn listen_once(options: &PgConnectOptions, shared: &Weak<ListenerState>) -> Result<(), sqlx::Error> {
    let pool = PgPoolOptions::new()
        .max_connections(1)
        .acquire_slow_threshold(SLOW_CONNECT_WARNING)
        .connect_lazy_with(options.clone());
    let mut listener = PgListener::connect_with(&pool).await?;
    listener.ignore_pool_close_event(true);
    listener.listen_all([WORK_CHANNEL, INBOX_CHANNEL]).await?;
    if let Some(shared) = shared.upgrade() {
        shared.is_listening.store(true, Ordering::Relaxed);
        shared.notify_all();
    }
    loop {
        // Check regularly whether the listener is still in use.
        let heard = match tokio::time::timeout(RECONNECT_PAUSE * 10, listener.try_recv()).await {
            Ok(heard) => heard?,
            Err(_) if shared.strong_count() > 0 => continue,
            Err(_) => return Ok(()),
        };
        let Some(shared) = shared.upgrade() else { return Ok(()) };
        match heard {
            Some(ring) => {
                let job_id = (!ring.payload().is_empty()).then(|| JobId::from(ring.payload().to_owned()));
                shared.notify(|heard, number| {
                    if ring.channel() == WORK_CHANNEL {
                        heard.work = number;
                    }
                    if heard.jobs.len() >= JOBS_MAX {
                        heard.all = number;
                        heard.jobs.clear();
                    }
                    heard.jobs.extend(job_id.map(|job_id| (job_id, number)));
                });
            }
            // The connection was lost. The next call reconnects.
            None => shared.notify_all(),
        }
    }
}
