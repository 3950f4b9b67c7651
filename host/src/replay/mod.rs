//! `latch job replay`: executes the steps of a job again from its event log. No tool is called and nothing is
//! written.
//!
//! A replay covers the whole log or one prefix of the log. The state of the job is computed from the covered part
//! alone. A call that is open at the end of the covered part counts as in doubt, as after a crash. Such a call must
//! never be executed again without a check. Each started step of a step plugin runs again with the recorded answers.
//! The calls, emitted events and output of the step must equal the log.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use serde::Serialize;
use tracing::Level;

use latchwork_core::encoding::canon;
use latchwork_core::event::Event;
use latchwork_core::evidence::Salts;
use latchwork_core::model::divergence::Divergence;
use latchwork_core::model::effect::Answer;
use latchwork_core::model::error::Failure;
use latchwork_core::model::ids::{Hash, Slot, StepId};
use latchwork_core::model::keys;
use latchwork_core::model::manifest::PluginKind;
use latchwork_core::model::payload::PayloadRef;
use latchwork_core::model::step::StepState;
use latchwork_core::state::{Durable, EmittedEvent, Job, Step, label};
use latchwork_core::{decide, replay};
use latchwork_engine::guest::sources::{StepContext, StepSources};
use latchwork_engine::guest::step_calls::{StepCalls, Stop, ToolCall};
use latchwork_engine::{PinnedComponents, StepOutcome};

mod copied;
mod end;
mod limits;

pub use end::compare_end;

/// Result of a replay. The default is the report of a replay that has not begun.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ReplayReport {
    /// Number of replayed prefixes of the log.
    pub prefixes: u64,
    /// Number of runs of step plugins.
    pub step_runs: u64,
    /// Number of calls answered from the log.
    pub calls: u64,
    /// Length of the prefix in which the first difference was found, and the difference.
    pub divergence: Option<(u64, Divergence)>,
    /// Steps that were not compared, because their end depends on the speed of the machine.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub not_checked: BTreeSet<StepId>,
    /// Fuel that the runs used, in units.
    #[serde(skip)]
    pub fuel: u64,
    /// Functions on the guest's stack at the call that differs, innermost first.
    #[serde(skip)]
    pub functions: Vec<String>,
}

/// Reasons why a log could not be replayed.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The events of the log do not yield a valid job.
    #[error("cannot replay the first {prefix} events: {message}")]
    Log {
        /// Length of the prefix.
        prefix: u64,
        /// Reason of the failure.
        message: String,
    },
    /// A payload that the log names is not stored.
    #[error("the payload {label} is missing")]
    Missing {
        /// Label of the missing payload.
        label: String,
    },
    /// A plugin of the job cannot be loaded.
    #[error("{0}")]
    Plugin(String),
}

/// Replays a job from the whole log, or from every prefix of the log.
///
/// # Errors
/// See [`ReplayError`]. A difference is part of the report and is not an error.
pub async fn replay(
    components: &dyn PinnedComponents,
    whole: &Durable,
    events: &[Event],
    every_prefix: bool,
) -> Result<ReplayReport, ReplayError> {
    let mut report = ReplayReport::default();
    let salts = Salts::Secret(whole.secret);
    let last = events.len();
    // The first two events create a job. A shorter prefix has nothing to replay.
    let lengths = if every_prefix { 2..=last } else { last..=last };
    for length in lengths {
        let prefix = length as u64;
        let job =
            Job::fold(&events[..length]).map_err(|error| ReplayError::Log { prefix, message: error.to_string() })?;
        report.prefixes += 1;
        let found = match check_open_calls(whole, &job).or_else(|| check_waits(whole, &job)) {
            Some(divergence) => Some(divergence),
            None => replay_steps((components, &salts), whole, &job, length == last, &mut report).await?,
        };
        if let Some(divergence) = found {
            report.divergence = Some((prefix, divergence));
            return Ok(report);
        }
    }
    Ok(report)
}

