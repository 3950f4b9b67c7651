//! A worker in one thread: what it wrote is a list of batches, and a crash cuts the list.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::decide::{self, Context, Invocation, Looked, Lookup, Next, ReconcileAnswer, Rest, StepResult, Undo};
use crate::effect::{Answer, Effect as Recorded, Output};
use crate::error::Failure;
use crate::event::{Body, Event, Header, Mode};
use crate::ids::{Hash, JobId, Operator, Slot, StepId};
use crate::job::JobState;
use crate::manifest::{Class, Determinism, Effect, Limits, OnIndeterminate, Pinned, PluginKind, Resolution};
use crate::plan::Plan;
use crate::policy::{AutoExec, Rules};
use crate::reuse::Reusable;
use crate::state::{Candidate, Draft, Durable, label};
use crate::storage::{ActionRow, ActionWrite, Batch, InboxRow, JobRow, Record, Request, Resolved};

/// Where the process dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// Before the n-th write (from 0).
    Write(usize),
    /// Before the n-th execution: permitted, not executed.
    BeforeExecute(usize),
    /// After the n-th execution: executed, not recorded.
    AfterExecute(usize),
}

/// The process died.
#[derive(Debug)]
pub(super) struct Dead;

/// What outlives processes: the batches, and the world.
pub(super) struct Sim {
    pub(super) record: Record,
    pub(super) effects: Vec<Recorded>,
    /// Executions by slot.
    pub(super) world: BTreeMap<Slot, u32>,
    /// Distinct effects downstream: a keyed tool's repeats count once.
    pub(super) applied: BTreeSet<String>,
    pub(super) rules: Rules,
    /// Answers of tools to be given before the good one, by operator.
    pub(super) script: BTreeMap<Operator, Vec<Answer>>,
    /// What other jobs of the tenant have spent this month.
    pub(super) spent_elsewhere: u64,
    /// The most that a call can cost, where it is known.
    pub(super) most: Option<u64>,
    /// Of each answer that was written: whether it was to be durable at once.
    pub(super) answers_flushed: Vec<bool>,
    /// How often `reconcile` cannot tell yet.
    pub(super) not_yets: u32,
    /// What `reconcile` cannot tell.
    pub(super) reconcile_unknown: bool,
    /// Whether calls without an answer never reach the world.
    pub(super) loses_calls: bool,
    pub(super) now_us: i64,
    /// Reservations of action keys; other jobs' are put here by tests.
    pub(super) actions: BTreeMap<Hash, ActionRow>,
    looks_first: bool,
    /// Keys the job waits for.
    pub(super) waits: BTreeSet<Hash>,
    /// What is kept for later jobs.
    pub(super) reusables: Vec<Reusable>,
    /// What an earlier job left: its index row and the output.
    pub(super) earlier: Option<(Reusable, Vec<u8>)>,
    /// What verifiers find, by slot; what is not here is as it was recorded.
    pub(super) finds: BTreeMap<Slot, Looked>,
    /// How often a verifier looked, by slot.
    pub(super) looks: BTreeMap<Slot, u32>,
    /// Claims whose event was never written.
    pub(super) lost_claims: u32,
    writes: usize,
    executions: usize,
    cut: Option<Cut>,
    inbox: Vec<InboxRow>,
    random: u64,
}

pub(super) fn pinned(class: Class, effects: &[Effect], kind: PluginKind) -> Pinned {
    Pinned {
        plugin: "p".into(),
        version: "1.0.0".into(),
        digest: Hash::of(&[b"component"]),
        kind,
        effects: effects.to_vec(),
        determinism: Determinism::External,
        class,
        resolution: Resolution {
            idempotent_by_key_seconds: if class == Class::Keyed { 86_400 } else { 0 },
            settling_ms: 0,
        },
        reconcile: class == Class::Queryable,
        compensate: false,
        on_indeterminate: OnIndeterminate::Park,
        verifier: None,
        confirmation: Default::default(),
        outcome_type: None,
        outcome_status: None,
        retry: None,
        limits: Limits::default(),
        wasi: Default::default(),
    }
}

