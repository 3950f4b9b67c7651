//! `latchwork:plugin/tools`: a step's only access to the world.

use latchwork_core::model::error::Failure;

use crate::capability::step_call_view::StepCallView;
use crate::guest::bindings::import::tools;
use crate::guest::bindings::import::types::{Error, Json};
use crate::guest::convert;
use crate::guest::fault::HostFault;
use crate::guest::step_calls::ToolCall;

impl tools::Host for StepCallView<'_> {
    async fn call(
        &mut self,
        operator: String,
        args: Json,
        action_key: Option<String>,
    ) -> wasmtime::Result<Result<Json, Error>> {
        self.guard.count_host_call()?;
        self.guard.count_recorded_bytes(args.len())?;
        let answer = self.guard.exclude_wait(self.calls.call(operator, args, action_key)).await;
        let answer = answer.map_err(|_| HostFault::Stopped)?;
        self.guard.count_recorded_bytes(answer_bytes(&answer))?;
        Ok(answer.map_err(guest_error))
    }

    async fn call_all(&mut self, calls: Vec<tools::CallRequest>) -> wasmtime::Result<Vec<Result<Json, Error>>> {
        // Each element of the list is a separate call and counts as one host call. An empty list counts as one host
        // call, too.
        for _ in 0..calls.len().max(1) {
            self.guard.count_host_call()?;
        }
        self.guard.count_recorded_bytes(calls.iter().map(|call| call.args.len()).sum())?;
        let calls = calls
            .into_iter()
            .map(|call| ToolCall { operator: call.operator, args: call.args, action_key: call.action_key })
            .collect();
        let answers = self.guard.exclude_wait(self.calls.call_all(calls)).await;
        let answers = answers.map_err(|_| HostFault::Stopped)?;
        self.guard.count_recorded_bytes(answers.iter().map(answer_bytes).sum())?;
        Ok(answers.into_iter().map(|answer| answer.map_err(guest_error)).collect())
    }
}

/// Returns the number of bytes of an answer that a store keeps.
fn answer_bytes(answer: &Result<String, Failure>) -> usize {
    match answer {
        Ok(result) => result.len(),
        Err(failure) => failure.message.len() + failure.detail.as_ref().map_or(0, String::len),
    }
}

fn guest_error(recorded: Failure) -> Error {
    convert::guest_error(&recorded)
}
