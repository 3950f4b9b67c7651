//! Forks: new jobs that continue from the middle of another job.

use std::collections::BTreeMap;

use latchwork_core::decide::{ForkRefusal, ForkRequest, ForkStart};
use latchwork_core::encoding::canon;
use latchwork_core::event::{Body, DecidedBy, Event, Header, RequestRef};
use latchwork_core::model::ids::{Hash, JobId, StepId};
use latchwork_core::model::job::JobState;
use latchwork_core::model::keys;
use latchwork_core::plan::Violation;
use latchwork_core::state::{Durable, label};
use latchwork_core::storage::{Claim, JobRow, NewJob, QueueLimit, Submitted, WriteError, expectation};
use latchwork_core::{decide, plan};

use latchwork_engine::PinnedComponents;

use crate::host::{Host, SubmitError};
use crate::runtime::WorkerError;
use crate::submit::{new_job_id, reachable_operators};

/// Options of a fork.
#[derive(Clone, Debug)]
pub struct ForkOptions {
    /// Step at which the fork starts. This step and everything after it are executed again.
    pub at: StepId,
    /// Outputs that replace the outputs of copied steps, as JSON text.
    pub set: BTreeMap<StepId, Vec<u8>>,
    /// Actor who requests the fork.
    pub actor: String,
    /// Reason given by the actor.
    pub reason: Option<String>,
}

