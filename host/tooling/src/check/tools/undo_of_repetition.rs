//! D118: the record of a call is lost, and the call is repeated under its key. Later `compensate` gets the result of the
//! repetition, and must put back what the call replaced.

use latchwork_core::model::effect::{Answer, Output};
use latchwork_core::model::manifest::RecoveryClass;

use crate::check::tools::compensation::{compensate, report};
use crate::check::tools::running_case::RunningCase;
use crate::check::tools::stub_servers::ReceivedRequest;
use crate::check::tools::world::{World, WorldSnapshot};

/// A call and its undo.
struct UndoneRun {
    answer: Answer,
    state: WorldSnapshot,
    requests: Vec<ReceivedRequest>,
    world: World,
}

/// Undoes the call with the result of its only try, and with that of its repetition.
pub(super) async fn run(running: &mut RunningCase<'_>) -> std::io::Result<()> {
    if !running.is_undo_open() || running.class != RecoveryClass::Keyed {
        return Ok(());
    }
    let before = running.world()?.state();
    let Some(usual) = undone(running, false).await? else { return Ok(()) };
    let Some(again) = undone(running, true).await? else { return Ok(()) };
    if !matches!((&usual.answer, &again.answer), (Answer::Ok(_), Answer::Ok(_))) {
        return Ok(());
    }
    let hint = "return the result of the first try: a repetition reads what the call has written";
    let is_put_back = |name: &&String| usual.state.get(*name) == before.get(*name);
    let names = before.keys().chain(again.state.keys());
    if let Some(name) = names.filter(is_put_back).find(|name| again.state.get(*name) != before.get(*name)) {
        let message = format!(
            "with the result of a repetition under the same key, compensate leaves {name} otherwise than before the call"
        );
        report(running, message, &again.answer, &again.world, hint);
        return Ok(());
    }
    let sent = |call: &UndoneRun| -> Vec<(String, String, Vec<u8>)> {
        let changing = call.requests.iter().filter(|request| request.may_change_state());
        changing.map(|one| (one.method.clone(), one.url.clone(), one.body.clone())).collect()
    };
    let (usual, other) = (sent(&usual), sent(&again));
    if let Some(((method, url, _), _)) = usual.iter().zip(&other).find(|(one, other)| one != other) {
        let message =
            format!("with the result of a repetition under the same key, compensate sends another {method} {url}");
        report(running, message, &again.answer, &again.world, hint);
    }
    Ok(())
}

/// Makes the call, possibly twice under its key, and undoes it with the last result. Returns `None` if a try fails.
async fn undone(running: &mut RunningCase<'_>, is_repeated: bool) -> std::io::Result<Option<UndoneRun>> {
    let world = running.world()?;
    let Answer::Ok(first) = running.call(&world, 0).await.end.answer else { return Ok(None) };
    let done: Output = if is_repeated {
        let Answer::Ok(again) = running.call(&world, 1).await.end.answer else { return Ok(None) };
        again
    } else {
        first
    };
    world.received();
    let answer = compensate(running, &world, &done).await;
    let (state, requests) = (world.state(), world.received());
    Ok(Some(UndoneRun { answer, state, requests, world }))
}
