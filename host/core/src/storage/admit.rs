//! Admission rules of batches: pure functions that implement the rules of [`crate::storage`] for every store.
//!
//! A store reads everything that a batch touches into a [`JobSnapshot`] and an [`ActionKeys`]. The store then calls
//! [`admit`] and writes the returned changes. Batches of one transaction are admitted one after another on the same
//! `JobSnapshot`, so each batch sees the changes of earlier batches.

use std::collections::{BTreeMap, BTreeSet};

use crate::event::Event;
use crate::model::effect::Effect;
use crate::model::ids::{Hash, JobId, Operator, Slot};
use crate::model::job::JobState;
use crate::rules::cost;
use crate::rules::cost::Charge;
use crate::rules::ledger::{LedgerRow, RowState};
use crate::storage::{
    ActionRow, ActionWrite, Batch, BatchKind, InboxRequest, LedgerWrite, NewJob, QueueLimit, StartCalls, Submitted,
    WriteError,
};

/// Stored data of one job. Contains at least the rows, effects and payloads that the checked batch touches.
#[derive(Clone, Debug)]
pub struct JobSnapshot {
    /// Id of the job.
    pub job_id: JobId,
    /// Tenant that owns the job and its reservations.
    pub tenant_id: String,
    /// State of the job.
    pub state: JobState,
    /// The latest attempt.
    pub attempt: u32,
    /// Number of events in the log, which is also the next sequence number.
    pub next_seq: u64,
    /// Hash of the last event.
    pub head: Hash,
    /// True if a request to cancel or undo the job was accepted.
    pub cancel_requested: bool,
    /// True if the inbox has rows that no batch has marked as done yet.
    pub inbox_pending: bool,
    /// Earliest time at which a worker may claim the `WAITING` job without a new request, in microseconds since 1970
    /// UTC. A request makes the job claimable earlier.
    pub wake_at_us: Option<i64>,
    /// True if the lease of the latest attempt has not expired.
    pub lease_live: bool,
    /// Ledger rows by slot.
    pub ledger: BTreeMap<Slot, LedgerRow>,
    /// Stored bytes of the effects, by slot and try.
    pub effects: BTreeMap<(Slot, u32), Vec<u8>>,
    /// Payloads by label.
    pub payloads: BTreeMap<String, Vec<u8>>,
    /// Ids of the pending inbox rows. If the batch to be checked marks inbox rows as done, all ids must be present.
    /// Otherwise the set may be incomplete.
    pub inbox: BTreeSet<i64>,
}

/// Identity of a reservation: tenant, operator and action key.
pub type ActionId = (String, Operator, Hash);

/// Reservations of action keys, and the jobs that wait for them.
#[derive(Clone, Debug, Default)]
pub struct ActionKeys {
    /// Reservations by identity.
    pub held: BTreeMap<ActionId, ActionRow>,
    /// Jobs that wait for each reservation. These jobs are notified when the reservation is settled.
    pub waiting: BTreeMap<ActionId, BTreeSet<JobId>>,
}

/// Changes that an admitted batch makes in addition to appending its events.
#[derive(Clone, Debug, Default)]
pub struct AdmittedChanges {
    /// Ledger rows to store, with their computed deadlines.
    pub ledger: Vec<LedgerRow>,
    /// Indexes of the batch's effects that are not stored yet.
    pub effects: Vec<usize>,
    /// Indexes of the batch's payloads that are not stored yet.
    pub payloads: Vec<usize>,
    /// Changed reservations with their new content. `None` means that the key is released.
    pub actions: Vec<(ActionId, Option<ActionRow>)>,
    /// Action keys for which the job of the batch now waits.
    pub waits: Vec<ActionId>,
    /// Charges for the answers that the batch records.
    pub charges: Vec<Charge>,
    /// Jobs whose inbox gets [`InboxRequest::KeySettled`], each with the settled key. These jobs no longer wait
    /// for the key. The store calls [`JobSnapshot::apply_request`] for each of these jobs.
    pub notified: Vec<(JobId, ActionId)>,
}

