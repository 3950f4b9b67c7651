//! Journal of the in-memory store, which is the reference model of a store.

use async_trait::async_trait;

use super::job::MemoryJob;
use super::{Memory, MemoryState};
use crate::event::DecidedBy;
use crate::model::ids::{Hash, JobId, Operator};
use crate::model::job::JobState;
use crate::rules::cost;
use crate::rules::cost::CostGrouping;
use crate::rules::ledger::{LedgerRow, Quiescence, RowState};
use crate::rules::reuse::ReusableResult;
use crate::storage::{
    ActionRow, Batch, Claim, ClaimExclusions, Clock, Counters, InboxError, InboxRequest, InboxRow, JobFilter, JobRow,
    JobTail, Journal, LeaseRequest, LogEnd, NewJob, Owner, StateReason, StoreError, StoredJob, Submitted, WriteError,
    admit, quiescence, state_reason,
};

impl Memory {
    /// Claims the job with the id `job`. If `job` is `None`, claims the next claimable job. Skips the jobs and tenants
    /// in `except`.
    fn claim_matching(&self, claimer: &LeaseRequest, job: Option<&JobId>, except: &ClaimExclusions) -> Option<Claim> {
        let mut state = self.state();
        let state = &mut *state;
        state.fire_due(self.clock.now_us());
        let looked_at = |of: &MemoryJob| job.is_none_or(|job| *job == of.snapshot.job_id);
        // Record the time at which the process of a lease holder was first seen to be dead. Keep a time that was
        // recorded earlier.
        let here = |owner: &&Owner| owner.boot_id == self.clock.boot_id() && self.clock.is_dead(owner);
        let running = state.jobs.values().filter(|of| looked_at(of) && of.snapshot.state == JobState::Running);
        for owner in running.filter_map(MemoryJob::holder).filter(here) {
            state.dead_since_us.entry(owner.lock_content.clone()).or_insert(self.clock.boot_us());
        }
        let passed_over = |of: &MemoryJob| {
            except.tenants.contains(&of.snapshot.tenant_id) || except.jobs.contains(&of.snapshot.job_id)
        };
        let wanted = |of: &MemoryJob| looked_at(of) && !passed_over(of);
        let claimable = |job: &MemoryJob| wanted(job) && job.claimable(&self.clock);
        let of_id = |id: &&JobId| std::cmp::Reverse(state.jobs[*id].priority());
        // Jobs with the highest priority come first, in the order of acceptance.
        let id = state.order.iter().filter(|id| claimable(&state.jobs[*id])).min_by_key(of_id)?;
        let job = state.jobs.get_mut(id).expect("every accepted job is there");
        job.claim(claimer, &self.clock);
        state.counters.flushes += 1;
        Some(Claim { row: job.row(), now_us: self.clock.now_us() })
    }

    fn write_now(&self, state: &mut MemoryState, batch: &Batch) -> Result<(), WriteError> {
        let now_us = self.clock.now_us();
        let job = state.jobs.get_mut(&batch.job_id).ok_or_else(|| WriteError::NoJob(batch.job_id.clone()))?;
        job.snapshot.lease_live = job.lease_live(&self.clock);
        let changes = admit::admit(&mut job.snapshot, &mut state.actions, batch, self.clock.boot_us())?;
        job.events.extend(batch.writes.events.iter().cloned());
        job.apply_expectations(batch);
        job.updated_us = now_us;
        if admit::releases_claim(job.snapshot.state) {
            job.lease_until_us = None;
        }
        for reusable in &batch.writes.reusables {
            let ReusableResult { tenant_id, operator, input_hash, .. } = reusable;
            state.reusables.insert((tenant_id.clone(), operator.clone(), *input_hash), reusable.clone());
        }
        let row = job.row();
        changes.charges.iter().for_each(|charge| state.costs.add(&row, charge));
        for (job_id, (_, operator, key)) in changes.notified {
            state.push_request(
                &job_id,
                DecidedBy::claimed("latchwork", None),
                InboxRequest::KeySettled { operator, key },
                now_us,
            );
        }
        Ok(())
    }
}

impl MemoryState {
    /// Turns due timers into inbox rows, and jobs whose wait is over into pending jobs.
    fn fire_due(&mut self, now_us: i64) {
        let mut fired = Vec::new();
        for (job_id, job) in &mut self.jobs {
            job.end_wait(now_us);
            fired
                .extend(job.remove_due_timers(now_us).into_iter().map(|(name, due_us)| (due_us, job_id.clone(), name)));
        }
        fired.sort();
        for (due_us, job_id, name) in fired {
            if !self.jobs[&job_id].snapshot.state.is_terminal() {
                self.counters.flushes += 1;
                self.push_request(
                    &job_id,
                    DecidedBy::claimed("latchwork", None),
                    InboxRequest::Timer { name, due_us },
                    now_us,
                );
            }
        }
    }

