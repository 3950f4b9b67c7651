//! Main loop of a job: drains the inbox, advances steps, starts runnable steps, and settles the job once
//! nothing runs.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use latchwork_core::decide::{self, Invocation, Rest};
use latchwork_core::event::Body;
use latchwork_core::ids::StepId;
use latchwork_core::job::JobState;
use latchwork_core::pending::Asked;
use latchwork_core::response::{Response, response};
use latchwork_core::state::Draft;
use latchwork_core::storage::{Request, StatusWrite, StoreError, WriteError};
use tokio::task::JoinSet;

use super::WorkerError;
use super::perform::Halt;
use super::run::{Dropped, Run};

/// Longest wait, in microseconds, during which the worker keeps its claim.
const WAIT_IN_HAND_US: i64 = 2_000_000;
/// Maximum number of reloads in a row. Beyond it the worker gives up, because the store keeps contradicting its
/// state.
const RELOADS_MAX: u32 = 50;
/// Pause between two attempts to release a job.
const GIVE_BACK_AGAIN: Duration = Duration::from_millis(10);
/// Maximum number of reloads in a row if the database fails while committing.
const UNKNOWNS_MAX: u32 = 3;

type Tried = (StepId, Result<(), Halt>);
type Tries = JoinSet<Tried>;

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
                Dropped::Lost => return Err(WorkerError::Lost(self.job_id.clone())),
                Dropped::Stopping => return self.give_back().await,
                Dropped::Store(error) => return Err(error.into()),
                Dropped::PluginMissing { operator, why } => {
                    return match self.give_back().await {
                        Err(WorkerError::Released(job_id)) => Err(WorkerError::PluginMissing { job_id, operator, why }),
                        other => other,
                    };
                }
                Dropped::Broken(message) => {
                    return Err(WorkerError::Broken { job_id: self.job_id.clone(), message });
                }
                // A disk that fails at every commit is reported as unavailable after a few reloads, not after
                // `RELOADS_MAX`.
                Dropped::Reload(WriteError::Unknown(message)) if reloads >= UNKNOWNS_MAX => {
                    return Err(StoreError::Unavailable(message).into());
                }
                Dropped::Reload(cause) if reloads == RELOADS_MAX => {
                    let message = format!("the store refused the write after {RELOADS_MAX} reloads: {cause}");
                    return Err(WorkerError::Broken { job_id: self.job_id.clone(), message });
                }
                Dropped::Reload(cause) => {
                    reloads += 1;
                    tracing::debug!(job_id = %self.job_id, %cause, "loading the job again");
                    self.reload().await?;
                    // After a conflict about an action key, find the key holder before requesting the key
                    // again.
                    let of_key = matches!(cause, WriteError::ActionKey(_) | WriteError::KeyOpen { .. });
                    self.state().durable.seen.look_first |= of_key;
                    if self.has_rested() {
                        return Ok(response(&self.state().durable));
                    }
                }
            }
        }
    }

    /// Releases the job for other workers. Returns the response if the job has already settled.
    async fn give_back(self: &Arc<Self>) -> Result<Response, WorkerError> {
        let job_id = self.job_id.clone();
        for _ in 0..RELOADS_MAX {
            // Earlier writes of this run may still be in the store's queue. Reload, because the log may have
            // grown.
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
                // The log does not contain this attempt's claim event yet. If the event arrives in between, the
                // store refuses this write and the loop retries.
                back = decide::claimed(self.attempt, &parts.owner.worker, parts.engine_profile).and(back);
            }
            match self.write(back).await {
                Ok(()) => return Err(WorkerError::Released(job_id)),
                Err(Dropped::Reload(_)) => tokio::time::sleep(GIVE_BACK_AGAIN).await,
                Err(Dropped::Store(error)) => return Err(error.into()),
                Err(Dropped::Broken(message)) => return Err(WorkerError::Broken { job_id, message }),
                Err(_) => return Err(WorkerError::Lost(job_id)),
            }
        }
        // The lease expires without a release.
        Err(WorkerError::Lost(job_id))
    }

    /// Returns true if this attempt has settled the job. The acknowledgement of that write may have been lost.
    fn has_rested(&self) -> bool {
        let state = self.state();
        state.durable.job.attempt == self.attempt && state.durable.job.state != JobState::Running
    }

    /// Returns true if the lease is lost.
    pub(super) fn is_gone(&self) -> bool {
        self.is_gone.load(std::sync::atomic::Ordering::Acquire)
    }

    async fn drive_loaded(self: &Arc<Self>) -> Result<Response, Dropped> {
        if let Some(response) = self.enter().await? {
            return Ok(response);
        }
        let mut tries: Tries = JoinSet::new();
        let ended = self.drive_tries(&mut tries).await;
        if ended.is_err() {
            // Tool calls cannot be taken back. Record their answers before dropping the tries.
            self.under_way.close().await;
            tries.shutdown().await;
            self.under_way.open();
        }
        ended
    }

    async fn drive_tries(self: &Arc<Self>, tries: &mut Tries) -> Result<Response, Dropped> {
        loop {
            if self.worker.is_stopping() {
                return Err(Dropped::Stopping);
            }
            self.advance_all().await?;
            self.start_tries(tries);
            if tries.is_empty() {
                if let Some(response) = self.rest_unless_stopped().await? {
                    return Ok(response);
                }
                continue;
            }
            tokio::select! {
                biased;
                () = self.gone.notified() => return Err(Dropped::Lost),
                () = self.worker.stopping() => return Err(Dropped::Stopping),
                ended = tries.join_next() => self.after_try(ended).await?,
                () = self.next_look() => self.attend().await?,
            }
        }
    }

    /// Records the claim, drains the inbox and confirms recorded changes. Parks the job if it exceeds the limit
    /// of attempts without progress, and then returns its response.
    async fn enter(self: &Arc<Self>) -> Result<Option<Response>, Dropped> {
        let (known, over, was_running) = {
            let state = self.state();
            let job = &state.durable.job;
            (job.attempt, job.state.is_terminal(), job.state == JobState::Running)
        };
        // A later attempt has written to the log while this worker was suspended between claiming and loading.
        if known > self.attempt {
            return Err(Dropped::Lost);
        }
        let claimed = known < self.attempt;
        if claimed {
            let was_cut_off = was_running || known + 1 < self.attempt;
            self.is_careful.store(was_cut_off, Ordering::Relaxed);
            let parts = &self.worker.parts;
            let claim = decide::claimed(self.attempt, &parts.owner.worker, parts.engine_profile);
            if over {
                self.reopen(claim).await?;
            } else {
                let receipts = decide::unread_receipts(&self.state().durable);
                self.write(claim.and(receipts)).await?;
            }
        }
        let limit = self.worker.parts.settings.max_attempts_without_progress;
        let mut exhausted = decide::exhausted_unread(&self.state().durable, limit);
        if exhausted.is_none() {
            self.drain_inbox().await?;
            exhausted = decide::exhausted(&self.state().durable, limit);
        }
        let Some(parked) = exhausted else {
            self.confirm().await?;
            return Ok(None);
        };
        self.write(parked).await?;
        Ok(Some(response(&self.state().durable)))
    }

    /// Reopens a finished job for a retry or an undo and claims it in one write in both commit modes. Log and
    /// ledger must agree on the steps and calls that are open again.
    async fn reopen(self: &Arc<Self>, claim: Draft) -> Result<(), Dropped> {
        let journal = &self.worker.parts.journal;
        let inbox = journal.inbox(&self.job_id).await?;
        let asked = inbox.iter().find(|row| row.request.reopens());
        let Some(row) = asked else {
            // The lease may have expired since the job was loaded. Then a later attempt has processed the
            // request.
            if journal.job(&self.job_id).await?.is_some_and(|row| row.attempt != self.attempt) {
                return Err(Dropped::Lost);
            }
            return Err(Dropped::Broken("a finished job was claimed without a request to retry or undo it".to_owned()));
        };
        let draft = decide::reopened(&self.state().durable, row, &self.context());
        self.write_batch(draft.and(claim)).await
    }

    async fn advance_all(self: &Arc<Self>) -> Result<(), Dropped> {
        self.look_up().await?;
        loop {
            let draft = {
                let state = self.state();
                if state.divergence.is_some() {
                    return Ok(());
                }
                decide::advance(&state.durable, &self.context(), &state.running)
            };
            match draft {
                Some(draft) => self.write(draft).await?,
                None => return Ok(()),
            }
            self.look_up().await?;
        }
    }

    fn start_tries(self: &Arc<Self>, tries: &mut Tries) {
        let startable = {
            let mut state = self.state();
            if state.divergence.is_some() {
                return;
            }
            let startable = decide::startable(&state.durable, &state.running);
            state.running.extend(startable.iter().cloned());
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

    async fn after_try(self: &Arc<Self>, ended: Option<Result<Tried, tokio::task::JoinError>>) -> Result<(), Dropped> {
        let (step, result) = match ended {
            Some(Ok(ended)) => ended,
            Some(Err(error)) => return Err(Dropped::Broken(format!("a step's task failed: {error}"))),
            None => return Ok(()),
        };
        self.state().running.remove(&step);
        match result {
            Ok(()) | Err(Halt::Blocked | Halt::RetryLater) => Ok(()),
            Err(Halt::Cancelled) => {
                let state = self.state();
                let given_up = state.durable.job.is_given_up();
                // An aborting job starts no step. Any other job must be loaded again. Otherwise the step would
                // start again immediately and be cancelled again.
                if given_up { Ok(()) } else { Err(Dropped::Reload(WriteError::Cancelled)) }
            }
            Err(Halt::Diverged(divergence)) => {
                self.state().divergence.get_or_insert(divergence);
                Ok(())
            }
            Err(Halt::Dropped(dropped)) => Err(dropped),
        }
    }

    /// Settles the job, including compensation and resolution, until the lease is lost or the worker stops. In
    /// these two cases it waits only for calls that are being executed.
    async fn rest_unless_stopped(self: &Arc<Self>) -> Result<Option<Response>, Dropped> {
        let mut rest = std::pin::pin!(self.come_to_rest());
        let stopped = tokio::select! {
            biased;
            rested = &mut rest => return rested,
            () = self.gone.notified() => Dropped::Lost,
            () = self.worker.stopping() => Dropped::Stopping,
        };
        tokio::select! {
            biased;
            // The job settled despite the stop.
            Ok(Some(response)) = &mut rest => Ok(Some(response)),
            () = self.under_way.close() => Err(stopped),
            else => Err(stopped),
        }
    }

    /// Settles the job once nothing runs and nothing can start: the job diverges, waits, is parked or ends.
    /// Returns `None` if the main loop must continue. If a request arrives meanwhile, the store refuses the
    /// final write and the job is loaded again.
    async fn come_to_rest(self: &Arc<Self>) -> Result<Option<Response>, Dropped> {
        let divergence = self.state().divergence.take();
        if let Some(report) = divergence {
            let status = Some(StatusWrite { to: JobState::Diverged, wake_at_us: None });
            let events = vec![Body::JobDiverged { report: Box::new(report) }];
            self.write(Draft { events, status, flush_now: true, ..Draft::default() }).await?;
            return Ok(Some(response(&self.state().durable)));
        }
        let doubt = decide::doubt(&self.state().durable);
        if let Some(invocation) = doubt {
            return self.follow(invocation).await.map(|()| None);
        }
        if self.undo().await? {
            return Ok(None);
        }
        let rest = {
            let state = self.state();
            if decide::advance(&state.durable, &self.context(), &state.running).is_some()
                || !decide::startable(&state.durable, &state.running).is_empty()
            {
                return Ok(None);
            }
            decide::rest(&state.durable)
        };
        if let Rest::Until(time_us) = rest {
            let left_us = (time_us - self.machine().now_us()).max(0);
            if left_us <= WAIT_IN_HAND_US {
                let wait = Duration::from_micros(left_us.unsigned_abs());
                tokio::select! {
                    biased;
                    () = self.gone.notified() => return Err(Dropped::Lost),
                    () = self.worker.stopping() => return Err(Dropped::Stopping),
                    _ = tokio::time::timeout(wait, self.next_look()) => self.attend().await?,
                }
                return Ok(None);
            }
        }
        let draft = decide::end_of_job(&self.state().durable, &rest, &self.context());
        self.write(draft).await?;
        Ok(Some(response(&self.state().durable)))
    }

    /// Performs an invocation that no step waits for, as far as possible now.
    pub(super) async fn follow(self: &Arc<Self>, mut invocation: Invocation) -> Result<(), Dropped> {
        match self.perform(&mut invocation).await {
            Ok(_) | Err(Halt::Blocked | Halt::RetryLater | Halt::Cancelled) => Ok(()),
            Err(Halt::Diverged(divergence)) => {
                self.state().divergence.get_or_insert(divergence);
                Ok(())
            }
            Err(Halt::Dropped(dropped)) => Err(dropped),
        }
    }

    pub(super) async fn drain_inbox_if_pending(self: &Arc<Self>) -> Result<(), Dropped> {
        let row = self.worker.parts.journal.job(&self.job_id).await?;
        match row {
            Some(row) if row.attempt != self.attempt => Err(Dropped::Lost),
            Some(row) if row.inbox_pending => self.drain_inbox().await,
            _ => Ok(()),
        }
    }

    async fn drain_inbox(self: &Arc<Self>) -> Result<(), Dropped> {
        let rows = self.worker.parts.journal.inbox(&self.job_id).await?;
        let times = rows.iter().filter(|row| matches!(row.request, Request::Timer { .. }));
        self.state().durable.beside = times.map(|row| row.id).collect();
        for row in decide::in_order(rows) {
            if matches!(row.request, Request::LateEffect { .. }) {
                let effects = self.worker.parts.effects.effects(&self.job_id).await?;
                self.state().durable.take_effects(&effects);
            }
            let mut is_done = false;
            while !is_done {
                let draft = decide::inbox(&self.state().durable, &row, &self.context());
                is_done = draft.inbox_done.contains(&row.id);
                if is_done
                    && draft.is_silent()
                    && let Some(asked) = Asked::of(&row.request)
                {
                    // The request was acknowledged when it was submitted, but it no longer applies or the
                    // current policy forbids it.
                    let (job_id, by) = (&self.job_id, &row.actor);
                    tracing::warn!(%job_id, inbox_id = row.id, %by, "request without effect ({}): it no longer applies \
                        or the policy forbids it", asked.done());
                }
                self.write(Draft { flush_now: true, ..draft }).await?;
            }
        }
        Ok(())
    }
}
