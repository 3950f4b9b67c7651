//! Runs a step against a script instead of a worker. The script fixes the environment of the step and the
//! answers to its calls.
//!
//! A script consists of data only, so another process can run the same script.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use tracing::Level;

use latchwork_core::encoding::canon;
use latchwork_core::model::error::Failure;
use latchwork_core::model::manifest::Limits;
use latchwork_engine::guest::sources::{StepContext, StepSources};
use latchwork_engine::guest::step_calls::{NondeterminismSource, StepCalls, Stop, ToolCall};
use latchwork_engine::{Plugin, StepEnd, StepOutcome};

use crate::check::dynamic::trace::{HostCall, Mismatch, RunEnd, Trace};

/// Time that a simulated call takes, in microseconds.
pub(crate) const ANSWER_US: i64 = 250_000;

/// Scripted answer to one call.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ScriptedAnswer {
    /// Operator that the answer is for. `None` fits any operator.
    pub(crate) operator: Option<String>,
    /// Canonical arguments that the answer is for. `None` fits any arguments.
    pub(crate) args: Option<String>,
    /// Time of the answer, in microseconds since 1970 UTC.
    pub(crate) heard_us: i64,
    /// Result of the call.
    pub(crate) answer: Result<String, Failure>,
}

/// Environment of a run and answers to its calls.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RunScript {
    pub(crate) operator: String,
    pub(crate) input: String,
    pub(crate) context: StepContext,
    pub(crate) seed: [u8; 32],
    pub(crate) started_us: i64,
    pub(crate) answers: Vec<ScriptedAnswer>,
    /// Answer to every call that no entry of `answers` fits, if `loose` is true. Without it, the run stops at such a
    /// call.
    pub(crate) otherwise: Option<Result<String, Failure>>,
    pub(crate) limits: Limits,
    /// If true, answers are found by operator and arguments. If false, the k-th call gets the k-th answer.
    pub(crate) loose: bool,
    /// If true, concurrent calls are answered in reverse order.
    pub(crate) reversed: bool,
    /// If true, the first random number of the step itself is the first one of the seed, also if a language runtime has
    /// read random numbers while it started.
    pub(crate) restarts_random: bool,
    /// Index of the call at which the simulated worker crashes.
    pub(crate) stop_at: Option<usize>,
    /// Read of a source at which the run stops: the source, and the number of earlier reads of this source. The call
    /// stack of the trace then shows the function that reads.
    pub(crate) stop_at_read: Option<(NondeterminismSource, u32)>,
    /// Expected host calls. The run stops at the first different call. The call stack of the trace then shows the
    /// function that made this call.
    pub(crate) expected: Option<Vec<HostCall>>,
}

impl RunScript {
    /// Runs the step in a fresh instance.
    pub(crate) async fn run(&self, plugin: &Plugin) -> Trace {
        let (calls, seen) = self.new_host();
        let end = plugin.run_step(&self.operator, &self.input, &self.limits, calls).await;
        trace(end, &seen)
    }

    /// Runs the step several times in one fresh instance and returns the trace of each run. The first run has the
    /// random numbers of the seed `first_seed`. Every other run has those of the script.
    pub(crate) async fn run_repeatedly(&self, plugin: &Plugin, first_seed: [u8; 32], times: usize) -> Vec<Trace> {
        let first = RunScript { seed: first_seed, ..self.clone() };
        let hosts = std::iter::once(first.new_host()).chain((1..times).map(|_| self.new_host()));
        let (calls, seen): (Vec<_>, Vec<_>) = hosts.unzip();
        let ends = plugin.run_step_repeatedly(&self.operator, &self.input, &self.limits, calls).await;
        ends.into_iter().zip(&seen).map(|(end, seen)| trace(end, seen)).collect()
    }

