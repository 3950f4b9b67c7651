//! What all stores hold of one job, as the lease holder sees it, and how a decision becomes a
//! batch: events are numbered, timed and chained here, nowhere else.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::effect::{Answer, Effect};
use crate::event::{Body, Event, PayloadRef};
use crate::ids::{Hash, Slot, StepId};
use crate::keys;
use crate::ledger::Row;
use crate::storage::{ActionWrite, Batch, Flush, LedgerWrite, Payload, Record, StatusWrite};

use super::verify::{problems, verify};
use super::{FoldError, Job, Seen, label};
use crate::reuse::Reusable;

/// What a decision wants written, before it has its place in the log.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    /// Events, in order.
    pub events: Vec<Body>,
    /// Ledger rows.
    pub ledger: Vec<LedgerWrite>,
    /// Effects.
    pub effects: Vec<Effect>,
    /// Payloads.
    pub payloads: Vec<Payload>,
    /// Action keys.
    pub actions: Vec<ActionWrite>,
    /// Inbox rows that have become events.
    pub inbox_done: Vec<i64>,
    /// Results that later jobs may reuse.
    pub reusables: Vec<Reusable>,
    /// Where the job goes.
    pub status: Option<StatusWrite>,
    /// The claim's attempt, in the draft that begins it: an earlier one may have left no event.
    pub attempt: Option<u32>,
    /// Whether it starts invocations.
    pub acquire: bool,
    /// The invocation that goes on under a barrier of before, where it acquires that.
    pub goes_on: Option<Slot>,
    /// Whether log and ledger have to agree about it at once, whatever the commit mode.
    pub whole: bool,
    /// Whether it closes a wait or a gate because of its time, which no undone request may contradict.
    pub drained: bool,
    /// Whether it parks the job though its inbox was not read.
    pub unread: bool,
    /// Whether somebody waits for it to be durable.
    pub flush_now: bool,
}

impl Draft {
    /// Whether there is nothing to write and nothing to ask.
    pub fn is_empty(&self) -> bool {
        !self.acquire && self.inbox_done.is_empty() && self.is_silent()
    }

    /// Whether it leaves no trace of an inbox row but that it is done.
    pub fn is_silent(&self) -> bool {
        self.events.is_empty()
            && self.ledger.is_empty()
            && self.effects.is_empty()
            && self.payloads.is_empty()
            && self.actions.is_empty()
            && self.reusables.is_empty()
            && self.status.is_none()
    }

    /// Both, this one first.
    pub fn and(mut self, other: Draft) -> Draft {
        self.events.extend(other.events);
        self.ledger.extend(other.ledger);
        self.effects.extend(other.effects);
        self.payloads.extend(other.payloads);
        self.actions.extend(other.actions);
        self.inbox_done.extend(other.inbox_done);
        self.reusables.extend(other.reusables);
        self.status = other.status.or(self.status);
        self.attempt = other.attempt.or(self.attempt);
        self.acquire |= other.acquire;
        self.goes_on = other.goes_on.or(self.goes_on);
        self.whole |= other.whole;
        self.drained |= other.drained;
        self.unread |= other.unread;
        self.flush_now |= other.flush_now;
        self
    }
}

/// Everything stored of a job.
#[derive(Clone, Debug)]
pub struct Durable {
    /// The fold of its events.
    pub job: Job,
    /// Secret that payload salts derive from.
    pub secret: Hash,
    /// Its ledger.
    pub rows: BTreeMap<Slot, Row>,
    /// Its effects by slot and try.
    pub effects: BTreeMap<(Slot, u32), Arc<Effect>>,
    /// Its payloads by label.
    pub payloads: BTreeMap<String, Arc<[u8]>>,
    /// What was found of other jobs' work.
    pub seen: Seen,
    /// Inbox rows of times that have come: they contradict no end because of another one.
    pub beside: Vec<i64>,
}

impl Durable {
    /// What was loaded. Payloads and effects are those that the events name, or it is refused.
    pub fn load(mut record: Record, effects: Vec<Effect>) -> Result<Durable, FoldError> {
        let events = std::mem::take(&mut record.events);
        let durable = Durable {
            effects: effects.into_iter().map(|e| ((e.slot.clone(), e.try_no), Arc::new(e))).collect(),
            ..Self::of(Job::fold(&events)?, record)
        };
        verify(&events, &durable)?;
        Ok(durable)
    }

    /// Returns what was loaded, and every payload and effect of it that is missing or is not the one that the events
    /// name.
    ///
    /// # Errors
    /// The log is broken or was written by a newer version.
    pub fn problems(mut record: Record, effects: Vec<Effect>) -> Result<(Durable, Vec<FoldError>), FoldError> {
        let events = std::mem::take(&mut record.events);
        let durable = Durable {
            effects: effects.into_iter().map(|e| ((e.slot.clone(), e.try_no), Arc::new(e))).collect(),
            ..Self::of(Job::fold(&events)?, record)
        };
        let problems = problems(&events, &durable).collect();
        Ok((durable, problems))
    }

