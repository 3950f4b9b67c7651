//! State of a job in the store, in the types of the protocol model. The state is built event by event from accepted
//! writes. This module uses no code of the workers.

use std::collections::BTreeMap;

use latchwork_core::event::{Body, Event, Verdict};
use latchwork_core::model::effect;
use latchwork_core::model::effect::Provenance;
use latchwork_core::model::error::Code;
use latchwork_core::model::ids::Slot;
use latchwork_core::model::job::JobState;
use latchwork_core::rules::ledger::LedgerRow;
use latchwork_core::storage::{Batch, InboxRequest, InboxRow, JobRow, ManualVerdict};
use latchwork_model::{Answer, Effect, EffectOrigin, Job, ModelClass, ModelRequest, ModelRow, Record, TRIES};

/// Value of a result that the world never returned.
pub(crate) const UNKNOWN_VALUE: u8 = u8::MAX;

/// A job as the store holds it.
#[derive(Clone)]
pub(crate) struct ModelSnapshot {
    calls: Vec<ModelClass>,
    job: Job,
    /// Maps each random nonce that a worker used to its nonce in the model. The attempt and the try determine
    /// the nonce in the model.
    nonces: BTreeMap<u64, u16>,
    /// Results of each invocation, in the order in which the world first returned them.
    results: Vec<Vec<String>>,
    /// True if the job did something that the model does not support.
    pub(crate) is_unsupported: bool,
}

pub(crate) fn saturating_u8(number: u32) -> u8 {
    u8::try_from(number).unwrap_or(u8::MAX)
}

/// Returns the number of an invocation: 2 for `s0/2`, 0 for `s0`.
pub(crate) fn slot_number(slot: &Slot) -> u8 {
    saturating_u8(slot.call_number().unwrap_or(0))
}

impl ModelSnapshot {
    pub(crate) fn new(calls: Vec<ModelClass>) -> Self {
        let job = Job {
            state: state_number(JobState::Pending),
            attempt: 0,
            lease_live: false,
            cancel_flag: false,
            cancelled: false,
            inbox: Vec::new(),
            records: vec![Record::default(); calls.len()],
        };
        let results = vec![Vec::new(); calls.len()];
        Self { calls, job, nonces: BTreeMap::new(), results, is_unsupported: false }
    }

    pub(crate) fn calls(&self) -> &[ModelClass] {
        &self.calls
    }

    pub(crate) fn job(&self) -> Job {
        self.job.observable()
    }

    /// Records the result of a request that has arrived, and returns its number among the invocation's
    /// results.
    pub(crate) fn add_result(&mut self, slot: u8, result: &str) -> u8 {
        let results = &mut self.results[usize::from(slot)];
        let known = results.iter().position(|known| known == result);
        let at = known.unwrap_or_else(|| {
            results.push(result.to_owned());
            results.len() - 1
        });
        u8::try_from(at + 1).unwrap_or(UNKNOWN_VALUE)
    }

    pub(crate) fn result_number(&self, slot: u8, result: &str) -> u8 {
        let at = self.results[usize::from(slot)].iter().position(|known| known == result);
        at.map_or(UNKNOWN_VALUE, |at| u8::try_from(at + 1).unwrap_or(UNKNOWN_VALUE))
    }

    /// Updates the row and the inbox.
    pub(crate) fn update_row(&mut self, row: &JobRow, inbox: &[InboxRow]) {
        self.job.state = state_number(row.state);
        self.job.attempt = saturating_u8(row.attempt);
        self.job.cancel_flag = row.cancel_requested;
        self.job.inbox = inbox.iter().filter_map(|row| self.inbox_request(&row.request)).collect();
    }

    fn inbox_request(&self, request: &InboxRequest) -> Option<ModelRequest> {
        Some(match request {
            InboxRequest::Cancel => ModelRequest::Cancel,
            InboxRequest::LateEffect { slot, try_no } => {
                ModelRequest::Late { slot: slot_number(slot), try_no: saturating_u8(*try_no) }
            }
            InboxRequest::Resolve { slot, try_no, verdict } => {
                let number = slot_number(slot);
                let seen = match verdict {
                    ManualVerdict::Applied(result) => Some(self.result_number(number, result)),
                    ManualVerdict::NotApplied | ManualVerdict::Abort => None,
                };
                ModelRequest::Resolve { slot: number, try_no: saturating_u8(*try_no), found_result: seen }
            }
            _ => return None,
        })
    }

