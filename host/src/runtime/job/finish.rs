//! End of the work on a job: settles the job once nothing runs and nothing can start.

use std::sync::Arc;
use std::time::Duration;

use latchwork_core::decide;
use latchwork_core::decide::JobSettlement;
use latchwork_core::event::Body;
use latchwork_core::response::{Response, response};
use latchwork_core::storage::{AttemptEnd, BatchKind, Draft};

use super::aborted::RunAborted;
use super::run::Run;

/// Longest wait, in microseconds, during which the worker keeps its claim of a waiting job.
const WAIT_WITH_CLAIM_US: i64 = 2_000_000;

impl Run {
    /// Settles the job, including compensation and the resolution of calls in doubt. If the lease is lost or the worker
    /// stops, waits only for the calls in flight.
    pub(crate) async fn settle_unless_stopped(self: &Arc<Self>) -> Result<Option<Response>, RunAborted> {
        let mut rest = std::pin::pin!(self.settle_job());
        let stopped = tokio::select! {
            biased;
            rested = &mut rest => return rested,
            () = self.lease.wait_until_lost() => RunAborted::LeaseLost,
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
    /// `None` if the main loop must continue. If a request to the job arrives before the final write, the store refuses
    /// this write, and the job is loaded again.
    async fn settle_job(self: &Arc<Self>) -> Result<Option<Response>, RunAborted> {
        let divergence = self.state().divergence.take();
        if let Some(report) = divergence {
            let kind = BatchKind::EndAttempt(AttemptEnd::Diverged);
            let events = vec![Body::JobDiverged { report: Box::new(report) }];
            self.write(Draft { kind, events, ..Draft::default() }).await?;
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
                    () = self.lease.wait_until_lost() => return Err(RunAborted::LeaseLost),
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
}
