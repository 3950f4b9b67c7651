//! D104: `reconcile` must recognize the effect of the call by its key.

use latchwork_core::model::effect::Answer;
use latchwork_engine::ReconcileVerdict;
use latchwork_engine::guest::tool_call::ToolCallContext;

use crate::check::tools::lost_record::ask_about;
use crate::check::tools::running_case::RunningCase;
use crate::check::tools::stub_servers::ReceivedRequest;

/// The canned answers of a server cannot contain the key. A `reconcile` that compares keys in answers therefore does not
/// find the call. A `reconcile` that finds the call must have sent its key, or a value that is derived from its key.
pub(super) async fn run(running: &mut RunningCase<'_>) -> std::io::Result<()> {
    let asks_servers = !running.case.http.is_empty() && running.case.dirs.is_empty();
    let is_called = running.case.error.is_none() && running.spec.is_world_changing();
    let is_found = running.found.iter().any(|finding| finding.rule == "D104");
    if !running.tools.plugin.reconcile || !asks_servers || !is_called || is_found {
        return Ok(());
    }
    let own = running.later_context();
    let other = ToolCallContext { external_key: running.context_of_other_call().external_key, ..own.clone() };
    let Some(of_own) = requests(running, own).await? else { return Ok(()) };
    if requests(running, other).await?.is_some_and(|of_other| of_other == of_own) {
        let message = "reconcile sends the same requests for every key, and reports that the call happened: an equal \
                       call of another job counts as this call";
        running.add_finding("D104", message).hint =
            Some("search by the key of the call: send it with the call, and compare it in the answer".to_owned());
    }
    Ok(())
}

/// Makes the call, and asks `reconcile` about it in this context. Returns the requests of `reconcile` if the call
/// created something, and `reconcile` found it without its map.
async fn requests(
    running: &mut RunningCase<'_>,
    context: ToolCallContext,
) -> std::io::Result<Option<Vec<ReceivedRequest>>> {
    let world = running.world()?;
    let called = running.call(&world, 0).await;
    let creates = world.received().iter().any(|request| request.method == "POST");
    if !creates || !matches!(called.end.answer, Answer::Ok(_)) {
        return Ok(None);
    }
    world.was_map_used();
    let case = running.case;
    let verdict = ask_about(running, &world, context, &case.input).await;
    let is_found = matches!(verdict, Ok(ReconcileVerdict::Happened(_))) && !world.was_map_used();
    Ok(is_found.then(|| world.received()))
}
