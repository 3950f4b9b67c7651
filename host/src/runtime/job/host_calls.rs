//! Answers the host calls of a running step plugin, during one try of the step.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use tracing::Level;

use latchwork_core::decide::Invocation;
use latchwork_core::event::Body;
use latchwork_core::model::error::Failure;
use latchwork_core::model::ids::{Operator, Slot, StepId};
use latchwork_core::replay;
use latchwork_core::state::{EmittedEvent, label};
use latchwork_core::storage::{Draft, Payload};
use latchwork_engine::guest::sources::StepSources;
use latchwork_engine::guest::step_calls::{StepCalls, Stop, ToolCall};

use super::run::Run;
use super::stopped::CallStopped;

/// Answers the host calls of one try of one step.
pub(crate) struct StepHostCalls {
    run: Arc<Run>,
    step: StepId,
    own: StepSources,
    emitted: u32,
    progress: Arc<TryProgress>,
}

/// Progress of a try, readable after the guest has ended.
#[derive(Default)]
pub(crate) struct TryProgress {
    /// Number of calls that the step has made.
    pub(crate) calls: AtomicU32,
    /// Reason why a host call stopped the try. `None` if no host call stopped it.
    pub(crate) stop_reason: Mutex<Option<CallStopped>>,
}

impl StepHostCalls {
    pub(crate) fn new(run: Arc<Run>, step: StepId, trail: Arc<TryProgress>) -> Self {
        let own = {
            let state = run.state();
            let job = &state.durable.job;
            let seed = latchwork_core::model::keys::step_seed(&job.header.job_seed, &step);
            let started = job.step(&step).and_then(|step| step.started_us).unwrap_or(job.last_us);
            StepSources::new(run.step_context(job, &step), seed, started)
        };
        Self { run, step, own, emitted: 0, progress: trail }
    }

    fn invocation(&self, call: ToolCall) -> Invocation {
        let k = self.progress.calls.fetch_add(1, Ordering::Relaxed);
        let slot = Slot::of_call(&self.step, k);
        self.run.invocation(slot, Operator::new(&call.operator), call.args.as_bytes(), call.action_key.as_deref())
    }

    fn stop_with(&self, halt: CallStopped) -> Stop {
        *self.progress.stop_reason.lock().expect("nothing panics while it holds the reason") = Some(halt);
        Stop
    }

    /// Advances the step's clock to the time at which the call's answer was recorded.
    fn advance_clock(&mut self, slot: &Slot) {
        let state = self.run.state();
        let finished = state.durable.job.calls.get(slot).and_then(|call| call.finished.as_ref());
        if let Some(finished) = finished {
            self.own.advance_clock_to(finished.time_us);
        }
    }
}

#[async_trait]
impl StepCalls for StepHostCalls {
    fn next_event_is_recorded(&self) -> bool {
        let state = self.run.state();
        state.durable.job.step(&self.step).is_some_and(|step| step.emits.len() > self.emitted as usize)
    }
    fn sources(&mut self) -> &mut StepSources {
        &mut self.own
    }

    fn log(&mut self, level: Level, message: &str) {
        self.run.log(self.step.as_str(), level, message);
    }

    async fn call(
        &mut self,
        operator: String,
        args: String,
        action_key: Option<String>,
    ) -> Result<Result<String, Failure>, Stop> {
        let mut invocation = self.invocation(ToolCall { operator, args, action_key });
        let answer = self.run.perform(&mut invocation).await.map_err(|halt| self.stop_with(halt))?;
        self.advance_clock(&invocation.slot);
        Ok(answer)
    }

    async fn call_all(&mut self, calls: Vec<ToolCall>) -> Result<Vec<Result<String, Failure>>, Stop> {
        let mut invocations: Vec<_> = calls.into_iter().map(|call| self.invocation(call)).collect();
        let answers = self.run.perform_all(&mut invocations).await.map_err(|halt| self.stop_with(halt))?;
        for invocation in &invocations {
            self.advance_clock(&invocation.slot);
        }
        Ok(answers)
    }

    async fn emit(&mut self, name: String, payload: String) -> Result<(), Stop> {
        let n = self.emitted;
        self.emitted += 1;
        let label = label::emitted(&self.step, n);
        let after_calls = self.progress.calls.load(Ordering::Relaxed);
        let draft: Draft = {
            let state = self.run.state();
            let reference = state.durable.payload_ref(&label, payload.as_bytes());
            let emit = EmittedEvent { after_calls, name: name.clone(), payload: reference };
            match replay::check_emit(&state.durable.job, &self.step, n, &emit) {
                Ok(true) => return Ok(()),
                Ok(false) => {}
                Err(divergence) => {
                    drop(state);
                    return Err(self.stop_with(CallStopped::Diverged(divergence)));
                }
            }
            let body = Body::AsyncEventEmitted { step_id: self.step.clone(), n, after_calls, name, payload: reference };
            let payload = Payload { label, bytes: payload.into_bytes() };
            Draft { events: vec![body], payloads: vec![payload], ..Draft::default() }
        };
        self.run.write(draft).await.map_err(|dropped| self.stop_with(CallStopped::Aborted(dropped)))
    }
}
