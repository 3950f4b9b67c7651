//! D118: `compensate` must undo what the call wrote and nothing else, and report success only if it has undone the
//! call.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use latchwork_core::model::effect::Answer;

use crate::check::tools::applied;
use crate::check::tools::case::ToolCase;
use crate::check::tools::compensation::{compensate, compensate_of, report, undo_key};
use crate::check::tools::emptied::{check_emptied_entry, emptied_file};
use crate::check::tools::fault_profile::FaultProfile;
use crate::check::tools::new_revision::kept_member;
use crate::check::tools::not_restored::{TwoCalls, call_twice, not_restored, own_entries};
use crate::check::tools::refused_writes::{describe_change, single_changes};
use crate::check::tools::running_case::{RunningCase, contains_key};
use crate::check::tools::server_faults::question_faults;
use crate::check::tools::single_call::is_host_ended;
use crate::check::tools::stub_servers::ReceivedRequest;
use crate::check::tools::undo_requests;
use crate::check::tools::undo_requests::CONFLICTS;
use crate::check::tools::undone_among_calls::{check_changed, check_earlier, check_later};
use crate::check::tools::world::{World, WorldSnapshot, snapshot};
use crate::check::variations::variations;

/// Maximum number of other inputs of a call that is undone.
const VARIATIONS_MAX: usize = 40;
/// Number of writes of `compensate` to the map at which a run begins to refuse writes.
const WRITES_MAX: usize = 4;

/// Undoes the call of a case, in the world that the call left, and while its servers fail.
pub(super) async fn run(running: &mut RunningCase<'_>) -> std::io::Result<()> {
    if !running.tools.plugin.compensate || running.case.error.is_some() || !running.spec.is_world_changing() {
        return Ok(());
    }
    let world = running.world()?;
    let earlier = world.contents();
    let before = snapshot(&earlier);
    let Answer::Ok(done) = running.call(&world, 0).await.end.answer else { return Ok(()) };
    let called = world.contents();
    let after = snapshot(&called);
    let requests = world.received();
    world.was_map_used();
    world.were_folders_used();
    let answer = compensate(running, &world, &done).await;
    let faults = undo_faults(running, &world);
    let undoing = world.received();
    // If the case has no response for a request, the answer of `compensate` says nothing.
    if world.is_unanswered() {
        return Ok(());
    }
    match &answer {
        Answer::Ok(_) => running.undo = Some(Ok(())),
        Answer::NotApplied(failure) | Answer::Unknown { failure, .. } => {
            if is_host_ended(failure.code) {
                let message = "compensate ends without an answer".to_owned();
                report(running, message, &answer, &world, "return a typed error; catch all exceptions");
            }
            applied::check_requests(running, "while compensate undoes the call", &undoing, &world, &answer);
            // Any other error is allowed in one case, because a call may be impossible to undo.
            running.undo = Some(Err(failure.message.clone()));
            return Ok(());
        }
    }
    let two = call_twice(running).await?;
    let own = own_entries(&before, &after, &two);
    let is_sent = undoing.iter().any(ReceivedRequest::may_change_state);
    undo_requests::check_sent(running, &requests, &undoing, &answer, &world);
    let undone = world.state();
    let is_deleted = |name: &&String| after.contains_key(*name) && !undone.contains_key(*name);
    if let Some(lost) = before.keys().find(is_deleted) {
        let message = format!("compensate deletes {lost}, which was there before the call");
        report(running, message, &answer, &world, "restore the earlier contents, which the result can hold");
    } else if let Some(left) = left_entry(&own, &after, &undone).filter(|_| !is_sent) {
        let message = format!("compensate reports that the call is undone, but {left} is as the call wrote it");
        report(running, message, &answer, &world, "delete every entry that the call wrote, or mark it as undone");
    } else if !is_sent && left_entry(&own, &after, &without_lost_marks(running, &world)).is_some() {
        let message = "compensate reports that the call is undone, but it only writes an entry under its own key, which no \
                       later call can find";
        report(running, message.to_owned(), &answer, &world, "name the entry by the key of the undone call");
    }
    check_contents(running, [&earlier, &called], &two, &answer, &world);
    if let Some(left) = emptied_file(&own, &after, &undone) {
        let message = format!("compensate leaves the empty file {left}, which was not there before the call");
        report(running, message, &answer, &world, "delete the file that the call created");
    }
    check_emptied_entry(running, &world, &done, &own).await?;
    check_later(running, &done).await?;
    check_removed(running, &own).await?;
    check_other_inputs(running).await?;
    check_earlier(running).await?;
    check_changed(running, &own).await?;
    check_failed_undo(running, &own).await?;
    check_refused_write(running, &undone).await?;
    undo_requests::check_later_refusals(running, &undoing).await?;
    undo_requests::check_conflict(running, &undoing).await?;
    check_faults(running, faults).await
}

