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
use crate::storage::{Batch, BatchKind, Draft, StoredJob};

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

    /// Numbers and chains the events of the draft, applies the draft to this state and returns the batch to write.
    /// `attempt` is the attempt of the writer. It cannot be derived from the log, because an earlier attempt may have
    /// left no event.
    ///
    /// # Errors
    /// Fails if the draft holds an event that the state machines refuse, or if the first draft of an attempt does not
    /// record the claim. Both cases are defects of the caller.
    pub fn seal(&mut self, attempt: u32, draft: impl Into<Draft<BatchKind>>, now_us: i64) -> Result<Batch, FoldError> {
        let mut draft = draft.into();
        let mut batch = Batch::new(self.job.header.job_id.clone(), attempt, self.job.next_seq, self.job.head);
        // Event times never decrease, even if the clock was set back.
        let time_us = now_us.max(self.job.last_us);
        let open = self.job.open_expectations();
        let mut events = Vec::with_capacity(draft.events.len());
        for body in std::mem::take(&mut draft.events) {
            let event = Event::seal(self.job.next_seq, time_us, attempt, body, self.job.head);
            self.job.apply(&event)?;
            if let Body::StepUnblocked { step_id } = &event.body {
                // The condition that blocked the step has changed. The worker must therefore read the reservations for
                // the step again.
                self.prefetched.forget_step(step_id);
            }
            events.push(event);
        }
        if self.job.attempt != attempt {
            let message = format!("attempt {attempt} has no claim event");
            return Err(FoldError::Invalid { seq: batch.expect_seq, message });
        }
        for write in &draft.ledger {
            let row = write.row();
            self.rows.insert(row.slot.clone(), row.clone());
        }
        self.add_effects(&draft.effects);
        for payload in &draft.payloads {
            self.payloads.insert(payload.label.clone(), payload.bytes.as_slice().into());
        }
        for reusable in &mut draft.reusables {
            reusable.time_us = time_us;
        }
        (batch.expectations, batch.timers) = self.job.changes_since(&open);
        batch.writes = draft.map(|kind| kind, |_| events);
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