pub(super) fn operators() -> BTreeMap<Operator, Pinned> {
    let send = [Effect::ExternalSend];
    [
        ("Opaque", pinned(Class::Opaque, &send, PluginKind::Tool)),
        ("Keyed", pinned(Class::Keyed, &send, PluginKind::Tool)),
        ("Queryable", pinned(Class::Queryable, &send, PluginKind::Tool)),
        ("Read", pinned(Class::Read, &[Effect::ReadOnly], PluginKind::Tool)),
        (
            "Model",
            Pinned { determinism: Determinism::Stable, ..pinned(Class::Read, &[Effect::ReadOnly], PluginKind::Tool) },
        ),
        ("Script", pinned(Class::Read, &send, PluginKind::Step)),
        // Like `Script`, but fails where a call does; it declares nothing of what it calls.
        ("Failing", pinned(Class::Read, &[], PluginKind::Step)),
    ]
    .map(|(name, pinned)| (Operator::new(name), pinned))
    .into()
}

/// A plan step.
pub(super) fn step(id: &str, name: &str, depends_on: &[&str], payload: Value) -> Value {
    json!({
        "step_id": id, "kind": "operator", "name": name, "payload": payload, "depends_on": depends_on,
        "effects": ["read_only", "external_send"], "policy_tags": [], "gate": "none", "cache_policy": "never",
        "idempotency_template": id,
    })
}

impl Sim {
    pub(super) fn new(mode: Mode, steps: Vec<Value>) -> Sim {
        let plan: Plan =
            serde_json::from_value(json!({ "plan_id": "p", "schema_version": "1.0", "steps": steps })).unwrap();
        let header = Header {
            job_id: JobId::new("job_1"),
            tenant_id: "default".into(),
            actor_id: "ada".into(),
            correlation_id: "c".into(),
            trace_id: "t".into(),
            intent_type: "plan".into(),
            request_key: Hash::default(),
            mode,
            job_seed: Hash::default(),
            engine_profile: Hash::default(),
            standing_approvals: vec![],
            contexts: None,
            policy: None,
            rules: None,
            operators: operators(),
        };
        let accepted = Event::seal(0, 1_000, 0, Body::IntentAccepted { header: Box::new(header) }, Hash::default());
        let created = Body::PlanCreated { plan: serde_json::to_value(&plan).unwrap(), plan_hash: plan.hash() };
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
        let record = Record {
            row,
            secret: Hash::of(&[b"secret"]),
            events: vec![accepted, created],
            ledger: vec![],
            payloads: vec![],
            inbox: vec![],
        };
        Sim {
            record,
            effects: vec![],
            world: BTreeMap::new(),
            applied: BTreeSet::new(),
            // The tenant trusts everybody: `AUTO_EXEC` asks only where the plan does.
            rules: Rules {
                standing_approvals: true,
                auto_exec: AutoExec { enabled: true, min_trust: 0, trust: BTreeMap::new() },
                ..Rules::default()
            },
            script: BTreeMap::new(),
            spent_elsewhere: 0,
            answers_flushed: vec![],
            most: None,
            not_yets: 0,
            reconcile_unknown: false,
            loses_calls: false,
            now_us: 2_000,
            actions: BTreeMap::new(),
            looks_first: false,
            waits: BTreeSet::new(),
            reusables: vec![],
            earlier: None,
            finds: BTreeMap::new(),
            looks: BTreeMap::new(),
            lost_claims: 0,
            writes: 0,
            executions: 0,
            cut: None,
            inbox: vec![],
            random: 0,
        }
    }

    /// The same plan, accepted under another header.
    pub(super) fn begin_with(&mut self, header: Header) {
        let accepted = Body::IntentAccepted { header: Box::new(header) };
        let accepted = Event::seal(0, 1_000, 0, accepted, Hash::default());
        let created = Event::seal(1, 1_000, 0, self.record.events[1].body.clone(), accepted.hash);
        self.record.row.head = created.hash;
        self.record.events = vec![accepted, created];
    }

