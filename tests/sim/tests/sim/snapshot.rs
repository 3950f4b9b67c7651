//! State of a job in the store, in the types of the protocol model. It is built event by event from accepted
//! writes and uses no code of the workers.

use std::collections::BTreeMap;

use latchwork_core::effect::{self, Provenance};
use latchwork_core::error::Code;
use latchwork_core::event::{Body, Event, Verdict};
use latchwork_core::ids::Slot;
use latchwork_core::job::JobState;
use latchwork_core::ledger::Row;
use latchwork_core::storage::{Batch, InboxRow, JobRow, Request, Resolved};
use latchwork_model::{Answer, Claimed, Class, Effect, Job, Note, Record, RowM, TRIES};

/// Value of a result that the world never returned.
pub(crate) const NOBODYS: u8 = u8::MAX;

/// A job as the store holds it.
#[derive(Clone)]
pub(crate) struct Snapshot {
    calls: Vec<Class>,
    job: Job,
    /// Numbers in the model by the nonce that was drawn. Attempt and try determine the number.
    nonces: BTreeMap<u64, u16>,
    /// Results of each invocation, in the order in which the world first returned them.
    results: Vec<Vec<String>>,
    /// True if the job did something that the model does not support.
    pub(crate) outgrown: bool,
}

pub(crate) fn small(number: u32) -> u8 {
    u8::try_from(number).unwrap_or(u8::MAX)
}

/// Returns the number of an invocation: 2 for `s0/2`, 0 for `s0`.
pub(crate) fn slot_number(slot: &Slot) -> u8 {
    small(slot.call_number().unwrap_or(0))
}

impl Snapshot {
    pub(crate) fn new(calls: Vec<Class>) -> Self {
        let job = Job {
            state: number(JobState::Pending),
            attempt: 0,
            lease_live: false,
            cancel_flag: false,
            cancelled: false,
            inbox: Vec::new(),
            records: vec![Record::default(); calls.len()],
        };
        let results = vec![Vec::new(); calls.len()];
        Self { calls, job, nonces: BTreeMap::new(), results, outgrown: false }
    }

    pub(crate) fn calls(&self) -> &[Class] {
        &self.calls
    }

    pub(crate) fn job(&self) -> Job {
        self.job.seen()
    }

    /// Records the result of a request that has arrived, and returns its number among the invocation's
    /// results.
    pub(crate) fn arrives(&mut self, slot: u8, result: &str) -> u8 {
        let results = &mut self.results[usize::from(slot)];
        let known = results.iter().position(|known| known == result);
        let at = known.unwrap_or_else(|| {
            results.push(result.to_owned());
            results.len() - 1
        });
        u8::try_from(at + 1).unwrap_or(NOBODYS)
    }

    pub(crate) fn value(&self, slot: u8, result: &str) -> u8 {
        let at = self.results[usize::from(slot)].iter().position(|known| known == result);
        at.map_or(NOBODYS, |at| u8::try_from(at + 1).unwrap_or(NOBODYS))
    }

    /// Updates the row and the inbox.
    pub(crate) fn stands(&mut self, row: &JobRow, inbox: &[InboxRow]) {
        self.job.state = number(row.state);
        self.job.attempt = small(row.attempt);
        self.job.cancel_flag = row.cancel_requested;
        self.job.inbox = inbox.iter().filter_map(|row| self.note(&row.request)).collect();
    }

    fn note(&self, request: &Request) -> Option<Note> {
        Some(match request {
            Request::Cancel => Note::Cancel,
            Request::LateEffect { slot, try_no } => Note::Late { slot: slot_number(slot), try_no: small(*try_no) },
            Request::Resolve { slot, try_no, verdict } => {
                let number = slot_number(slot);
                let seen = match verdict {
                    Resolved::Applied(result) => Some(self.value(number, result)),
                    Resolved::NotApplied | Resolved::Abort => None,
                };
                Note::Resolve { slot: number, try_no: small(*try_no), seen }
            }
            _ => return None,
        })
    }

    /// Applies a batch that the store has accepted.
    pub(crate) fn takes(&mut self, batch: &Batch) {
        self.puts(&batch.effects);
        for write in &batch.ledger {
            let row = write.row();
            if batch.acquire {
                let drawn = row.attempt * 8 + row.try_no;
                self.nonces.insert(row.nonce, u16::try_from(drawn).unwrap_or(u16::MAX));
            }
            self.row(row);
        }
        for event in &batch.events {
            self.event(event);
        }
    }

