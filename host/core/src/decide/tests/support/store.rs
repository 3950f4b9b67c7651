//! Simulated store. Applies the writes of the simulated worker.

use std::collections::BTreeSet;

use crate::decide;
use crate::decide::Lookup;
use crate::decide::tests::support::{CrashPoint, Dead, Sim};
use crate::event::Body;
use crate::model::effect::Effect as Recorded;
use crate::model::ids::JobId;
use crate::state::{Durable, ReuseCandidate};
use crate::storage::{ActionRow, ActionWrite, Batch, BatchKind, Draft};

impl Sim {
    pub(super) fn write(&mut self, durable: &mut Durable, draft: impl Into<Draft<BatchKind>>) -> Result<(), Dead> {
        let draft = draft.into();
        if draft.is_empty() && !draft.kind.starts_calls() {
            return Ok(());
        }
        if self.crash == Some(CrashPoint::Write(self.writes)) {
            return Err(Dead);
        }
        self.writes += 1;
        if draft.events.iter().any(|body| matches!(body, Body::ToolInvocationFinished { .. })) {
            self.answers_flushed.push(!draft.lingers());
        }
        // A verdict or an answer that is not final must be in one transaction with its row. In staged commit, a crash
        // may separate a final answer from its row, and the next attempt repairs the row from the answer.
        let ends = |body: &Body| matches!(body, Body::ToolInvocationFinished { .. } | Body::InvocationResolved { .. });
        let is_final = draft.events.iter().any(|body| matches!(body, Body::CommandCommitted { .. }));
        let parts = draft.events.iter().any(ends) && !is_final && !draft.ledger.is_empty();
        let is_divided = draft.kind.divides();
        assert!(!(parts && is_divided), "a crash between its events and its row: {draft:?}");
        let waits = draft.actions.iter().any(|action| matches!(action, ActionWrite::Wait { .. }));
        assert!(!(waits && is_divided), "a crash between a step that waits for a key and its registration: {draft:?}");
        let batch = durable.seal(self.attempt, draft, self.now_us).expect("decisions are legal");
        self.store(batch);
        Ok(())
    }

    pub(in crate::decide::tests) fn store(&mut self, batch: Batch) {
        assert_eq!(batch.expect_seq as usize, self.record.events.len(), "appends are in order");
        let writes = batch.writes;
        self.record.events.extend(writes.events);
        for action in writes.actions {
            self.act(action);
        }
        self.reusables.extend(writes.reusables);
        for write in writes.ledger {
            let row = write.row().clone();
            self.record.ledger.retain(|old| old.slot != row.slot);
            self.record.ledger.push(row);
        }
        for effect in writes.effects {
            let same = |old: &&Recorded| old.slot == effect.slot && old.try_no == effect.try_no;
            assert!(self.effects.iter().find(same).is_none(), "effects are write-once: {effect:?}");
            self.effects.push(effect);
        }
        for payload in writes.payloads {
            match self.record.payloads.iter().find(|old| old.label == payload.label) {
                Some(old) => assert_eq!(old.bytes, payload.bytes, "payloads are write-once"),
                None => self.record.payloads.push(payload),
            }
        }
    }

    pub(super) fn look_up(&mut self, durable: &mut Durable) {
        for lookup in decide::needed_lookups(durable, &self.context(), &BTreeSet::new()) {
            match lookup {
                Lookup::Action { slot, key, .. } => {
                    durable.prefetched.actions.insert(slot, self.actions.get(&key).cloned());
                }
                Lookup::Outcome { step_id, input_hash, .. } => {
                    let found = self.earlier.clone().filter(|(reusable, _)| reusable.input_hash == input_hash);
                    let candidate =
                        found.map(|(reusable, output)| ReuseCandidate { reusable, output: Some(output.into()) });
                    durable.prefetched.outcomes.insert(step_id, candidate);
                }
            }
        }
    }

    /// Applies a write to the reservations of action keys. The simulation has only one job, so a new
    /// reservation always belongs to that job.
    pub(super) fn act(&mut self, action: ActionWrite) {
        match action {
            ActionWrite::Reserve { key, args_hash, slot, .. } => {
                let row = ActionRow { job_id: JobId::new("job_1"), slot, args_hash, receipt: None };
                let held = self.actions.entry(key).or_insert_with(|| row.clone());
                assert_eq!(*held, row, "a key is reserved by one slot");
            }
            ActionWrite::Settle { key, slot, receipt, .. } => {
                let held = self.actions.get(&key).filter(|row| row.job_id == JobId::new("job_1") && row.slot == slot);
                assert!(held.is_some() || receipt.is_none(), "a key is settled by its holder");
                let other = self.actions.get(&key).is_some_and(|row| row.job_id != JobId::new("job_1"));
                self.settled_of_others += u32::from(other);
                match receipt {
                    _ if other => {}
                    Some(_) => self.actions.get_mut(&key).unwrap().receipt = receipt,
                    None => drop(self.actions.remove(&key)),
                }
            }
            ActionWrite::WithdrawReceipt { key, slot, .. } => {
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
}
