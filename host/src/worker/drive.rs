//! Main loop of a job: drains the inbox, advances steps, starts runnable steps, and settles the job once
//! nothing runs.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::task::JoinSet;

use latchwork_core::decide;
use latchwork_core::decide::{Invocation, JobSettlement};
use latchwork_core::event::Body;
use latchwork_core::model::ids::StepId;
use latchwork_core::model::job::JobState;
use latchwork_core::response::{Response, response};
use latchwork_core::state::Draft;
use latchwork_core::state::pending::RequestKind;
use latchwork_core::storage::{InboxRequest, StatusWrite, StoreError, WriteError};

use super::WorkerError;
use super::perform::CallStopped;
use super::run::{Run, RunAborted};

/// Longest wait of a job, in microseconds, during which the worker keeps its claim of the job.
const WAIT_WITH_CLAIM_US: i64 = 2_000_000;
/// Maximum number of reloads during one claim. The worker then gives up, because the store keeps contradicting the
/// state in memory.
const RELOADS_MAX: u32 = 50;
/// Pause between two tries to release a job.
const RELEASE_RETRY_PAUSE: Duration = Duration::from_millis(10);
/// Number of reloads during one claim after which a failed commit is reported as an unavailable database.
const UNKNOWN_COMMITS_MAX: u32 = 3;

type TryResult = (StepId, Result<(), CallStopped>);
type RunningTries = JoinSet<TryResult>;

impl Run {
    /// Drives the job until it settles.
    pub(super) async fn drive(self: &Arc<Self>) -> Result<Response, WorkerError> {
        let mut reloads = 0;
        loop {
            let dropped = match self.drive_loaded().await {
                Ok(response) => return Ok(response),
                Err(dropped) => dropped,
            };
            match dropped {
                RunAborted::LeaseLost => return Err(WorkerError::LeaseLost(self.job_id.clone())),
                RunAborted::Stopping => return self.release().await,
                RunAborted::Store(error) => return Err(error.into()),
                RunAborted::PluginMissing { operator, why } => {
                    return match self.release().await {
                        Err(WorkerError::Released(job_id)) => Err(WorkerError::PluginMissing { job_id, operator, why }),
                        other => other,
                    };
                }
                RunAborted::Broken(message) => {
                    return Err(WorkerError::Broken { job_id: self.job_id.clone(), message });
                }
                // If the disk fails at every commit, the database is reported as unavailable after a few
                // reloads, and not only after `RELOADS_MAX`.
                RunAborted::Reload(WriteError::Unknown(message)) if reloads >= UNKNOWN_COMMITS_MAX => {
                    return Err(StoreError::Unavailable(message).into());
                }
                RunAborted::Reload(cause) if reloads == RELOADS_MAX => {
                    let message = format!("the store refused the write after {RELOADS_MAX} reloads: {cause}");
                    return Err(WorkerError::Broken { job_id: self.job_id.clone(), message });
                }
                RunAborted::Reload(cause) => {
                    reloads += 1;
                    tracing::debug!(job_id = %self.job_id, %cause, "loading the job again");
                    self.reload().await?;
                    // After a conflict about an action key, find the key holder before requesting the key
                    // again.
                    let of_key = matches!(cause, WriteError::ActionKey(_) | WriteError::ActionKeyFree { .. });
                    self.state().durable.prefetched.query_keys_first |= of_key;
                    if self.has_settled() {
                        return Ok(response(&self.state().durable));
                    }
                }
            }
        }
    }

