//! Reads a history from an evidence file.

use latchwork::evidence::is_valid_signature;
use latchwork_core::event::Body;
use latchwork_core::evidence;
use latchwork_core::evidence::Salts;
use latchwork_core::model::effect::Answer;
use latchwork_core::model::error::Failure;
use latchwork_core::model::ids::Slot;
use latchwork_core::model::keys;
use latchwork_core::model::manifest::PluginKind;
use latchwork_core::model::step::StepState;
use latchwork_core::state::{Call, Durable, Job, Step, label};
use latchwork_engine::guest::sources::StepContext;

use crate::history::types::{Args, History, HistoryEntry, RecordedEnd, RecordedHostCall, StepRun};

/// Reasons why a file does not yield a history.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HistoryError {
    /// The file is not evidence.
    #[error("not an evidence file: {0}")]
    NotEvidence(String),
    /// The file was changed after the export.
    #[error("the evidence file is damaged: {0}")]
    NotIntact(String),
    /// The file does not contain data that a run needs.
    #[error("{0} is withheld; export the job without withholding it")]
    Withheld(String),
}

impl History {
    /// Reads the history from an exported evidence file (`latch job export`).
    ///
    /// # Errors
    /// Returns an error if the file is not evidence, was tampered with, or withholds data that a run needs.
    pub fn read(file: &[u8]) -> Result<Self, HistoryError> {
        read(file)
    }
}

/// An entry and the sequence number by which all entries are sorted.
type SequencedEntry = (u64, HistoryEntry);

fn read(file: &[u8]) -> Result<History, HistoryError> {
    let verified = evidence::verify(file, None, &is_valid_signature).map_err(HistoryError::NotEvidence)?;
    let wrong = verified.report.problems.first().map(ToString::to_string);
    let (Some(durable), None) = (&verified.durable, &wrong) else {
        return Err(HistoryError::NotIntact(wrong.unwrap_or_else(|| "its job cannot be reconstructed".to_owned())));
    };
    let job = &durable.job;
    let (events, salts) = (verified.evidence.events(), verified.evidence.salts());
    let (mut runs, mut placed) = (Vec::new(), Vec::new());
    for step in &job.steps {
        let Some(run) = run(durable, step)? else { continue };
        // Keeps the host calls of a step in the order in which the step made them. Answers to concurrent calls may
        // arrive in another order.
        let mut latest = 0;
        for asked in host_calls(durable, &salts, step)? {
            let seq = events.iter().position(|event| is_event_of(&event.body, step, &asked)).unwrap_or(0) as u64;
            latest = seq.max(latest);
            placed.push((latest, HistoryEntry { step_id: step.id.to_string(), host_call: asked.asked }));
        }
        runs.push(run);
    }
    placed.sort_by_key(|(seq, _): &SequencedEntry| *seq);
    let entries = placed.into_iter().map(|(_, entry)| entry).collect();
    Ok(History { job_id: job.header.job_id.to_string(), runs, entries })
}

/// A host call, with its identifier in the log: the slot of a tool call, or the number of an emitted event.
struct IdentifiedHostCall {
    asked: RecordedHostCall,
    slot: Option<Slot>,
    emitted: u32,
}

fn is_event_of(body: &Body, step: &Step, named: &IdentifiedHostCall) -> bool {
    match body {
        Body::CommandCommitted { slot } => named.slot.as_ref() == Some(slot),
        Body::AsyncEventEmitted { step_id, n, .. } => {
            named.slot.is_none() && *step_id == step.id && *n == named.emitted
        }
        _ => false,
    }
}