impl JobSnapshot {
    /// Updates the snapshot for a request that enters the inbox. Sets the flags, and makes a waiting, parked,
    /// diverged or reopened job `PENDING`.
    pub fn apply_request(&mut self, request: &InboxRequest) {
        self.inbox_pending = true;
        // A cancel request and an undo request set the same flag, because only compensations may start after either
        // request.
        if matches!(request, InboxRequest::Cancel | InboxRequest::Undo) {
            self.cancel_requested = true;
        }
        let reopens = self.state.is_terminal() && request.reopens();
        if reopens || matches!(self.state, JobState::Waiting | JobState::Parked | JobState::Diverged) {
            self.state = JobState::Pending;
            self.wake_at_us = None;
        }
    }
}

/// Returns true if `request` may be put into the inbox of a job in `state`.
pub fn accepts_request(state: JobState, request: &InboxRequest) -> bool {
    match request {
        InboxRequest::Retry => matches!(state, JobState::Partial | JobState::Failed),
        InboxRequest::Undo => matches!(state, JobState::Completed | JobState::Partial | JobState::Failed),
        // These two requests concern a finished call, so a job accepts them in any state. They add audit events, or
        // decide about the call's receipt.
        InboxRequest::LateEffect { .. } | InboxRequest::Confirm { .. } => true,
        _ => !state.is_terminal(),
    }
}

/// Returns true if an accepted request stays in the inbox only as a record. This is the case if the job has ended and
/// no event is made from the request.
pub fn is_record_only(state: JobState, request: &InboxRequest) -> bool {
    let counts = matches!(request, InboxRequest::LateEffect { .. } | InboxRequest::Confirm { .. });
    state.is_terminal() && !request.reopens() && !counts
}

/// Returns true if entering `state` releases the claim.
pub fn releases_claim(state: JobState) -> bool {
    state != JobState::Running
}

/// Checks a batch against the stored state and applies it to `job` and `actions`. On an error, both are
/// unchanged. `boot_us` is the current time of the lease clock.
pub fn admit(
    job: &mut JobSnapshot,
    actions: &mut ActionKeys,
    batch: &Batch,
    boot_us: i64,
) -> Result<AdmittedChanges, WriteError> {
    if batch.attempt != job.attempt {
        return Err(WriteError::Fenced { attempt: batch.attempt, current: job.attempt });
    }
    // A terminal job has no claim and accepts only audit batches. Every other batch needs a running job.
    let is_audit = batch.writes.kind == BatchKind::Audit;
    if is_audit != job.state.is_terminal() || !is_audit && job.state != JobState::Running {
        return Err(WriteError::NotHeld { state: job.state });
    }
    if is_audit {
        check_audit(batch)?;
    }
    check_position(job, batch)?;
    check_chain(&batch.writes.events, batch)?;
    if let BatchKind::StartCalls(StartCalls { continued }) = &batch.writes.kind {
        check_start(job, batch, continued)?;
    }
    let mut changes = AdmittedChanges {
        effects: new_effects(job, batch)?,
        payloads: new_payloads(job, batch)?,
        ..AdmittedChanges::default()
    };
    let rows = ledger_rows_after(job, batch, boot_us)?;
    let reserved = reservations_after(job, actions, batch, &mut changes)?;
    let undone = undone_rows_after(job, batch)?;
    let undone_left = undone.as_ref().map_or(job.inbox_pending, |rest| !rest.is_empty());
    // A pending row that only reports another due timer does not prevent the end of a wait. Otherwise two due timers
    // would block each other forever: the row of each timer would make the store refuse the batch that ends the other
    // wait.
    let contradicted = match &batch.writes.kind {
        BatchKind::EndWait { compatible_inbox_ids } => {
            undone.as_ref().map_or(job.inbox_pending, |rest| rest.iter().any(|id| !compatible_inbox_ids.contains(id)))
        }
        _ => false,
    };
    // A batch that makes the job `PENDING` may leave inbox rows pending, because the next attempt reads them.
    let rests = |to: JobState| releases_claim(to) && to != JobState::Pending;
    let leaves_undone_requests =
        undone_left && matches!(batch.writes.kind, BatchKind::EndAttempt(end) if rests(end.state()));
    if contradicted || leaves_undone_requests {
        return Err(WriteError::InboxPending);
    }

    // All checks have passed. The statements below cannot fail.
    job.next_seq += batch.writes.events.len() as u64;
    if let Some(last) = batch.writes.events.last() {
        job.head = last.hash;
    }
    changes.ledger = rows.values().cloned().collect();
    changes.charges = batch.writes.events.iter().filter_map(cost::charge).collect();
    job.ledger.extend(rows);
    for &index in &changes.effects {
        let effect = &batch.writes.effects[index];
        job.effects.insert((effect.slot.clone(), effect.try_no), effect.to_bytes());
    }
    for &index in &changes.payloads {
        let payload = &batch.writes.payloads[index];
        job.payloads.insert(payload.label.clone(), payload.bytes.clone());
    }
    if let Some(actions_now) = reserved {
        *actions = actions_now;
    }
    if let Some(rest) = undone {
        job.inbox_pending = !rest.is_empty();
        job.inbox = rest;
    }
    match batch.writes.kind {
        BatchKind::EndAttempt(end) => (job.state, job.wake_at_us) = (end.state(), end.wake_at_us()),
        BatchKind::ParkUnloaded => (job.state, job.wake_at_us) = (JobState::Parked, None),
        _ => {}
    }
    Ok(changes)
}

