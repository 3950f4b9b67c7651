//! A pool: claims jobs for a worker, many at once, until it is stopped.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use latchwork_core::ids::JobId;
use latchwork_core::job::JobState;
use latchwork_core::response::{ChangedView, Response};
use latchwork_core::storage::{Claim, Except, StoreError};
use serde::Serialize;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::beginnings::{Beginnings, Look};
use super::passed_over::PassedOver;
use super::{Worker, WorkerError};
use crate::os::Machine;

/// Longest sleep between two looks for jobs, where nothing tells of new ones.
const LOOK_MS: u64 = 200;
/// The same where something does. Nobody tells of a lease that is over, or of a worker that is gone.
const HEARD_LOOK_MS: u64 = 1_000;
/// How long a look that is under way is waited for by a pool that is stopped.
const LAST_LOOK: Duration = Duration::from_secs(1);
/// Between two claims that may come to nothing, where there are more jobs to pass over than are remembered.
const FULL_MS: u64 = 200;
/// After so many jobs in a row that could not be loaded the pauses grow no more.
const UNLOADED_MAX: u32 = 8;
/// After so many failures of the database in a row the pauses grow no more.
const TROUBLE_MAX: u32 = 5;

/// How much a pool takes on.
#[derive(Clone, Debug)]
pub struct PoolSettings {
    /// Jobs in hand at the same time.
    pub jobs: u32,
    /// The same of one tenant, where it has a limit of its own.
    pub tenants: BTreeMap<String, u32>,
    /// Whether it ends when nothing is in hand and nothing can be claimed.
    pub until_idle: bool,
}

/// What happens in a pool.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "one a job, taken apart at once")]
pub enum PoolEvent {
    /// A job was claimed, under this attempt. What was changed since it was accepted is told once.
    Claimed(JobId, u32, Vec<ChangedView>),
    /// A job came to rest: it is over, waits, is parked or has diverged.
    Rested(Response),
    /// A job was parked without being loaded once more, for this cause.
    ParkedUnread(JobId, String),
    /// A job was given back, because the worker stops.
    Released(JobId),
    /// Another worker has it.
    Lost(JobId),
    /// It could not be brought to rest here; it is claimed again when its lease is over.
    Failed(JobId, WorkerError),
    /// Its effects cannot be had now: it was given back, and no job is claimed for a while.
    NotLoaded(JobId, WorkerError),
    /// This worker cannot bring it forward, and passes it over for a while. One whose plugin is missing here was given
    /// back. Whether that is news: it is told again each time that the job was tried again.
    PassedOver(JobId, WorkerError, bool),
    /// The database cannot be used: the pool looks again until it can.
    Unavailable(StoreError),
    /// It can be used again.
    Available,
}

/// What a pool has done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Jobs that came to rest, by their state.
    pub rested: BTreeMap<String, u64>,
    /// Jobs given back.
    pub released: u64,
    /// Jobs that another worker took over.
    pub lost: u64,
    /// Jobs given back because their plugin is missing here, each time.
    pub left: u64,
    /// Tries to bring a job to rest that failed.
    pub failed: u64,
}

/// Stops a pool.
#[derive(Clone, Debug)]
pub struct Stop(watch::Sender<bool>);

impl Default for Stop {
    fn default() -> Self {
        Self(watch::Sender::new(false))
    }
}

impl Stop {
    /// Nothing more is claimed; what is in hand is given back, once its calls have ended.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

/// A worker's loop over jobs.
pub struct Pool {
    worker: Arc<Worker>,
    settings: PoolSettings,
    in_hand: JoinSet<(JobId, Result<Response, WorkerError>)>,
    /// The tenants of the jobs in hand.
    tenants: BTreeMap<JobId, String>,
    beginnings: Beginnings,
    passed_over: PassedOver,
    /// Nothing is claimed before this time, on the boot-time clock.
    claims_from_us: u64,
    /// How often in a row jobs could not be loaded.
    unloaded: u32,
    /// Nothing is claimed before this time, because jobs cannot be loaded.
    rests_until_us: u64,
    tally: Tally,
}

/// What looking for jobs came to.
enum Looked {
    /// As many are in hand as may be.
    Full,
    /// There is none to claim; look again after so many milliseconds at the latest.
    None(u64),
    /// Jobs cannot be loaded now; look again after so many milliseconds.
    Resting(u64),
    /// The database failed.
    Unavailable(StoreError),
}

impl Pool {
    /// A pool that has claimed nothing yet.
    pub fn new(worker: Arc<Worker>, settings: PoolSettings) -> Self {
        Self {
            worker,
            settings,
            in_hand: JoinSet::new(),
            tenants: BTreeMap::new(),
            beginnings: Beginnings::new(Arc::new(|_| Vec::new())),
            passed_over: PassedOver::default(),
            claims_from_us: 0,
            unloaded: 0,
            rests_until_us: 0,
            tally: Tally::default(),
        }
    }