/// Compares the contents of a world after an undo with those from before the call and after it.
fn check_contents(
    running: &mut RunningCase<'_>,
    [earlier, called]: [&BTreeMap<String, Vec<u8>>; 2],
    two: &TwoCalls,
    answer: &Answer,
    world: &World,
) {
    if let Some((name, member)) = lost_member(earlier, world) {
        let message = format!("compensate puts {name} back without its member {member:?}");
        report(running, message, answer, world, "keep the whole earlier contents, for example in the result");
    }
    if running.case.http.is_empty()
        && let Some(name) = not_restored(earlier, called, two, &world.contents())
    {
        let message = format!("compensate leaves {name} otherwise than before the call");
        report(running, message, answer, world, "put back all of what the call replaced");
        return;
    }
    if let Some((name, member)) = kept_member(&running.case.input, earlier, called, &world.contents()) {
        let message = format!("compensate puts earlier values back into {name}, but {member:?} is that of the call");
        report(running, message, answer, world, "put back all of what the call replaced");
    }
}

/// Returns the faults under which `compensate` is called again, each with a description.
fn undo_faults(running: &RunningCase<'_>, world: &World) -> Vec<(FaultProfile, String)> {
    let mut faults = question_faults(running, world);
    // A garbled body is no fault here, because `compensate` need not read the body of the answer to a deletion.
    faults.retain(|(fault, _)| *fault != FaultProfile::Garbled);
    if faults.iter().any(|(fault, _)| *fault == FaultProfile::NoMap) {
        faults.push((FaultProfile::ReadOnlyMap, "the map refuses writes".to_owned()));
    }
    if !running.case.http.is_empty() {
        // The host does not repeat a compensation that may have sent a deletion, so another party has removed the entry.
        let removed = "the server answers 404, because another party removed the entry".to_owned();
        faults.push((FaultProfile::ChangeStatus(404), removed));
        for status in CONFLICTS {
            let conflict = format!("the server answers {status}, because the entry has changed");
            faults.push((FaultProfile::ChangeStatus(status), conflict));
        }
    }
    faults
}

/// D118: `compensate` must not report success if one of its changes is refused and the world is not as after an undisturbed
/// undo.
async fn check_refused_write(running: &mut RunningCase<'_>, undone: &WorldSnapshot) -> std::io::Result<()> {
    // A tool that uses a server may use the map only as a cache.
    if !running.case.http.is_empty() || running.found.iter().any(|finding| finding.rule == "D118") {
        return Ok(());
    }
    for faults in single_changes(&running.world()?, WRITES_MAX) {
        for fault in faults {
            let world = running.world()?;
            let Answer::Ok(done) = running.call(&world, 0).await.end.answer else { return Ok(()) };
            world.set_faults(fault);
            let answer = compensate(running, &world, &done).await;
            if !world.is_map_refused() && !world.is_folder_refused() {
                break;
            }
            let state = world.state();
            let is_left =
                |name: &&String| state.get(*name) != undone.get(*name) && !contains_key(name, &undo_key(running));
            if let (Answer::Ok(_), Some(name)) = (&answer, state.keys().chain(undone.keys()).find(is_left)) {
                let what = describe_change(fault, "compensate");
                let message = format!(
                    "{what} fails, and {name} is otherwise than after an undo, but compensate reports that the call is undone"
                );
                report(running, message, &answer, &world, "return the error of a write, with `applied` as unknown");
                return Ok(());
            }
        }
    }
    Ok(())
}

