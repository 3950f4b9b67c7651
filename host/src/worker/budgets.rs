//! Inputs of the budget checks: maximum cost of the calls in flight, and spending of the tenant.

use latchwork_core::decide;
use latchwork_core::decide::{Invocation, NextAction};
use latchwork_core::rules::cost;

use super::Worker;
use super::run::{Run, RunAborted};

impl Worker {
    /// Returns the maximum cost of a call with these arguments, in millionths of a US dollar. Returns `None`
    /// if the plugin has no prices or if the arguments set no bound on the cost.
    pub(super) fn max_cost(&self, plugin: &str, args: &[u8]) -> Option<u64> {
        self.parts.prices.get(plugin)?.max_cost(args)
    }
}

impl Run {
    /// Returns the next decision about a call. If the call may execute, its maximum cost is reserved before
    /// the lock of the job's state is released. Otherwise two concurrent calls could both use the same
    /// remaining budget.
    pub(super) fn decide_next(&self, invocation: &mut Invocation) -> NextAction {
        let context = self.context();
        let mut state = self.state();
        let slot = &invocation.slot;
        invocation.reserved_micro_usd = decide::reserved_cost(&state.durable, &state.reserved_costs, slot);
        let next = decide::next_action(&state.durable, invocation, &context);
        if let (NextAction::Execute { started, .. }, Some(most)) = (&next, invocation.max_cost_micro_usd) {
            state.reserved_costs.insert(slot.clone(), (started.try_no, most));
        }
        next
    }

    /// Returns the recorded spending of the tenant's jobs in the current month, in millionths of a US dollar.
    pub(super) async fn spent_this_month(&self) -> Result<u64, RunAborted> {
        let tenant = self.state().durable.job.header.tenant_id.clone();
        let month = cost::month(self.machine().now_us());
        Ok(self.worker.parts.journal.spent(&tenant, &month).await?)
    }
}