    /// The same, with what was changed since a job was accepted.
    #[must_use]
    pub fn looking(self, look: Look) -> Self {
        Self { beginnings: Beginnings::new(look), ..self }
    }

    /// Claims and drives jobs until it is stopped, or idle where that ends it. A database that fails
    /// is waited for.
    ///
    /// With what it has done comes why it ended early, if it did: it was to end when idle, and no waiting mends the
    /// database. Nothing is in hand any more.
    pub async fn run(mut self, stop: &Stop, mut tell: impl FnMut(PoolEvent) + Send) -> (Tally, Option<StoreError>) {
        let mut stopped = stop.0.subscribe();
        let mut trouble: u32 = 0;
        loop {
            let stopping = *stopped.borrow_and_update();
            if stopping {
                self.worker.stop();
            }
            // What is rung from here on is looked at again.
            let journal = self.worker.parts.journal.clone();
            let heard = journal.news();
            let looked = match stopping {
                true => Looked::Full,
                false => self.fill_unless_stopped(&mut stopped).await,
            };
            let pause_ms = match looked {
                Looked::Unavailable(error) if self.ends() && needs_someone(&error) => return (self.tally, Some(error)),
                Looked::Unavailable(error) => {
                    if trouble == 0 {
                        tell(PoolEvent::Unavailable(error));
                    }
                    trouble = (trouble + 1).min(TROUBLE_MAX);
                    Some(jittered(LOOK_MS << trouble, &*self.worker.parts.machine))
                }
                Looked::None(_) | Looked::Full | Looked::Resting(_) if trouble > 0 && !stopping => {
                    trouble = 0;
                    tell(PoolEvent::Available);
                    continue;
                }
                Looked::None(_) if self.ends() => return (self.tally, None),
                Looked::None(ms) | Looked::Resting(ms) => Some(ms),
                Looked::Full => None,
            };
            if !stopping && *stopped.borrow() {
                continue;
            }
            if stopping && self.in_hand.is_empty() {
                return (self.tally, None);
            }
            let pause = async {
                let Some(ms) = pause_ms else { return std::future::pending().await };
                tokio::select! {
                    biased;
                    () = tokio::time::sleep(Duration::from_millis(ms)) => {}
                    // A database that failed is given its pause.
                    _ = journal.news_after(None, heard), if trouble == 0 => {}
                }
            };
            tokio::pin!(pause);
            loop {
                tokio::select! {
                    biased;
                    event = self.beginnings.next() => {
                        tell(event);
                        continue;
                    }
                    Some(ended) = self.in_hand.join_next() => match ended {
                        Ok((job_id, result)) => self.ended(job_id, result, &mut tell),
                        Err(panic) => std::panic::resume_unwind(panic.into_panic()),
                    },
                    // The sender is held by the caller for as long as this runs.
                    _ = stopped.changed(), if !stopping => {}
                    () = &mut pause => {}
                }
                break;
            }
        }
    }

    /// Whether it ends where there is nothing to claim.
    fn ends(&self) -> bool {
        self.settings.until_idle && self.in_hand.is_empty()
    }

    /// Claims as many jobs as may be in hand. Once it is stopped, a database that does not answer is not waited for: what
    /// it may still say that was claimed is claimed by others when the lease is over.
    async fn fill_unless_stopped(&mut self, stopped: &mut watch::Receiver<bool>) -> Looked {
        let worker = self.worker.clone();
        let over = async {
            // The sender is held by the caller for as long as this runs.
            let _ = stopped.wait_for(|stopped| *stopped).await;
            worker.stop();
            tokio::time::sleep(LAST_LOOK).await;
        };
        tokio::select! {
            biased;
            looked = self.fill() => looked,
            () = over => Looked::Unavailable(StoreError::Unavailable("it did not answer, and this worker stops".to_owned())),
        }
    }

    /// Claims as many jobs as may be in hand.
    async fn fill(&mut self) -> Looked {
        let journal = self.worker.parts.journal.clone();
        while self.in_hand.len() < self.settings.jobs as usize && !self.worker.is_stopping() {
            let now_us = self.worker.parts.machine.boot_us();
            if now_us < self.rests_until_us {
                return Looked::Resting((self.rests_until_us - now_us).div_ceil(1_000));
            }
            if now_us < self.claims_from_us {
                return Looked::None((self.claims_from_us - now_us).div_ceil(1_000));
            }
            // What is in hand may be given back at any moment, and is then to be passed over.
            let mut jobs = self.passed_over.at(now_us);
            jobs.extend(self.tenants.keys().cloned());
            let except = Except { tenants: self.full_tenants(), jobs };
            match journal.claim_except(&self.worker.claimer(), &except).await {
                Ok(Some(claim)) => self.take(claim),
                Ok(None) => {
                    return match journal.fire_timers().await {
                        Ok(next_us) => {
                            let longest_ms = if journal.hears_news() { HEARD_LOOK_MS } else { LOOK_MS };
                            Looked::None(until_ms(next_us, longest_ms, &*self.worker.parts.machine))
                        }
                        Err(error) => Looked::Unavailable(error),
                    };
                }
                Err(error) => return Looked::Unavailable(error),
            }
        }
        Looked::Full
    }