/// D118: `compensate` must not report success while a server or the map refuses what it does.
async fn check_faults(running: &mut RunningCase<'_>, faults: Vec<(FaultProfile, String)>) -> std::io::Result<()> {
    for (fault, description) in faults {
        let world = running.world()?;
        let Answer::Ok(done) = running.call(&world, 0).await.end.answer else { return Ok(()) };
        world.received();
        world.set_faults(fault);
        let answer = compensate(running, &world, &done).await;
        let is_sent = world.received().iter().any(ReceivedRequest::may_change_state);
        // A tool that uses a server may use the map only as a cache, so refused writes do not count for it.
        let is_refused = (world.is_map_refused() || world.is_folder_refused()) && running.case.http.is_empty();
        if (is_sent || is_refused) && matches!(answer, Answer::Ok(_)) {
            let message = format!("{description}, but compensate reports that the call is undone");
            let hint = "return an error, so that a person or a later try undoes the call";
            report(running, message, &answer, &world, hint);
            return Ok(());
        }
    }
    Ok(())
}

/// D118: `compensate` must not report success after another party has removed the entries of the call.
async fn check_removed(running: &mut RunningCase<'_>, own: &[String]) -> std::io::Result<()> {
    // The entries of a tool with a server can be a cache.
    if running.case.http.is_empty()
        && let Some((answer, world)) = undo_of_removed(running, own).await?
        && matches!(answer, Answer::Ok(_))
    {
        let message = format!("another party removed {}, but compensate reports that the call is undone", own[0]);
        report(running, message, &answer, &world, "return an error if the entry is no longer there");
    }
    Ok(())
}

/// Undoes the call after another party removed all entries of the call. Returns `None` if the call has no entries or
/// fails.
async fn undo_of_removed(running: &mut RunningCase<'_>, own: &[String]) -> std::io::Result<Option<(Answer, World)>> {
    if own.is_empty() {
        return Ok(None);
    }
    let world = running.world()?;
    let Answer::Ok(done) = running.call(&world, 0).await.end.answer else { return Ok(None) };
    world.remove(own)?;
    Ok(Some((compensate(running, &world, &done).await, world)))
}

/// D118: with another input, the call can write more entries under its key. All of them have to be undone.
async fn check_other_inputs(running: &mut RunningCase<'_>) -> std::io::Result<()> {
    if !running.case.http.is_empty() || running.found.iter().any(|finding| finding.rule == "D118") {
        return Ok(());
    }
    let (input, schema) = running.input_and_schema();
    let plugin = running.tools.plugin;
    let is_allowed = |input: &Value| plugin.check_input(&running.case.operator, input).is_ok();
    for variation in variations(&input, &schema, VARIATIONS_MAX, is_allowed) {
        let case = ToolCase { input: variation.value.to_string(), ..running.case.clone() };
        let world = running.world()?;
        let before = world.state();
        let called = running.calling(&case, &world, running.context(0), false).await;
        let Answer::Ok(done) = called.end.answer else { continue };
        let (after, key) = (world.state(), running.key());
        let answer = compensate_of(running, &world, &done, &case.input).await;
        let undone = world.state();
        let own = || after.keys().filter(|name| !before.contains_key(*name) && name.contains(&key));
        let is_left = |name: &&String| undone.get(*name) == after.get(*name);
        let has_new = undone.keys().any(|name| !after.contains_key(name));
        if matches!(answer, Answer::Ok(_))
            && !has_new
            && own().any(|name| !is_left(&name))
            && let Some(left) = own().find(is_left)
        {
            let what = &variation.what;
            let message =
                format!("with another input, {what}, compensate undoes the call, but {left} is as it was written");
            report(running, message, &answer, &world, "delete every entry that the call wrote, or mark it as undone");
            return Ok(());
        }
    }
    Ok(())
}