    fn row(&mut self, row: &Row) {
        if row.try_no as usize > TRIES {
            self.outgrown = true;
        }
        let nonce = self.nonces.get(&row.nonce).copied().unwrap_or(u16::MAX);
        let record = self.record(&row.slot);
        record.row = Some(RowM {
            state: row.state as u8,
            attempt: small(row.attempt),
            nonce,
            try_no: small(row.try_no),
            first_attempt: small(row.first_attempt),
            settles: false,
        });
    }

    fn record(&mut self, slot: &Slot) -> &mut Record {
        &mut self.job.records[usize::from(slot_number(slot))]
    }

    /// Applies answers that the store has accepted. The first answer of a try stays.
    pub(crate) fn puts(&mut self, effects: &[effect::Effect]) {
        for effect in effects {
            let Some(at) = (effect.try_no as usize).checked_sub(1).filter(|at| *at < TRIES) else {
                self.outgrown = true;
                continue;
            };
            let number = slot_number(&effect.slot);
            let changes = self.calls[usize::from(number)] != Class::Read;
            let record = self.record(&effect.slot);
            // The model's workers can lose the write of one earlier read try, not of several.
            if !changes && (at > usize::from(record.tries) || record.committed && at + 1 > usize::from(record.tries)) {
                self.outgrown = true;
                continue;
            }
            let answer = match &effect.answer {
                effect::Answer::Ok(output) => Answer::Ok(self.value(number, &output.result)),
                // A read with an unknown outcome changes nothing.
                effect::Answer::Unknown { .. } if changes => Answer::Unknown,
                effect::Answer::NotApplied(_) | effect::Answer::Unknown { .. } => Answer::NotApplied,
            };
            let said = matches!(effect.provenance, Provenance::Reconciled | Provenance::Operator);
            let by = if said || answer == Answer::Unknown { Claimed::Verdict } else { Claimed::Executed };
            self.record(&effect.slot).effects[at].get_or_insert(Effect { answer, by });
        }
    }

    fn event(&mut self, event: &Event) {
        match &event.body {
            Body::ToolInvocationStarted { slot, try_no, first_attempt, .. } => {
                let (attempt, try_no, first) = (small(event.attempt), small(*try_no), small(*first_attempt));
                let record = self.record(slot);
                (record.tries, record.opener, record.first_attempt) = (try_no, (attempt, 0), first);
                record.open = true;
            }
            Body::ToolInvocationFinished { slot, try_no, ok, .. } => {
                if *try_no as usize > TRIES {
                    self.outgrown = true;
                    return;
                }
                let record = self.record(slot);
                let stored = record.effects[(*try_no).max(1) as usize - 1];
                let answer = if *ok { stored.map_or(Answer::Ok(NOBODYS), |e| e.answer) } else { Answer::NotApplied };
                record.finished = Some((small(*try_no), answer));
                record.open = false;
            }
            Body::CommandCommitted { slot } => self.record(slot).committed = true,
            Body::InvocationResolved { slot, try_no, verdict, .. } => {
                let verdict = match verdict {
                    Verdict::Applied => latchwork_model::Verdict::Applied,
                    Verdict::NotApplied => latchwork_model::Verdict::NotApplied,
                    Verdict::Repeat => latchwork_model::Verdict::Repeat,
                    Verdict::Lost | Verdict::Unknown => {
                        self.outgrown = true;
                        return;
                    }
                };
                let record = self.record(slot);
                record.verdicts[*try_no as usize - 1] = Some(verdict);
                record.open = false;
            }
            Body::StepBlocked { slot, reason: Code::IndeterminateEffect, .. } => self.record(slot).blocked = true,
            Body::StepUnblocked { .. } => self.job.records.iter_mut().for_each(|record| record.blocked = false),
            Body::JobCancelRequested { .. } => self.job.cancelled = true,
            _ => {}
        }
    }
}

fn number(state: JobState) -> u8 {
    let at = JobState::ALL.iter().position(|known| *known == state);
    at.and_then(|at| u8::try_from(at).ok()).expect("a state of jobs")
}