/// Reasons why a job was not forked. Nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum ForkError {
    /// The requested fork is not possible for this job.
    #[error(transparent)]
    Refused(#[from] ForkRefusal),
    /// A given output is not valid JSON or does not match the output schema of its step.
    #[error("invalid output for step {step}: {message}")]
    Output {
        /// The step.
        step: StepId,
        /// Reason of the refusal.
        message: String,
    },
    /// The loaded plugins cannot execute the remaining steps of the plan.
    #[error("the loaded plugins cannot execute the remaining steps of the plan")]
    Plan(Vec<Violation>),
    /// The current policy does not allow the job.
    #[error(transparent)]
    Submit(#[from] SubmitError),
    /// The job cannot be read.
    #[error(transparent)]
    Load(#[from] WorkerError),
    /// The store refused the new job.
    #[error(transparent)]
    Write(#[from] WriteError),
}

impl Host {
    /// Accepts a fork of a job and claims the new job immediately. The steps that the fork executes use the
    /// currently loaded plugins and run under the current policy.
    ///
    /// # Errors
    /// See [`ForkError`].
    pub async fn fork(&self, job_id: &JobId, wish: ForkOptions) -> Result<Claim, ForkError> {
        let origin = self.load(job_id).await?;
        let machine = self.machine();
        let now_us = machine.now_us();
        let request = ForkRequest {
            at: wish.at,
            set: wish.set,
            by: DecidedBy::claimed(wish.actor, wish.reason),
            job_id: new_job_id(now_us, machine),
            secret: Hash(machine.random_bytes()),
        };
        // Check the current state of the origin job. An undo or another request may have reopened the job since
        // it was loaded, and an open job cannot be forked.
        if let Some(row) = self.journal().job(job_id).await.map_err(WorkerError::from)? {
            decide::check_forkable(job_id, row.state)?;
        }
        let fork = decide::fork(&origin, &request)?;
        for (step, output) in &request.set {
            self.check_output(&origin, step, output)
                .map_err(|message| ForkError::Output { step: step.clone(), message })?;
        }
        self.check_remaining_plan(&origin, &fork)?;
        self.require_all_plugins(&origin.job.plan)?;
        let job = self.forked_job(&origin, request, fork, now_us)?;
        let claimed = JobRow { attempt: 1, ..job.row.clone() };
        match self.journal().submit(job).await? {
            Submitted::New => Ok(Claim { row: claimed, now_us }),
            Submitted::QueueFull { .. } => unreachable!("what is claimed at once waits in no queue"),
            Submitted::Attached(row) => {
                Err(WriteError::Defect(format!("job {} has its request key", row.job_id)).into())
            }
        }
    }

    /// Checks the remaining steps of the plan against the loaded plugins. The remaining steps are those that the fork
    /// does not copy.
    fn check_remaining_plan(&self, origin: &Durable, fork: &ForkStart) -> Result<(), ForkError> {
        let Body::JobForked { copied, .. } = &fork.body else { unreachable!("a fork begins with its own event") };
        // Violations of the rule about contexts are ignored. The contexts were checked when the origin job was
        // accepted, and the fork copies them unchanged.
        let of_plan = |violation: &Violation| violation.code != plan::CONTEXT_RULE;
        let violations = self.violations(&origin.job.plan).into_iter().filter(of_plan);
        let is_copied = |violation: &Violation| {
            let index = violation.pointer.strip_prefix("/steps/").and_then(|rest| rest.split('/').next()?.parse().ok());
            let step = index.and_then(|index: usize| origin.job.plan.steps.get(index));
            step.is_some_and(|step| copied.iter().any(|copied| copied.step_id == step.step_id))
        };
        let violations: Vec<_> = violations.filter(|violation| !is_copied(violation)).collect();
        if violations.is_empty() { Ok(()) } else { Err(ForkError::Plan(violations)) }
    }

    /// Returns the new job of a fork, with its first three events. When the store accepts the job, the store also
    /// claims it for this worker.
    fn forked_job(
        &self,
        origin: &Durable,
        request: ForkRequest,
        fork: ForkStart,
        now_us: i64,
    ) -> Result<NewJob, ForkError> {
        let request_key = fork_request_key(&origin.job.header, &request.job_id);
        let header = self.forked_header(origin, &request, &request_key)?;
        let row = pending_row(origin, &header, request_key, now_us);
        let plan = serde_json::to_value(&origin.job.plan).expect("a plan is plain data");
        let bodies = [
            Body::IntentAccepted { header: Box::new(header) },
            Body::PlanCreated { plan, plan_hash: origin.job.plan_hash },
            fork.body,
        ];
        let mut events: Vec<Event> = Vec::new();
        for (seq, body) in (0..).zip(bodies) {
            let head = events.last().map(|event| event.hash).unwrap_or_default();
            events.push(Event::seal(seq, now_us, 0, body, head));
        }
        Ok(NewJob {
            row: JobRow { head: events[2].hash, ..row },
            events,
            secret: request.secret,
            payloads: fork.payloads,
            expectations: expectation::of_plan(&origin.job.plan),
            claim: Some(self.worker().lease_request()),
            queue: QueueLimit::default(),
        })
    }

    /// Returns the header of the fork: the header of its origin under the current policy and with the current plugins.
    fn forked_header(&self, origin: &Durable, request: &ForkRequest, request_key: &Hash) -> Result<Header, ForkError> {
        let header = &origin.job.header;
        let accepting = self.acceptance_policy(&header.tenant_id, &request.by.actor, header.mode)?;
        let of_request = |label: &str| {
            let kept = origin.payloads.get(label)?;
            Some(keys::payload_ref(&request.secret, label, kept))
        };
        Ok(Header {
            job_id: request.job_id.clone(),
            actor_id: request.by.actor.clone(),
            trace_id: hex::encode(self.machine().random_bytes::<16>()),
            request: RequestRef::new(&request.secret, request_key),
            engine_profile: self.engine_profile(),
            // Standing approvals are not copied, because they were given for the origin only.
            standing_approvals: Vec::new(),
            contexts: of_request(label::CONTEXTS),
            parameters: of_request(label::PARAMETERS),
            policy: accepting.policy,
            rules: accepting.rules,
            operators: reachable_operators(&origin.job.plan, self.registry().pinned_operators()),
            ..header.clone()
        })
    }

    fn violations(&self, plan: &plan::Plan) -> Vec<Violation> {
        let text = serde_json::to_vec(plan).expect("a plan is plain data");
        self.check(&text).err().unwrap_or_default()
    }

    /// Checks that the given output is valid JSON and matches the output schema of the step.
    fn check_output(&self, origin: &Durable, step: &StepId, output: &[u8]) -> Result<(), String> {
        let value = canon::parse_strict(output).map_err(|error| error.to_string())?;
        let job = &origin.job;
        let operator = job.plan.step(step).map(|planned| &planned.name);
        let copied = job.step(step).and_then(|step| step.copied.as_ref());
        let pinned = copied
            .and_then(|(maker, _)| maker.pinned.as_ref())
            .or_else(|| operator.and_then(|operator| job.pinned(operator)));
        let (Some(operator), Some(pinned)) = (operator, pinned) else { return Ok(()) };
        let plugin = self.registry().by_digest(pinned.digest, pinned.wasi)?;
        plugin.check_output(operator.as_str(), &value).map_err(|failure| failure.message)
    }
}

/// Returns the request key of a fork. The id of the new job makes the key unique.
fn fork_request_key(origin: &Header, job_id: &JobId) -> Hash {
    Hash::of(&[b"fork\0", &origin.request.hash().0, job_id.as_str().as_bytes()])
}

/// Returns the row of the new job. The hash of its last event is set later.
fn pending_row(origin: &Durable, header: &Header, request_key: Hash, now_us: i64) -> JobRow {
    JobRow {
        job_id: header.job_id.clone(),
        tenant_id: header.tenant_id.clone(),
        actor_id: header.actor_id.clone(),
        request_key,
        plan_id: origin.job.plan.plan_id.clone(),
        plan_hash: origin.job.plan_hash,
        mode: header.mode.as_str().to_owned(),
        state: JobState::Pending,
        attempt: 0,
        next_seq: 3,
        head: Hash::default(),
        inbox_pending: false,
        cancel_requested: false,
        wake_at_us: None,
        priority: 0,
        created_us: now_us,
        updated_us: now_us,
    }
}
