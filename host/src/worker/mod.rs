//! The worker: claims jobs and performs what the kernel decides.
//!
//! ```text
//! Worker ── claims ──► Run (one job, one attempt)
//!                        ├─ drive    one loop: drain the inbox, advance, start steps, come to rest
//!                        ├─ step     one try of one step, guest or tool
//!                        ├─ perform  one invocation: the ledger's decision, carried out
//!                        ├─ execute  the one place that calls a tool
//!                        ├─ confirm  what earlier attempts changed, looked at once
//!                        ├─ undo     what a job did is undone, one call after the other
//!                        ├─ timers   durable times, sat out or fired
//!                        ├─ limits   how much of one operator at once, and how often
//!                        └─ write    drafts become batches, in order
//! Pool ─── claims for a worker, many jobs at once, until it is stopped
//! ```

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use latchwork_core::cost::Prices;
use latchwork_core::ids::{Hash, JobId, Operator};
use latchwork_core::policy::Rules;
use latchwork_core::response::Response;
use latchwork_core::storage::{Claim, Claimer, EffectStore, Journal, Owner, StoreError};

use tokio::sync::Notify;

use crate::engine::Components;
use crate::notify::Notifier;
use crate::os::Machine;
use crate::validate::Validators;
use crate::verifier::Verifiers;

mod audit;
mod beginnings;
mod calls;
mod confirm;
mod drive;
mod execute;
mod lease;
mod limits;
mod lingering;
mod lookup;
mod observe;
mod passed_over;
mod perform;
mod pool;
mod run;
mod spending;
mod step;
mod timers;
mod traces;
mod under_way;
mod undo;
mod unheard;
mod unread;
mod validate;
mod write;

pub use audit::audit;
pub use beginnings::Look;
pub use limits::{OperatorLimit, Rate};
pub use observe::{NoObserver, Observer};
pub use pool::{Pool, PoolEvent, PoolSettings, Stop, Tally};
pub(crate) use run::load;
pub use run::{Dropped, Run};
pub use traces::{remember_trace_id, trace_id};

/// Arrows around execution at which a crash test can cut.
pub const EXECUTE_POINTS: &[&str] = &["execute", "reconcile"];

/// A place at which a crash test can cut the process off; does nothing otherwise.
pub trait CrashPoint: Send + Sync {
    /// Before (`after` false) or after the arrow `name`.
    fn at(&self, name: &'static str, after: bool);
}

/// Nothing is ever cut.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoCrash;

impl CrashPoint for NoCrash {
    fn at(&self, _: &'static str, _: bool) {}
}

/// Times of a worker, in milliseconds, and its other settings.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Length of a lease.
    pub lease_ms: u32,
    /// Between two heartbeats.
    pub heartbeat_ms: u32,
    /// How far clocks may be apart.
    pub clock_margin_ms: u32,
    /// Attempts without progress until a job is parked.
    pub max_attempts_without_progress: u32,
    /// Whether effect, events and ledger row are three writes.
    pub staged: bool,
    /// How much of an operator this process executes at once, and how often.
    pub limits: BTreeMap<Operator, OperatorLimit>,
}

/// What a worker is made of.
pub struct Parts {
    /// Jobs, logs, ledgers, inboxes.
    pub journal: Arc<dyn Journal>,
    /// Effects.
    pub effects: Arc<dyn EffectStore>,
    /// Where plugins come from.
    pub components: Arc<dyn Components>,
    /// Digest of the engine profile for steps.
    pub engine_profile: Hash,
    /// This process.
    pub owner: Owner,
    /// Its settings.
    pub settings: Settings,
    /// Rules by tenant; `default` always exists.
    pub rules: BTreeMap<String, Rules>,
    /// Prices of models, by the name of the plugin that asks them.
    pub prices: BTreeMap<String, Prices>,
    /// Who looks at recorded effects, where plugins do not do it themselves.
    pub verifiers: Verifiers,
    /// Who is asked before a step starts.
    pub validators: Validators,
    /// Who is told when a job waits for somebody.
    pub notifier: Option<Arc<Notifier>>,
    /// Where tests cut.
    pub crash: Arc<dyn CrashPoint>,
    /// Time and randomness.
    pub machine: Arc<dyn Machine>,
}

/// A process's share of the work.
pub struct Worker {
    pub(crate) parts: Parts,
    held: Mutex<BTreeMap<JobId, Holding>>,
    limits: limits::Limits,
    stopping: AtomicBool,
    /// Told when it stops.
    stopped: Notify,
    /// Answers that are not recorded yet.
    answers_unrecorded: AtomicU32,
}

/// An answer that is not recorded yet.
struct Unrecorded<'w>(&'w AtomicU32);

