//! D118: `compensate` must keep what other calls have written, before the undone call and after it.

use latchwork_core::model::effect::{Answer, Output};

use crate::check::tools::compensation::{compensate, report};
use crate::check::tools::readers;
use crate::check::tools::running_case::RunningCase;

/// Maximum number of other inputs of an earlier or a later call.
const INPUTS_MAX: usize = 4;

/// D118: an earlier call with another key has written an entry, and the call to undo has replaced the entry.
/// `compensate` must not delete this entry.
pub(super) async fn check_earlier(running: &mut RunningCase<'_>) -> std::io::Result<()> {
    // The entries of a tool with a server can be a cache.
    if !running.case.http.is_empty() || running.found.iter().any(|finding| finding.rule == "D118") {
        return Ok(());
    }
    for other in running.cases_with_other_inputs(INPUTS_MAX) {
        let world = running.world()?;
        running.calling(&other, &world, running.context_of_other_call(), false).await;
        let earlier = world.state();
        let Answer::Ok(done) = running.call(&world, 0).await.end.answer else { continue };
        let after = world.state();
        let answer = compensate(running, &world, &done).await;
        let undone = world.state();
        let is_lost = |name: &&String| after.get(*name) != earlier.get(*name) && !undone.contains_key(*name);
        if let (Answer::Ok(_), Some(lost)) = (&answer, earlier.keys().find(is_lost)) {
            let message =
                format!("compensate deletes {lost}, which an earlier call had written and the call has replaced");
            report(running, message, &answer, &world, "restore the earlier contents, which the result can hold");
            return Ok(());
        }
    }
    Ok(())
}

/// D118: `compensate` must not delete an entry of the call that another operator of the plugin has changed since.
pub(super) async fn check_changed(running: &mut RunningCase<'_>, own: &[String]) -> std::io::Result<()> {
    if own.is_empty() || running.found.iter().any(|finding| finding.rule == "D118") {
        return Ok(());
    }
    let world = running.world()?;
    let Answer::Ok(done) = running.call(&world, 0).await.end.answer else { return Ok(()) };
    let made = world.state();
    readers::change_by_others(running, &world, &done.result).await;
    let changed = world.state();
    let Some(name) = own.iter().find(|name| changed.contains_key(*name) && changed.get(*name) != made.get(*name))
    else {
        return Ok(());
    };
    let answer = compensate(running, &world, &done).await;
    if matches!(answer, Answer::Ok(_)) && !world.state().contains_key(name) {
        let message = format!("another operator has changed {name} since, but compensate deletes it");
        report(running, message, &answer, &world, "return an error if the entry is not as the call wrote it");
    }
    Ok(())
}

/// D118: a later call has changed an entry: of this operator, with equal or other arguments, or of another one.
/// `compensate` must not put back its contents from before both calls.
pub(super) async fn check_later(running: &mut RunningCase<'_>, done: &Output) -> std::io::Result<()> {
    if running.found.iter().any(|finding| finding.rule == "D118") {
        return Ok(());
    }
    // The responses of a server are those for the arguments of the case, and the entries of the map can be a cache.
    let has_server = !running.case.http.is_empty();
    let mut all = running.cases_with_other_inputs(if has_server { 0 } else { INPUTS_MAX });
    if !has_server {
        all.extend(readers::changing_others_after(running, &done.result));
    }
    for later in all {
        let world = running.world()?;
        let before = world.state();
        let Answer::Ok(done) = running.call(&world, 0).await.end.answer else { return Ok(()) };
        let first = world.state();
        readers::call_other(running, &world, &later).await;
        let both = world.state();
        if both == first {
            continue;
        }
        let answer = compensate(running, &world, &done).await;
        if !matches!(answer, Answer::Ok(_)) {
            continue;
        }
        let undone = world.state();
        let is_taken_back = |name: &&String| {
            let [before, first, both, undone] = [&before, &first, &both, &undone].map(|state| state.get(*name));
            both != first && undone != both && undone == before && !(has_server && undone.is_none())
        };
        let taken_back: Vec<&String> = both.keys().filter(is_taken_back).collect();
        if taken_back.is_empty() {
            continue;
        }
        // The entry counts only if the later call alone changes it, too.
        let alone = running.world()?;
        readers::call_other(running, &alone, &later).await;
        let alone = alone.state();
        if let Some(lost) = taken_back.into_iter().find(|name| alone.get(*name) != before.get(*name)) {
            let by = if later.operator == running.case.operator { "a later call" } else { "another operator" };
            let message = format!("compensate takes back {lost}, which {by} has written since");
            report(running, message, &answer, &world, "return an error if the entry was changed since the call");
            return Ok(());
        }
    }
    Ok(())
}
