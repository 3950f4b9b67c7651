//! Runs a component on a history. The history answers every host call, and each host call is compared with the recorded
//! host call.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use tracing::Level;

use latchwork::replay::compare_end;
use latchwork_core::encoding::canon;
use latchwork_core::model::divergence::Divergence;
use latchwork_core::model::error::Failure;
use latchwork_core::model::ids::Hash;
use latchwork_core::model::keys;
use latchwork_engine::guest::sources::StepSources;
use latchwork_engine::guest::step_calls::{StepCalls, Stop, ToolCall};
use latchwork_engine::{Plugin, StepOutcome};

use crate::history::types::{History, RecordedEnd, RecordedHostCall, StepRun};

impl History {
    /// Returns true if no deterministic component can behave like both histories. This is the case if the histories
    /// record a different host call or result after equal inputs and answers.
    pub fn must_differ(&self, other: &History) -> bool {
        self.runs.len() != other.runs.len()
            || self.runs.iter().zip(&other.runs).any(|runs| must_differ((self, other), runs))
    }

    /// Executes again the runs whose operators `plugin` serves, and returns the first difference. No tool is
    /// called, because the history answers all tool calls.
    pub async fn play(&self, plugin: &Plugin) -> Option<Divergence> {
        for run in self.runs.iter().filter(|run| plugin.operator(&run.operator).is_some()) {
            let found = play_run(self, run, plugin).await;
            if found.is_some() {
                return found;
            }
        }
        None
    }
}

/// Runs one step plugin on the history and returns the first difference.
async fn play_run(history: &History, run: &StepRun, plugin: &Plugin) -> Option<Divergence> {
    let score = Arc::new(Mutex::new(ExpectedCalls {
        step_id: run.step_id.clone(),
        remaining: history.host_calls_of(&run.step_id).cloned().collect(),
        calls: 0,
        emits: 0,
        divergence: None,
    }));
    let input = serde_json::from_str(&run.input).ok();
    let refused = input.and_then(|value| plugin.check_input(&run.operator, &value).err());
    let outcome = match refused {
        Some(failure) => StepOutcome::Failed(failure),
        None => {
            let has_output = matches!(run.end, RecordedEnd::Output(_));
            let own = StepSources::new(run.context.clone(), run.seed, run.started_us);
            let calls = Box::new(HistoryHost { score: score.clone(), own, has_output });
            plugin.run_step(&run.operator, &run.input, &run.limits, calls).await.outcome
        }
    };
    let mut score = score.lock().expect("no holder panics");
    if let Some(divergence) = score.divergence.take() {
        return Some(divergence);
    }
    if let Some(missing) = score.remaining.front() {
        let (at, what, field, recorded) = match missing {
            RecordedHostCall::Call { operator, .. } => (score.slot(), "missing call", "operator", operator),
            RecordedHostCall::Event { name, .. } => (score.event(), "missing event", "name", name),
        };
        return Some(Divergence::new(at, what, field, recorded, "nothing"));
    }
    end_divergence(run, &outcome)
}

fn end_divergence(run: &StepRun, outcome: &StepOutcome) -> Option<Divergence> {
    match &run.end {
        RecordedEnd::Output(recorded) => {
            let differs = |found: &str| (recorded != found).then(|| recorded.clone());
            compare_end(&run.step_id, Ok(()), outcome, differs)
        }
        RecordedEnd::Failed(code) => compare_end(&run.step_id, Err(*code), outcome, |_| None),
    }
}

/// Recorded host calls that a step has not made yet, and the first difference found.
struct ExpectedCalls {
    step_id: String,
    remaining: VecDeque<RecordedHostCall>,
    calls: u32,
    emits: u32,
    divergence: Option<Divergence>,
}

impl ExpectedCalls {
    fn slot(&self) -> String {
        format!("{}/{}", self.step_id, self.calls)
    }

    fn event(&self) -> String {
        format!("{}:e{}", self.step_id, self.emits)
    }

    fn diverge(&mut self, divergence: Divergence) -> Stop {
        self.divergence.get_or_insert(divergence);
        Stop
    }

    fn call(&mut self, operator: &str, args: &str, action: Option<&str>) -> Result<RecordedHostCall, Stop> {
        let at = self.slot();
        let found_args = canon::canonicalize_or_keep(args).into_owned();
        let recorded = match self.remaining.pop_front() {
            Some(recorded @ RecordedHostCall::Call { .. }) => recorded,
            Some(RecordedHostCall::Event { name, .. }) => {
                return Err(self.diverge(Divergence::new(at, "call", "kind", format!("the event {name}"), operator)));
            }
            None => return Err(self.diverge(Divergence::new(at, "call", "operator", "no call", operator))),
        };
        let RecordedHostCall::Call { operator: wanted, args, action_key, .. } = &recorded else {
            unreachable!("events are handled above")
        };
        if wanted != operator {
            return Err(self.diverge(Divergence::new(at, "call", "operator", wanted, operator)));
        }
        if !args.equals(&found_args) {
            return Err(self.diverge(Divergence::new(at, "call", "arguments", args, found_args)));
        }
        // If the history has no key for the call, the key is not compared. The log omits an action key that had no
        // effect, so the original call may have had a key.
        if let Some(key) = action_key
            && action.map(keys::call_action_key) != Some(*key)
        {
            let found = action.map(keys::call_action_key).map_or_else(|| "none".to_owned(), Hash::to_hex);
            return Err(self.diverge(Divergence::new(at, "call", "action key", key, found)));
        }
        self.calls += 1;
        Ok(recorded)
    }

