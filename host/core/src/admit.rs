//! Whether a batch may be written: the rules of [`crate::storage`] as pure functions, shared by
//! every store. A store reads what a batch touches into a [`Standing`] and an [`Actions`], asks
//! [`admit`], and writes what comes back. Batches of one transaction are admitted one after the
//! other on the same `Standing`, so each sees those before it.

use std::collections::{BTreeMap, BTreeSet};

use crate::cost::{self, Charge};
use crate::effect::Effect;
use crate::event::Event;
use crate::ids::{Hash, JobId, Operator, Slot};
use crate::job::JobState;
use crate::ledger::{Row, RowState};
use crate::storage::{ActionRow, ActionWrite, Batch, LedgerWrite, NewJob, QueueLimit, Request, Submitted, WriteError};

/// A job as the store has it: all of it, or at least what the batch at hand touches.
#[derive(Clone, Debug)]
pub struct Standing {
    /// The job.
    pub job_id: JobId,
    /// Whose house: part of its action keys.
    pub tenant_id: String,
    /// Where it stands.
    pub state: JobState,
    /// The last attempt.
    pub attempt: u32,
    /// Number of events.
    pub next_seq: u64,
    /// Hash of the last event.
    pub head: Hash,
    /// Whether somebody asked to cancel.
    pub cancel_requested: bool,
    /// Whether undone inbox rows exist.
    pub inbox_pending: bool,
    /// When it may be claimed by itself.
    pub wake_at_us: Option<i64>,
    /// Whether the holder's lease is still good.
    pub lease_live: bool,
    /// Ledger rows.
    pub ledger: BTreeMap<Slot, Row>,
    /// Effects as stored, by slot and try.
    pub effects: BTreeMap<(Slot, u32), Vec<u8>>,
    /// Payloads by label.
    pub payloads: BTreeMap<String, Vec<u8>>,
    /// Undone inbox rows; complete whenever a batch says some are done.
    pub inbox: BTreeSet<i64>,
}

/// Names a reservation: tenant, operator, key.
pub type ActionId = (String, Operator, Hash);

/// Reservations of action keys, and the jobs that wait for them.
#[derive(Clone, Debug, Default)]
pub struct Actions {
    /// Who holds which key.
    pub held: BTreeMap<ActionId, ActionRow>,
    /// Which jobs are to be told when it is settled.
    pub waiting: BTreeMap<ActionId, BTreeSet<JobId>>,
}

/// What an admitted batch changes beyond appending its events.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// Ledger rows as they are stored.
    pub ledger: Vec<Row>,
    /// Indexes of the batch's effects that are not stored yet.
    pub effects: Vec<usize>,
    /// Indexes of the batch's payloads that are not stored yet.
    pub payloads: Vec<usize>,
    /// Reservations that changed: as they are now, or none where the key is free.
    pub actions: Vec<(ActionId, Option<ActionRow>)>,
    /// Keys the job waits for from now on.
    pub waits: Vec<ActionId>,
    /// What its answers cost.
    pub charges: Vec<Charge>,
    /// Jobs whose inbox gets [`Request::KeySettled`]; they do not wait any more. The store
    /// calls [`Standing::receive`] on each.
    pub told: Vec<(JobId, ActionId)>,
}

impl Standing {
    /// An inbox row has come: the flags it sets, the state it leaves.
    pub fn receive(&mut self, request: &Request) {
        self.inbox_pending = true;
        // An undo starts compensations only, as a cancelled job does.
        if matches!(request, Request::Cancel | Request::Undo) {
            self.cancel_requested = true;
        }
        let reopens = self.state.is_terminal() && request.reopens();
        if reopens || matches!(self.state, JobState::Waiting | JobState::Parked | JobState::Diverged) {
            self.state = JobState::Pending;
            self.wake_at_us = None;
        }
    }
}

/// Whether a request can be put into the inbox of a job in this state.
pub fn accepts(state: JobState, request: &Request) -> bool {
    match request {
        Request::Retry => matches!(state, JobState::Partial | JobState::Failed),
        Request::Undo => matches!(state, JobState::Completed | JobState::Partial | JobState::Failed),
        // What is said of a call that is over: audit events, and what becomes of its receipt.
        Request::LateEffect { .. } | Request::Confirm { .. } => true,
        _ => !state.is_terminal(),
    }
}