    /// What is stored of a job whose effects cannot be had now: enough to open it again and to give it back.
    ///
    /// # Errors
    /// The log is broken or was written by a newer version.
    pub fn without_effects(record: Record) -> Result<Durable, FoldError> {
        Ok(Self::of(Job::fold(&record.events)?, record))
    }

    fn of(job: Job, record: Record) -> Durable {
        Durable {
            job,
            secret: record.secret,
            rows: record.ledger.into_iter().map(|row| (row.slot.clone(), row)).collect(),
            effects: BTreeMap::new(),
            payloads: record.payloads.into_iter().map(|p| (p.label, p.bytes.into())).collect(),
            seen: Seen::default(),
            beside: Vec::new(),
        }
    }

    /// Gives the draft its place in the log and takes it over.
    ///
    /// # Errors
    /// The draft holds an event that the state machines refuse: a defect of the caller.
    pub fn seal(&mut self, draft: Draft, now_us: i64) -> Result<Batch, FoldError> {
        let mut batch = Batch::new(self.job.header.job_id.clone(), self.job.attempt, self.job.next_seq, self.job.head);
        // Event times never go back, whatever the clock does.
        let time_us = now_us.max(self.job.last_us);
        let attempt = draft.attempt.unwrap_or(self.job.attempt);
        batch.attempt = attempt;
        let open = self.job.open_set();
        for body in draft.events {
            let event = Event::seal(self.job.next_seq, time_us, attempt, body, self.job.head);
            self.job.apply(&event)?;
            if let Body::StepUnblocked { step_id } = &event.body {
                // What it waited for has changed: look again.
                self.seen.forget(step_id);
            }
            batch.events.push(event);
        }
        for write in &draft.ledger {
            let row = write.row();
            self.rows.insert(row.slot.clone(), row.clone());
        }
        for effect in &draft.effects {
            self.effects.insert((effect.slot.clone(), effect.try_no), Arc::new(effect.clone()));
        }
        for payload in &draft.payloads {
            self.payloads.insert(payload.label.clone(), payload.bytes.as_slice().into());
        }
        batch.ledger = draft.ledger;
        batch.effects = draft.effects;
        batch.payloads = draft.payloads;
        batch.actions = draft.actions;
        batch.inbox_done = draft.inbox_done;
        batch.reusables = draft.reusables;
        for reusable in &mut batch.reusables {
            reusable.time_us = time_us;
        }
        batch.status = draft.status;
        (batch.awaited, batch.timers) = self.job.changes_since(&open);
        batch.acquire = draft.acquire;
        batch.goes_on = draft.goes_on;
        batch.drained = draft.drained;
        batch.unread = draft.unread;
        batch.beside = if draft.drained { self.beside.clone() } else { Vec::new() };
        // One without events leaves no gap in the log when it is lost: nothing is written behind it before it
        // is known to be there.
        let now = draft.flush_now || batch.events.is_empty();
        batch.flush = if now { Flush::Now } else { Flush::Linger };
        Ok(batch)
    }

    /// The salted hash of a payload.
    pub fn payload_ref(&self, label: &str, bytes: &[u8]) -> PayloadRef {
        keys::payload_ref(&self.secret, label, bytes)
    }

    /// A step's resolved input.
    pub fn input(&self, step: &StepId) -> Option<Arc<[u8]>> {
        self.payloads.get(&label::input(step)).cloned()
    }

    /// A step's output: its own payload, or the result of the tool that it is.
    pub fn output(&self, step: &StepId) -> Option<Arc<[u8]>> {
        self.job.step(step)?.output?;
        if let Some(bytes) = self.payloads.get(&label::output(step)) {
            return Some(bytes.clone());
        }
        match self.answer(&Slot::of_step(step))?.answer {
            Answer::Ok(ref output) => Some(output.result.as_bytes().into()),
            _ => None,
        }
    }

    /// The effect of the last answer of a call.
    pub fn answer(&self, slot: &Slot) -> Option<Arc<Effect>> {
        let finished = self.job.calls.get(slot)?.finished.as_ref()?;
        self.effects.get(&(slot.clone(), finished.try_no)).cloned()
    }

    /// The canonical arguments of a call, where they are kept.
    pub fn args(&self, slot: &Slot) -> Option<Arc<[u8]>> {
        match slot.is_step() {
            true => self.input(&slot.step()),
            false => self.payloads.get(&label::args(slot)).cloned(),
        }
    }
}

impl Durable {
    /// Takes over effects that are stored already.
    pub fn take_effects(&mut self, effects: &[Effect]) {
        for effect in effects {
            self.effects.insert((effect.slot.clone(), effect.try_no), Arc::new(effect.clone()));
        }
    }
}
