//! Compensation: carries out the kernel's decisions about undoing a job's calls.

use std::sync::Arc;

use latchwork_core::decide;
use latchwork_core::decide::{Invocation, UndoAction};
use latchwork_core::model::error::{Code, Failure};

use super::aborted::RunAborted;
use super::run::Run;

impl Run {
    /// Carries out the next action of the compensation. Returns false if there is no action now: nothing is
    /// left to undo, or the compensation waits.
    pub(crate) async fn undo_next(self: &Arc<Self>) -> Result<bool, RunAborted> {
        let next = decide::next_undo_action(&self.state().durable, &self.context());
        match next {
            None => return Ok(false),
            Some(UndoAction::Write(draft)) => self.write(draft).await?,
            Some(UndoAction::Perform(invocation)) => {
                let invocation = self.with_checks(*invocation);
                self.drive_invocation(invocation).await?;
            }
        }
        // Process new requests between two compensating calls.
        self.drain_inbox_if_pending().await?;
        Ok(true)
    }

    /// Adds two values to a compensating call: the validity of its arguments, and its maximum cost. The kernel cannot
    /// compute these values.
    fn with_checks(&self, invocation: Invocation) -> Invocation {
        let own = self.has_own_compensation(&invocation.slot);
        let state = self.state();
        let Some(pinned) = state.durable.job.pinned(&invocation.operator) else { return invocation };
        let most_micro_usd = self.worker.max_cost(&pinned.plugin, &invocation.args);
        // A plugin's own `compensate` export receives the recorded arguments and result of the undone call, and these
        // values need no check. The arguments of any other compensating call are checked against the input schema.
        let unfit = match self.worker.parts.components.by_digest(pinned.digest, pinned.wasi) {
            Ok(plugin) if !own => match serde_json::from_slice(&invocation.args) {
                Ok(value) => plugin.check_input(invocation.operator.as_str(), &value).err(),
                Err(error) => Some(Failure::new(Code::Internal, format!("its arguments are no JSON: {error}"))),
            },
            _ => None,
        };
        drop(state);
        Invocation { max_cost_micro_usd: most_micro_usd, unusable: unfit, ..invocation }
    }
}
