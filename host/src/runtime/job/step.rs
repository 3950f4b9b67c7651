//! Executes one try of one step: runs a guest or calls a tool.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use latchwork_core::decide;
use latchwork_core::decide::StepResult;
use latchwork_core::model::error::Code;
use latchwork_core::model::ids::{Hash, Operator, Slot, StepId};
use latchwork_core::model::manifest::{Limits, PluginKind, WasiMode};
use latchwork_core::rules::policy;
use latchwork_engine::StepOutcome;

use super::aborted::RunAborted;
use super::host_calls::{StepHostCalls, TryProgress};
use super::run::Run;
use super::stopped::CallStopped;

/// Pause before a step is repeated because the machine lacked a resource.
const MACHINE_FAULT_PAUSE: Duration = Duration::from_secs(1);

impl Run {
    /// Runs one try of a step to its end and writes the result.
    pub(crate) async fn try_step(self: &Arc<Self>, step: &StepId) -> Result<(), CallStopped> {
        if let Some(failure) = self.violation(step).await? {
            let refused = decide::step_refused(step, &failure);
            return Ok(self.write(refused).await?);
        }
        let started = decide::step_started(&self.state().durable, step);
        self.write(started).await?;
        let (operator, kind, code, mut limits, timeout_ms, input) = {
            let state = self.state();
            let job = &state.durable.job;
            let planned = job.plan.step(step).ok_or_else(|| broken(step, "it is not in the plan"))?;
            let pinned = job.pinned(&planned.name).ok_or_else(|| broken(step, "its operator is not pinned"))?;
            let input = state.durable.input(step).ok_or_else(|| broken(step, "its input is missing"))?;
            let timeout_ms = planned.timeout_ms();
            (planned.name.clone(), pinned.kind, (pinned.digest, pinned.wasi), pinned.limits, timeout_ms, input)
        };
        if let Some(timeout_ms) = timeout_ms {
            limits.timeout_ms = timeout_ms;
        }
        let (calls, result) = match kind {
            PluginKind::Tool => {
                let mut invocation = self.invocation(Slot::of_step(step), operator, &input, None);
                let answer = self.perform(&mut invocation).await?;
                (0, answer.map_or_else(StepResult::Failed, |result| StepResult::Output(result.into_bytes())))
            }
            PluginKind::Step => {
                let (calls, result) = self.run_guest(step, &operator, code, &limits, &input).await?;
                (calls, self.refuse_unmet_output(&operator, result))
            }
        };
        if matches!(&result, StepResult::Fault(failure) if failure.code == Code::MachineFault) {
            // The machine lacks a resource, so the worker pauses before the next try. The pause is made here, because
            // the event of an aborted try contains no time for a retry.
            tokio::time::sleep(MACHINE_FAULT_PAUSE).await;
        }
        let ended = {
            let state = self.state();
            let profile = self.worker.parts.engine_profile;
            decide::divergence_of_profile(&state.durable, step, &result, profile)
                .map_or_else(|| decide::step_ended(&state.durable, step, calls, result), Err)
                .map(|draft| decide::index_result(&state.durable, step, draft, &self.context()))
        };
        match ended {
            Ok(draft) => Ok(self.write(draft).await?),
            Err(divergence) => Err(CallStopped::Diverged(divergence)),
        }
    }

    /// If the output of a step plugin does not meet the policy's requirements, replaces it with a failure.
    fn refuse_unmet_output(&self, operator: &Operator, result: StepResult) -> StepResult {
        match result {
            StepResult::Output(output) => match policy::refuse_unmet(&self.rules, operator, &output) {
                Some(failure) => StepResult::Failed(failure),
                None => StepResult::Output(output),
            },
            other => other,
        }
    }

    async fn run_guest(
        self: &Arc<Self>,
        step: &StepId,
        operator: &Operator,
        (digest, wasi): (Hash, WasiMode),
        limits: &Limits,
        input: &[u8],
    ) -> Result<(u32, StepResult), CallStopped> {
        let plugin = self.pinned_plugin(operator, digest, wasi)?;
        let _leave = self.worker.limits.acquire(operator).await;
        let value = serde_json::from_slice(input)
            .map_err(|error| broken(step, &format!("its input is not valid JSON: {error}")))?;
        if let Err(failure) = plugin.check_input(operator.as_str(), &value) {
            return Ok((0, StepResult::Failed(failure)));
        }
        let trail = Arc::new(TryProgress::default());
        let calls = Box::new(StepHostCalls::new(self.clone(), step.clone(), trail.clone()));
        let text = String::from_utf8_lossy(input);
        let end = plugin.run_step(operator.as_str(), &text, limits, calls).await;
        let made = trail.calls.load(Ordering::Relaxed);
        Ok((
            made,
            match end.outcome {
                StepOutcome::Output(output) => StepResult::Output(output.into_bytes()),
                StepOutcome::Failed(failure) => StepResult::Failed(failure),
                StepOutcome::Fault(failure) => StepResult::Fault(failure),
                StepOutcome::Stopped => {
                    let halt = trail.stop_reason.lock().expect("nothing panics while it holds the reason").take();
                    return Err(halt.unwrap_or_else(|| broken(step, "it was stopped without a reason")));
                }
            },
        ))
    }
}

fn broken(step: &StepId, message: &str) -> CallStopped {
    CallStopped::Aborted(RunAborted::Broken(format!("step {step}: {message}")))
}