    fn emit(&mut self, found: &str, payload: &str) -> Result<(), Stop> {
        let at = self.event();
        match self.remaining.pop_front() {
            Some(RecordedHostCall::Event { name, .. }) if name != found => {
                Err(self.diverge(Divergence::new(at, "event", "name", name, found)))
            }
            Some(RecordedHostCall::Event { payload: recorded, .. }) if recorded != payload => {
                Err(self.diverge(Divergence::new(at, "event", "payload", recorded, payload)))
            }
            Some(RecordedHostCall::Event { .. }) => {
                self.emits += 1;
                Ok(())
            }
            Some(RecordedHostCall::Call { operator, .. }) => {
                Err(self.diverge(Divergence::new(at, "event", "kind", format!("a call of {operator}"), found)))
            }
            None => Err(self.diverge(Divergence::new(at, "event", "name", "no event", found))),
        }
    }
}

struct HistoryHost {
    score: Arc<Mutex<ExpectedCalls>>,
    own: StepSources,
    /// True if the history has an output of the step.
    has_output: bool,
}

impl HistoryHost {
    fn expected(&self) -> std::sync::MutexGuard<'_, ExpectedCalls> {
        self.score.lock().expect("no holder panics")
    }

    fn answer(&mut self, asked: RecordedHostCall) -> Result<String, Failure> {
        let RecordedHostCall::Call { answer, time_us, .. } = asked else { unreachable!("only calls are answered") };
        self.own.advance_clock_to(time_us);
        answer
    }
}

#[async_trait]
impl StepCalls for HistoryHost {
    fn next_event_is_recorded(&self) -> bool {
        matches!(self.expected().remaining.front(), Some(RecordedHostCall::Event { .. }))
    }
    fn output_is_recorded(&self) -> bool {
        self.has_output
    }
    fn sources(&mut self) -> &mut StepSources {
        &mut self.own
    }
    fn log(&mut self, _: Level, _: &str) {}

    async fn call(
        &mut self,
        operator: String,
        args: String,
        action_key: Option<String>,
    ) -> Result<Result<String, Failure>, Stop> {
        let asked = self.expected().call(&operator, &args, action_key.as_deref())?;
        Ok(self.answer(asked))
    }

    async fn call_all(&mut self, calls: Vec<ToolCall>) -> Result<Vec<Result<String, Failure>>, Stop> {
        let ask = |call: &ToolCall| self.expected().call(&call.operator, &call.args, call.action_key.as_deref());
        let asked: Vec<_> = calls.iter().map(ask).collect::<Result<_, _>>()?;
        Ok(asked.into_iter().map(|asked| self.answer(asked)).collect())
    }

    async fn emit(&mut self, name: String, payload: String) -> Result<(), Stop> {
        self.expected().emit(&name, &payload)
    }
}

/// Returns true if every step has the same inputs, host calls, answers and results in both histories.
pub(super) fn is_same(one: &History, other: &History) -> bool {
    one.runs == other.runs
        && one.runs.iter().all(|run| one.host_calls_of(&run.step_id).eq(other.host_calls_of(&run.step_id)))
}

/// Returns true if the two histories record different behaviour after the same inputs and answers.
fn must_differ((one, other): (&History, &History), (a, b): (&StepRun, &StepRun)) -> bool {
    let given = |run: &StepRun| StepRun { end: RecordedEnd::Output(String::new()), ..run.clone() };
    if given(a) != given(b) {
        return false;
    }
    let (mut these, mut those) = (one.host_calls_of(&a.step_id), other.host_calls_of(&b.step_id));
    loop {
        let (this, that) = match (these.next(), those.next()) {
            (None, None) => return a.end != b.end,
            (Some(this), Some(that)) => (this, that),
            _ => return true,
        };
        if !is_same_host_call(this, that) {
            return true;
        }
        if this != that {
            // After different answers, the step may behave differently.
            return false;
        }
    }
}

/// Returns true if both histories record the same host call. The answer and its time are not compared, because the step
/// does not produce them.
fn is_same_host_call(one: &RecordedHostCall, other: &RecordedHostCall) -> bool {
    match (one, other) {
        (
            RecordedHostCall::Call { operator, args, action_key, .. },
            RecordedHostCall::Call { operator: other, args: others, action_key: key, .. },
        ) => operator == other && args == others && action_key == key,
        _ => one == other,
    }
}
