//! Host of a step while its `describe` runs.

use async_trait::async_trait;
use tracing::Level;

use latchwork_core::model::error::Failure;

use crate::capability::log;
use crate::guest::sources::{StepContext, StepSources};
use crate::guest::step_calls::{StepCalls, Stop, ToolCall};

/// Answers the host calls that a step makes while `describe` runs. The clock starts at 1970, and the random stream has
/// the zero seed, so that the manifest does not depend on the time or the machine. A call of a tool or an emitted event
/// stops the guest.
pub(super) struct DescribeHost {
    plugin: String,
    sources: StepSources,
}

impl DescribeHost {
    pub(super) fn new(plugin: &str) -> Self {
        Self { plugin: plugin.to_owned(), sources: StepSources::new(StepContext::default(), [0; 32], 0) }
    }
}

#[async_trait]
impl StepCalls for DescribeHost {
    fn sources(&mut self) -> &mut StepSources {
        &mut self.sources
    }
    fn log(&mut self, level: Level, message: &str) {
        log::record(&self.plugin, "describe", level, message);
    }
    async fn call(&mut self, _: String, _: String, _: Option<String>) -> Result<Result<String, Failure>, Stop> {
        Err(Stop)
    }
    async fn call_all(&mut self, _: Vec<ToolCall>) -> Result<Vec<Result<String, Failure>>, Stop> {
        Err(Stop)
    }
    async fn emit(&mut self, _: String, _: String) -> Result<(), Stop> {
        Err(Stop)
    }
}
