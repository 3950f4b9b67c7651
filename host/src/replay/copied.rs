//! Answers that a fork copied from its origin job.

use latchwork_core::model::effect::{Answer, Effect};
use latchwork_core::model::error::Failure;
use latchwork_core::model::ids::{Slot, StepId};
use latchwork_core::state::{Durable, label};

/// Returns the answers to the calls of a copied step, with the times of the answers.
pub(super) fn copied_answers(whole: &Durable, step: &StepId) -> Vec<(Slot, i64, Result<String, Failure>)> {
    let calls = whole.job.copied_calls_of(step).into_iter();
    calls
        .filter_map(|call| {
            let kept = whole.payloads.get(&label::answer(&call.slot, 0))?;
            let effect: Effect = serde_json::from_slice(kept).ok()?;
            let answer = match effect.answer {
                Answer::Ok(output) => Ok(output.result),
                Answer::NotApplied(failure) | Answer::Unknown { failure, .. } => Err(failure),
            };
            Some((call.slot.clone(), call.time_us, answer))
        })
        .collect()
}
