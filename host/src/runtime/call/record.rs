//! Executes a call and records its answer.

use std::sync::Arc;

use latchwork_core::decide;
use latchwork_core::decide::{Invocation, Try};
use latchwork_core::model::ids::Slot;
use latchwork_core::model::step::StepState;

use crate::runtime::job::{CallStopped, InFlightGuard, Run, RunAborted};
use crate::runtime::worker::Permit;

impl Run {
    pub(crate) async fn execute_and_record(
        self: &Arc<Self>,
        invocation: &Invocation,
        started: &Try,
        since_boot_us: u64,
        (leave, _under_way): (Permit, InFlightGuard),
    ) -> Result<(), CallStopped> {
        self.unacknowledged.note_barrier_acknowledged(&invocation.slot);
        self.announce_call(&invocation.slot, &invocation.operator);
        // The call stays in flight until its answer is recorded, even if the run is aborted.
        let effect = self.execute(invocation, started, since_boot_us).await?;
        let _unrecorded = self.worker.count_unrecorded();
        drop(leave);
        if self.lease.is_lost() {
            self.record_late_answer(&effect).await;
            return Err(CallStopped::Aborted(RunAborted::LeaseLost));
        }
        let draft = decide::answered(&self.state().durable, invocation, started, effect.clone(), &self.context());
        let written = self.write(draft).await;
        // The cost is now part of the durable state, so its reservation ends.
        self.state().reserved_costs.remove(&invocation.slot);
        match written {
            Ok(()) => self.stop_if_retrying(&invocation.slot),
            Err(RunAborted::LeaseLost) => {
                self.record_late_answer(&effect).await;
                Err(CallStopped::Aborted(RunAborted::LeaseLost))
            }
            Err(dropped) => {
                // The write that contains the answer failed. Store the answer alone, so that the next attempt finds it.
                self.persist_answer(&effect).await;
                Err(CallStopped::Aborted(dropped))
            }
        }
    }

    /// Aborts the try if the step waits for a retry. Only a plan step that is a tool can be in this state, and it waits
    /// without a running try. In a step plugin, a call that is retried waits within the running try of the step.
    pub(crate) fn stop_if_retrying(&self, slot: &Slot) -> Result<(), CallStopped> {
        if slot.is_compensation() {
            return Ok(());
        }
        let state = self.state();
        let retry = state.durable.job.step(&slot.step()).is_some_and(|step| step.state == StepState::FailedRetryable);
        if retry { Err(CallStopped::RetryLater) } else { Ok(()) }
    }
}
