//! `latchwork:plugin/context` and, only for tools, `latchwork:plugin/invocation`.

use wasmtime::component::HasData;

use crate::capability::host_call_gate::HostCallGate;
use crate::capability::step_call_view::StepCallView;
use crate::guest::bindings::import::{context, invocation};
use crate::guest::fault::HostFault;
use crate::guest::sources::StepContext;
use crate::guest::step_calls::{NondeterminismSource, Stop};
use crate::guest::tool_call::ToolCallContext;

impl context::Host for StepCallView<'_> {
    fn get(&mut self) -> wasmtime::Result<context::StepContext> {
        self.guard.count_host_call()?;
        self.calls.before_read(NondeterminismSource::Context).map_err(|Stop| HostFault::Stopped)?;
        Ok(guest(self.calls.sources().context.clone()))
    }
}

/// The context of a tool call.
pub(crate) struct CallContextView<'a> {
    pub(crate) gate: HostCallGate<'a>,
    pub(crate) call: &'a ToolCallContext,
}

/// Type of [`CallContextView`] for the linker.
pub(crate) struct CallContextViewData;

impl HasData for CallContextViewData {
    type Data<'a> = CallContextView<'a>;
}

impl context::Host for CallContextView<'_> {
    fn get(&mut self) -> wasmtime::Result<context::StepContext> {
        self.gate.pass()?;
        Ok(guest(self.call.step.clone()))
    }
}

impl invocation::Host for CallContextView<'_> {
    fn get(&mut self) -> wasmtime::Result<invocation::InvocationContext> {
        self.gate.pass()?;
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
