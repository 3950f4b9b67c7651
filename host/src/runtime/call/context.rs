//! Contexts of calls and steps, for the engine.

use latchwork_core::model::ids::{Operator, Slot, StepId};
use latchwork_core::model::keys;
use latchwork_core::model::manifest::Determinism;
use latchwork_core::model::mode::Mode;
use latchwork_core::state::Job;
use latchwork_engine::guest::permissions::{CallPermissions, EffectClass};
use latchwork_engine::guest::sources::StepContext;
use latchwork_engine::guest::tool_call::ToolCallContext;

use crate::runtime::job::Run;

impl Run {
    pub(crate) fn tool_context(
        &self,
        (slot, operator): (&Slot, &Operator),
        timeout_ms: u32,
        try_no: u32,
        first_attempt: u32,
        started_boot_us: u64,
    ) -> ToolCallContext {
        let state = self.state();
        let header = &state.durable.job.header;
        ToolCallContext {
            step: self.step_context(&state.durable.job, &slot.step()),
            trace_id: header.trace_id.clone(),
            slot: slot.to_string(),
            external_key: keys::external_key(&self.job_id, slot, first_attempt),
            attempt: self.attempt,
            tries_before: try_no.saturating_sub(1),
            timeout_ms,
            started_boot_us,
            permissions: permissions(&state.durable.job, operator),
        }
    }

    pub(crate) fn step_context(&self, job: &Job, step: &StepId) -> StepContext {
        StepContext {
            tenant: job.header.tenant_id.clone(),
            actor: job.header.actor_id.clone(),
            correlation_id: job.header.correlation_id.clone(),
            job_id: self.job_id.to_string(),
            plan_id: job.plan.plan_id.clone(),
            step_id: step.to_string(),
        }
    }
}

/// Returns the permissions of a call. The permissions, the barrier and the gate of the call all follow from the effects
/// that the job pinned. Effects that are configured later apply only to later jobs.
fn permissions(job: &Job, operator: &Operator) -> CallPermissions {
    let Some(pinned) = job.pinned(operator) else { return CallPermissions::READ_ONLY };
    CallPermissions {
        class: EffectClass::of(&pinned.effects),
        is_dry_run: job.header.mode == Mode::DryRun,
        is_stable: pinned.determinism == Determinism::Stable,
        is_pure: pinned.determinism == Determinism::Pure,
        is_question: false,
    }
}