    /// Appends a request to a job's inbox. The caller has checked that the job accepts the request.
    fn push_request(&mut self, job_id: &JobId, by: DecidedBy, request: InboxRequest, now_us: i64) -> i64 {
        self.inbox_id += 1;
        let id = self.inbox_id;
        let job = self.jobs.get_mut(job_id).expect("the caller has found the job");
        if !admit::is_record_only(job.snapshot.state, &request) {
            job.snapshot.apply_request(&request);
            job.snapshot.inbox.insert(id);
            job.updated_us = now_us;
        }
        let DecidedBy { actor, reason, verified } = by;
        job.inbox.insert(id, InboxRow { id, actor, reason, request, verified });
        id
    }
}

#[async_trait]
impl Journal for Memory {
    async fn submit(&self, new: NewJob) -> Result<Submitted, WriteError> {
        admit::check_new(&new)?;
        let mut state = self.state();
        if let Some(id) = state.requests.get(&new.row.request_key) {
            return Ok(Submitted::Attached(state.jobs[id].row()));
        }
        let id = new.row.job_id.clone();
        if state.jobs.contains_key(&id) {
            return Err(WriteError::Defect(format!("job {id} exists with another request key")));
        }
        if new.claim.is_none() {
            let waits = |job: &&MemoryJob| job.snapshot.state == JobState::Pending;
            let of_tenant = |job: &&MemoryJob| job.snapshot.tenant_id == new.row.tenant_id;
            let all = state.jobs.values().filter(waits).count();
            let own = state.jobs.values().filter(waits).filter(of_tenant).count();
            if let Some(full) = admit::queue_full(new.queue, own, all) {
                return Ok(full);
            }
        }
        state.requests.insert(new.row.request_key, id.clone());
        state.order.push(id.clone());
        let claim = new.claim.clone();
        let mut job = MemoryJob::new(new);
        if let Some(claimer) = &claim {
            job.claim(claimer, &self.clock);
        }
        state.jobs.insert(id, job);
        state.counters.flushes += 1;
        Ok(Submitted::New)
    }

    async fn claim_excluding(
        &self,
        claimer: &LeaseRequest,
        except: &ClaimExclusions,
    ) -> Result<Option<Claim>, StoreError> {
        Ok(self.claim_matching(claimer, None, except))
    }

    async fn claim_job(&self, job_id: &JobId, claimer: &LeaseRequest) -> Result<Option<Claim>, StoreError> {
        Ok(self.claim_matching(claimer, Some(job_id), &ClaimExclusions::default()))
    }

    async fn heartbeat(&self, held: &[(JobId, u32)], lease_ms: u32) -> Result<Vec<JobId>, StoreError> {
        let mut state = self.state();
        let until = self.clock.boot_us() + i64::from(lease_ms) * 1000;
        let mut lost = Vec::new();
        for (id, attempt) in held {
            match state.jobs.get_mut(id) {
                Some(job) if job.snapshot.attempt == *attempt && job.snapshot.state == JobState::Running => {
                    job.lease_until_us = Some(until);
                }
                _ => lost.push(id.clone()),
            }
        }
        state.counters.flushes += 1;
        Ok(lost)
    }

    async fn write(&self, batch: Batch) -> Result<(), WriteError> {
        let mut state = self.state();
        let result = self.write_now(&mut state, &batch);
        let counters = &mut state.counters;
        match result {
            Ok(()) => {
                counters.batches += 1;
                counters.flushes += 1;
            }
            Err(_) => counters.refused += 1,
        }
        result
    }

    async fn load(&self, job_id: &JobId) -> Result<Option<StoredJob>, StoreError> {
        Ok(self.state().jobs.get(job_id).map(MemoryJob::record))
    }

    async fn job_tail(&self, job_id: &JobId) -> Result<Option<JobTail>, StoreError> {
        let state = self.state();
        let Some(job) = state.jobs.get(job_id) else { return Ok(None) };
        let last = job.events.last().expect("every accepted job has a log");
        let end = LogEnd { seq: last.seq, time_us: last.time_us, attempt: last.attempt };
        Ok(Some(JobTail { end, reopen: job.pending_inbox().into_iter().find(|row| row.request.reopens()) }))
    }

    async fn job(&self, job_id: &JobId) -> Result<Option<JobRow>, StoreError> {
        Ok(self.state().jobs.get(job_id).map(MemoryJob::row))
    }

    async fn jobs(&self, filter: &JobFilter) -> Result<Vec<JobRow>, StoreError> {
        let state = self.state();
        let newest_first = state.order.iter().rev();
        let from = filter
            .older_than
            .as_ref()
            .map_or(0, |last| newest_first.clone().position(|id| id == last).map_or(usize::MAX, |at| at + 1));
        let rows = newest_first.skip(from).map(|id| state.jobs[id].row());
        let wanted = rows.filter(|row| filter.state.is_none_or(|wanted| row.state == wanted));
        let open = wanted.filter(|row| !(filter.open && row.state.is_terminal()));
        let audited = |row: &JobRow| row.state.is_terminal() && row.inbox_pending;
        Ok(open.filter(|row| !filter.needs_audit || audited(row)).take(filter.limit as usize).collect())
    }

