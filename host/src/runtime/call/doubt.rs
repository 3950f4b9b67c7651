//! Calls in doubt: asks whether the owner of the open try is quiescent, and asks the tool whether the try took effect.

use std::sync::Arc;
use std::time::Duration;

use latchwork_core::decide;
use latchwork_core::decide::{Invocation, NextAction, ReconcileAnswer};
use latchwork_core::rules::ledger::Quiescence;

use crate::runtime::job::{CallStopped, ReloadCause, Run, RunAborted};

/// Longest pause, in milliseconds, before the worker asks a tool again about a call that no step waits for.
const RECONCILE_PAUSE_MS_MAX: u32 = 60_000;

impl Run {
    /// Determines whether the process that started the open try can still cause effects in the world.
    pub(crate) async fn probe_owner(&self, invocation: &Invocation) -> Result<Quiescence, RunAborted> {
        let (row, settling_ms) = {
            let state = self.state();
            let row = state.durable.rows.get(&invocation.slot).cloned();
            let pinned = state.durable.job.pinned(&invocation.operator);
            (row, pinned.map_or(0, |operator| operator.resolution.settling_ms))
        };
        let Some(row) = row else {
            return Ok(Quiescence::Quiescent);
        };
        if row.attempt == self.attempt {
            // An earlier try of the step started this call in the current attempt. That try has ended, so this worker
            // sends nothing more for the call. A request of that try may still be in transit and have effects later.
            // After the settling time, the request has arrived or is lost.
            tokio::time::sleep(Duration::from_millis(u64::from(settling_ms))).await;
            return Ok(Quiescence::Quiescent);
        }
        Ok(self.worker.parts.journal.quiescence(&self.job_id, &row, settling_ms).await?)
    }

    pub(crate) async fn reconcile(
        self: &Arc<Self>,
        invocation: &mut Invocation,
        try_no: u32,
        first_attempt: u32,
        asked: u32,
    ) -> Result<(), CallStopped> {
        use latchwork_engine::ReconcileVerdict as Verdict;
        let answer = match self.reconcile_try(invocation, try_no, first_attempt).await? {
            Ok(Verdict::Happened(output)) => ReconcileAnswer::Happened(output),
            Ok(Verdict::DidNotHappen) => ReconcileAnswer::DidNotHappen,
            Ok(Verdict::NotYet(wait_ms)) => ReconcileAnswer::NotYet { wait_ms },
            Ok(Verdict::Unknown) => {
                invocation.reconcile_exhausted = true;
                return Ok(());
            }
            Err(failure) => {
                tracing::warn!(job_id = %self.job_id, slot = %invocation.slot, %failure, "reconcile failed");
                invocation.reconcile_exhausted = true;
                return Ok(());
            }
        };
        let next = decide::reconciled(&self.state().durable, invocation, answer, &self.context());
        match next {
            NextAction::Write(draft) => {
                self.write(draft).await?;
                self.stop_if_retrying(&invocation.slot)
            }
            NextAction::Block(draft) => {
                self.write(draft).await?;
                Err(CallStopped::Blocked)
            }
            // A tool that answers `not-yet` is asked again after a pause. The worker waits here, because no step waits
            // for the call. After `NOT_YETS_MAX` questions the worker no longer asks.
            NextAction::WaitMs(wait_ms) if asked < decide::NOT_YETS_MAX => {
                tokio::time::sleep(Duration::from_millis(u64::from(wait_ms.clamp(1, RECONCILE_PAUSE_MS_MAX)))).await;
                Ok(())
            }
            NextAction::WaitMs(_) => {
                invocation.reconcile_exhausted = true;
                Ok(())
            }
            _ => Err(CallStopped::Aborted(RunAborted::Reload(ReloadCause::NoOpenTry))),
        }
    }
}
