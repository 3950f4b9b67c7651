//! `latchwork:plugin/context` and, only for tools, `latchwork:plugin/invocation`.

use crate::engine::bindings::import::{context, invocation};
use crate::engine::step::{StepContext, StepState};
use crate::engine::tool_state::ToolState;

impl context::Host for StepState {
    fn get(&mut self) -> wasmtime::Result<context::StepContext> {
        self.guard.count_host_call()?;
        Ok(guest(self.calls.sources().context.clone()))
    }
}

impl context::Host for ToolState {
    fn get(&mut self) -> wasmtime::Result<context::StepContext> {
        self.begin_host_call()?;
        Ok(guest(self.call.step.clone()))
    }
}

impl invocation::Host for ToolState {
    fn get(&mut self) -> wasmtime::Result<invocation::InvocationContext> {
        self.begin_host_call()?;
        Ok(invocation::InvocationContext {
            trace_id: self.call.trace_id.clone(),
            slot: self.call.slot.clone(),
            external_key: self.call.external_key.clone(),
            attempt: self.call.attempt,
            tries_before: self.call.tries_before,
            timeout_ms: self.call.timeout_ms,
        })
    }
}

fn guest(context: StepContext) -> context::StepContext {
    context::StepContext {
        tenant: context.tenant,
        actor: context.actor,
        correlation_id: context.correlation_id,
        job_id: context.job_id,
        plan_id: context.plan_id,
        step_id: context.step_id,
    }
}