/// Checks a new job. The row of the job must agree with the job's events, and the job must be in its initial state.
pub fn check_new(new: &NewJob) -> Result<(), WriteError> {
    let row = &new.row;
    let mut head = Hash::default();
    for (seq, event) in (0..).zip(&new.events) {
        if event.seq != seq || event.prev_hash != head {
            return Err(WriteError::Defect(format!(
                "event {} of the new job breaks the sequence or the hash chain",
                event.seq
            )));
        }
        head = event.hash;
    }
    if row.next_seq != new.events.len() as u64 || row.head != head {
        return Err(WriteError::Defect("the row of the new job does not match its events".to_owned()));
    }
    if row.state != JobState::Pending || row.attempt != 0 || row.inbox_pending || row.cancel_requested {
        return Err(WriteError::Defect("a new job must be PENDING at attempt 0 with an empty inbox".to_owned()));
    }
    Ok(())
}

/// Returns the refusal if a queue limit is reached. `own` and `all` are the numbers of pending jobs of the
/// tenant and of all tenants.
pub fn queue_full(limit: QueueLimit, own: usize, all: usize) -> Option<Submitted> {
    let reached = |limit: Option<u32>, count: usize| limit.filter(|limit| count >= *limit as usize);
    let full = |of_tenant: bool| move |limit: u32| Submitted::QueueFull { of_tenant, limit };
    reached(limit.tenant, own).map(full(true)).or_else(|| reached(limit.all, all).map(full(false)))
}

/// Checks effects that are written outside a batch. Returns the indexes of the effects that are not stored yet.
/// An effect that is already stored with other bytes is an error.
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
                    .map_err(|error| WriteError::Defect(format!("effect of {}, try {}: {error}", id.0, id.1)))?;
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

/// Checks a batch for a terminal job. The batch may contain only audit events, reservation changes and ids of
/// processed inbox rows.
fn check_audit(batch: &Batch) -> Result<(), WriteError> {
    let writes = &batch.writes;
    let none = writes.ledger.is_empty() && writes.effects.is_empty() && writes.payloads.is_empty();
    let none = none && writes.reusables.is_empty() && batch.expectations.is_empty() && batch.timers.is_empty();
    match none && writes.events.iter().all(|event| event.body.is_audit()) {
        true => Ok(()),
        false => Err(WriteError::Defect("a terminal job accepts only audit events".to_owned())),
    }
}

fn check_position(job: &JobSnapshot, batch: &Batch) -> Result<(), WriteError> {
    if batch.expect_seq != job.next_seq {
        return Err(WriteError::Conflict { expected: batch.expect_seq, found: job.next_seq });
    }
    if batch.expect_head != job.head {
        return Err(WriteError::OtherHead { seq: job.next_seq });
    }
    Ok(())
}

