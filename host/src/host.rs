//! The embedding API: a configured host over opened stores.

use std::sync::Arc;

use latchwork_core::event::Mode;
use latchwork_core::ids::{Hash, JobId};
use latchwork_core::plan::{self, Plan, Violation};
use latchwork_core::policy::Rules;
use latchwork_core::response::Response;
use latchwork_core::state::Durable;
use latchwork_core::storage::{Claim, EffectStore, JobRow, Journal, KeyValue, Owner, Submitted, WriteError};

use crate::config::{Commit, Config};
use crate::engine::{Engine, EngineError, EngineOptions, LoadError};
use crate::registry::Registry;
use crate::submit::Submission;
use crate::worker::{CrashPoint, Observer, Parts, Settings, Worker, WorkerError};

/// The stores of a host; whoever composes the program opens them.
pub struct Stores {
    /// Jobs, logs, ledgers, inboxes.
    pub journal: Arc<dyn Journal>,
    /// Effects: the same database, or one of its own.
    pub effects: Arc<dyn EffectStore>,
    /// The tools' own maps.
    pub kv: Arc<dyn KeyValue>,
    /// This process.
    pub owner: Owner,
}

/// A configured host.
pub struct Host {
    /// Its configuration.
    pub config: Config,
    /// Its plugins.
    pub registry: Arc<Registry>,
    /// Its journal.
    pub journal: Arc<dyn Journal>,
    /// Its effect store.
    pub effects: Arc<dyn EffectStore>,
    /// Its share of the work.
    pub worker: Arc<Worker>,
    engine_profile: Hash,
}

/// Why a host could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The engine refused its settings.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// Plugins could not be loaded: all of them are listed.
    #[error("{} could not be loaded", count(.0.len()))]
    Plugins(Vec<LoadError>),
}

/// What became of a submission.
#[derive(Debug)]
pub enum Accepted {
    /// A job of its own, claimed by this process.
    New(Claim),
    /// The same request is known.
    Attached(JobRow),
}

/// Why a submission was refused; nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum SubmitError {
    /// The tenant's policy does not allow the mode.
    #[error("the policy of tenant {tenant} does not allow the mode {}", mode.as_str())]
    ModeNotAllowed {
        /// The tenant.
        tenant: String,
        /// The mode.
        mode: Mode,
    },
    /// The same request is known with another plan.
    #[error("the same request is known as job {} with another plan: {} there, {given} here", row.job_id, row.plan_hash)]
    OtherPlan {
        /// The job.
        row: Box<JobRow>,
        /// Hash of the plan submitted now.
        given: Hash,
    },
    /// The store refused it.
    #[error(transparent)]
    Write(#[from] WriteError),
}

impl Host {
    /// Builds the engine, loads the plugins and starts a worker that holds nothing yet.
    ///
    /// # Errors
    /// See [`StartError`].
    pub fn start(config: Config, stores: Stores, crash: Arc<dyn CrashPoint>) -> Result<Host, StartError> {
        let engine = Engine::new(EngineOptions { cache_dir: config.cache_dir.clone() })?;
        let engine_profile = engine.step_profile();
        let registry = Registry::load(engine, &config, stores.kv.clone()).map_err(StartError::Plugins)?;
        let registry = Arc::new(registry);
        let rules = config.policy.iter().map(|(tenant, policy)| (tenant.clone(), Rules::from(policy))).collect();
        let settings = Settings {
            lease_ms: config.lease_ms,
            heartbeat_ms: config.heartbeat_ms,
            clock_margin_ms: config.clock_margin_ms,
            max_attempts_without_progress: config.max_attempts_without_progress,
            staged: config.commit == Commit::Staged,
        };
        let worker = Worker::start(Parts {
            journal: stores.journal.clone(),
            effects: stores.effects.clone(),
            registry: registry.clone(),
            engine_profile,
            owner: stores.owner,
            settings,
            rules,
            crash,
        });
        Ok(Host { config, registry, journal: stores.journal, effects: stores.effects, worker, engine_profile })
    }

    /// A plan in normal form, checked against the loaded plugins.
    ///
    /// # Errors
    /// Every violation.
    pub fn check(&self, text: &[u8]) -> Result<Plan, Vec<Violation>> {
        plan::check(text, &*self.registry)
    }

    /// Accepts a request, or finds the job that it became before. A new job is claimed at once.
    ///
    /// # Errors
    /// See [`SubmitError`].
    pub async fn submit(&self, submission: Submission) -> Result<Accepted, SubmitError> {
        let policies = &self.config.policy;
        let policy = policies.get(&submission.tenant).or_else(|| policies.get("default"));
        if policy.is_some_and(|policy| !policy.modes.contains(&submission.mode)) {
            return Err(SubmitError::ModeNotAllowed { tenant: submission.tenant, mode: submission.mode });
        }
        let plan_hash = submission.plan.hash();
        let job = submission.into_job(self.registry.pin(), self.engine_profile, Some(self.worker.claimer()));
        let row = JobRow { attempt: 1, ..job.row.clone() };
        let now_us = row.created_us;
        match self.journal.submit(job).await? {
            Submitted::New => Ok(Accepted::New(Claim { row, now_us })),
            Submitted::Attached(row) if row.plan_hash != plan_hash => {
                Err(SubmitError::OtherPlan { row: Box::new(row), given: plan_hash })
            }
            Submitted::Attached(row) => Ok(Accepted::Attached(row)),
        }
    }

    /// Brings a claimed job to rest.
    ///
    /// # Errors
    /// See [`WorkerError`].
    pub async fn drive(&self, claim: Claim, observer: Arc<dyn Observer>) -> Result<Response, WorkerError> {
        self.worker.drive(claim, observer).await
    }

    /// What is stored of a job.
    ///
    /// # Errors
    /// It is not there, or cannot be read.
    pub async fn load(&self, job_id: &JobId) -> Result<Durable, WorkerError> {
        crate::worker::load(&self.worker, job_id).await
    }
}

impl From<&crate::config::Policy> for Rules {
    fn from(policy: &crate::config::Policy) -> Rules {
        Rules {
            gate_effects: policy.gate_effects.clone(),
            gate_tags: policy.gate_tags.clone(),
            standing_approvals: policy.standing_approvals,
        }
    }
}

impl plan::Catalog for Registry {
    fn operator(&self, name: &str) -> Option<plan::OperatorInfo> {
        let pinned = self.pin().get(name)?;
        Some(plan::OperatorInfo { effects: pinned.effects.clone(), determinism: pinned.determinism, kind: pinned.kind })
    }

    fn names(&self) -> Vec<String> {
        self.pin().keys().map(ToString::to_string).collect()
    }
}

fn count(n: usize) -> String {
    if n == 1 { "a plugin".to_owned() } else { format!("{n} plugins") }
}
