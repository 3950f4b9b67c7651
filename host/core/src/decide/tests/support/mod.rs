//! Single-threaded simulated worker, and the jobs and checks that several tests share. The worker writes batches in
//! order. A simulated crash loses a batch and all later batches.

mod calls;
pub(super) mod compensation;
pub(super) mod evidence;
pub(super) mod offers;
mod operators;
mod store;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::decide;
use crate::decide::{ConfirmationResult, Context, JobSettlement, UndoAction};
use crate::event::{Body, Event, Header, RequestRef};
use crate::model::auto_exec::AutoExec;
use crate::model::effect::{Answer, Effect as Recorded};
use crate::model::ids::{Hash, JobId, Operator, Slot};
use crate::model::job::JobState;
use crate::model::mode::Mode;
use crate::model::rules::Rules;
use crate::plan::Plan;
use crate::rules::reuse::ReusableResult;
use crate::state::Durable;
use crate::storage::{ActionRow, InboxRequest, InboxRow, JobRow, ManualVerdict, Payload, StoredJob};

pub(super) use operators::{good, operators, pinned, step, wait};

/// Point at which the process dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CrashPoint {
    /// The process dies before the n-th write, counted from 0.
    Write(usize),
    /// The process dies before the n-th execution, counted from 0. The call was permitted and is not executed.
    BeforeExecute(usize),
    /// The process dies after the n-th execution, counted from 0. The call was executed and its answer is not
    /// recorded.
    AfterExecute(usize),
}

/// Error returned by a process that died at its [`CrashPoint`].
#[derive(Debug)]
pub(super) struct Dead;

/// Simulated worker. Contains the state that outlives its processes: the stored batches and the world.
pub(super) struct Sim {
    pub(super) record: StoredJob,
    pub(super) effects: Vec<Recorded>,
    /// Number of executions by slot.
    pub(super) executions_by_slot: BTreeMap<Slot, u32>,
    /// External keys of the effects in the world. Several executions of a keyed call have the same key and count
    /// once.
    pub(super) effect_keys: BTreeSet<String>,
    pub(super) rules: Rules,
    /// Answers that the tools return first, by operator. Later calls return the answer [`good`].
    pub(super) script: BTreeMap<Operator, Vec<Answer>>,
    /// Spending of the tenant's other jobs this month, in micro-USD.
    pub(super) spent_elsewhere: u64,
    /// Maximum cost of a call in micro-USD, if known.
    pub(super) max_cost: Option<u64>,
    /// One entry for each recorded answer, in order. True if the write of the answer required an immediate
    /// flush.
    pub(super) answers_flushed: Vec<bool>,
    /// Number of `reconcile` requests that are answered "not yet".
    pub(super) not_yets: u32,
    /// True if `reconcile` answers that it does not know the outcome of the call.
    pub(super) reconcile_unknown: bool,
    /// Number of tries of step plugins that end because the machine lacks a resource.
    pub(super) machine_faults: u32,
    /// True if calls without an answer never reach the world.
    pub(super) loses_calls: bool,
    pub(super) now_us: i64,
    /// Reservations of action keys. Tests add the reservations of other jobs.
    pub(super) actions: BTreeMap<Hash, ActionRow>,
    looks_up_first: bool,
    /// Action keys that the job waits for.
    pub(super) waits: BTreeSet<Hash>,
    /// Reusable results that the job left for later jobs.
    pub(super) reusables: Vec<ReusableResult>,
    /// Reusable result of an earlier job: its index row and its output.
    pub(super) earlier: Option<(ReusableResult, Vec<u8>)>,
    /// Results of verifiers by slot. For every other slot, the verifier finds that the change is as recorded.
    pub(super) verifier_results: BTreeMap<Slot, ConfirmationResult>,
    /// Number of verifications by slot.
    pub(super) verifications: BTreeMap<Slot, u32>,
    /// Number of times that the job tried to settle an action key that another job held. These writes have no effect.
    pub(super) settled_of_others: u32,
    /// Number of claims whose event was never written.
    pub(super) lost_claims: u32,
    /// Attempt of the process.
    attempt: u32,
    writes: usize,
    executions: usize,
    crash: Option<CrashPoint>,
    pub(super) inbox: Vec<InboxRow>,
    pub(super) random: u64,
}

impl Sim {
    pub(super) fn new(mode: Mode, steps: Vec<Value>) -> Sim {
        Self::of(mode, json!({ "plan_id": "p", "schema_version": "1.0", "steps": steps }), None)
    }