    /// Releases the job for other workers. Returns the response if the job has already settled.
    async fn release(self: &Arc<Self>) -> Result<Response, WorkerError> {
        let job_id = self.job_id.clone();
        for _ in 0..RELOADS_MAX {
            // Earlier writes of this run may have been queued and committed since the last load. The job is
            // therefore loaded again.
            self.reload().await?;
            let parts = &self.worker.parts;
            let (known, state) = {
                let state = self.state();
                (state.durable.job.attempt, state.durable.job.state)
            };
            let is_claimed = known >= self.attempt;
            if state.is_terminal() || is_claimed && state != JobState::Running {
                return Ok(response(&self.state().durable));
            }
            let mut back = decide::released(&parts.owner.worker);
            if !is_claimed {
                // The log does not contain this attempt's claim event yet. If an earlier write of that event
                // becomes durable before this write, the store refuses this write and the loop retries.
                back = decide::claimed(self.attempt, &parts.owner.worker, parts.engine_profile).merge(back);
            }
            match self.write(back).await {
                Ok(()) => return Err(WorkerError::Released(job_id)),
                Err(RunAborted::Reload(_)) => tokio::time::sleep(RELEASE_RETRY_PAUSE).await,
                Err(RunAborted::Store(error)) => return Err(error.into()),
                Err(RunAborted::Broken(message)) => return Err(WorkerError::Broken { job_id, message }),
                Err(_) => return Err(WorkerError::LeaseLost(job_id)),
            }
        }
        // The job could not be released. Other workers can claim it when the lease has expired.
        Err(WorkerError::LeaseLost(job_id))
    }

    /// Returns true if, according to the log, this attempt has settled the job. The write that settled the job
    /// may have succeeded without being acknowledged.
    fn has_settled(&self) -> bool {
        let state = self.state();
        state.durable.job.attempt == self.attempt && state.durable.job.state != JobState::Running
    }

    /// Returns true if the lease is lost.
    pub(super) fn is_lease_lost(&self) -> bool {
        self.lease_lost.load(std::sync::atomic::Ordering::Acquire)
    }

    async fn drive_loaded(self: &Arc<Self>) -> Result<Response, RunAborted> {
        if let Some(response) = self.begin_attempt().await? {
            return Ok(response);
        }
        let mut tries: RunningTries = JoinSet::new();
        let ended = self.drive_tries(&mut tries).await;
        if ended.is_err() {
            // A tool call that has started cannot be revoked. The calls in flight are therefore finished and
            // their answers recorded before the tries are dropped.
            self.in_flight_calls.close_and_drain().await;
            tries.shutdown().await;
            self.in_flight_calls.open();
        }
        ended
    }

    async fn drive_tries(self: &Arc<Self>, tries: &mut RunningTries) -> Result<Response, RunAborted> {
        loop {
            if self.worker.is_stopping() {
                return Err(RunAborted::Stopping);
            }
            self.advance_all().await?;
            self.start_tries(tries);
            if tries.is_empty() {
                if let Some(response) = self.settle_unless_stopped().await? {
                    return Ok(response);
                }
                continue;
            }
            tokio::select! {
                biased;
                () = self.lease_lost_notify.notified() => return Err(RunAborted::LeaseLost),
                () = self.worker.wait_for_stop() => return Err(RunAborted::Stopping),
                ended = tries.join_next() => self.handle_try_result(ended).await?,
                () = self.wait_for_wakeup() => self.poll_inbox().await?,
            }
        }
    }

    /// Records the claim, drains the inbox and confirms recorded changes. If the job exceeds the limit of
    /// attempts without progress, parks the job and returns its response.
    async fn begin_attempt(self: &Arc<Self>) -> Result<Option<Response>, RunAborted> {
        let (known, over, was_running) = {
            let state = self.state();
            let job = &state.durable.job;
            (job.attempt, job.state.is_terminal(), job.state == JobState::Running)
        };
        // A higher attempt in the log means that this worker was suspended between claiming and loading. A later
        // attempt has written to the log meanwhile.
        if known > self.attempt {
            return Err(RunAborted::LeaseLost);
        }
        let claimed = known < self.attempt;
        if claimed {
            let was_cut_off = was_running || known + 1 < self.attempt;
            self.flush_every_write.store(was_cut_off, Ordering::Relaxed);
            let parts = &self.worker.parts;
            let claim = decide::claimed(self.attempt, &parts.owner.worker, parts.engine_profile);
            if over {
                self.reopen(claim).await?;
            } else {
                let receipts = decide::withdraw_receipts_after_unloaded_reopen(&self.state().durable);
                self.write(claim.merge(receipts)).await?;
            }
        }
        let limit = self.worker.parts.settings.max_attempts_without_progress;
        let mut exhausted = decide::park_crash_loop_before_inbox(&self.state().durable, limit);
        if exhausted.is_none() {
            self.drain_inbox().await?;
            exhausted = decide::park_crash_loop(&self.state().durable, limit);
        }
        let Some(parked) = exhausted else {
            self.confirm().await?;
            return Ok(None);
        };
        self.write(parked).await?;
        Ok(Some(response(&self.state().durable)))
    }

