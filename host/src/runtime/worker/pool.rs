//! A pool: claims jobs for a worker, many concurrently, until it is stopped.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinSet;

use latchwork_core::model::ids::JobId;
use latchwork_core::model::job::JobState;
use latchwork_core::response::Response;
use latchwork_core::storage::{Claim, ClaimExclusions, StoreError};
use latchwork_engine::os::Machine;

use super::claim_reports::{ChangeDetector, ClaimReports};
use super::error::WorkerError;
use super::pool_event::{PoolEvent, PoolTally};
use super::quarantine::Quarantine;
use super::worker_state::Worker;

/// Longest sleep between two searches for jobs if the store sends no notifications, in milliseconds.
const SEARCH_MS: u64 = 200;
/// Longest sleep between two searches for jobs if the store sends notifications, in milliseconds. The pool must still
/// search, because no notification is sent when a lease expires or a worker dies.
const NOTIFIED_SEARCH_MS: u64 = 1_000;
/// Time that a stopping pool waits for the database to answer a request for a claim.
const STOP_GRACE: Duration = Duration::from_secs(1);
/// Pause before the next claim after an entry of [`Quarantine`] was evicted, in milliseconds. Without the pause, a full
/// quarantine would let the pool claim the same failing jobs again and again without delay.
const EVICTION_PAUSE_MS: u64 = 200;
/// Number of load failures in a row after which the backoff stops growing.
const LOAD_FAILURES_MAX: u32 = 8;
/// Number of database failures in a row after which the backoff stops growing.
const DATABASE_FAILURES_MAX: u32 = 5;

/// Limits and stop condition of a pool.
#[derive(Clone, Debug)]
pub struct PoolSettings {
    /// Maximum number of held jobs.
    pub max_jobs: u32,
    /// Maximum number of held jobs of a tenant. Tenants without an entry have no limit of their own.
    pub max_jobs_by_tenant: BTreeMap<String, u32>,
    /// True if the pool ends once it holds no job and cannot claim one.
    pub until_idle: bool,
}

/// Handle that stops a pool.
#[derive(Clone, Debug)]
pub struct StopHandle(watch::Sender<bool>);

impl Default for StopHandle {
    fn default() -> Self {
        Self(watch::Sender::new(false))
    }
}

impl StopHandle {
    /// Stops claiming. Held jobs are released once their calls have finished.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

/// Main loop of a worker over many jobs.
pub struct Pool {
    worker: Arc<Worker>,
    settings: PoolSettings,
    running: JoinSet<(JobId, Result<Response, WorkerError>)>,
    /// Tenants of the held jobs.
    held_tenants: BTreeMap<JobId, String>,
    claim_reports: ClaimReports,
    quarantine: Quarantine,
    /// Boot-clock time, in microseconds, before which the pool claims no job. Set when an entry of the quarantine was
    /// evicted.
    claims_paused_until_us: u64,
    /// Number of load failures in a row.
    load_failures: u32,
    /// Boot-clock time, in microseconds, before which the pool claims no job. Set when a job could not be loaded.
    load_pause_until_us: u64,
    tally: PoolTally,
}

/// Result of a search for jobs.
enum SearchResult {
    /// The pool holds the maximum number of jobs, or the worker is stopping.
    AtLimit,
    /// No job can be claimed. Search again after this many milliseconds at the latest.
    NoneClaimable(u64),
    /// Jobs cannot be loaded now. Search again after this many milliseconds.
    LoadPaused(u64),
    /// The database failed.
    Unavailable(StoreError),
}

impl Pool {
    /// Creates a pool that has claimed nothing yet.
    pub fn new(worker: Arc<Worker>, settings: PoolSettings) -> Self {
        Self {
            worker,
            settings,
            running: JoinSet::new(),
            held_tenants: BTreeMap::new(),
            claim_reports: ClaimReports::new(Arc::new(|_| Vec::new())),
            quarantine: Quarantine::default(),
            claims_paused_until_us: 0,
            load_failures: 0,
            load_pause_until_us: 0,
            tally: PoolTally::default(),
        }
    }

    /// Sets the function that finds the configuration changes since a job was accepted.
    #[must_use]
    pub fn with_change_detector(self, look: ChangeDetector) -> Self {
        Self { claim_reports: ClaimReports::new(look), ..self }
    }