    /// Returns a job that executes the plan. The plan is in normal form. `values` are the values of the
    /// plan's parameters, if there are any.
    pub(super) fn of(mode: Mode, plan: Value, values: Option<&Value>) -> Sim {
        let plan: Plan = serde_json::from_value(plan).unwrap();
        Sim {
            record: accepted_job(mode, &plan, values),
            effects: vec![],
            executions_by_slot: BTreeMap::new(),
            effect_keys: BTreeSet::new(),
            // The policy trusts every actor, so `AUTO_EXEC` has only the gates of the plan.
            rules: Rules {
                standing_approvals: true,
                auto_exec: AutoExec { enabled: true, min_trust: 0, trust: BTreeMap::new() },
                ..Rules::default()
            },
            script: BTreeMap::new(),
            spent_elsewhere: 0,
            answers_flushed: vec![],
            max_cost: None,
            not_yets: 0,
            reconcile_unknown: false,
            machine_faults: 0,
            loses_calls: false,
            now_us: 2_000,
            actions: BTreeMap::new(),
            looks_up_first: false,
            waits: BTreeSet::new(),
            reusables: vec![],
            earlier: None,
            verifier_results: BTreeMap::new(),
            verifications: BTreeMap::new(),
            settled_of_others: 0,
            lost_claims: 0,
            attempt: 0,
            writes: 0,
            executions: 0,
            crash: None,
            inbox: vec![],
            random: 0,
        }
    }

    /// Replaces the log by the first two events of a new job with the same plan and the given header.
    pub(super) fn begin_with(&mut self, header: Header) {
        let accepted = Body::IntentAccepted { header: Box::new(header) };
        let accepted = Event::seal(0, 1_000, 0, accepted, Hash::default());
        let created = Event::seal(1, 1_000, 0, self.record.events[1].body.clone(), accepted.hash);
        self.record.row.head = created.hash;
        self.record.events = vec![accepted, created];
    }

    /// Runs one process, from its claim until the job settles or the process dies.
    pub(super) fn process(&mut self, crash: Option<CrashPoint>) -> Result<Durable, Dead> {
        self.crash = crash;
        self.writes = 0;
        self.executions = 0;
        let mut durable = self.durable();
        self.attempt = durable.job.attempt;
        durable.prefetched.query_keys_first = self.looks_up_first;
        let context = self.context();
        let reopen = self.inbox.iter().position(|row| row.request.reopens());
        if durable.job.state.is_terminal() && reopen.is_none() {
            for row in decide::in_application_order(std::mem::take(&mut self.inbox)) {
                let draft = decide::apply_audit_request(&durable, &row);
                self.write(&mut durable, draft)?;
            }
            return Ok(durable);
        }
        self.claim(&mut durable, reopen, &context)?;
        self.apply_inbox(&mut durable)?;
        self.fire_due(&mut durable)?;
        self.confirm(&mut durable)?;
        loop {
            let none = BTreeSet::new();
            self.look_up(&mut durable);
            while let Some(draft) = decide::advance(&durable, &self.context(), &none) {
                self.write(&mut durable, draft)?;
                self.look_up(&mut durable);
            }
            if let Some(step) = decide::startable(&durable, &none).first() {
                self.try_step(&mut durable, &step.clone())?;
                continue;
            }
            if let Some(invocation) = decide::next_call_in_doubt(&durable) {
                self.follow(&mut durable, invocation)?;
                continue;
            }
            match decide::next_undo_action(&durable, &self.context()) {
                Some(UndoAction::Write(draft)) => {
                    self.write(&mut durable, draft)?;
                    continue;
                }
                Some(UndoAction::Perform(invocation)) => {
                    self.follow(&mut durable, *invocation)?;
                    continue;
                }
                None => {}
            }
            let rest = decide::job_settlement(&durable);
            if let JobSettlement::WaitUntil(time_us) = rest {
                self.now_us = self.now_us.max(time_us);
                self.fire_due(&mut durable)?;
                continue;
            }
            let draft = decide::settle_job(&durable, &rest, &self.context());
            self.write(&mut durable, draft)?;
            return Ok(durable);
        }
    }

    /// Claims the job. A finished job is reopened by the inbox request with the index `reopen`.
    fn claim(&mut self, durable: &mut Durable, reopen: Option<usize>, context: &Context) -> Result<(), Dead> {
        self.attempt = durable.job.attempt + 1 + self.lost_claims;
        let claim = decide::claimed("w", Hash::default());
        let claim = match reopen.filter(|_| durable.job.state.is_terminal()) {
            Some(at) => decide::reopen_job(durable, &self.inbox[at], context).merge(claim),
            None => claim.merge(decide::withdraw_receipts_after_unloaded_reopen(durable)),
        };
        self.write(durable, claim)
    }

    /// Applies the requests in the inbox.
    fn apply_inbox(&mut self, durable: &mut Durable) -> Result<(), Dead> {
        for row in decide::in_application_order(std::mem::take(&mut self.inbox)) {
            let mut is_done = false;
            while !is_done {
                let draft = decide::apply_request(durable, &row, &self.context());
                is_done = draft.inbox_done.contains(&row.id);
                self.write(durable, draft)?;
            }
        }
        Ok(())
    }

    /// Has the recorded effects confirmed by the verifiers.
    fn confirm(&mut self, durable: &mut Durable) -> Result<(), Dead> {
        let looked: Vec<_> = decide::due_confirmations(durable)
            .into_iter()
            .map(|check| {
                *self.verifications.entry(check.slot.clone()).or_default() += 1;
                let found = self.verifier_results.get(&check.slot).cloned().unwrap_or(ConfirmationResult::Confirmed);
                (check, found)
            })
            .collect();
        let draft = decide::record_confirmation_results(durable, &looked);
        self.write(durable, draft)
    }

