//! Turns a request into a job with an identity, pinned operators and first events.

use std::collections::BTreeMap;

use serde_json::Value;

use latchwork_core::encoding::canon;
use latchwork_core::event::{AcceptedPolicy, Body, Event, Header, RequestRef};
use latchwork_core::model::ids::{Hash, JobId, Operator, StepId};
use latchwork_core::model::job::JobState;
use latchwork_core::model::keys;
use latchwork_core::model::manifest::{PinnedOperator, PluginKind};
use latchwork_core::model::mode::Mode;
use latchwork_core::model::rules::Rules;
use latchwork_core::plan;
use latchwork_core::plan::{Plan, PlanStep};
use latchwork_core::state::label;
use latchwork_core::storage::{JobRow, LeaseRequest, NewJob, Payload, QueueLimit, expectation};
use latchwork_engine::os::Machine;

use crate::config::DEFAULT_TENANT;

/// A request for a new job. [`Submission::of_plan`] returns one, whose fields the caller may then set.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Submission {
    /// Tenant that owns the job.
    pub tenant: String,
    /// Actor who submits the request.
    pub actor: String,
    /// Type of the intent. `plan` if a bare plan is submitted.
    pub intent_type: String,
    /// Canonical payload of the intent.
    pub intent_payload: Vec<u8>,
    /// Contexts of the request, which are part of the request's identity. Templates may refer to the contexts.
    pub contexts: Vec<Value>,
    /// The checked plan.
    pub plan: Plan,
    /// Values of the plan's parameters with defaults filled in, see [`Plan::values`]. `None` if the plan has
    /// no parameters.
    pub parameters: Option<Value>,
    /// Execution mode of the job.
    pub mode: Mode,
    /// Distinguishes requests that are otherwise equal.
    pub request_id: Option<String>,
    /// Steps approved beforehand.
    pub standing_approvals: Vec<StepId>,
    /// Hash of the policy under which the request is submitted.
    pub policy_hash: Hash,
    /// Priority, from -100 to 100.
    pub priority: i16,
}

/// Policy data that is recorded with a job when it is accepted.
#[derive(Clone, Debug, Default)]
pub struct AcceptancePolicy {
    /// Hash and version of the policy.
    pub policy: Option<AcceptedPolicy>,
    /// Rules of the policy.
    pub rules: Option<Rules>,
}

impl Submission {
    /// Returns a request for a bare plan: tenant `default`, mode `HUMAN_GATED`, no parameters and no approvals.
    pub fn of_plan(plan: Plan, actor: impl Into<String>) -> Self {
        Self {
            tenant: DEFAULT_TENANT.to_owned(),
            actor: actor.into(),
            intent_type: "plan".to_owned(),
            intent_payload: bare_intent(&plan),
            contexts: Vec::new(),
            plan,
            parameters: None,
            mode: Mode::HumanGated,
            request_id: None,
            standing_approvals: Vec::new(),
            policy_hash: Hash::default(),
            priority: 0,
        }
    }

    /// Returns the identity of the request (§6).
    pub fn request_key(&self) -> Hash {
        keys::request_key(&keys::RequestIdentity {
            tenant: &self.tenant,
            actor: &self.actor,
            intent_type: &self.intent_type,
            intent_payload: &self.intent_payload,
            contexts_hash: Hash::of(&[&self.contexts_bytes()]),
            policy_hash: self.policy_hash,
            mode: self.mode,
            request_id: self.request_id.as_deref(),
        })
    }

    fn contexts_bytes(&self) -> Vec<u8> {
        canon::value_to_canonical(&Value::from(self.contexts.clone()))
    }

