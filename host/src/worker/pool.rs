//! A pool: claims jobs for a worker, many concurrently, until it is stopped.

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

/// Longest sleep between two searches for jobs if the store sends no notifications, in milliseconds.
const LOOK_MS: u64 = 200;
/// Longest sleep between two searches if the store sends notifications, in milliseconds. No notification is
/// sent for an expired lease or a dead worker.
const HEARD_LOOK_MS: u64 = 1_000;
/// Time that a stopping pool waits for a claim in flight.
const LAST_LOOK: Duration = Duration::from_secs(1);
/// Pause between claims after an entry of [`PassedOver`] was evicted, in milliseconds. Without the pause the
/// pool would claim the same failing jobs in a loop.
const FULL_MS: u64 = 200;
/// Number of load failures in a row after which the backoff stops growing.
const UNLOADED_MAX: u32 = 8;
/// Number of database failures in a row after which the backoff stops growing.
const TROUBLE_MAX: u32 = 5;

/// Limits and stop condition of a pool.
#[derive(Clone, Debug)]
pub struct PoolSettings {
    /// Maximum number of held jobs.
    pub jobs: u32,
    /// Maximum number of held jobs of a tenant. Tenants without an entry have no limit of their own.
    pub tenants: BTreeMap<String, u32>,
    /// True if the pool ends once it holds no job and cannot claim one.
    pub until_idle: bool,
}

/// Event of a pool, for its caller.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "one per job, destructured immediately")]
pub enum PoolEvent {
    /// A job was claimed under this attempt. The configuration changes since its acceptance are reported once.
    Claimed(JobId, u32, Vec<ChangedView>),
    /// A job settled: it ended, waits, is parked or has diverged.
    Rested(Response),
    /// A job was parked without being loaded again, for this cause.
    ParkedUnread(JobId, String),
    /// A job was released because the worker stops.
    Released(JobId),
    /// Another worker holds the job.
    Lost(JobId),
    /// The worker failed to settle the job. The job is claimed again after its lease expires.
    Failed(JobId, WorkerError),
    /// The effects of the job are unavailable. The job was released, and the pool claims no job for a while.
    NotLoaded(JobId, WorkerError),
    /// This worker cannot advance the job and does not claim it for a while. A job whose plugin is missing was
    /// released. The flag is true the first time; the event repeats after each new attempt.
    PassedOver(JobId, WorkerError, bool),
    /// The database is not usable. The pool retries until it is.
    Unavailable(StoreError),
    /// The database is usable again.
    Available,
}

/// Counters of a pool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Jobs that settled, by state.
    pub rested: BTreeMap<String, u64>,
    /// Jobs released because the worker stopped.
    pub released: u64,
    /// Jobs taken over by another worker.
    pub lost: u64,
    /// Releases of jobs whose plugin is missing here. A job is counted each time.
    pub left: u64,
    /// Failed attempts to settle a job.
    pub failed: u64,
}

/// Handle that stops a pool.
#[derive(Clone, Debug)]
pub struct Stop(watch::Sender<bool>);

impl Default for Stop {
    fn default() -> Self {
        Self(watch::Sender::new(false))
    }
}

impl Stop {
    /// Stops claiming. Held jobs are released once their calls have finished.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

/// Main loop of a worker over many jobs.
pub struct Pool {
    worker: Arc<Worker>,
    settings: PoolSettings,
    in_hand: JoinSet<(JobId, Result<Response, WorkerError>)>,
    /// Tenants of the held jobs.
    tenants: BTreeMap<JobId, String>,
    beginnings: Beginnings,
    passed_over: PassedOver,
    /// No job is claimed before this time. Boot-time clock, in microseconds.
    claims_from_us: u64,
    /// Number of load failures in a row.
    unloaded: u32,
    /// No job is claimed before this time because jobs cannot be loaded. Boot-time clock, in microseconds.
    rests_until_us: u64,
    tally: Tally,
}

/// Result of a search for jobs.
enum Looked {
    /// The pool holds the maximum number of jobs, or the worker is stopping.
    Full,
    /// No job can be claimed. Search again after this many milliseconds at the latest.
    None(u64),
    /// Jobs cannot be loaded now. Search again after this many milliseconds.
    Resting(u64),
    /// The database failed.
    Unavailable(StoreError),
}

impl Pool {
    /// Creates a pool that has claimed nothing yet.
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

