//! Executes a call and records its answer.

use std::sync::Arc;

use latchwork_core::decide;
use latchwork_core::decide::{Invocation, Try};
use latchwork_core::model::effect::{Answer, Effect};
use latchwork_core::model::error::Code;
use latchwork_core::model::ids::Slot;
use latchwork_core::model::step::StepState;

use crate::runtime::job::{CallStopped, InFlightGuard, Run, RunAborted};
use crate::runtime::worker::Permit;

/// Returns true if the recorded answer may block or skip the step of its call.
fn stops_step(effect: &Effect) -> bool {
    let failure = match &effect.answer {
        Answer::NotApplied(failure) | Answer::Unknown { failure, .. } => failure,
        Answer::Ok(_) => return false,
    };
    matches!(failure.code, Code::GrantRequired | Code::MachineFault | Code::ModeForbids)
}

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
        let _alone = if stops_step(&effect) { Some(self.stopping_step.lock().await) } else { None };
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

    /// Stops the current try of the step if the step waits for a retry, waits for a grant, or was skipped. If the step
    /// is a tool, its try ends while the step waits for a retry. If the step is a step plugin, its try keeps running
    /// while one of its calls waits for a retry.
    pub(crate) fn stop_if_retrying(&self, slot: &Slot) -> Result<(), CallStopped> {
        if slot.is_compensation() {
            return Ok(());
        }
        let state = self.state();
        match state.durable.job.step(&slot.step()).map(|step| step.state) {
            Some(StepState::FailedRetryable) => Err(CallStopped::RetryLater),
            Some(StepState::Blocked | StepState::Skipped) => Err(CallStopped::Blocked),
            _ => Ok(()),
        }
    }
}
