//! `sandbox`: runs the step twice and requires the same behaviour.
//!
//! Both runs use fresh instances without tools. Each run ends when the step ends or makes its first tool call, because
//! that call has no recorded answer. The behaviour of a `pure` operator must not depend on time or seed, so its second
//! run gets another time and another seed. For every other operator, both runs get the same time and the same seed.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use tracing::Level;

use latchwork_core::encoding::truncate::{self, Truncated};
use latchwork_core::model::error::{Code, Failure};
use latchwork_core::model::ids::Hash;
use latchwork_core::model::manifest::{Determinism, PluginKind};
use latchwork_engine::StepOutcome;
use latchwork_engine::guest::sources::StepSources;
use latchwork_engine::guest::step_calls::{StepCalls, Stop, ToolCall};

use super::{StepValidator, ValidationRequest};
use crate::validate::step_validator::SandboxConditions;

/// Shift of the second run's clock, in microseconds: more than a year and not a whole number of days.
const SHIFT_US: i64 = 401 * 86_400_000_000 + 12_345_678_901;

/// A host call of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SandboxHostCall {
    /// The step called this operator with these arguments.
    Call(String, String),
    /// The step emitted an event with this name and this payload.
    Emit(String, String),
}

/// The end of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SandboxEnd {
    /// The step returned this output.
    Output(String),
    /// The step returned an error with this code and message.
    Failed(Code, String),
    /// The host ended the run with this code.
    Fault(Code),
    /// The run stopped at a call, which has no recorded answer.
    AtCall,
}

/// Record of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SandboxRun {
    /// Host calls of the step, in order.
    pub host_calls: Vec<SandboxHostCall>,
    /// The end of the run.
    pub ended: SandboxEnd,
}

/// Validator that runs the step twice.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sandbox;

#[async_trait]
impl StepValidator for Sandbox {
    fn name(&self) -> &'static str {
        "sandbox"
    }

    async fn validate_step(&self, request: &ValidationRequest<'_>) -> Result<(), String> {
        let first = request.conditions();
        let is_pure = request.determinism == Determinism::Pure;
        let second = if is_pure { shifted_conditions(first) } else { first };
        let Some(one) = request.run_in_sandbox(first).await else { return Ok(()) };
        let Some(two) = request.run_in_sandbox(second).await else { return Ok(()) };
        let depends = if is_pure {
            "its operator says it is pure, and with another clock and other random numbers"
        } else {
            "run a second time"
        };
        match difference(&one, &two) {
            Some(difference) => Err(format!("{depends} it does something else: {difference}")),
            None => Ok(()),
        }
    }
}

fn shifted_conditions(conditions: SandboxConditions) -> SandboxConditions {
    SandboxConditions {
        now_us: conditions.now_us.saturating_add(SHIFT_US),
        seed: Hash::of(&[b"another seed", &conditions.seed]).0,
    }
}

/// Describes the first difference between two runs.
fn difference(one: &SandboxRun, two: &SandboxRun) -> Option<String> {
    // A run that was ended by a limit of the machine is not compared.
    let of_machine = |run: &SandboxRun| matches!(run.ended, SandboxEnd::Fault(code) if code.is_of_machine());
    if of_machine(one) || of_machine(two) {
        return None;
    }
    for n in 0..one.host_calls.len().max(two.host_calls.len()) {
        let (a, b) = (one.host_calls.get(n), two.host_calls.get(n));
        if a != b {
            return Some(format!("{} and then {}", describe_call(a), describe_call(b)));
        }
    }
    (one.ended != two.ended).then(|| format!("{} and then {}", describe_end(&one.ended), describe_end(&two.ended)))
}

fn describe_call(asked: Option<&SandboxHostCall>) -> String {
    match asked {
        Some(SandboxHostCall::Call(operator, args)) => format!("it calls {operator} with {}", excerpt(args)),
        Some(SandboxHostCall::Emit(name, payload)) => {
            format!("it announces {} with {}", excerpt(name), excerpt(payload))
        }
        None => "it asks for nothing more".to_owned(),
    }
}

fn describe_end(ended: &SandboxEnd) -> String {
    match ended {
        SandboxEnd::Output(output) => format!("it gives {}", excerpt(output)),
        SandboxEnd::Failed(code, message) => format!("it fails with {code}: {}", excerpt(message)),
        SandboxEnd::Fault(code) => format!("it is ended by {code}"),
        SandboxEnd::AtCall => "it calls a tool".to_owned(),
    }
}

