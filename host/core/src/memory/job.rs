//! One job of the in-memory store, which is the reference model of a store.

use std::collections::BTreeMap;

use super::clock::ManualClock;
use crate::event::Event;
use crate::model::ids::Hash;
use crate::model::job::JobState;
use crate::storage::admit::JobSnapshot;
use crate::storage::expectation::Expectation;
use crate::storage::{Batch, Clock, InboxRow, JobRow, LeaseRequest, NewJob, Owner, Payload, StoredJob};

pub(super) struct MemoryJob {
    /// Constant fields of the job row. `snapshot` and `updated_us` hold the fields that change.
    accepted: JobRow,
    pub(super) updated_us: i64,
    pub(super) secret: Hash,
    pub(super) snapshot: JobSnapshot,
    pub(super) events: Vec<Event>,
    pub(super) inbox: BTreeMap<i64, InboxRow>,
    /// Awaited signals and approvals, by name.
    pub(super) awaited: BTreeMap<String, Expectation>,
    /// Due times of timers, by name.
    pub(super) timers: BTreeMap<String, i64>,
    /// Process that claimed each attempt.
    pub(super) claims: BTreeMap<u32, Owner>,
    /// Lease clock time at which the lease expires. `None` if the job is not held.
    pub(super) lease_until_us: Option<i64>,
}

impl MemoryJob {
    pub(super) fn new(new: NewJob) -> Self {
        let NewJob { row, secret, events, payloads, expectations: awaited, .. } = new;
        let standing = JobSnapshot {
            job_id: row.job_id.clone(),
            tenant_id: row.tenant_id.clone(),
            state: row.state,
            attempt: row.attempt,
            next_seq: row.next_seq,
            head: row.head,
            cancel_requested: row.cancel_requested,
            inbox_pending: row.inbox_pending,
            wake_at_us: row.wake_at_us,
            lease_live: false,
            ledger: BTreeMap::new(),
            effects: BTreeMap::new(),
            payloads: payloads.into_iter().map(|payload| (payload.label, payload.bytes)).collect(),
            inbox: Default::default(),
        };
        Self {
            updated_us: row.updated_us,
            accepted: row,
            secret,
            snapshot: standing,
            events,
            inbox: BTreeMap::new(),
            awaited: awaited.into_iter().map(|awaited| (awaited.name.clone(), awaited)).collect(),
            timers: BTreeMap::new(),
            claims: BTreeMap::new(),
            lease_until_us: None,
        }
    }

    pub(super) fn row(&self) -> JobRow {
        let standing = &self.snapshot;
        JobRow {
            state: standing.state,
            attempt: standing.attempt,
            next_seq: standing.next_seq,
            head: standing.head,
            inbox_pending: standing.inbox_pending,
            cancel_requested: standing.cancel_requested,
            wake_at_us: standing.wake_at_us,
            updated_us: self.updated_us,
            ..self.accepted.clone()
        }
    }

    pub(super) fn priority(&self) -> i16 {
        self.accepted.priority
    }

    pub(super) fn record(&self) -> StoredJob {
        StoredJob {
            row: self.row(),
            secret: self.secret,
            events: self.events.clone(),
            ledger: self.snapshot.ledger.values().cloned().collect(),
            payloads: self
                .snapshot
                .payloads
                .iter()
                .map(|(label, bytes)| Payload { label: label.clone(), bytes: bytes.clone() })
                .collect(),
            inbox: self.pending_inbox(),
        }
    }

    pub(super) fn pending_inbox(&self) -> Vec<InboxRow> {
        self.snapshot.inbox.iter().map(|id| self.inbox[id].clone()).collect()
    }

    /// Stores the expectations and timers that a batch changes.
    pub(super) fn apply_expectations(&mut self, batch: &Batch) {
        for awaited in &batch.expectations {
            self.awaited.insert(awaited.name.clone(), awaited.clone());
        }
        for timer in &batch.timers {
            match timer.due_us {
                Some(due_us) => self.timers.insert(timer.name.clone(), due_us),
                None => self.timers.remove(&timer.name),
            };
        }
    }

    /// Removes and returns the timers that are due.
    pub(super) fn remove_due_timers(&mut self, now_us: i64) -> Vec<(String, i64)> {
        let due: Vec<_> = self.timers.iter().filter(|(_, due)| **due <= now_us).map(|(n, d)| (n.clone(), *d)).collect();
        self.timers.retain(|_, due| *due > now_us);
        due
    }

    /// Makes a waiting job pending if its wake-up time has come.
    pub(super) fn end_wait(&mut self, now_us: i64) {
        if self.snapshot.state == JobState::Waiting && self.snapshot.wake_at_us.is_some_and(|at_us| at_us <= now_us) {
            self.snapshot.state = JobState::Pending;
            self.snapshot.wake_at_us = None;
            self.updated_us = now_us;
        }
    }

    /// Returns true if the lease of the holder has not expired.
    pub(super) fn lease_live(&self, clock: &ManualClock) -> bool {
        let same_boot = self.holder().is_some_and(|owner| owner.boot_id == clock.boot_id());
        same_boot && self.lease_until_us.is_some_and(|until| clock.boot_us() < until)
    }

    pub(super) fn claimable(&self, clock: &ManualClock) -> bool {
        match self.snapshot.state {
            JobState::Pending => true,
            JobState::Running => !self.lease_live(clock) || self.holder().is_some_and(|owner| clock.is_dead(owner)),
            _ => false,
        }
    }

    pub(super) fn claim(&mut self, claimer: &LeaseRequest, clock: &ManualClock) {
        self.snapshot.state = JobState::Running;
        self.snapshot.wake_at_us = None;
        self.snapshot.attempt += 1;
        self.claims.insert(self.snapshot.attempt, claimer.owner.clone());
        self.lease_until_us = Some(clock.boot_us() + i64::from(claimer.lease_ms) * 1000);
        self.updated_us = clock.now_us();
    }

    pub(super) fn holder(&self) -> Option<&Owner> {
        self.claims.get(&self.snapshot.attempt)
    }
}
