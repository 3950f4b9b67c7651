//! Checks the payloads and effects that are stored with the log. Events name them by salted hashes, and only bytes
//! with the named hash are accepted.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Durable, FoldError, Job, label};
use crate::event::{Body, Event};
use crate::model::effect::Effect;
use crate::model::keys;
use crate::model::payload::PayloadRef;
use crate::storage::StoredJob;

impl Durable {
    /// Builds the state from loaded rows.
    ///
    /// # Errors
    /// Fails if the log is broken, or if a payload or effect is missing or differs from the bytes that the events name.
    pub fn load(mut record: StoredJob, effects: Vec<Effect>) -> Result<Durable, FoldError> {
        let events = std::mem::take(&mut record.events);
        let durable = Durable {
            effects: effects.into_iter().map(|e| ((e.slot.clone(), e.try_no), Arc::new(e))).collect(),
            ..Self::of(Job::fold(&events)?, record)
        };
        verify(&events, &durable)?;
        Ok(durable)
    }

    /// Returns the loaded state, and every payload and effect that is missing or differs from the bytes that the events
    /// name.
    ///
    /// # Errors
    /// Fails if the log is broken or was written by a newer version.
    pub fn problems(mut record: StoredJob, effects: Vec<Effect>) -> Result<(Durable, Vec<FoldError>), FoldError> {
        let events = std::mem::take(&mut record.events);
        let durable = Durable {
            effects: effects.into_iter().map(|e| ((e.slot.clone(), e.try_no), Arc::new(e))).collect(),
            ..Self::of(Job::fold(&events)?, record)
        };
        let problems = find_problems(&events, &durable).collect();
        Ok((durable, problems))
    }
}

/// Checks every payload and effect that the log names, and returns the first error.
fn verify(events: &[Event], durable: &Durable) -> Result<(), FoldError> {
    find_problems(events, durable).next().map_or(Ok(()), Err)
}

/// Returns every payload or effect that is missing or differs from the bytes that the log names. The check only
/// hashes the bytes and does not parse them.
fn find_problems<'e>(events: &'e [Event], durable: &'e Durable) -> impl Iterator<Item = FoldError> + 'e {
    named_payloads(events).into_iter().filter_map(|(label, (seq, named))| {
        let found = match &label {
            PayloadLabel::Input(step) => durable.input(step).map(|bytes| (label::input(step), bytes)),
            PayloadLabel::Output(step) => durable.output(step).map(|bytes| (label::output(step), bytes)),
            PayloadLabel::Args(slot) => durable.args(slot).map(|bytes| (label::args(slot), bytes)),
            PayloadLabel::Parameters => {
                let label = label::PARAMETERS.to_owned();
                durable.payloads.get(&label).cloned().map(|bytes| (label, bytes))
            }
            PayloadLabel::Emitted(step, n) => {
                let label = label::emitted(step, *n);
                durable.payloads.get(&label).cloned().map(|bytes| (label, bytes))
            }
            PayloadLabel::Answer(slot, try_no) => durable
                .effects
                .get(&((*slot).clone(), *try_no))
                .map(|effect| (label::answer(slot, *try_no), effect.to_bytes().into())),
        };
        let Some((name, bytes)) = found else {
            return (!label.may_be_absent()).then(|| FoldError::Missing { seq, label: label.to_string() });
        };
        let is_it = keys::payload_ref(&durable.secret, &name, &bytes) == named;
        (!is_it).then_some(FoldError::Altered { seq, label: name })
    })
}

/// A payload or effect that an event names by its hash.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum PayloadLabel<'e> {
    Parameters,
    Input(&'e crate::model::ids::StepId),
    Output(&'e crate::model::ids::StepId),
    Args(&'e crate::model::ids::Slot),
    Emitted(&'e crate::model::ids::StepId, u32),
    Answer(&'e crate::model::ids::Slot, u32),
}

impl PayloadLabel<'_> {
    /// Returns true if the payload may be missing. Only the arguments of a call may be missing. The log always has
    /// their hash, but the arguments of a read-only call are stored only if the call is to a model.
    fn may_be_absent(&self) -> bool {
        matches!(self, PayloadLabel::Args(_))
    }
}

impl std::fmt::Display for PayloadLabel<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&match self {
            PayloadLabel::Parameters => label::PARAMETERS.to_owned(),
            PayloadLabel::Input(step) => label::input(step),
            PayloadLabel::Output(step) => label::output(step),
            PayloadLabel::Args(slot) => label::args(slot),
            PayloadLabel::Emitted(step, n) => label::emitted(step, *n),
            PayloadLabel::Answer(slot, try_no) => label::answer(slot, *try_no),
        })
    }
}

/// Returns every payload and effect named in the log, with the last event that names it.
fn named_payloads(events: &[Event]) -> BTreeMap<PayloadLabel<'_>, (u64, PayloadRef)> {
    let mut named = BTreeMap::new();
    for event in events {
        let (label, payload) = match &event.body {
            Body::IntentAccepted { header } => match &header.parameters {
                Some(values) => (PayloadLabel::Parameters, values),
                None => continue,
            },
            Body::StepReady { step_id, input } => (PayloadLabel::Input(step_id), input),
            Body::StateCheckpointed { step_id, output } => (PayloadLabel::Output(step_id), output),
            Body::AsyncEventEmitted { step_id, n, payload, .. } => (PayloadLabel::Emitted(step_id, *n), payload),
            Body::ToolInvocationFinished { slot, try_no, answer, .. } => (PayloadLabel::Answer(slot, *try_no), answer),
            // The arguments of a call that is itself a plan step are the step's input, and another event names this
            // input.
            Body::ToolInvocationStarted { slot, args, .. } | Body::GateRequested { slot, args, .. }
                if !slot.is_step() =>
            {
                (PayloadLabel::Args(slot), args)
            }
            Body::CompensationStarted { slot, args, .. } => (PayloadLabel::Args(slot), args),
            _ => continue,
        };
        named.insert(label, (event.seq, *payload));
    }
    named
}
