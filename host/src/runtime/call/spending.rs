//! Inputs of the budget checks: maximum cost of a call, and spending of the tenant.

use latchwork_core::rules::cost;

use crate::runtime::job::{Run, RunAborted};
use crate::runtime::worker::Worker;

impl Worker {
    /// Returns the maximum cost of a call with these arguments, in millionths of a US dollar. Returns `None`
    /// if the plugin has no prices or if the arguments set no bound on the cost.
    pub(crate) fn max_cost(&self, plugin: &str, args: &[u8]) -> Option<u64> {
        self.parts.prices.get(plugin)?.max_cost(args)
    }
}

impl Run {
    /// Returns the recorded spending of the tenant's jobs in the current month, in millionths of a US dollar.
    pub(crate) async fn spent_this_month(&self) -> Result<u64, RunAborted> {
        let tenant = self.state().durable.job.header.tenant_id.clone();
        let month = cost::month(self.machine().now_us());
        Ok(self.worker.parts.journal.spent(&tenant, &month).await?)
    }
}
