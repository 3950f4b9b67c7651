//! A configured host: submission of requests, execution of jobs, questions about jobs.

use std::sync::Arc;

use serde_json::Value;

use latchwork_core::event::AcceptedPolicy;
use latchwork_core::model::ids::{Hash, JobId, Operator};
use latchwork_core::model::mode::Mode;
use latchwork_core::model::rules::Rules;
use latchwork_core::plan;
use latchwork_core::plan::{Plan, Violation};
use latchwork_core::response::Response;
use latchwork_core::state::Durable;
use latchwork_core::storage::{Claim, EffectStore, JobRow, Journal, LeaseRequest, Submitted, WriteError};
use latchwork_engine::LoadError;
use latchwork_engine::os::Machine;

use crate::config::{Config, Policy};
use crate::notify::Notifier;
use crate::registry::Registry;
use crate::runtime::{Observer, Worker, WorkerError};
use crate::submit::{AcceptancePolicy, Submission};

/// A configured host.
pub struct Host {
    config: Config,
    registry: Arc<Registry>,
    journal: Arc<dyn Journal>,
    effects: Arc<dyn EffectStore>,
    worker: Arc<Worker>,
    engine_profile: Hash,
}

/// Result of submitting a request whose new job is claimed immediately.
#[derive(Debug)]
pub enum SubmitResult {
    /// A new job, claimed by this process.
    New(Claim),
    /// An existing job of the same request.
    Attached(JobRow),
}

/// Result of submitting a request to the queue, without claiming it.
#[derive(Debug)]
pub enum EnqueueResult {
    /// A new job, which waits to be claimed.
    New(JobRow),
    /// An existing job of the same request.
    Attached(JobRow),
}

/// Reasons why a submission was refused. Nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum SubmitError {
    /// The tenant's policy does not allow the mode.
    #[error("the policy of tenant {tenant} does not allow the mode {}{}", mode.as_str(), auto_exec_hint(*mode))]
    ModeNotAllowed {
        /// The tenant.
        tenant: String,
        /// The mode.
        mode: Mode,
    },
    /// The same request was submitted before with another plan.
    #[error(
        "request already submitted as job {} with a different plan (stored {}, submitted {given})",
        row.job_id,
        row.plan_hash
    )]
    OtherPlan {
        /// The existing job.
        row: Box<JobRow>,
        /// Hash of the plan submitted now.
        given: Hash,
    },
    /// Values of the plan's parameters are wrong or missing.
    #[error("the parameters of the request are invalid")]
    Parameters(Vec<plan::ParameterError>),
    /// The queue of pending jobs is full.
    #[error("the queue{} is full ({limit} pending jobs); retry later or start another worker", of_tenant(tenant.as_deref()))]
    QueueFull {
        /// The tenant whose limit is reached. `None` if the limit of all tenants is reached.
        tenant: Option<String>,
        /// The limit.
        limit: u32,
    },
    /// Some plugins could not be loaded. A plan with a step plugin needs all plugins, because a step plugin may call
    /// any operator.
    #[error("the step plugin of {operator} may call any operator, but {} could not be loaded", plugin_count(plugins.len()))]
    Plugins {
        /// An operator of the plan that a step plugin serves.
        operator: Operator,
        /// Every plugin that could not be loaded.
        plugins: Vec<LoadError>,
    },
    /// The store refused the job.
    #[error(transparent)]
    Write(#[from] WriteError),
}