/// Checks the decision about each call that is open at the end of a prefix. Such a call counts as in doubt. The call
/// may be reconciled, repeated under its key or decided by a person, but never executed without a check.
fn check_open_calls(whole: &Durable, job: &Job) -> Option<Divergence> {
    job.calls.iter().filter(|(_, call)| call.open_try.is_some()).find_map(|(slot, call)| {
        let decided = decide::check_open_call(whole, job, slot, call).err()?;
        Some(Divergence::new(slot, "call", "decision after a crash here", "in doubt", decided))
    })
}

/// Checks that the stored output of each finished wait equals the output recorded in the log.
fn check_waits(whole: &Durable, job: &Job) -> Option<Divergence> {
    let over = job.waits.keys().filter_map(|id| Some((id, job.step(id)?.output?)));
    over.into_iter().find_map(|(id, recorded)| {
        let kept = whole.output(id).unwrap_or_default();
        let found = whole.payload_ref(&label::output(id), &kept);
        (found != recorded).then(|| Divergence::new(id, "output", "hash", recorded.hash, found.hash))
    })
}

/// Executes again each started step that a step plugin serves. `job` is the state after the prefix. If `all` is false,
/// leaves out the steps that are final in `job`.
async fn replay_steps(
    (components, salts): (&dyn PinnedComponents, &Salts),
    whole: &Durable,
    job: &Job,
    all: bool,
    report: &mut ReplayReport,
) -> Result<Option<Divergence>, ReplayError> {
    for step in &job.steps {
        // The replay of a final step gives the same result for every prefix, so only the replay of the whole log
        // executes the step again.
        if !all && step.state.is_final() {
            continue;
        }
        let found = replay_step((components, salts), whole, job, step, report).await?;
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// Runs one step again if it is a step plugin and has started.
pub async fn replay_step(
    (components, salts): (&dyn PinnedComponents, &Salts),
    whole: &Durable,
    job: &Job,
    step: &Step,
    report: &mut ReplayReport,
) -> Result<Option<Divergence>, ReplayError> {
    let planned = job.plan.step(&step.id);
    let copied = step.copied.as_ref();
    // A copied step of a fork runs with the component that the maker pinned. The maker is the job that originally
    // executed the step.
    let pinned = match copied {
        Some((maker, _)) => maker.pinned.as_ref(),
        None => planned.and_then(|planned| job.pinned(&planned.name)),
    };
    let (Some(_), Some(planned), Some(pinned)) = (step.started_us, planned, pinned) else { return Ok(None) };
    if pinned.kind != PluginKind::Step || copied.is_some_and(|(_, is_set)| *is_set) {
        return Ok(None);
    }
    // A step that a limit of the machine ended is not replayed. In the replay, the step may run until its fuel is used
    // up, and its end could not be compared with the log.
    if whole.job.step(&step.id).is_some_and(limits::was_ended_by_machine) {
        report.not_checked.insert(step.id.clone());
        return Ok(None);
    }
    let plugin = components.by_digest(pinned.digest, pinned.wasi).map_err(ReplayError::Plugin)?;
    let Some(input) = whole.input(&step.id) else {
        // An evidence file may withhold the input, and the step is then skipped. A database withholds nothing, so a
        // missing input is an error.
        return match salts {
            Salts::Secret(_) => Err(ReplayError::Missing { label: label::input(&step.id) }),
            _ => Ok(None),
        };
    };
    let trail = Arc::new(ReplayProgress::default());
    let operator = planned.name.as_str();
    // A replay refuses an input that does not match the step's schema, as the live run does.
    let refused = serde_json::from_slice(&input).ok().and_then(|value| plugin.check_input(operator, &value).err());
    let outcome = match refused {
        Some(failure) => StepOutcome::Failed(failure),
        None => {
            let calls = Box::new(LogReplayHost::new(whole, salts, job, &step.id, trail.clone()));
            let text = String::from_utf8_lossy(&input).into_owned();
            report.step_runs += 1;
            let limits = limits::for_replay(pinned.limits, planned.timeout_ms(), salts);
            let end = plugin.run_step(operator, &text, &limits, calls).await;
            report.fuel = report.fuel.saturating_add(end.fuel);
            report.functions = end.functions;
            end.outcome
        }
    };
    report.calls += u64::from(trail.served.load(Ordering::Relaxed));
    let diverged = trail.divergence.lock().expect("no holder panics").take();
    if diverged.is_none() && limits::ended_by_machine(&outcome) {
        report.not_checked.insert(step.id.clone());
        return Ok(None);
    }
    Ok(diverged.or_else(|| check_end(whole, salts, &step.id, trail.calls.load(Ordering::Relaxed), &outcome)))
}

/// Compares the result of the run with the log.
fn check_end(whole: &Durable, salts: &Salts, id: &StepId, calls: u32, outcome: &StepOutcome) -> Option<Divergence> {
    let step = whole.job.step(id)?;
    if matches!(outcome, StepOutcome::Stopped) {
        // The run stopped at a call that has no final answer in the log, so there is no end to compare.
        return None;
    }
    if let Err(divergence) = replay::check_complete(&whole.job, id, calls) {
        return Some(divergence);
    }
    let recorded = match step.state {
        StepState::Succeeded => Ok(()),
        StepState::FailedFinal => Err(step.failure.as_ref()?.code),
        // The log does not contain the end of the step, so there is nothing to compare.
        _ => return None,
    };
    compare_end(id, recorded, outcome, |output| {
        let recorded = step.output?;
        let found = salts.payload_ref(&label::output(id), output.as_bytes())?;
        (found != recorded).then(|| {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            whole.output(id).map(|bytes| text(&bytes)).unwrap_or_default()
        })
    })
}

#[derive(Default)]
struct ReplayProgress {
    calls: AtomicU32,
    served: AtomicU32,
    divergence: Mutex<Option<Divergence>>,
}

/// Answers host calls from the event log alone.
struct LogReplayHost {
    job: Job,
    answers: Vec<(Slot, i64, Result<String, Failure>)>,
    salts: Salts,
    step: StepId,
    own: StepSources,
    emitted: u32,
    /// Payloads of the emitted events. `None` for a payload that is not stored.
    emitted_payloads: Vec<Option<Arc<[u8]>>>,
    progress: Arc<ReplayProgress>,
}

impl LogReplayHost {
    fn new(whole: &Durable, salts: &Salts, prefix: &Job, step: &StepId, trail: Arc<ReplayProgress>) -> Self {
        let job = &whole.job;
        let own = job.calls_of(step).filter(|(_, _, call)| call.committed).filter_map(|(_, slot, call)| {
            let finished = call.finished.as_ref()?;
            let effect = whole.answer(slot)?;
            let answer = match &effect.answer {
                Answer::Ok(output) => Ok(output.result.clone()),
                Answer::NotApplied(failure) | Answer::Unknown { failure, .. } => Err(failure.clone()),
            };
            Some((slot.clone(), finished.time_us, answer))
        });
        let answers = own.chain(copied::copied_answers(whole, step)).collect();
        let started = prefix.step(step).and_then(|step| step.started_us).unwrap_or(job.accepted_us);
        let header = &job.header;
        let maker = job.step(step).and_then(|step| step.copied.as_ref()).map(|(maker, _)| maker);
        let context = StepContext {
            tenant: header.tenant_id.clone(),
            actor: maker.map_or(&header.actor_id, |maker| &maker.actor_id).clone(),
            correlation_id: maker.map_or(&header.correlation_id, |maker| &maker.correlation_id).clone(),
            job_id: maker.map_or(&header.job_id, |maker| &maker.job_id).to_string(),
            plan_id: job.plan.plan_id.clone(),
            step_id: step.to_string(),
        };
        Self {
            answers,
            salts: salts.clone(),
            step: step.clone(),
            own: StepSources::new(context, keys::step_seed(&header.job_seed, step), started),
            emitted: 0,
            emitted_payloads: load_emitted_payloads(whole, step),
            progress: trail,
            job: job.clone(),
        }
    }

    /// Returns true if the step reached its own end. Returns false for a cancelled step, which was stopped at
    /// an arbitrary point.
    fn has_ended(&self) -> bool {
        let state = self.job.step(&self.step).map(|step| step.state);
        state.is_some_and(|state| state.is_final() && state != StepState::Cancelled)
    }

    /// Returns the call at which a dry run stopped, if that call is among the next `calls` calls of the step. The step
    /// requested all of these calls together, so the log may lack answers to some of them.
    fn skipped_call_among(&self, calls: usize) -> Option<Slot> {
        let skipped = self.job.step(&self.step).filter(|step| step.state == StepState::Skipped)?;
        let would = skipped.would_call.as_ref()?;
        let first = self.progress.calls.load(Ordering::Relaxed);
        let here = (first..).take(calls).any(|k| Slot::of_call(&self.step, k) == would.slot);
        here.then(|| would.slot.clone())
    }

    fn record_divergence(&self, divergence: Divergence) -> Stop {
        self.progress.divergence.lock().expect("no holder panics").get_or_insert(divergence);
        Stop
    }

    fn answer_call(
        &mut self,
        operator: &str,
        args: &str,
        action: Option<&str>,
    ) -> Result<Result<String, Failure>, Stop> {
        let k = self.progress.calls.fetch_add(1, Ordering::Relaxed);
        let slot = Slot::of_call(&self.step, k);
        let canonical = || canon::canonicalize_or_keep(args);
        if let Some(would) = self.job.step(&self.step).filter(|step| step.state == StepState::Skipped) {
            // A replay stops at the call at which the dry run stopped. Older logs do not record this call. A
            // replay of such a log stops at the first call that the log does not contain.
            let would = would.would_call.as_ref();
            if let Some(would) = would.filter(|would| would.slot == slot) {
                let found = self.salts.payload_ref(&label::args(&slot), canonical().as_bytes());
                if would.operator.as_str() != operator || found.is_some_and(|found| found != would.args) {
                    let recorded = format!("{} with salted hash {}", would.operator, would.args.hash);
                    let found = format!("{operator} {args}");
                    return Err(self.record_divergence(Divergence::new(
                        &slot,
                        "call left out",
                        "call",
                        recorded,
                        found,
                    )));
                }
            }
            if would.is_none_or(|would| would.slot == slot) && !self.job.calls.contains_key(&slot) {
                return Err(Stop);
            }
        }
        if let Some(call) = self.job.forked.as_ref().and_then(|forked| forked.calls.get(&slot)) {
            if call.operator.as_str() != operator {
                return Err(self.record_divergence(Divergence::new(
                    &slot,
                    "call",
                    "operator",
                    &call.operator,
                    operator,
                )));
            }
            let found = self.salts.payload_ref(&label::args(&slot), canonical().as_bytes());
            if let Some(recorded) = call.args.filter(|recorded| found.is_some_and(|found| *recorded != found)) {
                let recorded = format!("salted hash {}", recorded.hash);
                return Err(self.record_divergence(Divergence::new(&slot, "call", "arguments", recorded, args)));
            }
            return self.recorded_answer(&slot);
        }
        let Some(call) = self.job.calls.get(&slot) else {
            if self.has_ended() {
                let call = format!("{operator} {args}");
                return Err(self.record_divergence(Divergence::new(&slot, "call", "operator", "no call", call)));
            }
            return Err(Stop);
        };
        if call.operator.as_str() != operator {
            return Err(self.record_divergence(Divergence::new(&slot, "call", "operator", &call.operator, operator)));
        }
        let found = self.salts.payload_ref(&label::args(&slot), canonical().as_bytes());
        if found.is_some_and(|found| found != call.args) {
            let recorded = format!("salted hash {}", call.args.hash);
            return Err(self.record_divergence(Divergence::new(&slot, "call", "arguments", recorded, args)));
        }
        let is_keyed = self.job.pinned(&call.operator).is_some_and(|operator| decide::is_keyed(&self.job, operator));
        let action_key = action.filter(|_| is_keyed).map(keys::call_action_key);
        if action_key != call.action_key {
            let word = |key: Option<Hash>| key.map_or_else(|| "none".to_owned(), Hash::to_hex);
            let (recorded, found) = (word(call.action_key), word(action_key));
            return Err(self.record_divergence(Divergence::new(&slot, "call", "action key", recorded, found)));
        }
        self.recorded_answer(&slot)
    }

    fn recorded_answer(&mut self, slot: &Slot) -> Result<Result<String, Failure>, Stop> {
        let recorded = self.answers.iter().find(|(at, ..)| at == slot);
        let Some((_, time_us, answer)) = recorded else {
            return Err(Stop);
        };
        self.own.advance_clock_to(*time_us);
        self.progress.served.fetch_add(1, Ordering::Relaxed);
        Ok(answer.clone())
    }
}

/// Returns the payloads of the events that a step emitted. `None` for a payload that is not stored.
fn load_emitted_payloads(whole: &Durable, step: &StepId) -> Vec<Option<Arc<[u8]>>> {
    let count = whole.job.step(step).map_or(0, |step| step.emits.len());
    (0..count).map(|n| whole.payloads.get(&label::emitted(step, u32::try_from(n).ok()?)).cloned()).collect()
}

#[async_trait]
impl StepCalls for LogReplayHost {
    fn next_event_is_recorded(&self) -> bool {
        self.job.step(&self.step).is_some_and(|step| step.emits.len() > self.emitted as usize)
    }
    fn output_is_recorded(&self) -> bool {
        self.job.step(&self.step).is_some_and(|step| step.output.is_some())
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
        self.answer_call(&operator, &args, action_key.as_deref())
    }

    async fn call_all(&mut self, calls: Vec<ToolCall>) -> Result<Vec<Result<String, Failure>>, Stop> {
        let left_out = self.skipped_call_among(calls.len());
        // Process all calls, even if one of them stops the run, so that every call has the same number as in live
        // execution.
        let answer = |call: &ToolCall| {
            let slot = Slot::of_call(&self.step, self.progress.calls.load(Ordering::Relaxed));
            if left_out.as_ref().is_some_and(|would| *would != slot && !self.job.calls.contains_key(&slot)) {
                self.progress.calls.fetch_add(1, Ordering::Relaxed);
                return Err(Stop);
            }
            self.answer_call(&call.operator, &call.args, call.action_key.as_deref())
        };
        let answers: Vec<_> = calls.iter().map(answer).collect();
        answers.into_iter().collect()
    }

    async fn emit(&mut self, name: String, payload: String) -> Result<(), Stop> {
        let n = self.emitted;
        self.emitted += 1;
        let after_calls = self.progress.calls.load(Ordering::Relaxed);
        let recorded = self.job.step(&self.step).and_then(|step| step.emits.get(n as usize));
        let text = payload.clone();
        // A payload that is withheld or not in the log cannot be compared. The name and position of the event
        // are still compared.
        let payload = self
            .salts
            .payload_ref(&label::emitted(&self.step, n), payload.as_bytes())
            .or_else(|| recorded.map(|emit| emit.payload))
            .unwrap_or(PayloadRef { hash: Hash::default(), len: 0 });
        match replay::check_emit(&self.job, &self.step, n, &EmittedEvent { after_calls, name: name.clone(), payload }) {
            Ok(true) => Ok(()),
            Ok(false) if self.has_ended() => {
                let at = format!("{}:e{n}", self.step);
                Err(self.record_divergence(Divergence::new(at, "event", "name", "no event", name)))
            }
            Ok(false) => Ok(()),
            Err(divergence) => {
                let known = self.emitted_payloads.get(n as usize).cloned().flatten();
                let Some(known) = known.filter(|_| divergence.field == "payload") else {
                    return Err(self.record_divergence(divergence));
                };
                // Report the recorded payload as text if it is stored. Otherwise the report contains only its hash.
                let recorded = String::from_utf8_lossy(&known).into_owned();
                Err(self.record_divergence(Divergence::new(divergence.at, "event", "payload", recorded, text)))
            }
        }
    }
}
