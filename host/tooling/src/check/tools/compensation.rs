//! Undoes the call of a case, as a job would.

use tracing::instrument::WithSubscriber as _;

use latchwork_core::model::effect::{Answer, Output};
use latchwork_engine::guest::tool_call::ToolCallContext;

use crate::check::tools::running_case::{RunningCase, describe_answer};
use crate::check::tools::world::World;

/// Undoes the committed call of the case.
pub(super) async fn compensate(running: &RunningCase<'_>, world: &World, done: &Output) -> Answer {
    compensate_of(running, world, done, &running.case.input).await
}

/// Undoes a committed call with this input.
pub(super) async fn compensate_of(running: &RunningCase<'_>, world: &World, done: &Output, input: &str) -> Answer {
    let plugin = running.plugin(world);
    let limits = plugin.limits(&running.case.operator);
    let key = running.key();
    let slot = "s1~c".into();
    let context = ToolCallContext { external_key: undo_key(running), slot, ..running.later_context() };
    let undone = (key.as_str(), input, done.result.as_str());
    let called = plugin.compensate(&running.case.operator, undone, context, &limits);
    called.with_subscriber(tracing::subscriber::NoSubscriber::new()).await.answer
}

/// D118: reports an answer of `compensate`.
pub(super) fn report(running: &mut RunningCase<'_>, message: String, answer: &Answer, world: &World, hint: &str) {
    let found = describe_answer(answer, world);
    let finding = running.add_finding("D118", message);
    (finding.found, finding.hint) = (Some(found), Some(hint.to_owned()));
}

/// Returns the external key of the compensation.
pub(super) fn undo_key(running: &RunningCase<'_>) -> String {
    format!("{}-undo", running.key())
}
