//! Stored data of one job, held in the memory of a process, and the conversion of a draft into a batch. Only this
//! module gives events their number, time and chain hash.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{FoldError, Job, Prefetched, label};
use crate::event::{Body, Event};
use crate::model::effect::{Answer, Effect};
use crate::model::ids::{Hash, Slot, StepId};
use crate::model::keys;
use crate::model::payload::PayloadRef;
use crate::rules::ledger::LedgerRow;
use crate::rules::reuse::ReusableResult;
use crate::storage::{ActionWrite, Batch, BatchKind, Flush, LedgerWrite, Payload, StatusWrite, StoredJob};

/// Writes that a decision requests, before they have a position in the log.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    /// Events, in order.
    pub events: Vec<Body>,
    /// Ledger rows to write.
    pub ledger: Vec<LedgerWrite>,
    /// Effects to store.
    pub effects: Vec<Effect>,
    /// Payloads to store.
    pub payloads: Vec<Payload>,
    /// Writes to action keys.
    pub actions: Vec<ActionWrite>,
    /// Ids of inbox rows that have become events.
    pub inbox_done: Vec<i64>,
    /// Results that later jobs may reuse.
    pub reusables: Vec<ReusableResult>,
    /// New state of the job.
    pub status: Option<StatusWrite>,
    /// Number of the claimed attempt. Set only in the first draft of a claim, because the number cannot be derived from
    /// the log: earlier attempts may have left no event.
    pub attempt: Option<u32>,
    /// Purpose of the draft, which decides what the store checks.
    pub kind: BatchKind,
    /// True if log and ledger must be written in one transaction, even if the commit mode is staged.
    pub atomic: bool,
    /// True if the draft must be flushed immediately because a caller waits for it.
    pub flush_now: bool,
}

impl Draft {
    /// Returns true if the draft writes nothing, marks no inbox row as done, and starts no call.
    pub fn is_empty(&self) -> bool {
        !self.kind.starts_calls() && self.inbox_done.is_empty() && self.has_no_writes()
    }

    /// Returns true if the draft writes nothing, or only marks inbox rows as done.
    pub fn has_no_writes(&self) -> bool {
        self.events.is_empty()
            && self.ledger.is_empty()
            && self.effects.is_empty()
            && self.payloads.is_empty()
            && self.actions.is_empty()
            && self.reusables.is_empty()
            && self.status.is_none()
    }

    /// Merges two drafts. The writes of `self` come first.
    pub fn merge(mut self, other: Draft) -> Draft {
        self.events.extend(other.events);
        self.ledger.extend(other.ledger);
        self.effects.extend(other.effects);
        self.payloads.extend(other.payloads);
        self.actions.extend(other.actions);
        self.inbox_done.extend(other.inbox_done);
        self.reusables.extend(other.reusables);
        self.status = other.status.or(self.status);
        self.attempt = other.attempt.or(self.attempt);
        self.kind = self.kind.combined_with(other.kind);
        self.atomic |= other.atomic;
        self.flush_now |= other.flush_now;
        self
    }
}

/// All stored data of one job.
#[derive(Clone, Debug)]
pub struct Durable {
    /// State of the job, folded from its events.
    pub job: Job,
    /// Secret from which payload salts are derived.
    pub secret: Hash,
    /// Ledger rows by slot.
    pub rows: BTreeMap<Slot, LedgerRow>,
    /// Effects by slot and try.
    pub effects: BTreeMap<(Slot, u32), Arc<Effect>>,
    /// Payloads by label.
    pub payloads: BTreeMap<String, Arc<[u8]>>,
    /// Data of other jobs that a worker has read: reservations of action keys and reusable results.
    pub prefetched: Prefetched,
    /// Ids of pending inbox rows that only report an expired timer. These rows do not prevent the job from ending an
    /// expired wait or gate.
    pub compatible_inbox_ids: Vec<i64>,
}

impl Durable {
    /// Returns the stored state of a job whose effects cannot be read now. This state suffices to reopen the job and to
    /// release its claim.
    ///
    /// # Errors
    /// Fails if the log is broken or was written by a newer version.
    pub fn without_effects(record: StoredJob) -> Result<Durable, FoldError> {
        Ok(Self::of(Job::fold(&record.events)?, record))
    }

    pub(super) fn of(job: Job, record: StoredJob) -> Durable {
        Durable {
            job,
            secret: record.secret,
            rows: record.ledger.into_iter().map(|row| (row.slot.clone(), row)).collect(),
            effects: BTreeMap::new(),
            payloads: record.payloads.into_iter().map(|p| (p.label, p.bytes.into())).collect(),
            prefetched: Prefetched::default(),
            compatible_inbox_ids: Vec::new(),
        }
    }

    /// Numbers and chains the events of the draft, applies the draft to this state and returns the batch to
    /// write.
    ///
    /// # Errors
    /// Fails if the state machines refuse an event of the draft. Such a draft is a defect of the caller.
    pub fn seal(&mut self, draft: Draft, now_us: i64) -> Result<Batch, FoldError> {
        let mut batch = Batch::new(self.job.header.job_id.clone(), self.job.attempt, self.job.next_seq, self.job.head);
        // Event times never decrease, even if the clock was set back.
        let time_us = now_us.max(self.job.last_us);
        let attempt = draft.attempt.unwrap_or(self.job.attempt);
        batch.attempt = attempt;
        let open = self.job.open_expectations();
        for body in draft.events {
            let event = Event::seal(self.job.next_seq, time_us, attempt, body, self.job.head);
            self.job.apply(&event)?;
            if let Body::StepUnblocked { step_id } = &event.body {
                // The condition that blocked the step has changed. The worker must therefore read the reservations for
                // the step again.
                self.prefetched.forget_step(step_id);
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
        (batch.expectations, batch.timers) = self.job.changes_since(&open);
        batch.kind = match draft.kind {
            BatchKind::EndWait { .. } => BatchKind::EndWait { compatible_inbox_ids: self.compatible_inbox_ids.clone() },
            kind => kind,
        };
        // A batch without events is flushed immediately. If it were lost later, the log would have no gap, so no later
        // write would detect the loss.
        let now = draft.flush_now || batch.events.is_empty();
        batch.flush = if now { Flush::Now } else { Flush::Linger };
        Ok(batch)
    }

    /// Returns the salted hash of a payload.
    pub fn payload_ref(&self, label: &str, bytes: &[u8]) -> PayloadRef {
        keys::payload_ref(&self.secret, label, bytes)
    }

    /// Returns the resolved input of a step.
    pub fn input(&self, step: &StepId) -> Option<Arc<[u8]>> {
        self.payloads.get(&label::input(step)).cloned()
    }

    /// Returns the output of a step: the output payload if it is stored, otherwise the result of the step's tool
    /// call.
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

    /// Returns the effect of the last answer of a call.
    pub fn answer(&self, slot: &Slot) -> Option<Arc<Effect>> {
        let finished = self.job.calls.get(slot)?.finished.as_ref()?;
        self.effects.get(&(slot.clone(), finished.try_no)).cloned()
    }

    /// Returns the canonical arguments of a call, if they are stored.
    pub fn args(&self, slot: &Slot) -> Option<Arc<[u8]>> {
        match slot.is_step() {
            true => self.input(&slot.step()),
            false => self.payloads.get(&label::args(slot)).cloned(),
        }
    }
}

impl Durable {
    /// Adds effects that were read from the effect store. They need not be written again.
    pub fn add_effects(&mut self, effects: &[Effect]) {
        for effect in effects {
            self.effects.insert((effect.slot.clone(), effect.try_no), Arc::new(effect.clone()));
        }
    }
}
