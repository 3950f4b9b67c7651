//! `sandbox`: the step is driven twice and must do the same twice.
//!
//! Both runs are fresh instances without a tool behind them; each ends with the step or at its first call,
//! which has no recorded answer. An operator that says it is `pure` must not even depend on its clock
//! and its random numbers, so its second run has others; every other one gets the same.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use latchwork_core::error::{Code, Failure};
use latchwork_core::ids::Hash;
use latchwork_core::manifest::{Determinism, PluginKind};
use tracing::Level;

use super::{StepValidator, ValidationRequest};
use crate::engine::{StepCalls, StepOutcome, StepSources, Stop, ToolCall};

/// How far the second run's clock is from the first's: more than a year, and no round number of days.
const SHIFT_US: i64 = 401 * 86_400_000_000 + 12_345_678_901;

/// What a step finds: the same in every try of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conditions {
    /// Its clock, microseconds since 1970 UTC.
    pub now_us: i64,
    /// Seed of its random numbers.
    pub seed: [u8; 32],
}

/// What a step asked of its host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// It called this operator with these arguments.
    Call(String, String),
    /// It announced an event of this name with this payload.
    Emit(String, String),
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// With this output.
    Output(String),
    /// With an error of its own.
    Failed(Code, String),
    /// The host ended it.
    Fault(Code),
    /// At a call that has no recorded answer.
    AtCall,
}

/// What became of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SandboxRun {
    /// What it asked for, in order.
    pub asked: Vec<Asked>,
    /// How it ended.
    pub ended: Ended,
}

/// The validator.
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
        let second = if is_pure { other(first) } else { first };
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

fn other(conditions: Conditions) -> Conditions {
    Conditions {
        now_us: conditions.now_us.saturating_add(SHIFT_US),
        seed: Hash::of(&[b"another seed", &conditions.seed]).0,
    }
}

/// The first difference of two runs.
fn difference(one: &SandboxRun, two: &SandboxRun) -> Option<String> {
    // Depth of the stack and wall clock depend on the machine: they tell nothing of the step.
    let of_machine = |run: &SandboxRun| matches!(run.ended, Ended::Fault(Code::StackOverflow | Code::WallClockLimit));
    if of_machine(one) || of_machine(two) {
        return None;
    }
    for n in 0..one.asked.len().max(two.asked.len()) {
        let (a, b) = (one.asked.get(n), two.asked.get(n));
        if a != b {
            return Some(format!("{} and then {}", told(a), told(b)));
        }
    }
    (one.ended != two.ended).then(|| format!("{} and then {}", end(&one.ended), end(&two.ended)))
}

fn told(asked: Option<&Asked>) -> String {
    match asked {
        Some(Asked::Call(operator, args)) => format!("it calls {operator} with {}", cut(args)),
        Some(Asked::Emit(name, payload)) => format!("it announces {} with {}", cut(name), cut(payload)),
        None => "it asks for nothing more".to_owned(),
    }
}

fn end(ended: &Ended) -> String {
    match ended {
        Ended::Output(output) => format!("it gives {}", cut(output)),
        Ended::Failed(code, message) => format!("it fails with {code}: {}", cut(message)),
        Ended::Fault(code) => format!("it is ended by {code}"),
        Ended::AtCall => "it calls a tool".to_owned(),
    }
}

/// The beginning of a text that a message can hold.
fn cut(text: &str) -> String {
    const CHARACTERS_MAX: usize = 200;
    match text.char_indices().nth(CHARACTERS_MAX) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

pub(super) async fn run(request: &ValidationRequest<'_>, conditions: Conditions) -> Option<SandboxRun> {
    if request.kind != PluginKind::Step {
        return None;
    }
    let asked = Arc::new(Mutex::new(Vec::new()));
    let calls = Box::new(Alone {
        own: StepSources::new(request.context.clone(), conditions.seed, conditions.now_us),
        asked: asked.clone(),
    });
    let input = String::from_utf8_lossy(request.input);
    let end = request.plugin.run_step(request.operator.as_str(), &input, &request.limits, calls).await;
    let ended = match end.outcome {
        StepOutcome::Output(output) => Ended::Output(output),
        StepOutcome::Failed(failure) => Ended::Failed(failure.code, failure.message),
        StepOutcome::Fault(failure) => Ended::Fault(failure.code),
        StepOutcome::Stopped => Ended::AtCall,
    };
    let asked = std::mem::take(&mut *asked.lock().expect("no holder panics"));
    Some(SandboxRun { asked, ended })
}

/// A host without tools.
struct Alone {
    own: StepSources,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Alone {
    fn note(&self, asked: Asked) {
        self.asked.lock().expect("no holder panics").push(asked);
    }
}

#[async_trait]
impl StepCalls for Alone {
    fn own(&mut self) -> &mut StepSources {
        &mut self.own
    }
    fn log(&mut self, _: Level, _: &str) {}

    async fn call(
        &mut self,
        operator: String,
        args: String,
        _action_key: Option<String>,
    ) -> Result<Result<String, Failure>, Stop> {
        self.note(Asked::Call(operator, args));
        Err(Stop)
    }

    async fn call_all(&mut self, calls: Vec<ToolCall>) -> Result<Vec<Result<String, Failure>>, Stop> {
        if calls.is_empty() {
            return Ok(Vec::new());
        }
        for call in calls {
            self.note(Asked::Call(call.operator, call.args));
        }
        Err(Stop)
    }

    async fn emit(&mut self, name: String, payload: String) -> Result<(), Stop> {
        self.note(Asked::Emit(name, payload));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(asked: &[(&str, &str)], ended: Ended) -> SandboxRun {
        let call = |(operator, args): &(&str, &str)| Asked::Call((*operator).into(), (*args).into());
        SandboxRun { asked: asked.iter().map(call).collect(), ended }
    }

    #[test]
    fn the_first_difference_is_told() {
        let output = |text: &str| Ended::Output(text.into());
        let same = run(&[("A", "1")], Ended::AtCall);
        assert_eq!(difference(&same, &same), None);
        let call = difference(&same, &run(&[("A", "2")], Ended::AtCall)).unwrap();
        assert_eq!(call, "it calls A with 1 and then it calls A with 2");
        let end = difference(&run(&[], output("1")), &run(&[], output("2"))).unwrap();
        assert_eq!(end, "it gives 1 and then it gives 2");
        assert!(difference(&same, &run(&[], output("1"))).unwrap().contains("asks for nothing more"));
        let deep = run(&[], Ended::Fault(Code::StackOverflow));
        assert_eq!(difference(&deep, &run(&[], output("1"))), None, "that is the machine's");
    }
}
