//! Finds the plugins that a job pinned.

use std::sync::Arc;

use latchwork_core::decide::Invocation;
use latchwork_core::model::ids::{Hash, Operator};
use latchwork_core::model::manifest::{Limits, WasiMode};
use latchwork_engine::Runnable;

use crate::runtime::job::{Run, RunAborted};

impl Run {
    /// Returns the plugin and limits that the job pinned for the invocation's operator. Fails if the plugin
    /// is not available. The job then stays unchanged until the plugin is installed again.
    pub(crate) fn pinned_tool(&self, invocation: &Invocation) -> Result<(Arc<dyn Runnable>, Limits), RunAborted> {
        let operator = &invocation.operator;
        let pinned = {
            let state = self.state();
            state.durable.job.pinned(operator).map(|pinned| (pinned.digest, pinned.wasi, pinned.limits))
        };
        let (digest, wasi, limits) =
            pinned.ok_or_else(|| RunAborted::Broken(format!("operator {operator} is not pinned by the job")))?;
        Ok((self.pinned_plugin(operator, digest, wasi)?, limits))
    }

    pub(crate) fn pinned_plugin(
        &self,
        operator: &Operator,
        digest: Hash,
        wasi: WasiMode,
    ) -> Result<Arc<dyn Runnable>, RunAborted> {
        self.worker
            .parts
            .components
            .by_digest(digest, wasi)
            .map_err(|why| RunAborted::PluginMissing { operator: operator.clone(), why })
    }
}