    /// Claims and drives jobs until the pool is stopped. With [`PoolSettings::until_idle`], also ends when the pool is
    /// idle. Retries while the database is unavailable.
    ///
    /// Returns the counters. With `until_idle`, the pool also ends on a database error that stays until a person
    /// intervenes, and returns this error. The pool ends in this way only while it holds no jobs.
    pub async fn run(
        mut self,
        stop: &StopHandle,
        mut tell: impl FnMut(PoolEvent) + Send,
    ) -> (PoolTally, Option<StoreError>) {
        let mut stopped = stop.0.subscribe();
        let mut trouble: u32 = 0;
        loop {
            let stopping = *stopped.borrow_and_update();
            if stopping {
                self.worker.stop();
            }
            // Read the revision before the search. A change after this point then causes another search.
            let journal = self.worker.parts.journal.clone();
            let heard = journal.watermark();
            let looked = match stopping {
                true => SearchResult::AtLimit,
                false => self.claim_unless_stopped(&mut stopped).await,
            };
            let pause_ms = match looked {
                SearchResult::Unavailable(error) if self.ends_when_idle() && needs_intervention(&error) => {
                    return (self.tally, Some(error));
                }
                SearchResult::Unavailable(error) => {
                    if trouble == 0 {
                        tell(PoolEvent::Unavailable(error));
                    }
                    trouble = (trouble + 1).min(DATABASE_FAILURES_MAX);
                    Some(jittered(SEARCH_MS << trouble, &self.worker.parts.machine))
                }
                SearchResult::NoneClaimable(_) | SearchResult::AtLimit | SearchResult::LoadPaused(_)
                    if trouble > 0 && !stopping =>
                {
                    trouble = 0;
                    tell(PoolEvent::Available);
                    continue;
                }
                SearchResult::NoneClaimable(_) if self.ends_when_idle() => return (self.tally, None),
                SearchResult::NoneClaimable(ms) | SearchResult::LoadPaused(ms) => Some(ms),
                SearchResult::AtLimit => None,
            };
            if !stopping && *stopped.borrow() {
                continue;
            }
            if stopping && self.running.is_empty() {
                return (self.tally, None);
            }
            let pause = async {
                let Some(ms) = pause_ms else { return std::future::pending().await };
                tokio::select! {
                    biased;
                    () = tokio::time::sleep(Duration::from_millis(ms)) => {}
                    // After a database failure, notifications do not end the pause early.
                    _ = journal.wait_for_change(None, heard), if trouble == 0 => {}
                }
            };
            tokio::pin!(pause);
            loop {
                tokio::select! {
                    biased;
                    event = self.claim_reports.next() => {
                        tell(event);
                        continue;
                    }
                    Some(ended) = self.running.join_next() => match ended {
                        Ok((job_id, result)) => self.job_ended(job_id, result, &mut tell),
                        Err(panic) => std::panic::resume_unwind(panic.into_panic()),
                    },
                    // Receiving never fails, because the caller holds the sender while this function runs.
                    _ = stopped.changed(), if !stopping => {}
                    () = &mut pause => {}
                }
                break;
            }
        }
    }

    /// Returns true if the pool ends when no job can be claimed.
    fn ends_when_idle(&self) -> bool {
        self.settings.until_idle && self.running.is_empty()
    }

    /// Claims jobs up to the limit, unless the pool is stopped. A stopped pool does not wait for an
    /// unresponsive database. If the database grants a claim after the pool has stopped waiting, other
    /// workers claim that job when its lease has expired.
    async fn claim_unless_stopped(&mut self, stopped: &mut watch::Receiver<bool>) -> SearchResult {
        let worker = self.worker.clone();
        let over = async {
            // Receiving never fails, because the caller holds the sender while this function runs.
            let _ = stopped.wait_for(|stopped| *stopped).await;
            worker.stop();
            tokio::time::sleep(STOP_GRACE).await;
        };
        tokio::select! {
            biased;
            looked = self.claim_jobs() => looked,
            () = over => SearchResult::Unavailable(StoreError::Unavailable("the database did not answer before this worker stopped".to_owned())),
        }
    }

    /// Claims jobs up to the limit.
    async fn claim_jobs(&mut self) -> SearchResult {
        let journal = self.worker.parts.journal.clone();
        while self.running.len() < self.settings.max_jobs as usize && !self.worker.is_stopping() {
            let now_us = self.worker.parts.machine.boot_us();
            if now_us < self.load_pause_until_us {
                return SearchResult::LoadPaused((self.load_pause_until_us - now_us).div_ceil(1_000));
            }
            if now_us < self.claims_paused_until_us {
                return SearchResult::NoneClaimable((self.claims_paused_until_us - now_us).div_ceil(1_000));
            }
            // The claim also excludes the jobs that this worker holds. A held job may be released during the claim
            // because its plugin is missing, and this worker must not claim the job again immediately.
            let mut jobs = self.quarantine.active_at(now_us);
            jobs.extend(self.held_tenants.keys().cloned());
            let except = ClaimExclusions { tenants: self.full_tenants(), jobs };
            match journal.claim_excluding(&self.worker.lease_request(), &except).await {
                Ok(Some(claim)) => self.start_job(claim),
                Ok(None) => {
                    return match journal.fire_timers().await {
                        Ok(next_us) => {
                            let longest_ms =
                                if journal.receives_notifications() { NOTIFIED_SEARCH_MS } else { SEARCH_MS };
                            SearchResult::NoneClaimable(until_ms(next_us, longest_ms, &self.worker.parts.machine))
                        }
                        Err(error) => SearchResult::Unavailable(error),
                    };
                }
                Err(error) => return SearchResult::Unavailable(error),
            }
        }
        SearchResult::AtLimit
    }