    /// Creates the job, with new ids and a new seed from `machine`.
    pub fn into_job(
        self,
        operators: &BTreeMap<Operator, PinnedOperator>,
        engine_profile: Hash,
        accepting: AcceptancePolicy,
        claim: Option<LeaseRequest>,
        queue: QueueLimit,
        machine: &Machine,
    ) -> NewJob {
        let now_us = machine.now_us();
        let request_key = self.request_key();
        let job_id = new_job_id(now_us, machine);
        let secret = Hash(machine.random_bytes());
        let contexts = (!self.contexts.is_empty())
            .then(|| Payload { label: label::CONTEXTS.to_owned(), bytes: self.contexts_bytes() });
        let parameters = self
            .parameters
            .as_ref()
            .map(|values| Payload { label: label::PARAMETERS.to_owned(), bytes: canon::value_to_canonical(values) });
        let named = |kept: &Payload| keys::payload_ref(&secret, &kept.label, &kept.bytes);
        let header = Header {
            job_id: job_id.clone(),
            tenant_id: self.tenant,
            actor_id: self.actor,
            correlation_id: hex::encode(machine.random_bytes::<16>()),
            trace_id: hex::encode(machine.random_bytes::<16>()),
            intent_type: self.intent_type,
            request: RequestRef::new(&secret, &request_key),
            mode: self.mode,
            job_seed: Hash(machine.random_bytes()),
            engine_profile,
            standing_approvals: self.standing_approvals,
            contexts: contexts.as_ref().map(named),
            parameters: parameters.as_ref().map(named),
            policy: accepting.policy,
            rules: accepting.rules,
            operators: reachable_operators(&self.plan, operators),
        };
        let plan_hash = self.plan.hash();
        let row = JobRow {
            job_id,
            tenant_id: header.tenant_id.clone(),
            actor_id: header.actor_id.clone(),
            request_key,
            plan_id: self.plan.plan_id.clone(),
            plan_hash,
            mode: self.mode.as_str().to_owned(),
            state: JobState::Pending,
            attempt: 0,
            next_seq: 2,
            head: Hash::default(),
            inbox_pending: false,
            cancel_requested: false,
            wake_at_us: None,
            priority: self.priority,
            created_us: now_us,
            updated_us: now_us,
        };
        let accepted = Body::IntentAccepted { header: Box::new(header) };
        let accepted = Event::seal(0, now_us, 0, accepted, Hash::default());
        let plan = serde_json::to_value(&self.plan).expect("a plan is plain data");
        let created = Event::seal(1, now_us, 0, Body::PlanCreated { plan, plan_hash }, accepted.hash);
        let awaited = expectation::of_plan(&self.plan);
        NewJob {
            row: JobRow { head: created.hash, ..row },
            events: vec![accepted, created],
            secret,
            payloads: contexts.into_iter().chain(parameters).collect(),
            expectations: awaited,
            claim,
            queue,
        }
    }
}

/// Returns the intent of a bare plan: the plan without `plan_id` and `intent_id`, which may differ between
/// equal requests.
pub fn bare_intent(plan: &Plan) -> Vec<u8> {
    canon::value_to_canonical(&without_labels(plan))
}

fn without_labels(plan: &Plan) -> Value {
    let mut value = serde_json::to_value(plan).expect("a plan is plain data");
    if let Value::Object(fields) = &mut value {
        fields.remove("plan_id");
        fields.remove("intent_id");
    }
    value
}

/// Returns the canonical intent payload of a request. If the request states an intent, the payload is that of the
/// intent. If the request also has parameter values, these values, with defaults filled in, are the whole payload. The
/// payload of a bare plan is the plan itself, with the parameter values added if there are any.
pub fn intent_payload(plan: &Plan, payload: Option<&Value>, values: Option<&Value>) -> Vec<u8> {
    match (payload, values) {
        (Some(_), Some(values)) => canon::value_to_canonical(values),
        (Some(payload), None) => canon::value_to_canonical(payload),
        (None, Some(values)) => canon::value_to_canonical(&plan::intent_payload(without_labels(plan), values.clone())),
        (None, None) => bare_intent(plan),
    }
}

/// Returns a unique request id.
pub fn fresh_request_id(machine: &Machine) -> String {
    hex::encode(machine.random_bytes::<16>())
}

pub(crate) fn new_job_id(now_us: i64, machine: &Machine) -> JobId {
    let millis = u64::try_from(now_us / 1000).unwrap_or(0);
    let ulid = ulid::Ulid::from_parts(millis, u128::from_le_bytes(machine.random_bytes()));
    JobId::new(format!("job_{ulid}"))
}

/// Returns the operators that a job can reach. These are the operators that the plan names to execute or undo a step.
/// If the plan has a step plugin, the result also contains all tools.
pub(crate) fn reachable_operators(
    plan: &Plan,
    operators: &BTreeMap<Operator, PinnedOperator>,
) -> BTreeMap<Operator, PinnedOperator> {
    let undoes = |name: &Operator, step: &PlanStep| step.compensate_with.as_deref() == Some(name.as_str());
    let named = |name: &Operator| plan.steps.iter().any(|step| step.name == *name || undoes(name, step));
    let calls_on =
        plan.steps.iter().any(|step| operators.get(&step.name).is_some_and(|pinned| pinned.kind == PluginKind::Step));
    operators
        .iter()
        .filter(|(name, pinned)| named(name) || (calls_on && pinned.kind == PluginKind::Tool))
        .map(|(name, pinned)| (name.clone(), pinned.clone()))
        .collect()
}