    /// Reopens a finished job for a retry or an undo, and records the claim. This is a single write even in staged
    /// commit: log and ledger must agree on the steps and calls that are open again.
    async fn reopen(self: &Arc<Self>, claim: Draft) -> Result<(), RunAborted> {
        let journal = &self.worker.parts.journal;
        let inbox = journal.inbox(&self.job_id).await?;
        let asked = inbox.iter().find(|row| row.request.reopens());
        let Some(row) = asked else {
            // If the lease has expired since the job was loaded, a later attempt may have processed the
            // request.
            if journal.job(&self.job_id).await?.is_some_and(|row| row.attempt != self.attempt) {
                return Err(RunAborted::LeaseLost);
            }
            return Err(RunAborted::Broken(
                "a finished job was claimed without a request to retry or undo it".to_owned(),
            ));
        };
        let draft = decide::reopen_job(&self.state().durable, row, &self.context());
        self.write_batch(draft.merge(claim)).await
    }

    async fn advance_all(self: &Arc<Self>) -> Result<(), RunAborted> {
        self.prefetch().await?;
        loop {
            let draft = {
                let state = self.state();
                if state.divergence.is_some() {
                    return Ok(());
                }
                decide::advance(&state.durable, &self.context(), &state.running_steps)
            };
            match draft {
                Some(draft) => self.write(draft).await?,
                None => return Ok(()),
            }
            self.prefetch().await?;
        }
    }

    fn start_tries(self: &Arc<Self>, tries: &mut RunningTries) {
        let startable = {
            let mut state = self.state();
            if state.divergence.is_some() {
                return;
            }
            let startable = decide::startable(&state.durable, &state.running_steps);
            state.running_steps.extend(startable.iter().cloned());
            startable
        };
        for step in startable {
            let run = self.clone();
            tries.spawn(async move {
                let result = run.try_step(&step).await;
                (step, result)
            });
        }
    }

    async fn handle_try_result(
        self: &Arc<Self>,
        ended: Option<Result<TryResult, tokio::task::JoinError>>,
    ) -> Result<(), RunAborted> {
        let (step, result) = match ended {
            Some(Ok(ended)) => ended,
            Some(Err(error)) => return Err(RunAborted::Broken(format!("a step's task failed: {error}"))),
            None => return Ok(()),
        };
        self.state().running_steps.remove(&step);
        match result {
            Ok(()) | Err(CallStopped::Blocked | CallStopped::RetryLater) => Ok(()),
            Err(CallStopped::Cancelled) => {
                let state = self.state();
                let given_up = state.durable.job.is_aborting();
                // An aborting job does not start the cancelled step again. In any other job, the state in memory would
                // start the step again, and the step would be cancelled again, without end. Such a job is therefore
                // loaded again.
                if given_up { Ok(()) } else { Err(RunAborted::Reload(WriteError::Cancelled)) }
            }
            Err(CallStopped::Diverged(divergence)) => {
                self.state().divergence.get_or_insert(divergence);
                Ok(())
            }
            Err(CallStopped::Aborted(dropped)) => Err(dropped),
        }
    }

    /// Settles the job. This includes compensation and the resolution of calls in doubt. If the lease is lost or the
    /// worker stops, waits only for the calls in flight.
    async fn settle_unless_stopped(self: &Arc<Self>) -> Result<Option<Response>, RunAborted> {
        let mut rest = std::pin::pin!(self.settle_job());
        let stopped = tokio::select! {
            biased;
            rested = &mut rest => return rested,
            () = self.lease_lost_notify.notified() => RunAborted::LeaseLost,
            () = self.worker.wait_for_stop() => RunAborted::Stopping,
        };
        tokio::select! {
            biased;
            // The job settled despite the stop.
            Ok(Some(response)) = &mut rest => Ok(Some(response)),
            () = self.in_flight_calls.close_and_drain() => Err(stopped),
            else => Err(stopped),
        }
    }