    /// Creates the host of a run and the record of its observations.
    fn new_host(&self) -> (Box<dyn StepCalls>, Arc<Mutex<Observations>>) {
        let seen = Arc::new(Mutex::new(Observations::default()));
        let host = ScriptedHost {
            own: StepSources::new(self.context.clone(), self.seed, self.started_us),
            used: vec![false; self.answers.len()],
            script: self.clone(),
            observations: seen.clone(),
        };
        (Box::new(host), seen)
    }
}

fn trace(end: StepEnd, seen: &Mutex<Observations>) -> Trace {
    let seen = std::mem::take(&mut *seen.lock().expect("no holder panics"));
    let ended = match end.outcome {
        StepOutcome::Output(output) => RunEnd::Output(output),
        StepOutcome::Failed(failure) => RunEnd::Failed(failure),
        StepOutcome::Fault(failure) => RunEnd::Fault(failure),
        StepOutcome::Stopped => RunEnd::Stopped,
    };
    Trace {
        asked: seen.asked,
        ended,
        fuel: end.fuel,
        memory_bytes: end.memory_bytes,
        functions: end.functions,
        took_time: seen.took_time,
        took_chance: seen.took_chance,
        reads: seen.reads,
        logs: seen.logs,
        unanswered: seen.unanswered,
        mismatch: seen.mismatch,
        unused: seen.unused,
    }
}

/// Observations of a run.
#[derive(Default)]
struct Observations {
    asked: Vec<HostCall>,
    calls: usize,
    took_time: bool,
    took_chance: bool,
    has_begun: bool,
    reads: BTreeMap<NondeterminismSource, u32>,
    logs: u32,
    unanswered: bool,
    mismatch: Option<Mismatch>,
    unused: usize,
}

/// Host that answers the calls of a step from a script.
struct ScriptedHost {
    own: StepSources,
    used: Vec<bool>,
    script: RunScript,
    observations: Arc<Mutex<Observations>>,
}

impl ScriptedHost {
    /// Records a host call. Returns `Err` if the script expects another host call.
    fn record(&mut self, asked: HostCall) -> Result<(), Stop> {
        let mut seen = self.observations.lock().expect("no holder panics");
        let n = seen.asked.len();
        let differs = self.script.expected.as_ref().is_some_and(|expected| expected.get(n) != Some(&asked));
        seen.asked.push(asked);
        if differs { Err(Stop) } else { Ok(()) }
    }

    /// Assigns the next number to a call and returns the index of its answer. The index after the last answer stands
    /// for [`RunScript::otherwise`].
    fn assign_answer(&mut self, call: &ToolCall, together: bool) -> Result<usize, Stop> {
        // Compares canonical arguments, as the ledger does.
        let args = canon::canonicalize_or_keep(&call.args).into_owned();
        let (operator, action_key) = (call.operator.clone(), call.action_key.clone());
        self.record(HostCall::Call { operator, args: args.clone(), action_key, together })?;
        let mut seen = self.observations.lock().expect("no holder panics");
        let k = seen.calls;
        seen.calls += 1;
        if self.script.stop_at == Some(k) {
            return Err(Stop);
        }
        let answers = &self.script.answers;
        if self.script.loose {
            let free = |same_args: bool| {
                answers.iter().enumerate().position(|(n, given)| {
                    let operator = given.operator.as_ref().is_none_or(|operator| *operator == call.operator);
                    !self.used[n] && operator && (!same_args || given.args.as_ref() == Some(&args))
                })
            };
            let found = free(true).or_else(|| free(false));
            if let (None, Some(_)) = (found, &self.script.otherwise) {
                return Ok(answers.len());
            }
            seen.unanswered |= found.is_none();
            return found.inspect(|n| self.used[*n] = true).ok_or(Stop);
        }
        let Some(given) = answers.get(k) else {
            seen.unanswered = true;
            return Err(Stop);
        };
        self.used[k] = true;
        let of_call =
            [("operator", given.operator.as_ref(), &call.operator), ("arguments", given.args.as_ref(), &args)];
        for (what, expected, found) in of_call {
            if let Some(expected) = expected.filter(|expected| *expected != found) {
                let (expected, found) = (expected.clone(), found.clone());
                seen.mismatch.get_or_insert(Mismatch { call: k, what: what.to_owned(), expected, found });
                return Err(Stop);
            }
        }
        Ok(k)
    }

