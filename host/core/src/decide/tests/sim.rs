//! A worker in one thread: what it wrote is a list of batches, and a crash cuts the list.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::decide::{self, Context, Looked, Rest, Undo};
use crate::effect::{Answer, Effect as Recorded};
use crate::event::{Body, Event, Header, Mode};
use crate::ids::{Hash, JobId, Operator, Slot};
use crate::job::JobState;
use crate::plan::Plan;
use crate::policy::{AutoExec, Rules};
use crate::reuse::Reusable;
use crate::state::Durable;
use crate::storage::{ActionRow, InboxRow, JobRow, Payload, Record, Request, Resolved};

mod calls;
mod operators;
mod store;

pub(super) use operators::{good, operators, pinned, step};

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
    /// How often the job freed a key that another job held.
    pub(super) settled_of_others: u32,
    /// Claims whose event was never written.
    pub(super) lost_claims: u32,
    writes: usize,
    executions: usize,
    cut: Option<Cut>,
    inbox: Vec<InboxRow>,
    pub(super) random: u64,
}

impl Sim {
    pub(super) fn new(mode: Mode, steps: Vec<Value>) -> Sim {
        Self::of(mode, json!({ "plan_id": "p", "schema_version": "1.0", "steps": steps }), None)
    }

    /// A job of a plan in normal form, and the values of its parameters where it has any.
    pub(super) fn of(mode: Mode, plan: Value, values: Option<&Value>) -> Sim {
        let plan: Plan = serde_json::from_value(plan).unwrap();
        let secret = Hash::of(&[b"secret"]);
        let label = crate::state::label::PARAMETERS.to_owned();
        let bytes = values.map(crate::canon::value_to_canonical);
        let parameters = bytes.as_ref().map(|bytes| crate::keys::payload_ref(&secret, &label, bytes));
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
            parameters,
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
            secret,
            events: vec![accepted, created],
            ledger: vec![],
            payloads: bytes.into_iter().map(|bytes| Payload { label: label.clone(), bytes }).collect(),
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
            settled_of_others: 0,
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
        let reopen = self.inbox.iter().position(|row| row.request.reopens());
        if durable.job.state.is_terminal() && reopen.is_none() {
            for row in decide::in_order(std::mem::take(&mut self.inbox)) {
                let draft = decide::audited(&durable, &row);
                self.write(&mut durable, draft)?;
            }
            return Ok(durable);
        }
        let attempt = durable.job.attempt + 1 + self.lost_claims;
        let claim = decide::claimed(attempt, "w", Hash::default());
        let claim = match reopen.filter(|_| durable.job.state.is_terminal()) {
            Some(at) => decide::reopened(&durable, &self.inbox[at], &context).and(claim),
            None => claim.and(decide::unread_receipts(&durable)),
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
}
