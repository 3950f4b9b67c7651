//! Main loop of a job: drains the inbox, advances steps, starts runnable steps, and settles the job once
//! nothing runs.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;

use latchwork_core::decide;
use latchwork_core::model::ids::StepId;
use latchwork_core::model::job::JobState;
use latchwork_core::response::{Response, response};
use latchwork_core::storage::{StoreError, WriteError};

use super::aborted::{ReloadCause, RunAborted};
use super::run::Run;
use super::stopped::CallStopped;
use crate::runtime::worker::WorkerError;

/// Maximum number of reloads during one claim. After these reloads the worker stops with an error, because the store
/// keeps contradicting the state in memory.
const RELOADS_MAX: u32 = 50;
/// Pause between two tries to release a job.
const RELEASE_RETRY_PAUSE: Duration = Duration::from_millis(10);
/// Number of reloads during one claim after which a failed commit is reported as an unavailable database.
const UNKNOWN_COMMITS_MAX: u32 = 3;

type TryResult = (StepId, Result<(), CallStopped>);
type RunningTries = JoinSet<TryResult>;

impl Run {
    /// Drives the job until it settles.
    pub(crate) async fn drive(self: &Arc<Self>) -> Result<Response, WorkerError> {
        let mut reloads = 0;
        loop {
            let dropped = match self.drive_loaded().await {
                Ok(response) => return Ok(response),
                Err(dropped) => dropped,
            };
            match dropped {
                RunAborted::LeaseLost => return Err(WorkerError::LeaseLost(self.job_id.clone())),
                RunAborted::Stopping => {
                    let settled = self.release().await?;
                    return settled.ok_or_else(|| WorkerError::Released(self.job_id.clone()));
                }
                RunAborted::Store(error) => return Err(error.into()),
                RunAborted::PluginMissing { operator, why } => {
                    let settled = self.release().await?;
                    let job_id = self.job_id.clone();
                    return settled.ok_or(WorkerError::PluginMissing { job_id, operator, why });
                }
                RunAborted::Broken(message) => {
                    return Err(WorkerError::Broken { job_id: self.job_id.clone(), message });
                }
                // A disk may fail at every commit. After `UNKNOWN_COMMITS_MAX` reloads, the database is therefore
                // reported as unavailable. Without this case, the worker would reload `RELOADS_MAX` times.
                RunAborted::Reload(ReloadCause::Write(WriteError::Unknown(message)))
                    if reloads >= UNKNOWN_COMMITS_MAX =>
                {
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
                    let of_key = matches!(
                        cause,
                        ReloadCause::Write(WriteError::ActionKey(_) | WriteError::ActionKeyFree { .. })
                    );
                    self.state().durable.prefetched.query_keys_first |= of_key;
                    if self.has_settled() {
                        return Ok(response(&self.state().durable));
                    }
                }
            }
        }
    }

    /// Releases the job for other workers and returns `None`. Returns the response if the job has already settled.
    async fn release(self: &Arc<Self>) -> Result<Option<Response>, WorkerError> {
        let job_id = self.job_id.clone();
        for _ in 0..RELOADS_MAX {
            // The job is loaded again, because earlier writes of this run may have been committed since the last load.
            self.reload().await?;
            let parts = &self.worker.parts;
            let (known, state) = {
                let state = self.state();
                (state.durable.job.attempt, state.durable.job.state)
            };
            let is_claimed = known >= self.attempt;
            if state.is_terminal() || is_claimed && state != JobState::Running {
                return Ok(Some(response(&self.state().durable)));
            }
            // If the log does not contain this attempt's claim event yet, the write that releases the job also records
            // the claim. An earlier write of the claim event may become durable first. The store then refuses this
            // write, and the loop retries.
            let claim = (!is_claimed).then(|| decide::claimed(&parts.owner.worker, parts.engine_profile));
            match self.write(decide::released(claim.unwrap_or_default(), &parts.owner.worker)).await {
                Ok(()) => return Ok(None),
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

    async fn drive_loaded(self: &Arc<Self>) -> Result<Response, RunAborted> {
        if let Some(response) = self.begin_attempt().await? {
            return Ok(response);
        }
        let mut tries: RunningTries = JoinSet::new();
        let ended = self.drive_tries(&mut tries).await;
        if ended.is_err() {
            // A tool call that has started cannot be revoked. The worker therefore waits until the calls in flight have
            // finished and their answers are recorded. Then the worker drops the tries of the steps.
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
                () = self.lease.wait_until_lost() => return Err(RunAborted::LeaseLost),
                () = self.worker.wait_for_stop() => return Err(RunAborted::Stopping),
                ended = tries.join_next() => self.handle_try_result(ended).await?,
                () = self.wait_for_wakeup() => self.poll_inbox().await?,
            }
        }
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
                // If the job in memory is aborting, the main loop does not start the step again. If the job is not
                // aborting, the main loop would start the step and drop its try again and again. In this case the job
                // is therefore loaded again.
                if given_up { Ok(()) } else { Err(RunAborted::Reload(ReloadCause::StepCancelled)) }
            }
            Err(CallStopped::Diverged(divergence)) => {
                self.state().divergence.get_or_insert(divergence);
                Ok(())
            }
            Err(CallStopped::Aborted(dropped)) => Err(dropped),
        }
    }
}