/// D109: if `compensate` fails after it has undone a part of the call, it must not report that it changed nothing. To
/// make `compensate` fail, the check removes an entry of the call, or lets the map refuse a write.
async fn check_failed_undo(running: &mut RunningCase<'_>, own: &[String]) -> std::io::Result<()> {
    let missing = own.iter().map(|name| (format!("another party removed {name}"), Some(name), FaultProfile::Fair));
    let refused = (0..WRITES_MAX).map(|number| {
        let fault = FaultProfile::WriteRefused { number, and_later: true };
        (format!("write {} of compensate to the map fails", number + 1), None, fault)
    });
    let unread = (0..WRITES_MAX).map(|number| {
        (format!("read {} of compensate from the map fails", number + 1), None, FaultProfile::ReadRefused(number))
    });
    for (when, removed, fault) in missing.chain(refused).chain(unread) {
        let world = running.world()?;
        let Answer::Ok(done) = running.call(&world, 0).await.end.answer else { return Ok(()) };
        world.remove(&removed.into_iter().cloned().collect::<Vec<_>>())?;
        let before = world.state();
        world.set_faults(fault);
        let answer = compensate(running, &world, &done).await;
        if applied::check(running, &format!("{when}, compensate fails"), &before, &world, &answer) {
            return Ok(());
        }
    }
    Ok(())
}

/// Returns an entry of the call that `compensate` left unchanged. Returns `None` if `compensate` added an entry,
/// because a new entry can cancel an earlier entry, as in a journal. Also returns `None` if `compensate` changed only
/// entries that do not belong to the call.
fn left_entry<'a>(own: &'a [String], after: &WorldSnapshot, undone: &WorldSnapshot) -> Option<&'a String> {
    let is_new = |name: &&String| !after.contains_key(*name);
    let left = own.iter().find(|name| undone.get(*name) == after.get(*name))?;
    (undone.keys().find(is_new).is_none()
        && (undone == after || own.iter().any(|name| undone.get(name) != after.get(name))))
    .then_some(left)
}

/// Returns the state without new entries that no later call can find. A map has no list of its entries. The name of such
/// an entry contains the key of the compensation, and its content does not contain the key of the undone call.
fn without_lost_marks(running: &RunningCase<'_>, world: &World) -> WorldSnapshot {
    let (key, undo) = (running.key(), undo_key(running));
    let mentions_call = |value: &[u8]| String::from_utf8_lossy(value).replace(&undo, "").contains(&key);
    let is_mark = |(name, value): &(String, Vec<u8>)| contains_key(name, &undo) && !mentions_call(value);
    let marks = world.map_entries().into_iter().filter(is_mark).map(|(name, _)| format!("map {name}"));
    let mut state = world.state();
    for mark in marks {
        state.remove(&mark);
    }
    state
}

/// Returns an entry from before the call that is an object, and a member that it lacks after the undo.
fn lost_member(earlier: &BTreeMap<String, Vec<u8>>, undone: &World) -> Option<(String, String)> {
    let object = |value: &[u8]| serde_json::from_slice::<Map<String, Value>>(value).ok();
    let undone = undone.contents();
    earlier.iter().find_map(|(name, before)| {
        let (before, undone) = (object(before)?, object(undone.get(name)?)?);
        let lost = before.keys().find(|member| !undone.contains_key(*member))?;
        Some((name.clone(), lost.clone()))
    })
}