    fn deliver_answer(&mut self, n: usize) -> Result<String, Failure> {
        let Some(given) = self.script.answers.get(n) else {
            self.own.advance_clock_to(self.own.now_us + ANSWER_US);
            return self.script.otherwise.clone().expect("it has no index in `answers` only if it exists");
        };
        self.own.advance_clock_to(given.heard_us);
        given.answer.clone()
    }
}

impl Drop for ScriptedHost {
    fn drop(&mut self) {
        let unused = self.used.iter().filter(|taken| !**taken).count();
        self.observations.lock().expect("no holder panics").unused = unused;
    }
}

#[async_trait]
impl StepCalls for ScriptedHost {
    fn sources(&mut self) -> &mut StepSources {
        &mut self.own
    }
    fn begin_run(&mut self) {
        if self.script.restarts_random {
            let now_us = self.own.now_us;
            self.own = StepSources::new(self.script.context.clone(), self.script.seed, now_us);
        }
        self.observations.lock().expect("no holder panics").has_begun = true;
    }
    fn before_read(&mut self, source: NondeterminismSource) -> Result<(), Stop> {
        let mut seen = self.observations.lock().expect("no holder panics");
        // A language runtime may read while it starts. This says nothing about the step.
        if !seen.has_begun {
            return Ok(());
        }
        let before = seen.reads.entry(source).or_default();
        let is_last = self.script.stop_at_read == Some((source, *before));
        *before += 1;
        if is_last { Err(Stop) } else { Ok(()) }
    }
    fn now_us(&mut self) -> i64 {
        self.observations.lock().expect("no holder panics").took_time = true;
        self.own.now_us
    }
    fn random(&mut self, buf: &mut [u8]) {
        self.observations.lock().expect("no holder panics").took_chance = true;
        self.own.random(buf);
    }
    fn next_u32(&mut self) -> u32 {
        self.observations.lock().expect("no holder panics").took_chance = true;
        self.own.next_u32()
    }
    fn below(&mut self, bound: u32) -> u32 {
        self.observations.lock().expect("no holder panics").took_chance = true;
        self.own.below(bound)
    }
    fn log(&mut self, _: Level, _: &str) {
        self.observations.lock().expect("no holder panics").logs += 1;
    }

    async fn call(
        &mut self,
        operator: String,
        args: String,
        action_key: Option<String>,
    ) -> Result<Result<String, Failure>, Stop> {
        let n = self.assign_answer(&ToolCall { operator, args, action_key }, false)?;
        Ok(self.deliver_answer(n))
    }

    async fn call_all(&mut self, calls: Vec<ToolCall>) -> Result<Vec<Result<String, Failure>>, Stop> {
        // All calls get their numbers before the first answer, as in a real worker.
        let places: Vec<_> = calls.iter().map(|call| self.assign_answer(call, true)).collect();
        let places = places.into_iter().collect::<Result<Vec<_>, _>>()?;
        // Answers arrive in forward or reverse order. The step receives them in the order of its calls.
        let mut answers: Vec<_> = places.iter().map(|_| None).collect();
        let mut order: Vec<usize> = (0..places.len()).collect();
        if self.script.reversed {
            order.reverse();
        }
        for i in order {
            tokio::task::yield_now().await;
            answers[i] = Some(self.deliver_answer(places[i]));
        }
        Ok(answers.into_iter().flatten().collect())
    }

    async fn emit(&mut self, name: String, payload: String) -> Result<(), Stop> {
        self.record(HostCall::Emit { name, payload })
    }
}
