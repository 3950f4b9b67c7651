//! D120: two calls of one job must not share an entry, if the same calls of two jobs have separate entries.

use latchwork_core::model::effect::Answer;
use latchwork_engine::guest::sources::StepContext;
use latchwork_engine::guest::tool_call::ToolCallContext;

use crate::check::tools::running_case::RunningCase;
use crate::check::tools::world::WorldSnapshot;

/// Calls the tool twice with equal arguments, first as calls of two jobs and then as two calls of one job. The second
/// call has another key than the first call. In both situations, the second call has the same key.
pub(super) async fn run(running: &mut RunningCase<'_>) -> std::io::Result<()> {
    if running.case.error.is_some() || !running.spec.is_world_changing() {
        return Ok(());
    }
    let same_job = running.context_of_other_call();
    let step = StepContext {
        job_id: "job_01JZ0000000000000000000001".into(),
        correlation_id: "cor_01JZ0000000000000000000001".into(),
        ..same_job.step.clone()
    };
    let other_job = ToolCallContext { step, trace_id: "fedcba9876543210fedcba9876543210".into(), ..same_job.clone() };
    let apart = created_by_second(running, other_job).await?.unwrap_or_default();
    if apart.is_empty() {
        return Ok(());
    }
    let Some(together) = created_by_second(running, same_job).await? else { return Ok(()) };
    if apart.len() > together.len() {
        let message = "a second call of the job takes the entry of the first one for its own; in another job it creates \
                       one more";
        let finding = running.add_finding("D120", message);
        finding.expected = Some(apart.join(", "));
        finding.found = Some(if together.is_empty() { "no entry".to_owned() } else { together.join(", ") });
        finding.hint = Some("name what a call creates by its external key, or by its arguments".to_owned());
    }
    Ok(())
}

/// Returns the entries of folders and the map that a second call creates, in the context `second`.
async fn created_by_second(
    running: &mut RunningCase<'_>,
    second: ToolCallContext,
) -> std::io::Result<Option<Vec<String>>> {
    let world = running.world()?;
    if !matches!(running.call(&world, 0).await.end.answer, Answer::Ok(_)) {
        return Ok(None);
    }
    let first: WorldSnapshot = world.state();
    if !matches!(running.call_with(&world, second, false).await.end.answer, Answer::Ok(_)) {
        return Ok(None);
    }
    Ok(Some(world.state().into_keys().filter(|name| !first.contains_key(name)).collect()))
}