    fn take(&mut self, claim: Claim) {
        let job_id = claim.row.job_id.clone();
        let observer = self.beginnings.claimed(&job_id, claim.row.attempt);
        self.tenants.insert(job_id.clone(), claim.row.tenant_id.clone());
        let worker = self.worker.clone();
        self.in_hand.spawn(async move {
            let result = worker.drive(claim, observer).await;
            (job_id, result)
        });
    }

    /// Tenants that have as many jobs in hand as they may.
    fn full_tenants(&self) -> Vec<String> {
        let in_hand = |tenant: &String| self.tenants.values().filter(|of| *of == tenant).count();
        let limits = self.settings.tenants.iter();
        limits.filter(|(tenant, most)| in_hand(tenant) >= **most as usize).map(|(tenant, _)| tenant.clone()).collect()
    }

    fn ended(&mut self, job_id: JobId, result: Result<Response, WorkerError>, tell: &mut impl FnMut(PoolEvent)) {
        self.tenants.remove(&job_id);
        self.beginnings.before_end_of(&job_id).into_iter().for_each(&mut *tell);
        tell(match result {
            Ok(response) => {
                self.passed_over.forget(&job_id);
                self.unloaded = 0;
                *self.tally.rested.entry(response.state.as_str().to_owned()).or_default() += 1;
                PoolEvent::Rested(response)
            }
            Err(WorkerError::Unread { job_id, cause }) => {
                self.passed_over.forget(&job_id);
                *self.tally.rested.entry(JobState::Parked.as_str().to_owned()).or_default() += 1;
                PoolEvent::ParkedUnread(job_id, cause)
            }
            Err(WorkerError::Released(job_id)) => {
                self.tally.released += 1;
                PoolEvent::Released(job_id)
            }
            Err(WorkerError::Lost(job_id)) => {
                self.tally.lost += 1;
                PoolEvent::Lost(job_id)
            }
            Err(error @ WorkerError::NotLoaded { .. }) => {
                self.tally.failed += 1;
                // So is none other: looked for again with growing pauses, each time that this is found out anew.
                let machine = &*self.worker.parts.machine;
                if machine.boot_us() >= self.rests_until_us {
                    self.unloaded = (self.unloaded + 1).min(UNLOADED_MAX);
                    self.rests_until_us = machine.boot_us() + jittered(LOOK_MS << self.unloaded, machine) * 1_000;
                }
                PoolEvent::NotLoaded(job_id, error)
            }
            Err(error) if error.is_of_this_worker() => {
                let count = match error {
                    WorkerError::PluginMissing { .. } => &mut self.tally.left,
                    _ => &mut self.tally.failed,
                };
                *count += 1;
                let now_us = self.worker.parts.machine.boot_us();
                let noted = self.passed_over.add(job_id.clone(), now_us);
                if noted.is_full {
                    self.claims_from_us = now_us + FULL_MS * 1_000;
                }
                PoolEvent::PassedOver(job_id, error, noted.is_news)
            }
            Err(error) => {
                self.tally.failed += 1;
                PoolEvent::Failed(job_id, error)
            }
        });
    }
}

/// Whether the database stays as it is until somebody does something about it.
fn needs_someone(error: &StoreError) -> bool {
    match error {
        StoreError::Restored(_) | StoreError::Damaged(_) | StoreError::NotDurable(_) | StoreError::ReadOnly(_) => true,
        StoreError::Unavailable(_) => false,
    }
}

/// Milliseconds until a time, or until the next look.
fn until_ms(next_us: Option<i64>, longest_ms: u64, machine: &dyn Machine) -> u64 {
    let left_us = next_us.map(|due_us| due_us.saturating_sub(machine.now_us()).max(0));
    left_us.map_or(longest_ms, |left_us| left_us.unsigned_abs().div_ceil(1_000).clamp(1, longest_ms))
}

/// Half of it at least: many workers do not come back at the same moment.
fn jittered(ms: u64, machine: &dyn Machine) -> u64 {
    let random = machine.random() & u64::from(u32::MAX);
    ms / 2 + ms * random / (2 << 32)
}