/// Whether a request that a job accepted is kept as a record alone: nobody will take it out.
pub fn is_record(state: JobState, request: &Request) -> bool {
    let counts = matches!(request, Request::LateEffect { .. } | Request::Confirm { .. });
    state.is_terminal() && !request.reopens() && !counts
}

/// Whether a job leaves its holder when it comes to this state.
pub fn gives_up(state: JobState) -> bool {
    state != JobState::Running
}

/// Check a batch against what is stored, and apply it to `job` and `actions`. After an error
/// both are as before. `boot_us` is the lease clock's now.
pub fn admit(job: &mut Standing, actions: &mut Actions, batch: &Batch, boot_us: i64) -> Result<Changes, WriteError> {
    if batch.attempt != job.attempt {
        return Err(WriteError::Fenced { attempt: batch.attempt, current: job.attempt });
    }
    // To a job that is over nobody has a claim: what is written there follows the end of its log, or is refused.
    if batch.audit != job.state.is_terminal() || !batch.audit && job.state != JobState::Running {
        return Err(WriteError::NotHeld { state: job.state });
    }
    if batch.audit {
        is_audit(batch)?;
    }
    place(job, batch)?;
    chain(&batch.events, batch)?;
    if batch.acquire {
        acquirable(job, batch)?;
    }
    let mut changes =
        Changes { effects: new_effects(job, batch)?, payloads: new_payloads(job, batch)?, ..Changes::default() };
    let rows = ledger(job, batch, boot_us)?;
    let reserved = reserve(job, actions, batch, &mut changes)?;
    let undone = drain(job, batch)?;
    let undone_left = undone.as_ref().map_or(job.inbox_pending, |rest| !rest.is_empty());
    // Times that have come contradict each other in nothing: each would wait for the other for ever.
    let may_be_awaited = |rest: &BTreeSet<i64>| rest.iter().any(|id| !batch.beside.contains(id));
    let contradicted = undone.as_ref().map_or(job.inbox_pending, may_be_awaited);
    // A job that is given back is claimed again, and whoever claims it drains its inbox.
    let rests = |to: JobState| gives_up(to) && to != JobState::Pending;
    let may_wait_too = |to: JobState| batch.unread && to == JobState::Parked;
    let rests_unheard = undone_left && batch.status.is_some_and(|status| rests(status.to) && !may_wait_too(status.to));
    if contradicted && batch.drained || rests_unheard {
        return Err(WriteError::InboxPending);
    }

    // Nothing can be refused from here on.
    job.next_seq += batch.events.len() as u64;
    if let Some(last) = batch.events.last() {
        job.head = last.hash;
    }
    changes.ledger = rows.values().cloned().collect();
    changes.charges = batch.events.iter().filter_map(cost::charge).collect();
    job.ledger.extend(rows);
    for &index in &changes.effects {
        let effect = &batch.effects[index];
        job.effects.insert((effect.slot.clone(), effect.try_no), effect.to_bytes());
    }
    for &index in &changes.payloads {
        let payload = &batch.payloads[index];
        job.payloads.insert(payload.label.clone(), payload.bytes.clone());
    }
    if let Some(actions_now) = reserved {
        *actions = actions_now;
    }
    if let Some(rest) = undone {
        job.inbox_pending = !rest.is_empty();
        job.inbox = rest;
    }
    if let Some(status) = batch.status {
        job.state = status.to;
        job.wake_at_us = status.wake_at_us;
    }
    Ok(changes)
}

/// Check a new job: its events are the log that its row says.
pub fn check_new(new: &NewJob) -> Result<(), WriteError> {
    let row = &new.row;
    let mut head = Hash::default();
    for (seq, event) in (0..).zip(&new.events) {
        if event.seq != seq || event.prev_hash != head {
            return Err(WriteError::Broken(format!("event {} of a new job does not follow the one before", event.seq)));
        }
        head = event.hash;
    }
    if row.next_seq != new.events.len() as u64 || row.head != head {
        return Err(WriteError::Broken("the row of a new job does not agree with its events".to_owned()));
    }
    if row.state != JobState::Pending || row.attempt != 0 || row.inbox_pending || row.cancel_requested {
        return Err(WriteError::Broken("a new job is PENDING, at attempt 0, with an empty inbox".to_owned()));
    }
    Ok(())
}