/// Checks that the first event continues the stored log, and that each further event continues the event before
/// it.
fn check_chain(events: &[Event], batch: &Batch) -> Result<(), WriteError> {
    let mut head = batch.expect_head;
    for (seq, event) in (batch.expect_seq..).zip(events) {
        if event.seq != seq || event.prev_hash != head || event.attempt != batch.attempt {
            return Err(WriteError::Defect(format!(
                "event {} of the batch does not continue the log at {seq}",
                event.seq
            )));
        }
        head = event.hash;
    }
    Ok(())
}

fn check_start(job: &JobSnapshot, batch: &Batch, continued: &[Slot]) -> Result<(), WriteError> {
    if !job.lease_live {
        return Err(WriteError::LeaseExpired);
    }
    let rows = || batch.writes.ledger.iter().map(LedgerWrite::row).filter(|row| row.state == RowState::Inflight);
    let started = || rows().map(|row| &row.slot).chain(continued);
    let compensates = started().next().is_some() && started().all(Slot::is_compensation);
    if job.cancel_requested && !compensates {
        return Err(WriteError::Cancelled);
    }
    Ok(())
}

fn new_effects(job: &JobSnapshot, batch: &Batch) -> Result<Vec<usize>, WriteError> {
    new_effects_of(&job.effects, &batch.writes.effects)
}

fn new_payloads(job: &JobSnapshot, batch: &Batch) -> Result<Vec<usize>, WriteError> {
    let mut fresh: BTreeMap<&str, &[u8]> = BTreeMap::new();
    let mut new = Vec::new();
    for (index, payload) in batch.writes.payloads.iter().enumerate() {
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

fn ledger_rows_after(job: &JobSnapshot, batch: &Batch, boot_us: i64) -> Result<BTreeMap<Slot, LedgerRow>, WriteError> {
    let mut rows: BTreeMap<Slot, LedgerRow> = BTreeMap::new();
    for write in &batch.writes.ledger {
        let slot = &write.row().slot;
        let found = rows.get(slot).or_else(|| job.ledger.get(slot));
        let refuse = || WriteError::RowMismatch { slot: slot.clone(), found: found.cloned().map(Box::new) };
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
        if batch.writes.kind.starts_calls() && row.state == RowState::Inflight {
            row.deadline_us = boot_us.saturating_add(i64::from(row.timeout_ms) * 1000);
        }
        rows.insert(slot.clone(), row);
    }
    Ok(rows)
}

/// Computes the reservations after the batch. Returns `None` if the batch changes no reservation, which is the
/// usual case.
fn reservations_after(
    job: &JobSnapshot,
    actions: &ActionKeys,
    batch: &Batch,
    changes: &mut AdmittedChanges,
) -> Result<Option<ActionKeys>, WriteError> {
    if batch.writes.actions.is_empty() {
        return Ok(None);
    }
    let mut now = actions.clone();
    let id = |operator: &Operator, key: &Hash| (job.tenant_id.clone(), operator.clone(), *key);
    for write in &batch.writes.actions {
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
                    return Err(WriteError::Defect(format!("slot {slot} settles an unreserved action key")));
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
                changes.notified.extend(waiters.into_iter().map(|waiter| (waiter, id.clone())));
                changes.actions.push((id, row));
            }
            ActionWrite::WithdrawReceipt { operator, key, slot } => {
                let id = id(operator, key);
                // Nothing is withdrawn if the key is free, has no receipt, or is held by another slot.
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
                    return Err(WriteError::ActionKeyFree { operator: operator.clone(), key: *key });
                }
                now.waiting.entry(id.clone()).or_default().insert(job.job_id.clone());
                changes.waits.push(id);
            }
        }
    }
    Ok(Some(now))
}

/// Computes the pending inbox rows after the batch. Returns `None` if the batch marks no row as done.
fn undone_rows_after(job: &JobSnapshot, batch: &Batch) -> Result<Option<BTreeSet<i64>>, WriteError> {
    if batch.writes.inbox_done.is_empty() {
        return Ok(None);
    }
    let mut rest = job.inbox.clone();
    for id in &batch.writes.inbox_done {
        if !rest.remove(id) {
            return Err(WriteError::Defect(format!("inbox row {id} of the batch is not undone")));
        }
    }
    Ok(Some(rest))
}