    /// Sets the function that finds the configuration changes since a job was accepted.
    #[must_use]
    pub fn looking(self, look: Look) -> Self {
        Self { beginnings: Beginnings::new(look), ..self }
    }

    /// Claims and drives jobs until the pool is stopped, or idle if [`PoolSettings::until_idle`] is set.
    /// Retries while the database is unavailable.
    ///
    /// Returns the counters. With `until_idle`, also returns the error that ended the pool early: a database
    /// error that waiting cannot fix. The pool then holds no jobs.
    pub async fn run(mut self, stop: &Stop, mut tell: impl FnMut(PoolEvent) + Send) -> (Tally, Option<StoreError>) {
        let mut stopped = stop.0.subscribe();
        let mut trouble: u32 = 0;
        loop {
            let stopping = *stopped.borrow_and_update();
            if stopping {
                self.worker.stop();
            }
            // Read the revision first: later notifications cause another pass.
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
                    // After a database failure the pause is not cut short by notifications.
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
                    // The caller holds the sender while this function runs.
                    _ = stopped.changed(), if !stopping => {}
                    () = &mut pause => {}
                }
                break;
            }
        }
    }

    /// Returns true if the pool ends when no job can be claimed.
    fn ends(&self) -> bool {
        self.settings.until_idle && self.in_hand.is_empty()
    }

    /// Claims jobs up to the limit, unless the pool is stopped. A stopped pool does not wait for an
    /// unresponsive database. If the database still grants that claim, other workers claim the job after the
    /// lease expires.
    async fn fill_unless_stopped(&mut self, stopped: &mut watch::Receiver<bool>) -> Looked {
        let worker = self.worker.clone();
        let over = async {
            // The caller holds the sender while this function runs.
            let _ = stopped.wait_for(|stopped| *stopped).await;
            worker.stop();
            tokio::time::sleep(LAST_LOOK).await;
        };
        tokio::select! {
            biased;
            looked = self.fill() => looked,
            () = over => Looked::Unavailable(StoreError::Unavailable("the database did not answer before this worker stopped".to_owned())),
        }
    }

    /// Claims jobs up to the limit.
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
            // Also exclude held jobs: one may be released at any moment because its plugin is missing, and must
            // then be skipped.
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

    /// Returns the tenants that have reached their limit of held jobs.
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
                // If the effects of one job are unavailable, so are those of every other job. Search again with
                // a growing backoff. One failure during the backoff does not extend it.
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

/// Returns true if the database stays unusable until a person intervenes.
fn needs_someone(error: &StoreError) -> bool {
    match error {
        StoreError::Restored(_) | StoreError::Damaged(_) | StoreError::NotDurable(_) | StoreError::ReadOnly(_) => true,
        StoreError::Unavailable(_) => false,
    }
}

/// Returns the milliseconds until `next_us`, at most `longest_ms`.
fn until_ms(next_us: Option<i64>, longest_ms: u64, machine: &dyn Machine) -> u64 {
    let left_us = next_us.map(|due_us| due_us.saturating_sub(machine.now_us()).max(0));
    left_us.map_or(longest_ms, |left_us| left_us.unsigned_abs().div_ceil(1_000).clamp(1, longest_ms))
}

/// Returns between half and all of `ms` at random, so that many workers do not retry at the same moment.
fn jittered(ms: u64, machine: &dyn Machine) -> u64 {
    let random = machine.random() & u64::from(u32::MAX);
    ms / 2 + ms * random / (2 << 32)
}