/// Returns the finished run of a step plugin. Returns `None` if this job did not run the step to its end.
fn run(durable: &Durable, step: &Step) -> Result<Option<StepRun>, HistoryError> {
    let job = &durable.job;
    let Some((planned, started_us)) = job.plan.step(&step.id).zip(step.started_us) else { return Ok(None) };
    let Some(pinned) = job.pinned(&planned.name).filter(|pinned| pinned.kind == PluginKind::Step) else {
        return Ok(None);
    };
    let was_reused = step.reuse.as_ref().is_some_and(|(reused, _)| *reused);
    if step.copied.is_some() || was_reused {
        return Ok(None);
    }
    let end = match (step.state, &step.failure) {
        (StepState::Succeeded, _) => RecordedEnd::Output(text(durable.output(&step.id), label::output(&step.id))?),
        (StepState::FailedFinal, Some(failure)) => RecordedEnd::Failed(failure.code),
        _ => return Ok(None),
    };
    Ok(Some(StepRun {
        step_id: step.id.to_string(),
        operator: planned.name.to_string(),
        digest: pinned.digest,
        wasi: pinned.wasi,
        limits: pinned.limits,
        input: text(durable.input(&step.id), label::input(&step.id))?,
        context: context(job, step),
        seed: keys::step_seed(&job.header.job_seed, &step.id),
        started_us,
        end,
    }))
}

fn context(job: &Job, step: &Step) -> StepContext {
    StepContext {
        tenant: job.header.tenant_id.clone(),
        actor: job.header.actor_id.clone(),
        correlation_id: job.header.correlation_id.clone(),
        job_id: job.header.job_id.to_string(),
        plan_id: job.plan.plan_id.clone(),
        step_id: step.id.to_string(),
    }
}

/// Returns the host calls of a step, in the order in which the step made them.
fn host_calls(durable: &Durable, salts: &Salts, step: &Step) -> Result<Vec<IdentifiedHostCall>, HistoryError> {
    let mut all = Vec::new();
    let mut emits = step.emits.iter().enumerate().peekable();
    let mut events_before = |calls: u32, all: &mut Vec<IdentifiedHostCall>| -> Result<(), HistoryError> {
        while let Some((n, emit)) = emits.next_if(|(_, emit)| emit.after_calls <= calls) {
            let (n, label) = (n as u32, label::emitted(&step.id, n as u32));
            let payload = text(durable.payloads.get(&label).cloned(), label)?;
            all.push(IdentifiedHostCall {
                asked: RecordedHostCall::Event { name: emit.name.clone(), payload },
                slot: None,
                emitted: n,
            });
        }
        Ok(())
    };
    for (k, slot, call) in durable.job.calls_of(&step.id) {
        events_before(k, &mut all)?;
        let Some(finished) = call.finished.as_ref().filter(|_| call.committed) else { break };
        let effect =
            durable.answer(slot).ok_or_else(|| HistoryError::Withheld(label::answer(slot, finished.try_no)))?;
        let answer: Result<String, Failure> = match &effect.answer {
            Answer::Ok(output) => Ok(output.result.clone()),
            Answer::NotApplied(failure) | Answer::Unknown { failure, .. } => Err(failure.clone()),
        };
        let asked = RecordedHostCall::Call {
            operator: call.operator.to_string(),
            args: args(durable, salts, slot, call)?,
            action_key: call.action_key,
            answer,
            time_us: finished.time_us,
        };
        all.push(IdentifiedHostCall { asked, slot: Some(slot.clone()), emitted: 0 });
    }
    events_before(u32::MAX, &mut all)?;
    Ok(all)
}

/// Returns the arguments of a call. The log keeps the arguments of world-changing calls, and only a hash of the
/// arguments of other calls.
fn args(durable: &Durable, salts: &Salts, slot: &Slot, call: &Call) -> Result<Args, HistoryError> {
    let label = label::args(slot);
    if let Some(bytes) = durable.args(slot) {
        return Ok(Args::Text(text(Some(bytes), label)?));
    }
    match salts {
        Salts::Labels(salts) if salts.contains_key(&label) => {
            Ok(Args::Hashed { salt: salts[&label], reference: call.args })
        }
        _ => Err(HistoryError::Withheld(label)),
    }
}

fn text(bytes: Option<std::sync::Arc<[u8]>>, label: String) -> Result<String, HistoryError> {
    let bytes = bytes.ok_or(HistoryError::Withheld(label))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