    /// Settles the job once nothing runs and nothing can start: the job diverges, waits, is parked or ends. Returns
    /// `None` if the main loop must continue. If a request arrives meanwhile, the store refuses the final write. The
    /// job is then loaded again.
    async fn settle_job(self: &Arc<Self>) -> Result<Option<Response>, RunAborted> {
        let divergence = self.state().divergence.take();
        if let Some(report) = divergence {
            let status = Some(StatusWrite { to: JobState::Diverged, wake_at_us: None });
            let events = vec![Body::JobDiverged { report: Box::new(report) }];
            self.write(Draft { events, status, flush_now: true, ..Draft::default() }).await?;
            return Ok(Some(response(&self.state().durable)));
        }
        let doubt = decide::next_call_in_doubt(&self.state().durable);
        if let Some(invocation) = doubt {
            return self.drive_invocation(invocation).await.map(|()| None);
        }
        if self.undo_next().await? {
            return Ok(None);
        }
        let rest = {
            let state = self.state();
            if decide::advance(&state.durable, &self.context(), &state.running_steps).is_some()
                || !decide::startable(&state.durable, &state.running_steps).is_empty()
            {
                return Ok(None);
            }
            decide::job_settlement(&state.durable)
        };
        if let JobSettlement::WaitUntil(time_us) = rest {
            let left_us = (time_us - self.machine().now_us()).max(0);
            if left_us <= WAIT_WITH_CLAIM_US {
                let wait = Duration::from_micros(left_us.unsigned_abs());
                tokio::select! {
                    biased;
                    () = self.lease_lost_notify.notified() => return Err(RunAborted::LeaseLost),
                    () = self.worker.wait_for_stop() => return Err(RunAborted::Stopping),
                    _ = tokio::time::timeout(wait, self.wait_for_wakeup()) => self.poll_inbox().await?,
                }
                return Ok(None);
            }
        }
        let draft = decide::settle_job(&self.state().durable, &rest, &self.context());
        self.write(draft).await?;
        Ok(Some(response(&self.state().durable)))
    }

    /// Performs an invocation that no step waits for. Returns when the invocation has its answer or cannot
    /// continue now.
    pub(super) async fn drive_invocation(self: &Arc<Self>, mut invocation: Invocation) -> Result<(), RunAborted> {
        match self.perform(&mut invocation).await {
            Ok(_) | Err(CallStopped::Blocked | CallStopped::RetryLater | CallStopped::Cancelled) => Ok(()),
            Err(CallStopped::Diverged(divergence)) => {
                self.state().divergence.get_or_insert(divergence);
                Ok(())
            }
            Err(CallStopped::Aborted(dropped)) => Err(dropped),
        }
    }

    pub(super) async fn drain_inbox_if_pending(self: &Arc<Self>) -> Result<(), RunAborted> {
        let row = self.worker.parts.journal.job(&self.job_id).await?;
        match row {
            Some(row) if row.attempt != self.attempt => Err(RunAborted::LeaseLost),
            Some(row) if row.inbox_pending => self.drain_inbox().await,
            _ => Ok(()),
        }
    }

    async fn drain_inbox(self: &Arc<Self>) -> Result<(), RunAborted> {
        let rows = self.worker.parts.journal.inbox(&self.job_id).await?;
        let times = rows.iter().filter(|row| matches!(row.request, InboxRequest::Timer { .. }));
        self.state().durable.compatible_inbox_ids = times.map(|row| row.id).collect();
        for row in decide::in_application_order(rows) {
            if matches!(row.request, InboxRequest::LateEffect { .. }) {
                let effects = self.worker.parts.effects.effects(&self.job_id).await?;
                self.state().durable.add_effects(&effects);
            }
            let mut is_done = false;
            while !is_done {
                let draft = decide::apply_request(&self.state().durable, &row, &self.context());
                is_done = draft.inbox_done.contains(&row.id);
                if is_done
                    && draft.has_no_writes()
                    && let Some(asked) = RequestKind::of(&row.request)
                {
                    // The request was acknowledged when it was submitted, but it no longer applies or the
                    // current policy forbids it.
                    let (job_id, by) = (&self.job_id, &row.actor);
                    tracing::warn!(%job_id, inbox_id = row.id, %by, "request without effect ({}): it no longer applies \
                        or the policy forbids it", asked.past_participle());
                }
                self.write(Draft { flush_now: true, ..draft }).await?;
            }
        }
        Ok(())
    }
}
