//! Executes the tries of calls. No other module calls a tool.

use latchwork_core::decide::{Invocation, Try};
use latchwork_core::model::effect::{Answer, Consumption, Effect};
use latchwork_core::model::error::Failure;
use latchwork_core::rules::policy;
use latchwork_engine::ReconcileVerdict;

use super::undone::UndoneCall;
use crate::runtime::job::{Run, RunAborted};

impl Run {
    /// Executes one try and returns the answer of the tool as an effect. The call's timeout counts from
    /// `since_boot_us`, which was read before the barrier was sent.
    pub(crate) async fn execute(
        &self,
        invocation: &Invocation,
        started: &Try,
        since_boot_us: u64,
    ) -> Result<Effect, RunAborted> {
        let crash = &self.worker.parts.crash;
        let (plugin, limits) = self.pinned_tool(invocation)?;
        let Invocation { slot, operator, timeout_ms, .. } = invocation;
        let context =
            self.tool_context((slot, operator), *timeout_ms, started.try_no, started.first_attempt, since_boot_us);
        let (operator, args) = (invocation.operator.as_str(), String::from_utf8_lossy(&invocation.args));
        let undone = self.undone_call(slot)?;
        crash.at("execute", false);
        let end = match undone {
            None => plugin.invoke(operator, &args, context, &limits).await,
            Some(UndoneCall { external_key, args, result }) => {
                plugin.compensate(operator, (&external_key, &args, &result), context, &limits).await
            }
        };
        crash.at("execute", true);
        let wall_ms = u32::try_from(end.wall_us / 1000).unwrap_or(u32::MAX);
        let (answer, spent) =
            (self.enforce_demands(invocation, end.answer), Some(Consumption { fuel: end.fuel, wall_ms }));
        Ok(Effect {
            slot: invocation.slot.clone(),
            try_no: started.try_no,
            answer,
            provenance: started.provenance,
            time_us: self.machine().now_us(),
            spent,
        })
    }

    /// If an answer does not meet the policy's requirements, replaces it with `NotApplied`. The requirements apply only
    /// to operators that do not change the world, so it is true that nothing was applied.
    fn enforce_demands(&self, invocation: &Invocation, answer: Answer) -> Answer {
        let Answer::Ok(output) = &answer else { return answer };
        let state = self.state();
        let pinned = state.durable.job.pinned(&invocation.operator).filter(|pinned| !pinned.is_world_changing());
        let unmet =
            pinned.and_then(|_| policy::refuse_unmet(&self.rules, &invocation.operator, output.result.as_bytes()));
        unmet.map_or(answer, Answer::NotApplied)
    }

    /// Asks the tool whether the open try of a call took effect. Asking changes nothing in the world.
    pub(crate) async fn reconcile_try(
        &self,
        invocation: &Invocation,
        try_no: u32,
        first_attempt: u32,
    ) -> Result<Result<ReconcileVerdict, Failure>, RunAborted> {
        let (plugin, limits) = self.pinned_tool(invocation)?;
        let Invocation { slot, operator, timeout_ms, .. } = invocation;
        let context = self.tool_context((slot, operator), *timeout_ms, try_no, first_attempt, self.machine().boot_us());
        let args = String::from_utf8_lossy(&invocation.args);
        let crash = &self.worker.parts.crash;
        crash.at("reconcile", false);
        let reconcile_answer = plugin.reconcile(invocation.operator.as_str(), &args, context, &limits).await;
        crash.at("reconcile", true);
        Ok(reconcile_answer)
    }
}