/// Whether one more job may not wait, where so many of its tenant and of all do.
pub fn queue_full(limit: QueueLimit, own: usize, all: usize) -> Option<Submitted> {
    let reached = |limit: Option<u32>, count: usize| limit.filter(|limit| count >= *limit as usize);
    let full = |of_tenant: bool| move |limit: u32| Submitted::QueueFull { of_tenant, limit };
    reached(limit.tenant, own).map(full(true)).or_else(|| reached(limit.all, all).map(full(false)))
}

/// Check effects that are written outside a batch; answers the indexes of new ones.
pub fn new_effects_of(stored: &BTreeMap<(Slot, u32), Vec<u8>>, effects: &[Effect]) -> Result<Vec<usize>, WriteError> {
    let mut fresh = BTreeMap::new();
    let mut new = Vec::new();
    for (index, effect) in effects.iter().enumerate() {
        let id = (effect.slot.clone(), effect.try_no);
        let bytes = effect.to_bytes();
        match fresh.get(&id).or_else(|| stored.get(&id)) {
            Some(found) if *found == bytes => {}
            Some(found) => {
                let found = serde_json::from_slice(found)
                    .map_err(|error| WriteError::Broken(format!("effect of {}, try {}: {error}", id.0, id.1)))?;
                return Err(WriteError::EffectExists { slot: id.0, try_no: id.1, found: Box::new(found) });
            }
            None => {
                fresh.insert(id, bytes);
                new.push(index);
            }
        }
    }
    Ok(new)
}

/// Nothing but words about what is over.
fn is_audit(batch: &Batch) -> Result<(), WriteError> {
    let others = batch.status.is_some()
        || batch.acquire
        || !(batch.ledger.is_empty() && batch.effects.is_empty() && batch.payloads.is_empty())
        || !(batch.awaited.is_empty() && batch.timers.is_empty() && batch.reusables.is_empty())
        || batch.events.iter().any(|event| !event.body.is_audit());
    match others {
        true => Err(WriteError::Broken("a job that is over takes audit events alone".to_owned())),
        false => Ok(()),
    }
}

fn place(job: &Standing, batch: &Batch) -> Result<(), WriteError> {
    if batch.expect_seq != job.next_seq {
        return Err(WriteError::Conflict { expected: batch.expect_seq, found: job.next_seq });
    }
    if batch.expect_head != job.head {
        return Err(WriteError::OtherHead { seq: job.next_seq });
    }
    Ok(())
}

/// The events follow each other and the log's end.
fn chain(events: &[Event], batch: &Batch) -> Result<(), WriteError> {
    let mut head = batch.expect_head;
    for (seq, event) in (batch.expect_seq..).zip(events) {
        if event.seq != seq || event.prev_hash != head || event.attempt != batch.attempt {
            return Err(WriteError::Broken(format!("event {} does not follow event {seq} of the batch", event.seq)));
        }
        head = event.hash;
    }
    Ok(())
}

fn acquirable(job: &Standing, batch: &Batch) -> Result<(), WriteError> {
    if !job.lease_live {
        return Err(WriteError::LeaseExpired);
    }
    let rows = || batch.ledger.iter().map(LedgerWrite::row).filter(|row| row.state == RowState::Inflight);
    let started = || rows().map(|row| &row.slot).chain(&batch.goes_on);
    let compensates = started().next().is_some() && started().all(Slot::is_compensation);
    if job.cancel_requested && !compensates {
        return Err(WriteError::Cancelled);
    }
    Ok(())
}

fn new_effects(job: &Standing, batch: &Batch) -> Result<Vec<usize>, WriteError> {
    new_effects_of(&job.effects, &batch.effects)
}

fn new_payloads(job: &Standing, batch: &Batch) -> Result<Vec<usize>, WriteError> {
    let mut fresh: BTreeMap<&str, &[u8]> = BTreeMap::new();
    let mut new = Vec::new();
    for (index, payload) in batch.payloads.iter().enumerate() {
        let label = payload.label.as_str();
        let found = fresh.get(label).copied().or_else(|| job.payloads.get(label).map(Vec::as_slice));
        match found {
            Some(bytes) if bytes == payload.bytes => {}
            Some(_) => return Err(WriteError::PayloadExists { label: payload.label.clone() }),
            None => {
                fresh.insert(label, &payload.bytes);
                new.push(index);
            }
        }
    }
    Ok(new)
}

