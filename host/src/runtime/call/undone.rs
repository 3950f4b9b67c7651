//! The call that a compensating call undoes.

use latchwork_core::decide;
use latchwork_core::model::ids::Slot;

use crate::runtime::job::{Run, RunAborted};

/// The call that a plugin's own `compensate` export undoes.
pub(crate) struct UndoneCall {
    /// External key of the call.
    pub(crate) external_key: String,
    /// Arguments of the call.
    pub(crate) args: String,
    /// Result of the call.
    pub(crate) result: String,
}

impl Run {
    pub(crate) fn has_own_compensation(&self, slot: &Slot) -> bool {
        let state = self.state();
        state.durable.job.compensations.get(slot).is_some_and(|compensation| compensation.is_self_undo)
    }

    /// Returns the call that the compensating call at `slot` undoes. Returns `None` unless the plugin's own
    /// `compensate` export undoes the call.
    pub(crate) fn undone_call(&self, slot: &Slot) -> Result<Option<UndoneCall>, RunAborted> {
        if !self.has_own_compensation(slot) {
            return Ok(None);
        }
        let state = self.state();
        let missing = |what: &str| RunAborted::Broken(format!("{slot}: {what} of the call that it undoes is missing"));
        let of = slot.compensated().ok_or_else(|| missing("the slot"))?;
        let call = state.durable.job.calls.get(&of).ok_or_else(|| missing("the record"))?;
        let args = state.durable.args(&of).ok_or_else(|| missing("the arguments"))?;
        let output = decide::undone_output(&state.durable, slot).ok_or_else(|| missing("the result"))?;
        Ok(Some(UndoneCall {
            external_key: latchwork_core::model::keys::external_key(&self.job_id, &of, call.first_attempt),
            args: String::from_utf8_lossy(&args).into_owned(),
            result: output.result,
        }))
    }
}
