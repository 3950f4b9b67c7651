//! Host calls of a running step.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use tracing::Level;

use latchwork_core::model::error::Failure;

use crate::guest::sources::StepSources;

/// One call of a tool by a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCall {
    /// The operator.
    pub operator: String,
    /// Arguments, as JSON text.
    pub args: String,
    /// Action key, which identifies the action across jobs. `None`: the step gave no key.
    pub action_key: Option<String>,
}

/// A source of values that differ from job to job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NondeterminismSource {
    /// The injected clock.
    Clock,
    /// The injected random generator.
    Random,
    /// The ids of the job.
    Context,
}

/// Result of a host call that ends the try: the guest is torn down immediately. The reason is not part of this value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop;

/// Host calls of a running step. The worker creates one implementation per try.
#[async_trait]
pub trait StepCalls: Send {
    /// Returns the step's deterministic inputs. The next four methods take the time and the random numbers from these
    /// inputs.
    fn sources(&mut self) -> &mut StepSources;
    /// Returns true if the log holds the next event. A recorded payload was accepted when it was written, so it is not
    /// checked again.
    fn next_event_is_recorded(&self) -> bool {
        false
    }
    /// Returns true if the log holds the output. A recorded output was accepted when it was written, so only its schema
    /// is checked again.
    fn output_is_recorded(&self) -> bool {
        false
    }
    /// Announces that the step's own function begins. The instantiation has ended at this time.
    fn begin_run(&mut self) {}
    /// Announces that the guest is about to receive a value of this source. An error ends the try at this call.
    fn before_read(&mut self, _source: NondeterminismSource) -> Result<(), Stop> {
        Ok(())
    }
    /// Returns the time of the injected clock, in microseconds since 1970 UTC.
    fn now_us(&mut self) -> i64 {
        self.sources().now_us
    }
    /// Fills `buf` with the next bytes of the injected random generator.
    fn random(&mut self, buf: &mut [u8]) {
        self.sources().random(buf);
    }
    /// Returns the next number of the injected random generator.
    fn next_u32(&mut self) -> u32 {
        self.sources().next_u32()
    }
    /// Returns a number in `0..bound` from the injected random generator, or 0 if `bound` is 0.
    fn below(&mut self, bound: u32) -> u32 {
        self.sources().below(bound)
    }
    /// Writes a log record, truncated to 8 KiB.
    fn log(&mut self, level: Level, message: &str);
    /// Calls a tool. The outer error stops the step. The inner error is the recorded failure of the call.
    /// [`Failure::for_guest`] converts this failure into an error code of guests before the step receives it.
    async fn call(
        &mut self,
        operator: String,
        args: String,
        action_key: Option<String>,
    ) -> Result<Result<String, Failure>, Stop>;
    /// Calls several tools concurrently. Returns the answers in the order of the calls.
    async fn call_all(&mut self, calls: Vec<ToolCall>) -> Result<Vec<Result<String, Failure>>, Stop>;
    /// Appends an informational event.
    async fn emit(&mut self, name: String, payload: String) -> Result<(), Stop>;
}