fn ledger(job: &Standing, batch: &Batch, boot_us: i64) -> Result<BTreeMap<Slot, Row>, WriteError> {
    let mut rows: BTreeMap<Slot, Row> = BTreeMap::new();
    for write in &batch.ledger {
        let slot = &write.row().slot;
        let found = rows.get(slot).or_else(|| job.ledger.get(slot));
        let refuse = || WriteError::Row { slot: slot.clone(), found: found.cloned().map(Box::new) };
        let mut row = write.row().clone();
        match (write, found) {
            (LedgerWrite::Insert(_), None) => {}
            (LedgerWrite::Update { expect, expect_try, expect_nonce, .. }, Some(found))
                if found.state == *expect && found.try_no == *expect_try && found.nonce == *expect_nonce =>
            {
                row.deadline_us = found.deadline_us;
            }
            _ => return Err(refuse()),
        }
        if batch.acquire && row.state == RowState::Inflight {
            row.deadline_us = boot_us.saturating_add(i64::from(row.timeout_ms) * 1000);
        }
        rows.insert(slot.clone(), row);
    }
    Ok(rows)
}

/// The reservations after the batch; none where it touches none, the usual case.
fn reserve(
    job: &Standing,
    actions: &Actions,
    batch: &Batch,
    changes: &mut Changes,
) -> Result<Option<Actions>, WriteError> {
    if batch.actions.is_empty() {
        return Ok(None);
    }
    let mut now = actions.clone();
    let id = |operator: &Operator, key: &Hash| (job.tenant_id.clone(), operator.clone(), *key);
    for write in &batch.actions {
        match write {
            ActionWrite::Reserve { operator, key, args_hash, slot } => {
                let id = id(operator, key);
                let row =
                    ActionRow { job_id: job.job_id.clone(), slot: slot.clone(), args_hash: *args_hash, receipt: None };
                match now.held.get(&id) {
                    Some(found) if *found == row => {}
                    Some(found) => return Err(WriteError::ActionKey(Box::new(found.clone()))),
                    None => {
                        now.held.insert(id.clone(), row.clone());
                        changes.actions.push((id, Some(row)));
                    }
                }
            }
            ActionWrite::Settle { operator, key, slot, receipt } => {
                let id = id(operator, key);
                let Some(found) = now.held.get(&id) else {
                    if receipt.is_none() {
                        continue;
                    }
                    return Err(WriteError::Broken(format!("slot {slot} settles an action key nobody holds")));
                };
                if found.job_id != job.job_id || found.slot != *slot {
                    return Err(WriteError::ActionKey(Box::new(found.clone())));
                }
                if found.receipt.is_some() && found.receipt != *receipt && receipt.is_some() {
                    return Err(WriteError::ActionKey(Box::new(found.clone())));
                }
                let row = receipt.is_some().then(|| ActionRow { receipt: receipt.clone(), ..found.clone() });
                match &row {
                    Some(row) => now.held.insert(id.clone(), row.clone()),
                    None => now.held.remove(&id),
                };
                let waiters = now.waiting.remove(&id).unwrap_or_default();
                changes.told.extend(waiters.into_iter().map(|waiter| (waiter, id.clone())));
                changes.actions.push((id, row));
            }
            ActionWrite::TakeBack { operator, key, slot } => {
                let id = id(operator, key);
                // Nobody's, or somebody else's: no receipt of this call is there to take.
                let own = |row: &&mut ActionRow| row.job_id == job.job_id && row.slot == *slot;
                let Some(row) = now.held.get_mut(&id).filter(|row| row.receipt.is_some()).filter(own) else {
                    continue;
                };
                row.receipt = None;
                changes.actions.push((id, Some(row.clone())));
            }
            ActionWrite::Wait { operator, key } => {
                let id = id(operator, key);
                if now.held.get(&id).is_none_or(|row| row.receipt.is_some()) {
                    return Err(WriteError::KeyOpen { operator: operator.clone(), key: *key });
                }
                now.waiting.entry(id.clone()).or_default().insert(job.job_id.clone());
                changes.waits.push(id);
            }
        }
    }
    Ok(Some(now))
}

/// The undone inbox rows after the batch; none where it marks none.
fn drain(job: &Standing, batch: &Batch) -> Result<Option<BTreeSet<i64>>, WriteError> {
    if batch.inbox_done.is_empty() {
        return Ok(None);
    }
    let mut rest = job.inbox.clone();
    for id in &batch.inbox_done {
        if !rest.remove(id) {
            return Err(WriteError::Broken(format!("inbox row {id} of the batch is not open")));
        }
    }
    Ok(Some(rest))
}
