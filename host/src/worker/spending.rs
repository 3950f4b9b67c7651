//! Budgets, as far as a worker has a part in them: what calls under way may still cost, and what
//! the tenant has spent.

use latchwork_core::cost;
use latchwork_core::decide::{self, Invocation, Next};

use super::Worker;
use super::run::{Dropped, Run};

impl Worker {
    /// The most that a call with these arguments can cost, where its plugin has prices.
    pub(super) fn most(&self, plugin: &str, args: &[u8]) -> Option<u64> {
        self.parts.prices.get(plugin)?.most(args)
    }
}

impl Run {
    /// The next decision about a call. What it may cost is promised in the same moment in which
    /// it is allowed, so that calls side by side do not both find the same rest of the budget.
    pub(super) fn next(&self, invocation: &mut Invocation) -> Next {
        let context = self.context();
        let mut state = self.state();
        let slot = &invocation.slot;
        invocation.reserved_micro_usd = decide::reserved(&state.durable, &state.in_flight, slot);
        let next = decide::next(&state.durable, invocation, &context);
        if let (Next::Execute { started, .. }, Some(most)) = (&next, invocation.most_micro_usd) {
            state.in_flight.insert(slot.clone(), (started.try_no, most));
        }
        next
    }

    /// What the tenant's jobs have spent this month, as committed.
    pub(super) async fn spent_this_month(&self) -> Result<u64, Dropped> {
        let tenant = self.state().durable.job.header.tenant_id.clone();
        let month = cost::month(self.machine().now_us());
        Ok(self.worker.parts.journal.spent(&tenant, &month).await?)
    }
}