    /// Runs a process that looks up the holders of action keys before any try. A worker does this after the
    /// store refused to reserve a key.
    pub(super) fn process_with_lookups(&mut self) -> Result<Durable, Dead> {
        self.looks_up_first = true;
        self.process(None)
    }

    /// Fires the timers that are due.
    fn fire_due(&mut self, durable: &mut Durable) -> Result<(), Dead> {
        for (name, due_us) in durable.job.timers() {
            if due_us <= self.now_us {
                let request = InboxRequest::Timer { name, due_us };
                let row = InboxRow { id: -1, actor: "latchwork".into(), reason: None, request, verified: None };
                let draft = decide::apply_request(durable, &row, &self.context());
                self.write(durable, draft)?;
            }
        }
        Ok(())
    }

    /// Puts a request into the inbox of the next process.
    pub(super) fn send_request(&mut self, request: InboxRequest) {
        self.send_request_as("bob", request);
    }

    /// Returns the request for a verdict on a call in doubt, as the command line sends it. If the call is no
    /// longer in doubt, the request names the try on which an earlier verdict was given.
    pub(super) fn verdict(&self, slot: &Slot, verdict: ManualVerdict) -> InboxRequest {
        let durable = self.durable();
        decide::verdict_request(&durable, slot, verdict.clone(), i64::MAX).unwrap_or_else(|_| {
            let (&try_no, _) = durable.job.calls[slot].verdicts.last_key_value().expect("it was resolved");
            InboxRequest::Resolve { slot: slot.clone(), try_no, verdict }
        })
    }

    /// Puts a verdict into the inbox of the next process.
    pub(super) fn resolve(&mut self, slot: Slot, verdict: ManualVerdict) {
        self.send_request(self.verdict(&slot, verdict));
    }

    /// Puts a request of this actor into the inbox.
    pub(super) fn send_request_as(&mut self, actor: &str, request: InboxRequest) {
        self.send_request_with_reason(actor, None, request);
    }

    /// Puts a request of this actor into the inbox, with a reason.
    pub(super) fn send_request_with_reason(&mut self, actor: &str, reason: Option<&str>, request: InboxRequest) {
        let (id, reason) = (self.inbox.len() as i64, reason.map(str::to_owned));
        self.inbox.push(InboxRow { id, actor: actor.into(), reason, request, verified: None });
    }

    pub(super) fn durable(&self) -> Durable {
        Durable::load(self.record.clone(), self.effects.clone()).expect("what was written folds")
    }

    pub(super) fn context(&mut self) -> Context<'static> {
        self.random += 1;
        self.now_us += 10;
        let rules: &'static Rules = Box::leak(Box::new(self.rules.clone()));
        Context { now_us: self.now_us, random: self.random, rules, clock_margin_ms: 2_000 }
    }
}

/// Returns the stored job that a host has accepted and no worker has claimed.
fn accepted_job(mode: Mode, plan: &Plan, values: Option<&Value>) -> StoredJob {
    let secret = Hash::of(&[b"secret"]);
    let label = crate::state::label::PARAMETERS.to_owned();
    let bytes = values.map(crate::encoding::canon::value_to_canonical);
    let parameters = bytes.as_ref().map(|bytes| crate::model::keys::payload_ref(&secret, &label, bytes));
    let header = Header {
        job_id: JobId::new("job_1"),
        tenant_id: "default".into(),
        actor_id: "ada".into(),
        correlation_id: "c".into(),
        trace_id: "t".into(),
        intent_type: "plan".into(),
        request: RequestRef::new(&secret, &Hash::default()),
        mode,
        job_seed: Hash::default(),
        engine_profile: Hash::default(),
        standing_approvals: vec![],
        contexts: None,
        parameters,
        policy: None,
        rules: None,
        operators: operators(),
    };
    let accepted = Event::seal(0, 1_000, 0, Body::IntentAccepted { header: Box::new(header) }, Hash::default());
    let created = Body::PlanCreated { plan: serde_json::to_value(plan).unwrap(), plan_hash: plan.hash() };
    let created = Event::seal(1, 1_000, 0, created, accepted.hash);
    let row = JobRow {
        job_id: JobId::new("job_1"),
        tenant_id: "default".into(),
        actor_id: "ada".into(),
        request_key: Hash::default(),
        plan_id: "p".into(),
        plan_hash: plan.hash(),
        mode: mode.as_str().into(),
        state: JobState::Pending,
        attempt: 0,
        next_seq: 2,
        head: created.hash,
        inbox_pending: false,
        cancel_requested: false,
        wake_at_us: None,
        priority: 0,
        created_us: 1_000,
        updated_us: 1_000,
    };
    StoredJob {
        row,
        secret,
        events: vec![accepted, created],
        ledger: vec![],
        payloads: bytes.into_iter().map(|bytes| Payload { label: label.clone(), bytes }).collect(),
        inbox: vec![],
    }
}