impl Host {
    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The loaded plugins.
    pub fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }

    /// The journal.
    pub fn journal(&self) -> &Arc<dyn Journal> {
        &self.journal
    }

    /// The effect store.
    pub fn effects(&self) -> &Arc<dyn EffectStore> {
        &self.effects
    }

    /// The worker that executes jobs in this process.
    pub fn worker(&self) -> &Arc<Worker> {
        &self.worker
    }

    pub(crate) fn new(config: Config, registry: Arc<Registry>, worker: Arc<Worker>, engine_profile: Hash) -> Self {
        let (journal, effects) = (worker.parts.journal.clone(), worker.parts.effects.clone());
        Self { config, registry, journal, effects, worker, engine_profile }
    }

    /// Checks a plan against the loaded plugins and returns the plan in normal form.
    ///
    /// # Errors
    /// Every violation.
    pub fn check(&self, text: &[u8]) -> Result<Plan, Vec<Violation>> {
        plan::check(text, &*self.registry)
    }

    /// Checks a whole request, or a bare plan, against the loaded plugins.
    ///
    /// # Errors
    /// Every violation.
    pub fn check_request(&self, text: &[u8]) -> Result<plan::CheckedRequest, Vec<Violation>> {
        plan::check_request(text, &*self.registry)
    }

    /// Accepts a request and claims the new job immediately, or returns the existing job of the same request.
    ///
    /// # Errors
    /// See [`SubmitError`].
    pub async fn submit(&self, submission: Submission) -> Result<SubmitResult, SubmitError> {
        self.submit_or_enqueue(submission, Some(self.worker.lease_request())).await
    }

    /// Accepts a request and leaves the new job in the queue, so that any worker can claim it. Refuses the request if
    /// the queue is full.
    ///
    /// # Errors
    /// See [`SubmitError`].
    pub async fn enqueue(&self, submission: Submission) -> Result<EnqueueResult, SubmitError> {
        Ok(match self.submit_or_enqueue(submission, None).await? {
            SubmitResult::New(claim) => EnqueueResult::New(claim.row),
            SubmitResult::Attached(row) => EnqueueResult::Attached(row),
        })
    }

    async fn submit_or_enqueue(
        &self,
        mut submission: Submission,
        claimer: Option<LeaseRequest>,
    ) -> Result<SubmitResult, SubmitError> {
        self.require_all_plugins(&submission.plan)?;
        let given = submission.parameters.take().unwrap_or_else(|| Value::Object(serde_json::Map::new()));
        submission.parameters = submission.plan.values(given, &*self.registry).map_err(SubmitError::Parameters)?;
        let accepted = self.acceptance_policy(&submission.tenant, &submission.actor, submission.mode)?;
        let plan_hash = submission.plan.hash();
        let tenant = submission.tenant.clone();
        let queue = self.config.queue.limit(&tenant);
        let attempt = u32::from(claimer.is_some());
        let job = submission.into_job(
            self.registry.pinned_operators(),
            self.engine_profile,
            accepted,
            claimer,
            queue,
            self.machine(),
        );
        let row = JobRow { attempt, ..job.row.clone() };
        let now_us = row.created_us;
        match self.journal.submit(job).await? {
            Submitted::New => Ok(SubmitResult::New(Claim { row, now_us })),
            Submitted::QueueFull { of_tenant, limit } => {
                Err(SubmitError::QueueFull { tenant: of_tenant.then_some(tenant), limit })
            }
            Submitted::Attached(row) if row.plan_hash != plan_hash => {
                Err(SubmitError::OtherPlan { row: Box::new(row), given: plan_hash })
            }
            Submitted::Attached(row) => Ok(SubmitResult::Attached(row)),
        }
    }

    /// Refuses a plan that has a step plugin if any plugin could not be loaded.
    pub(crate) fn require_all_plugins(&self, plan: &Plan) -> Result<(), SubmitError> {
        let Some(operator) = self.registry.operator_needing_all_plugins(plan) else { return Ok(()) };
        Err(SubmitError::Plugins { operator: operator.clone(), plugins: self.registry.refused().to_vec() })
    }

    /// Returns the policy of a tenant, or the default policy if the tenant has none.
    pub fn policy(&self, tenant: &str) -> Option<&Policy> {
        let policies = &self.config.policy;
        policies.get(tenant).or_else(|| policies.get("default"))
    }

    /// Checks the mode against the tenant's policy and returns the policy data that is recorded with the job.
    pub(crate) fn acceptance_policy(
        &self,
        tenant: &str,
        actor: &str,
        mode: Mode,
    ) -> Result<AcceptancePolicy, SubmitError> {
        let Some(policy) = self.policy(tenant) else { return Ok(AcceptancePolicy::default()) };
        let may_act_alone = mode != Mode::AutoExec || policy.auto_exec.enabled;
        if !policy.modes.contains(&mode) || !may_act_alone {
            return Err(SubmitError::ModeNotAllowed { tenant: tenant.to_owned(), mode });
        }
        let rules = Rules::from(policy);
        let auto_exec = rules.auto_exec.of_actor(actor);
        let label = AcceptedPolicy { hash: policy.hash, version: policy.version };
        // The list of allowed modes is needed only for the check above. The rules recorded with the job therefore allow
        // every mode.
        let modes = Mode::ALL.to_vec();
        Ok(AcceptancePolicy { policy: Some(label), rules: Some(Rules { modes, auto_exec, ..rules }) })
    }

    /// The notifier that reports waiting and finished jobs, if one is configured.
    pub fn notifier(&self) -> Option<&Arc<Notifier>> {
        self.worker.parts.notifier.as_ref()
    }

    /// The clock and entropy of the host.
    pub fn machine(&self) -> &Machine {
        &self.worker.parts.machine
    }

    pub(crate) fn engine_profile(&self) -> Hash {
        self.engine_profile
    }

    /// Executes a claimed job until it settles.
    ///
    /// # Errors
    /// See [`WorkerError`].
    pub async fn drive(&self, claim: Claim, observer: Arc<dyn Observer>) -> Result<Response, WorkerError> {
        self.worker.drive(claim, observer).await
    }

    /// Loads the stored state of a job.
    ///
    /// # Errors
    /// The job does not exist or cannot be read.
    pub async fn load(&self, job_id: &JobId) -> Result<Durable, WorkerError> {
        crate::runtime::load_durable(&self.worker, job_id).await
    }
}