    fn start_job(&mut self, claim: Claim) {
        let job_id = claim.row.job_id.clone();
        let observer = self.claim_reports.note_claim(&job_id, claim.row.attempt);
        self.held_tenants.insert(job_id.clone(), claim.row.tenant_id.clone());
        let worker = self.worker.clone();
        self.running.spawn(async move {
            let result = worker.drive(claim, observer).await;
            (job_id, result)
        });
    }

    /// Returns the tenants that have reached their limit of held jobs.
    fn full_tenants(&self) -> Vec<String> {
        let in_hand = |tenant: &String| self.held_tenants.values().filter(|of| *of == tenant).count();
        let limits = self.settings.max_jobs_by_tenant.iter();
        limits.filter(|(tenant, most)| in_hand(tenant) >= **most as usize).map(|(tenant, _)| tenant.clone()).collect()
    }

    fn job_ended(&mut self, job_id: JobId, result: Result<Response, WorkerError>, tell: &mut impl FnMut(PoolEvent)) {
        self.held_tenants.remove(&job_id);
        self.claim_reports.reports_before_end(&job_id).into_iter().for_each(&mut *tell);
        tell(match result {
            Ok(response) => {
                self.quarantine.remove(&job_id);
                self.load_failures = 0;
                *self.tally.settled.entry(response.state.as_str().to_owned()).or_default() += 1;
                PoolEvent::Settled(response)
            }
            Err(WorkerError::ParkedUnloaded { job_id, cause }) => {
                self.quarantine.remove(&job_id);
                *self.tally.settled.entry(JobState::Parked.as_str().to_owned()).or_default() += 1;
                PoolEvent::ParkedUnloaded(job_id, cause)
            }
            Err(WorkerError::Released(job_id)) => {
                self.tally.released += 1;
                PoolEvent::Released(job_id)
            }
            Err(WorkerError::LeaseLost(job_id)) => {
                self.tally.lost += 1;
                PoolEvent::LeaseLost(job_id)
            }
            Err(error @ WorkerError::NotLoaded { .. }) => {
                self.tally.failed += 1;
                // An unavailable effect store affects all jobs, so the pool claims nothing for a pause. The pause grows
                // with each failure. A job that fails during the pause was claimed before the pause, so its failure
                // does not extend the pause.
                let machine = &self.worker.parts.machine;
                if machine.boot_us() >= self.load_pause_until_us {
                    self.load_failures = (self.load_failures + 1).min(LOAD_FAILURES_MAX);
                    self.load_pause_until_us =
                        machine.boot_us() + jittered(SEARCH_MS << self.load_failures, machine) * 1_000;
                }
                PoolEvent::NotLoaded(job_id, error)
            }
            Err(error) if error.is_worker_specific() => {
                let count = match error {
                    WorkerError::PluginMissing { .. } => &mut self.tally.plugin_missing,
                    _ => &mut self.tally.failed,
                };
                *count += 1;
                let now_us = self.worker.parts.machine.boot_us();
                let noted = self.quarantine.add(job_id.clone(), now_us);
                if noted.has_evicted {
                    self.claims_paused_until_us = now_us + EVICTION_PAUSE_MS * 1_000;
                }
                PoolEvent::Quarantined(job_id, error, noted.is_new)
            }
            Err(error) => {
                self.tally.failed += 1;
                PoolEvent::Failed(job_id, error)
            }
        });
    }
}

/// Returns true if the database stays unusable until a person intervenes.
fn needs_intervention(error: &StoreError) -> bool {
    match error {
        StoreError::Restored(_) | StoreError::Damaged(_) | StoreError::NotDurable(_) | StoreError::ReadOnly(_) => true,
        StoreError::Unavailable(_) => false,
    }
}

/// Returns the milliseconds until `next_us`, at most `longest_ms`.
fn until_ms(next_us: Option<i64>, longest_ms: u64, machine: &Machine) -> u64 {
    let left_us = next_us.map(|due_us| due_us.saturating_sub(machine.now_us()).max(0));
    left_us.map_or(longest_ms, |left_us| left_us.unsigned_abs().div_ceil(1_000).clamp(1, longest_ms))
}

/// Returns a random number between half of `ms` and `ms`. Without randomness, many workers would retry at the same
/// moment.
fn jittered(ms: u64, machine: &Machine) -> u64 {
    let random = machine.random() & u64::from(u32::MAX);
    ms / 2 + ms * random / (2 << 32)
}