    /// One process from its claim until the job rests or the process dies.
    pub(super) fn process(&mut self, cut: Option<Cut>) -> Result<Durable, Dead> {
        self.cut = cut;
        self.writes = 0;
        self.executions = 0;
        let mut durable = self.durable();
        durable.seen.look_first = self.looks_first;
        let context = self.context();
        let retry = self.inbox.iter().position(|row| matches!(row.request, Request::Retry));
        if durable.job.state.is_terminal() && retry.is_none() {
            for row in decide::in_order(std::mem::take(&mut self.inbox)) {
                let draft = decide::audited(&durable, &row);
                self.write(&mut durable, draft)?;
            }
            return Ok(durable);
        }
        let attempt = durable.job.attempt + 1 + self.lost_claims;
        let claim = decide::claimed(attempt, "w", Hash::default());
        let claim = match retry.filter(|_| durable.job.state.is_terminal()) {
            Some(at) => decide::reopened(&durable, &self.inbox[at], &context).and(claim),
            None => claim,
        };
        self.write(&mut durable, claim)?;
        for row in decide::in_order(std::mem::take(&mut self.inbox)) {
            let mut is_done = false;
            while !is_done {
                let draft = decide::inbox(&durable, &row, &self.context());
                is_done = draft.inbox_done.contains(&row.id);
                self.write(&mut durable, draft)?;
            }
        }
        self.fire_due(&mut durable)?;
        let looked: Vec<_> = decide::confirmations(&durable)
            .into_iter()
            .map(|check| {
                *self.looks.entry(check.slot.clone()).or_default() += 1;
                let found = self.finds.get(&check.slot).cloned().unwrap_or(Looked::Confirmed);
                (check, found)
            })
            .collect();
        let draft = decide::looked_at(&durable, &looked);
        self.write(&mut durable, draft)?;
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
            if let Some(invocation) = decide::doubt(&durable) {
                self.follow(&mut durable, invocation)?;
                continue;
            }
            match decide::undo(&durable, &self.context()) {
                Some(Undo::Write(draft)) => {
                    self.write(&mut durable, draft)?;
                    continue;
                }
                Some(Undo::Perform(invocation)) => {
                    self.follow(&mut durable, *invocation)?;
                    continue;
                }
                None => {}
            }
            let rest = decide::rest(&durable);
            if let Rest::Until(time_us) = rest {
                self.now_us = self.now_us.max(time_us);
                self.fire_due(&mut durable)?;
                continue;
            }
            let draft = decide::end_of_job(&durable, &rest, &self.context());
            self.write(&mut durable, draft)?;
            return Ok(durable);
        }
    }

    /// A process that looks at reservations before it tries anything, as after a refusal.
    pub(super) fn process_looking(&mut self) -> Result<Durable, Dead> {
        self.looks_first = true;
        self.process(None)
    }

    /// Fires the timers that are due.
    fn fire_due(&mut self, durable: &mut Durable) -> Result<(), Dead> {
        for (name, due_us) in durable.job.timers() {
            if due_us <= self.now_us {
                let request = Request::Timer { name, due_us };
                let row = InboxRow { id: -1, actor: "latchwork".into(), reason: None, request };
                let draft = decide::inbox(durable, &row, &self.context());
                self.write(durable, draft)?;
            }
        }
        Ok(())
    }

    /// Puts a request into the inbox of the next process.
    pub(super) fn ask(&mut self, request: Request) {
        self.ask_as("bob", request);
    }

    /// A verdict on a call in doubt, as the command line gives it; where there is no doubt, on the try
    /// that was resolved.
    pub(super) fn verdict(&self, slot: &Slot, verdict: Resolved) -> Request {
        let durable = self.durable();
        decide::verdict(&durable, slot, verdict.clone(), i64::MAX).unwrap_or_else(|_| {
            let (&try_no, _) = durable.job.calls[slot].verdicts.last_key_value().expect("it was resolved");
            Request::Resolve { slot: slot.clone(), try_no, verdict }
        })
    }

    /// Gives that verdict.
    pub(super) fn resolve(&mut self, slot: Slot, verdict: Resolved) {
        self.ask(self.verdict(&slot, verdict));
    }

    /// The same as somebody else.
    pub(super) fn ask_as(&mut self, actor: &str, request: Request) {
        self.ask_because(actor, None, request);
    }

    /// The same, with a reason.
    pub(super) fn ask_because(&mut self, actor: &str, reason: Option<&str>, request: Request) {
        let (id, reason) = (self.inbox.len() as i64, reason.map(str::to_owned));
        self.inbox.push(InboxRow { id, actor: actor.into(), reason, request });
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

    fn write(&mut self, durable: &mut Durable, draft: Draft) -> Result<(), Dead> {
        if draft.is_empty() {
            return Ok(());
        }
        if self.cut == Some(Cut::Write(self.writes)) {
            return Err(Dead);
        }
        self.writes += 1;
        if draft.events.iter().any(|body| matches!(body, Body::ToolInvocationFinished { .. })) {
            self.answers_flushed.push(draft.flush_now);
        }
        // What a staged commit may part are a final answer and its row, which the answer repairs.
        let ends = |body: &Body| matches!(body, Body::ToolInvocationFinished { .. } | Body::InvocationResolved { .. });
        let is_final = draft.events.iter().any(|body| matches!(body, Body::CommandCommitted { .. }));
        let parts = draft.events.iter().any(ends) && !is_final && !draft.ledger.is_empty();
        assert!(!parts || draft.whole || draft.acquire, "a crash between its events and its row: {draft:?}");
        let gives_up = draft.status.is_some_and(|status| crate::admit::gives_up(status.to));
        let more = !(draft.ledger.is_empty() && draft.actions.is_empty());
        assert!(!(gives_up && more) || draft.whole, "nobody could write the rest: {draft:?}");
        let batch = durable.seal(draft, self.now_us).expect("decisions are legal");
        self.store(batch);
        Ok(())
    }

    fn store(&mut self, batch: Batch) {
        assert_eq!(batch.expect_seq as usize, self.record.events.len(), "appends are in order");
        self.record.events.extend(batch.events);
        for action in batch.actions {
            self.act(action);
        }
        self.reusables.extend(batch.reusables);
        for write in batch.ledger {
            let row = write.row().clone();
            self.record.ledger.retain(|old| old.slot != row.slot);
            self.record.ledger.push(row);
        }
        for effect in batch.effects {
            let same = |old: &&Recorded| old.slot == effect.slot && old.try_no == effect.try_no;
            assert!(self.effects.iter().find(same).is_none(), "effects are write-once: {effect:?}");
            self.effects.push(effect);
        }
        for payload in batch.payloads {
            match self.record.payloads.iter().find(|old| old.label == payload.label) {
                Some(old) => assert_eq!(old.bytes, payload.bytes, "payloads are write-once"),
                None => self.record.payloads.push(payload),
            }
        }
    }

    fn look_up(&mut self, durable: &mut Durable) {
        for lookup in decide::lookups(durable, &self.context(), &BTreeSet::new()) {
            match lookup {
                Lookup::Action { slot, key, .. } => {
                    durable.seen.actions.insert(slot, self.actions.get(&key).cloned());
                }
                Lookup::Outcome { step_id, input_hash, .. } => {
                    let found = self.earlier.clone().filter(|(reusable, _)| reusable.input_hash == input_hash);
                    let candidate = found.map(|(reusable, output)| Candidate { reusable, output: Some(output.into()) });
                    durable.seen.outcomes.insert(step_id, candidate);
                }
            }
        }
    }

    /// What the store does with reservations, as far as one job sees it.
    fn act(&mut self, action: ActionWrite) {
        match action {
            ActionWrite::Reserve { key, args_hash, slot, .. } => {
                let row = ActionRow { job_id: JobId::new("job_1"), slot, args_hash, receipt: None };
                let held = self.actions.entry(key).or_insert_with(|| row.clone());
                assert_eq!(*held, row, "a key is reserved by one slot");
            }
            ActionWrite::Settle { key, slot, receipt, .. } => {
                let held = self.actions.get(&key).filter(|row| row.job_id == JobId::new("job_1") && row.slot == slot);
                assert!(held.is_some() || receipt.is_none(), "a key is settled by its holder");
                match receipt {
                    Some(_) => self.actions.get_mut(&key).unwrap().receipt = receipt,
                    None => drop(self.actions.remove(&key)),
                }
            }
            ActionWrite::TakeBack { key, slot, .. } => {
                let held = self.actions.get_mut(&key).expect("a receipt is taken back by its holder");
                assert_eq!((&held.job_id, &held.slot), (&JobId::new("job_1"), &slot));
                held.receipt = None;
            }
            ActionWrite::Wait { key, .. } => {
                assert!(self.actions.get(&key).is_some_and(|row| row.receipt.is_none()), "what is waited for is open");
                self.waits.insert(key);
            }
        }
    }

    fn try_step(&mut self, durable: &mut Durable, id: &StepId) -> Result<(), Dead> {
        let draft = decide::step_started(durable, id);
        self.write(durable, draft)?;
        let planned = durable.job.plan.step(id).unwrap().clone();
        let input: Value = serde_json::from_slice(&durable.input(id).unwrap()).unwrap();
        let fails = planned.name.as_str() == "Failing";
        let (calls, result) = if fails || planned.name.as_str() == "Script" {
            // A step plugin that calls the operators of its input, one after another.
            let mut answers = Vec::new();
            let list = input["calls"].as_array().unwrap().clone();
            for (k, call) in list.iter().enumerate() {
                let slot = Slot::of_call(id, k as u32);
                match self.perform(durable, slot, call.as_str().unwrap(), &json!({ "k": k }))? {
                    Some(answer) => answers.push(answer.map_err(|failure| failure.code.to_string())),
                    None => return Ok(()),
                }
            }
            if fails && (input["fail"] == true || answers.iter().any(Result::is_err)) {
                let failure = Failure::new(crate::error::Code::InvalidInput, "a call failed");
                let draft = decide::step_ended(durable, id, list.len() as u32, StepResult::Failed(failure));
                return self.write(durable, draft.expect("the sim is deterministic"));
            }
            let text = json!(answers.iter().map(|a| a.clone().unwrap_or_else(|e| e)).collect::<Vec<_>>());
            (list.len() as u32, StepResult::Output(text.to_string().into_bytes()))
        } else {
            match self.perform(durable, Slot::of_step(id), planned.name.as_str(), &input)? {
                Some(Ok(result)) => (0, StepResult::Output(result.into_bytes())),
                Some(Err(failure)) => (0, StepResult::Failed(failure)),
                None => return Ok(()),
            }
        };
        let draft = decide::step_ended(durable, id, calls, result).expect("the sim is deterministic");
        let draft = decide::indexed(durable, id, draft, &self.context());
        self.write(durable, draft)
    }

    fn perform(
        &mut self,
        durable: &mut Durable,
        slot: Slot,
        operator: &str,
        args: &Value,
    ) -> Result<Option<Result<String, Failure>>, Dead> {
        let args = crate::canon::value_to_canonical(args);
        let action_key = decide::step_action_key(durable, &slot).expect("the templates of the sim resolve");
        let invocation = Invocation {
            args_ref: durable.payload_ref(&label::args(&slot), &args),
            slot,
            operator: Operator::new(operator),
            args,
            action_key,
            timeout_ms: 30_000,
            unfit: None,
            nonce: None,
            quiescence: None,
            asked_enough: false,
            most_micro_usd: self.most,
            reserved_micro_usd: 0,
            month_micro_usd: None,
        };
        self.follow(durable, invocation)
    }

    fn follow(
        &mut self,
        durable: &mut Durable,
        mut invocation: Invocation,
    ) -> Result<Option<Result<String, Failure>>, Dead> {
        for _ in 0..100 {
            match decide::next(durable, &invocation, &self.context()) {
                Next::Answer(answer) => return Ok(Some(answer)),
                Next::Write(draft) => self.write(durable, draft)?,
                Next::Execute { draft, started } => {
                    let changing = draft.acquire;
                    self.write(durable, draft)?;
                    let effect = self.execute(&invocation, &started, changing)?;
                    let draft = decide::answered(durable, &invocation, &started, effect, &self.context());
                    self.write(durable, draft)?;
                }
                Next::LookAction => {
                    let held = invocation.action_key.and_then(|key| self.actions.get(&key).cloned());
                    durable.seen.actions.insert(invocation.slot.clone(), held);
                }
                Next::LookSpent => {
                    invocation.month_micro_usd = Some(self.spent_elsewhere + durable.job.cost.cost_micro_usd)
                }
                Next::Look | Next::StopOldCall => {
                    invocation.quiescence = Some(crate::ledger::Quiescence::Quiescent);
                }
                Next::WaitMs(ms) => self.now_us += i64::from(ms) * 1000,
                Next::Reconcile { first_attempt, .. } => {
                    let key = crate::keys::external_key(&durable.job.header.job_id, &invocation.slot, first_attempt);
                    if self.reconcile_unknown {
                        invocation.asked_enough = true;
                        continue;
                    }
                    let said = match self.applied.contains(&key) {
                        true => ReconcileAnswer::Happened(good()),
                        false => ReconcileAnswer::DidNotHappen,
                    };
                    let said = match self.not_yets.checked_sub(1) {
                        Some(left) => {
                            self.not_yets = left;
                            ReconcileAnswer::NotYet { wait_ms: 500 << (left % 8) }
                        }
                        None => said,
                    };
                    match decide::reconciled(durable, &invocation, said, &self.context()) {
                        Next::Write(draft) => self.write(durable, draft)?,
                        Next::Block(draft) => {
                            self.write(durable, draft)?;
                            return Ok(None);
                        }
                        Next::WaitMs(ms) => self.now_us += i64::from(ms) * 1000,
                        other => panic!("{other:?} after an answer"),
                    }
                }
                Next::Block(draft) => {
                    self.write(durable, draft)?;
                    return Ok(None);
                }
                Next::Diverge(divergence) => panic!("diverged: {divergence}"),
                Next::Drop => return Ok(None),
            }
            let state = durable.job.step(&invocation.slot.step()).unwrap().state;
            if state == crate::step::StepState::FailedRetryable {
                return Ok(None);
            }
        }
        panic!("no answer after a hundred decisions");
    }

    fn execute(&mut self, invocation: &Invocation, started: &decide::Try, changing: bool) -> Result<Recorded, Dead> {
        if self.cut == Some(Cut::BeforeExecute(self.executions)) {
            return Err(Dead);
        }
        let slot = &invocation.slot;
        let scripted = self.script.get_mut(&invocation.operator).filter(|s| !s.is_empty()).map(|s| s.remove(0));
        let answer = scripted.unwrap_or_else(|| Answer::Ok(good()));
        // What answers `NotApplied` did not touch the world; all else did, unless it was lost.
        let is_lost = self.loses_calls && matches!(answer, Answer::Unknown { .. });
        if changing && !is_lost && !matches!(answer, Answer::NotApplied(_)) {
            *self.world.entry(slot.clone()).or_default() += 1;
            self.applied.insert(crate::keys::external_key(&JobId::new("job_1"), slot, started.first_attempt));
        }
        if self.cut == Some(Cut::AfterExecute(self.executions)) {
            return Err(Dead);
        }
        self.executions += 1;
        Ok(Recorded {
            slot: slot.clone(),
            try_no: started.try_no,
            answer,
            provenance: started.provenance,
            time_us: self.now_us,
            spent: Some(crate::effect::Spent { fuel: 5, wall_ms: 2 }),
        })
    }
}

pub(super) fn good() -> Output {
    Output { result: "\"done\"".into(), receipt: None, state_changes: vec![], usage: None }
}