    async fn state_reasons(&self, rows: &[JobRow]) -> Result<Vec<StateReason>, StoreError> {
        let state = self.state();
        let of = |row: &JobRow| {
            let events = state.jobs.get(&row.job_id).into_iter().flat_map(|job| job.events.iter().rev());
            state_reason(
                row.state,
                row.cancel_requested,
                events.filter_map(|event| std::str::from_utf8(&event.bytes).ok()),
            )
        };
        Ok(rows.iter().map(of).collect())
    }

    async fn recover(&self, job_id: &JobId) -> Result<Vec<LedgerRow>, StoreError> {
        let state = self.state();
        let rows = state.jobs.get(job_id).into_iter().flat_map(|job| job.snapshot.ledger.values());
        Ok(rows.filter(|row| matches!(row.state, RowState::Inflight | RowState::Indeterminate)).cloned().collect())
    }

    async fn quiescence(&self, job_id: &JobId, row: &LedgerRow, settling_ms: u32) -> Result<Quiescence, StoreError> {
        let mut state = self.state();
        let owner = state.jobs.get(job_id).and_then(|job| job.claims.get(&row.attempt)).cloned();
        let owner = owner.ok_or_else(|| {
            StoreError::Damaged(format!("job {job_id} has no claim of attempt {}, slot {}", row.attempt, row.slot))
        })?;
        let now_us = self.clock.boot_us();
        let gone_us = self
            .clock
            .is_dead(&owner)
            .then(|| *state.dead_since_us.entry(owner.lock_content.clone()).or_insert(now_us));
        Ok(quiescence::assess(&quiescence::OwnerFacts {
            now_us,
            same_boot: owner.boot_id == self.clock.boot_id(),
            deadline_us: row.deadline_us,
            margin_ms: self.clock_margin_ms,
            owner_dead_us: gone_us,
            settling_ms,
        }))
    }

    async fn put_decision(&self, job_id: &JobId, by: DecidedBy, request: InboxRequest) -> Result<i64, InboxError> {
        let mut state = self.state();
        let job = state.jobs.get(job_id).ok_or_else(|| InboxError::NoJob(job_id.clone()))?;
        let awaited: Vec<_> = job.awaited.values().cloned().collect();
        crate::storage::expected_requests::check_request(
            job_id,
            job.snapshot.state,
            &awaited,
            &request,
            self.clock.now_us(),
        )?;
        state.counters.flushes += 1;
        Ok(state.push_request(job_id, by, request, self.clock.now_us()))
    }

    async fn fire_timers(&self) -> Result<Option<i64>, StoreError> {
        let mut state = self.state();
        state.fire_due(self.clock.now_us());
        Ok(state.jobs.values().flat_map(|job| job.timers.values().copied().chain(job.snapshot.wake_at_us)).min())
    }

    async fn inbox(&self, job_id: &JobId) -> Result<Vec<InboxRow>, StoreError> {
        Ok(self.state().jobs.get(job_id).map(MemoryJob::pending_inbox).unwrap_or_default())
    }

    async fn action_reservation(
        &self,
        tenant: &str,
        operator: &Operator,
        key: Hash,
    ) -> Result<Option<ActionRow>, StoreError> {
        Ok(self.state().actions.held.get(&(tenant.to_owned(), operator.clone(), key)).cloned())
    }

    async fn reusable(
        &self,
        tenant: &str,
        operator: &Operator,
        input_hash: Hash,
    ) -> Result<Option<ReusableResult>, StoreError> {
        Ok(self.state().reusables.get(&(tenant.to_owned(), operator.clone(), input_hash)).cloned())
    }

    async fn payload(&self, job_id: &JobId, label: &str) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.state().jobs.get(job_id).and_then(|job| job.snapshot.payloads.get(label)).cloned())
    }

    async fn costs(&self, by: CostGrouping, job_id: Option<&JobId>) -> Result<Vec<cost::CostRow>, StoreError> {
        let state = self.state();
        let jobs: Vec<JobRow> = state.order.iter().rev().map(|id| state.jobs[id].row()).collect();
        let mut rows = state.costs.rows(by, &jobs);
        rows.retain(|row| job_id.is_none_or(|id| row.job_id.as_ref() == Some(id)));
        Ok(rows)
    }

    async fn spent(&self, tenant: &str, month: &str) -> Result<u64, StoreError> {
        Ok(self.state().costs.spent(tenant, month))
    }

    async fn now_us(&self) -> Result<i64, StoreError> {
        Ok(self.clock.now_us())
    }

    fn counters(&self) -> Counters {
        self.state().counters
    }
}