impl From<&crate::config::Policy> for Rules {
    fn from(policy: &crate::config::Policy) -> Rules {
        Rules {
            modes: policy.modes.clone(),
            gate_effects: policy.gate_effects.clone(),
            gate_tags: policy.gate_tags.clone(),
            standing_approvals: policy.standing_approvals,
            gate_expires_ms: policy.gate_expires_ms,
            gate_quorum: policy.gate_quorum,
            self_approve: policy.self_approve,
            gate_reason: policy.gate_reason,
            gate_approvals: policy.gate_approvals,
            budget: policy.budget,
            auto_exec: policy.auto_exec.clone(),
            require: policy.require.clone(),
        }
    }
}

impl plan::Catalog for Registry {
    fn operator(&self, name: &str) -> Option<plan::OperatorInfo> {
        let pinned = self.pinned_operators().get(name)?;
        Some(plan::OperatorInfo {
            effects: pinned.effects.clone(),
            determinism: pinned.determinism,
            kind: pinned.kind,
            compensate: pinned.compensate,
        })
    }

    fn names(&self) -> Vec<String> {
        self.pinned_operators().keys().map(ToString::to_string).collect()
    }

    fn schema_mismatches(&self, schema: &Value, value: &Value) -> Result<Vec<plan::SchemaMismatch>, String> {
        latchwork_engine::schema::misfits(schema, value)
    }
}

fn auto_exec_hint(mode: Mode) -> &'static str {
    if mode == Mode::AutoExec { "; the mode needs `auto_exec = true` in addition to its entry in `modes`" } else { "" }
}

fn of_tenant(tenant: Option<&str>) -> String {
    tenant.map(|tenant| format!(" of tenant {tenant}")).unwrap_or_default()
}

fn plugin_count(n: usize) -> String {
    if n == 1 { "a plugin".to_owned() } else { format!("{n} plugins") }
}
