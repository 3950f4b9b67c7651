//! The bell of a PostgreSQL database: what the triggers of its tables notify, heard on a connection of
//! its own.
//!
//! A bell that is missed costs time, never work: whoever waits for it looks by itself now and then.
//! When the connection is lost and made again, everybody is woken, because nobody knows what was rung
//! meanwhile.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::Duration;

use latchwork_core::ids::JobId;
use sqlx::postgres::{PgConnectOptions, PgListener, PgPoolOptions};
use tokio::sync::watch;

/// Somebody may claim something: see the migrations.
const WORK: &str = "latchwork_work";
/// Something was put into a job's inbox.
const INBOX: &str = "latchwork_inbox";
/// Between two tries to listen.
const AGAIN: Duration = Duration::from_millis(500);
/// Before this the library tells nobody that connecting is slow: whoever waits looks by itself.
const QUIET: Duration = Duration::from_secs(24 * 60 * 60);
/// Jobs that are remembered: beyond that, all are taken to have news.
const JOBS_MAX: usize = 10_000;

/// What was heard so far; later news have higher numbers.
#[derive(Debug, Default)]
struct Heard {
    /// Of everything: nobody knows of what.
    all: u64,
    work: u64,
    jobs: BTreeMap<JobId, u64>,
}

impl Heard {
    /// The number of the last news of this job, or of work for anybody.
    fn last(&self, of: Option<&JobId>) -> u64 {
        let own = match of {
            None => self.work,
            Some(job_id) => self.jobs.get(job_id).copied().unwrap_or_default(),
        };
        own.max(self.all)
    }
}

/// A bell, which listens once somebody waits for it.
pub(crate) struct Bell {
    options: PgConnectOptions,
    shared: OnceLock<Arc<Shared>>,
}

struct Shared {
    heard: Mutex<Heard>,
    rung: watch::Sender<u64>,
    /// Whether somebody listens now.
    listens: AtomicBool,
}

impl Bell {
    pub(crate) fn new(options: PgConnectOptions) -> Self {
        Self { options, shared: OnceLock::new() }
    }

    /// How many rings there were.
    pub(crate) fn count(&self) -> u64 {
        *self.shared().rung.borrow()
    }

    /// Whether what is rung now is heard.
    pub(crate) fn is_heard(&self) -> bool {
        self.shared().listens.load(Ordering::Relaxed)
    }

    /// Wait for one after `seen` that concerns this job, or whoever has time; answers how many there
    /// were.
    pub(crate) async fn wait(&self, of: Option<&JobId>, seen: u64) -> u64 {
        let shared = self.shared().clone();
        let mut rung = shared.rung.subscribe();
        loop {
            let count = *rung.borrow_and_update();
            if shared.heard().last(of) > seen {
                return count;
            }
            if rung.changed().await.is_err() {
                return std::future::pending().await;
            }
        }
    }

    fn shared(&self) -> &Arc<Shared> {
        self.shared.get_or_init(|| {
            let shared = Arc::new(Shared {
                heard: Mutex::default(),
                rung: watch::Sender::new(0),
                listens: AtomicBool::default(),
            });
            tokio::spawn(listen(self.options.clone(), Arc::downgrade(&shared)));
            shared
        })
    }
}

impl Shared {
    fn heard(&self) -> std::sync::MutexGuard<'_, Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Note a ring, and wake who waits.
    fn ring(&self, note: impl FnOnce(&mut Heard, u64)) {
        let number = *self.rung.borrow() + 1;
        note(&mut self.heard(), number);
        self.rung.send_replace(number);
    }

    fn ring_all(&self) {
        self.ring(|heard, number| {
            heard.all = number;
            heard.jobs.clear();
        });
    }
}

/// Listen for as long as somebody may wait.
async fn listen(options: PgConnectOptions, shared: Weak<Shared>) {
    while shared.strong_count() > 0 {
        let ended = listen_once(&options, &shared).await;
        if let Some(shared) = shared.upgrade() {
            shared.listens.store(false, Ordering::Relaxed);
        }
        if let Err(error) = ended {
            tracing::debug!(%error, "the database's bell cannot be heard; listening again");
        }
        tokio::time::sleep(AGAIN).await;
    }
}

async fn listen_once(options: &PgConnectOptions, shared: &Weak<Shared>) -> Result<(), sqlx::Error> {
    let pool = PgPoolOptions::new().max_connections(1).acquire_slow_threshold(QUIET).connect_lazy_with(options.clone());
    let mut listener = PgListener::connect_with(&pool).await?;
    listener.ignore_pool_close_event(true);
    listener.listen_all([WORK, INBOX]).await?;
    if let Some(shared) = shared.upgrade() {
        shared.listens.store(true, Ordering::Relaxed);
        shared.ring_all();
    }
    loop {
        // Now and then, whether anybody is left to wait.
        let heard = match tokio::time::timeout(AGAIN * 10, listener.try_recv()).await {
            Ok(heard) => heard?,
            Err(_) if shared.strong_count() > 0 => continue,
            Err(_) => return Ok(()),
        };
        let Some(shared) = shared.upgrade() else { return Ok(()) };
        match heard {
            Some(ring) => {
                let job_id = (!ring.payload().is_empty()).then(|| JobId::from(ring.payload().to_owned()));
                shared.ring(|heard, number| {
                    if ring.channel() == WORK {
                        heard.work = number;
                    }
                    if heard.jobs.len() >= JOBS_MAX {
                        heard.all = number;
                        heard.jobs.clear();
                    }
                    heard.jobs.extend(job_id.map(|job_id| (job_id, number)));
                });
            }
            // It was lost, and is made again by the next call.
            None => shared.ring_all(),
        }
    }
}
