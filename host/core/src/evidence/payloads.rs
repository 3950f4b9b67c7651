//! Payloads referenced by events, and the places where their bytes are stored.

use std::collections::BTreeSet;

use super::record::{Content, PayloadRecord};
use super::withhold::Withhold;
use crate::event::{Body, CopiedStep, Event};
use crate::model::ids::{Slot, StepId};
use crate::model::manifest::PluginKind;
use crate::model::payload::PayloadRef;
use crate::state::{Job, label};

/// Returns the payloads that an event references, by label.
pub(super) fn references(event: &Event) -> Vec<(String, PayloadRef)> {
    match &event.body {
        Body::IntentAccepted { header } => {
            let contexts = header.contexts.iter().map(|contexts| (label::CONTEXTS.to_owned(), *contexts));
            let parameters = header.parameters.iter().map(|values| (label::PARAMETERS.to_owned(), *values));
            contexts.chain(parameters).collect()
        }
        Body::JobForked { copied, .. } => copied.iter().flat_map(of_copied).collect(),
        Body::StepSkipped { call: Some(call), .. } => vec![(label::args(&call.slot), call.args)],
        Body::SignalKept { n, payload, .. } => vec![(label::signal(*n), *payload)],
        Body::WaitCompleted { step_id, payload, .. } => vec![(label::output(step_id), *payload)],
        Body::StepReady { step_id, input } => vec![(label::input(step_id), *input)],
        Body::StateCheckpointed { step_id, output } => vec![(label::output(step_id), *output)],
        Body::ToolInvocationStarted { slot, args, .. } => vec![(label::args(slot), *args)],
        Body::ToolInvocationFinished { slot, try_no, answer, refused, .. } => {
            let asked = refused.as_ref().map(|refused| (label::args(slot), refused.args));
            std::iter::once((label::answer(slot, *try_no), *answer)).chain(asked).collect()
        }
        Body::AsyncEventEmitted { step_id, n, payload, .. } => vec![(label::emitted(step_id, *n), *payload)],
        Body::CompensationStarted { slot, args, .. } => vec![(label::args(slot), *args)],
        Body::GateRequested { slot, args, .. } if slot.is_step() => {
            vec![(label::input(&slot.step()), *args)]
        }
        Body::GateRequested { slot, args, .. } => vec![(label::args(slot), *args)],
        _ => Vec::new(),
    }
}

/// Returns the payloads that a fork copied for a step.
fn of_copied(copied: &CopiedStep) -> Vec<(String, PayloadRef)> {
    let CopiedStep { step_id, input, output, calls, emits, .. } = copied;
    let mut found = vec![(label::input(step_id), *input), (label::output(step_id), *output)];
    for call in calls {
        found.extend(call.args.map(|args| (label::args(&call.slot), args)));
        found.push((label::answer(&call.slot, 0), call.answer));
    }
    found.extend((0..).zip(emits).map(|(n, (_, _, payload))| (label::emitted(step_id, n), *payload)));
    found
}

/// Returns the content in the evidence file for a `label` without stored bytes. Returns `None` for all labels except
/// these three:
///
/// - Arguments of a tool step: the same bytes as the input of the step.
/// - Output of a tool step: the same bytes as the answer of the tool.
/// - Arguments of a call inside a step: not kept, because the call only reads.
pub(super) fn content_elsewhere(label: &str, job: &Job) -> Option<Content> {
    if let Some(slot) = label.strip_prefix("args/").map(Slot::new) {
        return match slot.is_step() {
            true => Some(Content::SameAs(label::input(&slot.step()))),
            // The arguments of a compensating call are always kept.
            false => (!slot.is_compensation()).then_some(Content::NotKept),
        };
    }
    let step = StepId::new(label.strip_prefix("output/")?);
    let is_tool = job.pinned(&job.plan.step(&step)?.name)?.kind == PluginKind::Tool;
    let slot = Slot::of_step(&step);
    let finished = job.calls.get(&slot).and_then(|call| call.finished.as_ref()).filter(|_| is_tool)?;
    Some(Content::SameAs(label::answer(&slot, finished.try_no)))
}

/// Returns the labels to withhold: the requested labels, and the labels of payloads with the same bytes as a
/// requested payload.
pub(super) fn withheld_labels(known: &[&str], payloads: &[PayloadRecord], withhold: &Withhold) -> BTreeSet<String> {
    let mut hidden: BTreeSet<String> =
        known.iter().filter(|label| withhold.covers(label)).map(|label| (*label).to_owned()).collect();
    let same = |payload: &PayloadRecord| match &payload.content {
        Content::SameAs(other) => Some((payload.label.clone(), other.clone())),
        _ => None,
    };
    let pairs: Vec<(String, String)> = payloads.iter().filter_map(same).collect();
    loop {
        let more: Vec<String> = pairs
            .iter()
            .filter_map(|(a, b)| match (hidden.contains(a), hidden.contains(b)) {
                (true, false) => Some(b.clone()),
                (false, true) => Some(a.clone()),
                _ => None,
            })
            .collect();
        if more.is_empty() {
            hidden.retain(|label| known.contains(&label.as_str()));
            return hidden;
        }
        hidden.extend(more);
    }
}