impl Drop for Unrecorded<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Why a job could not be brought to rest here.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// Another worker holds it now.
    #[error("job {0} belongs to another worker now")]
    Lost(JobId),
    /// This worker stops, and has given the job back.
    #[error("job {0} was given back: this worker stops")]
    Released(JobId),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// What is stored of the job cannot be right, or the host broke its own rules.
    #[error("job {job_id}: {message}")]
    Broken {
        /// The job.
        job_id: JobId,
        /// What is wrong.
        message: String,
    },
    /// A plugin that the job pinned when it was accepted is not there. The job was given back.
    #[error("job {job_id} needs the plugin that serves {operator}, as it was when the job was accepted: {why}")]
    PluginMissing {
        /// The job.
        job_id: JobId,
        /// The operator.
        operator: latchwork_core::ids::Operator,
        /// Why it is not there.
        why: String,
    },
    /// Its processes ended before anything of them was recorded, up to the limit: it was parked without being loaded.
    #[error("job {job_id} is parked with ATTEMPTS_EXHAUSTED: {cause}")]
    Unread {
        /// The job.
        job_id: JobId,
        /// Why it is parked.
        cause: String,
    },
    /// Its effects cannot be had now. The job was given back.
    #[error("job {job_id} cannot be loaded: {why}")]
    NotLoaded {
        /// The job.
        job_id: JobId,
        /// Why not.
        why: StoreError,
    },
    /// There is no such job.
    #[error("there is no job {0}")]
    NoJob(JobId),
}

impl WorkerError {
    /// Whether the same comes of another try here, while another worker may go on with the job: it has other
    /// plugins, or another version of this program.
    pub fn is_of_this_worker(&self) -> bool {
        matches!(self, Self::PluginMissing { .. } | Self::Broken { .. } | Self::Store(StoreError::Damaged(_)))
    }
}

/// A claim whose lease is prolonged.
struct Holding {
    attempt: u32,
    /// None until the job is loaded, which may take longer than a lease.
    run: Option<Arc<Run>>,
}

/// A job whose lease is prolonged, until this is dropped: nobody drives it any more.
struct Held<'w> {
    worker: &'w Worker,
    job_id: JobId,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.worker.held.lock().expect("no holder panics").remove(&self.job_id);
    }
}

impl Worker {
    /// A worker that holds nothing yet. Its heartbeat runs until it is dropped.
    pub fn start(parts: Parts) -> Arc<Worker> {
        let limits = limits::Limits::new(&parts.settings.limits, parts.machine.clone());
        let (stopping, stopped) = (AtomicBool::new(false), Notify::new());
        let worker = Arc::new(Worker {
            parts,
            held: Mutex::default(),
            limits,
            stopping,
            stopped,
            answers_unrecorded: AtomicU32::new(0),
        });
        lease::keep_alive(&worker);
        worker
    }

    /// Lets calls of tools that are under way end and be recorded, and gives every job in hand back.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::Release);
        self.stopped.notify_waiters();
    }

    /// The jobs in hand.
    pub fn in_hand(&self) -> Vec<JobId> {
        self.held.lock().expect("no holder panics").keys().cloned().collect()
    }

    /// How many answers of calls have come and are not recorded yet.
    pub fn answers_unrecorded(&self) -> u32 {
        self.answers_unrecorded.load(Ordering::Relaxed)
    }

    /// Counts one more while what is given lives.
    fn unrecorded(&self) -> Unrecorded<'_> {
        self.answers_unrecorded.fetch_add(1, Ordering::Relaxed);
        Unrecorded(&self.answers_unrecorded)
    }

    fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }

    /// Comes back when the worker stops.
    async fn stopping(&self) {
        // From here on it is told; what was said before is looked at.
        let told = self.stopped.notified();
        if !self.is_stopping() {
            told.await;
        }
    }

    /// How it claims.
    pub fn claimer(&self) -> Claimer {
        Claimer { owner: self.parts.owner.clone(), lease_ms: self.parts.settings.lease_ms }
    }

    /// Bring a claimed job to rest: until it ends, waits, parks or diverges.
    ///
    /// # Errors
    /// See [`WorkerError`]; whatever was acknowledged is durable.
    pub async fn drive(self: &Arc<Self>, claim: Claim, observer: Arc<dyn Observer>) -> Result<Response, WorkerError> {
        let job_id = claim.row.job_id.clone();
        let attempt = claim.row.attempt;
        let hold = |run| self.held.lock().expect("no holder panics").insert(job_id.clone(), Holding { attempt, run });
        hold(None);
        let _held = Held { worker: self, job_id: job_id.clone() };
        self.park_unread(&claim, &*observer).await?;
        let run = Run::load(self.clone(), claim, observer).await?;
        hold(Some(run.clone()));
        run.drive().await
    }

    /// Claim this job and bring it to rest; none where it is not claimable now.
    ///
    /// # Errors
    /// See [`WorkerError`].
    pub async fn resume(
        self: &Arc<Self>,
        job_id: &JobId,
        observer: Arc<dyn Observer>,
    ) -> Result<Option<Response>, WorkerError> {
        match self.parts.journal.claim_job(job_id, &self.claimer()).await? {
            Some(claim) => self.drive(claim, observer).await.map(Some),
            None => Ok(None),
        }
    }

    /// The rules of a tenant as they are configured now.
    pub(crate) fn rules(&self, tenant: &str) -> Rules {
        let rules = &self.parts.rules;
        rules.get(tenant).or_else(|| rules.get("default")).cloned().unwrap_or_default()
    }
}