    /// Applies a batch that the store has accepted.
    pub(crate) fn apply_batch(&mut self, batch: &Batch) {
        self.apply_effects(&batch.writes.effects);
        for write in &batch.writes.ledger {
            let row = write.row();
            if batch.writes.kind.starts_calls() {
                let drawn = row.attempt * 8 + row.try_no;
                self.nonces.insert(row.nonce, u16::try_from(drawn).unwrap_or(u16::MAX));
            }
            self.apply_row(row);
        }
        for event in &batch.writes.events {
            self.apply_event(event);
        }
    }

    fn apply_row(&mut self, row: &LedgerRow) {
        if row.try_no as usize > TRIES {
            self.is_unsupported = true;
        }
        let nonce = self.nonces.get(&row.nonce).copied().unwrap_or(u16::MAX);
        let record = self.record(&row.slot);
        record.row = Some(ModelRow {
            state: row.state as u8,
            attempt: saturating_u8(row.attempt),
            nonce,
            try_no: saturating_u8(row.try_no),
            first_attempt: saturating_u8(row.first_attempt),
            must_settle: false,
        });
    }

    fn record(&mut self, slot: &Slot) -> &mut Record {
        &mut self.job.records[usize::from(slot_number(slot))]
    }

    /// Applies answers that the store has accepted. The first answer of a try stays.
    pub(crate) fn apply_effects(&mut self, effects: &[effect::Effect]) {
        for effect in effects {
            let Some(at) = (effect.try_no as usize).checked_sub(1).filter(|at| *at < TRIES) else {
                self.is_unsupported = true;
                continue;
            };
            let number = slot_number(&effect.slot);
            let changes = self.calls[usize::from(number)] != ModelClass::Read;
            let record = self.record(&effect.slot);
            // In the model, the try number of a read's answer exceeds the number of recorded tries by at most one. Once
            // the final answer of the read is committed, the try number no longer exceeds the number of recorded tries.
            // A job that breaks this rule is not supported.
            if !changes && (at > usize::from(record.tries) || record.committed && at + 1 > usize::from(record.tries)) {
                self.is_unsupported = true;
                continue;
            }
            let answer = match &effect.answer {
                effect::Answer::Ok(output) => Answer::Ok(self.result_number(number, &output.result)),
                // A read with an unknown outcome counts as not applied, because a read changes nothing.
                effect::Answer::Unknown { .. } if changes => Answer::Unknown,
                effect::Answer::NotApplied(_) | effect::Answer::Unknown { .. } => Answer::NotApplied,
            };
            let is_verdict = matches!(effect.provenance, Provenance::Reconciled | Provenance::PersonDecision);
            let by =
                if is_verdict || answer == Answer::Unknown { EffectOrigin::Verdict } else { EffectOrigin::Executed };
            self.record(&effect.slot).effects[at].get_or_insert(Effect { answer, by });
        }
    }

    fn apply_event(&mut self, event: &Event) {
        match &event.body {
            Body::ToolInvocationStarted { slot, try_no, first_attempt, .. } => {
                let (attempt, try_no, first) =
                    (saturating_u8(event.attempt), saturating_u8(*try_no), saturating_u8(*first_attempt));
                let record = self.record(slot);
                (record.tries, record.opener, record.first_attempt) = (try_no, (attempt, 0), first);
                record.open = true;
            }
            Body::ToolInvocationFinished { slot, try_no, ok, .. } => {
                if *try_no as usize > TRIES {
                    self.is_unsupported = true;
                    return;
                }
                let record = self.record(slot);
                let stored = record.effects[(*try_no).max(1) as usize - 1];
                let answer =
                    if *ok { stored.map_or(Answer::Ok(UNKNOWN_VALUE), |e| e.answer) } else { Answer::NotApplied };
                record.finished = Some((saturating_u8(*try_no), answer));
                record.open = false;
            }
            Body::CommandCommitted { slot } => self.record(slot).committed = true,
            Body::InvocationResolved { slot, try_no, verdict, .. } => {
                let verdict = match verdict {
                    Verdict::Applied => latchwork_model::Verdict::Applied,
                    Verdict::NotApplied => latchwork_model::Verdict::NotApplied,
                    Verdict::Repeat => latchwork_model::Verdict::Repeat,
                    Verdict::Lost | Verdict::Unknown => {
                        self.is_unsupported = true;
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

fn state_number(state: JobState) -> u8 {
    let at = JobState::ALL.iter().position(|known| *known == state);
    at.and_then(|at| u8::try_from(at).ok()).expect("a state of jobs")
}