/// Truncates a text for a message to 200 characters.
fn excerpt(text: &str) -> Truncated<'_> {
    truncate::at_characters(text, 200)
}

async fn run(request: &ValidationRequest<'_>, conditions: SandboxConditions) -> Option<SandboxRun> {
    let component = request.component.filter(|_| request.kind == PluginKind::Step)?;
    let asked = Arc::new(Mutex::new(Vec::new()));
    let calls = Box::new(NoToolsHost {
        own: StepSources::new(request.context.clone(), conditions.seed, conditions.now_us),
        asked: asked.clone(),
    });
    let input = String::from_utf8_lossy(request.input);
    let end = component.run_step(request.operator.as_str(), &input, &request.limits, calls).await;
    let ended = match end.outcome {
        StepOutcome::Output(output) => SandboxEnd::Output(output),
        StepOutcome::Failed(failure) => SandboxEnd::Failed(failure.code, failure.message),
        StepOutcome::Fault(failure) => SandboxEnd::Fault(failure.code),
        StepOutcome::Stopped => SandboxEnd::AtCall,
    };
    let asked = std::mem::take(&mut *asked.lock().expect("no holder panics"));
    Some(SandboxRun { host_calls: asked, ended })
}

impl ValidationRequest<'_> {
    /// Runs the step in a fresh instance under these conditions, until the step ends or makes a tool call. The run ends
    /// at the first tool call and does not execute it, because no call has a recorded answer before the step starts.
    /// Returns `None` if the plugin is a tool.
    pub async fn run_in_sandbox(&self, conditions: SandboxConditions) -> Option<SandboxRun> {
        run(self, conditions).await
    }
}

/// A host without tools.
struct NoToolsHost {
    own: StepSources,
    asked: Arc<Mutex<Vec<SandboxHostCall>>>,
}

impl NoToolsHost {
    fn record(&self, asked: SandboxHostCall) {
        self.asked.lock().expect("no holder panics").push(asked);
    }
}

#[async_trait]
impl StepCalls for NoToolsHost {
    fn sources(&mut self) -> &mut StepSources {
        &mut self.own
    }
    fn log(&mut self, _: Level, _: &str) {}

    async fn call(
        &mut self,
        operator: String,
        args: String,
        _action_key: Option<String>,
    ) -> Result<Result<String, Failure>, Stop> {
        self.record(SandboxHostCall::Call(operator, args));
        Err(Stop)
    }

    async fn call_all(&mut self, calls: Vec<ToolCall>) -> Result<Vec<Result<String, Failure>>, Stop> {
        if calls.is_empty() {
            return Ok(Vec::new());
        }
        for call in calls {
            self.record(SandboxHostCall::Call(call.operator, call.args));
        }
        Err(Stop)
    }

    async fn emit(&mut self, name: String, payload: String) -> Result<(), Stop> {
        self.record(SandboxHostCall::Emit(name, payload));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(asked: &[(&str, &str)], ended: SandboxEnd) -> SandboxRun {
        let call = |(operator, args): &(&str, &str)| SandboxHostCall::Call((*operator).into(), (*args).into());
        SandboxRun { host_calls: asked.iter().map(call).collect(), ended }
    }

    #[test]
    fn first_difference_of_two_runs_is_described() {
        let output = |text: &str| SandboxEnd::Output(text.into());
        let same = run(&[("A", "1")], SandboxEnd::AtCall);
        assert_eq!(difference(&same, &same), None);
        let call = difference(&same, &run(&[("A", "2")], SandboxEnd::AtCall)).unwrap();
        assert_eq!(call, "it calls A with 1 and then it calls A with 2");
        let end = difference(&run(&[], output("1")), &run(&[], output("2"))).unwrap();
        assert_eq!(end, "it gives 1 and then it gives 2");
        assert!(difference(&same, &run(&[], output("1"))).unwrap().contains("asks for nothing more"));
        let deep = run(&[], SandboxEnd::Fault(Code::StackOverflow));
        assert_eq!(difference(&deep, &run(&[], output("1"))), None, "that is the machine's");
    }
}
