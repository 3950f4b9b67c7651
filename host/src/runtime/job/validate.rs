//! Runs the validators before a step starts. A refused step never runs.

use std::sync::Arc;

use latchwork_core::model::error::{Code, Failure};
use latchwork_core::model::ids::StepId;
use latchwork_core::model::keys;
use latchwork_core::plan;

use super::aborted::RunAborted;
use super::run::Run;
use crate::validate::{SandboxConditions, ValidationRequest};

impl Run {
    /// Returns the reason why the step must not start. Returns `None` if the step may start or has already
    /// started.
    pub(crate) async fn violation(self: &Arc<Self>, step: &StepId) -> Result<Option<Failure>, RunAborted> {
        let validators = &self.worker.parts.validators;
        if validators.is_empty() {
            return Ok(None);
        }
        let (operator, pinned, input, context, conditions) = {
            let state = self.state();
            let job = &state.durable.job;
            let (Some(found), Some(planned)) = (job.step(step), job.plan.step(step)) else { return Ok(None) };
            let (Some(pinned), Some(input)) = (job.pinned(&planned.name), state.durable.input(step)) else {
                return Ok(None);
            };
            if found.started_us.is_some() || planned.kind == plan::StepKind::Wait {
                return Ok(None);
            }
            let conditions =
                SandboxConditions { now_us: job.last_us, seed: keys::step_seed(&job.header.job_seed, step) };
            (planned.name.clone(), pinned.clone(), input, self.step_context(job, step), conditions)
        };
        let plugin = self.pinned_plugin(&operator, pinned.digest, pinned.wasi)?;
        let request = ValidationRequest {
            job_id: &self.job_id,
            step_id: step,
            operator: &operator,
            kind: pinned.kind,
            determinism: pinned.determinism,
            digest: pinned.digest,
            input: &input,
            component: plugin.as_plugin(),
            limits: pinned.limits,
            context,
            conditions,
        };
        let refused = validators.validate(&request).await.err();
        Ok(refused.map(|why| Failure::new(Code::ContractViolation, why)))
    }
}
