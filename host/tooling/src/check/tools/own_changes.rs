//! D117: `verify` must confirm the changes of a call, and must not confirm these changes without the call. `verify`
//! must only read, and must report a mismatch only if it has seen a mismatch.

use tracing::instrument::WithSubscriber as _;

use latchwork_core::model::effect::{Answer, Output, StateChange};
use latchwork_core::model::error::Failure;
use latchwork_core::model::manifest::RecoveryClass;
use latchwork_engine::VerifyResult;

use crate::check::tools::applied::difference;
use crate::check::tools::case::ToolCase;
use crate::check::tools::fault_profile::FaultProfile;
use crate::check::tools::readers::{changing_others, changing_others_after, has_member_of, output_of_other};
use crate::check::tools::running_case::RunningCase;
use crate::check::tools::server_faults::question_faults;
use crate::check::tools::stub_servers::ReceivedRequest;
use crate::check::tools::world::{World, WorldSnapshot};

/// Maximum number of other inputs of a later call.
const INPUTS_MAX: usize = 4;
/// Maximum number of cases of other operators whose inputs stay as they are.
const OWN_INPUTS_MAX: usize = 8;

/// Lets `verify` look at each change of a call, in the world that the call left, and while its servers fail.
pub(super) async fn run(running: &mut RunningCase<'_>) -> std::io::Result<()> {
    if !running.tools.plugin.verify || running.case.error.is_some() || !running.spec.is_world_changing() {
        return Ok(());
    }
    let world = running.world()?;
    let Answer::Ok(done) = running.call(&world, 0).await.end.answer else { return Ok(()) };
    let is_sent = world.received().iter().any(ReceivedRequest::may_change_state);
    let before = world.state();
    if !is_sent {
        check_without_call(running, &before, &done.state_changes).await?;
        check_replaced(running).await?;
        check_repeated(running).await?;
        check_unreported(running, &done.result).await?;
    }
    check_one_resource(running, &done.state_changes);
    for change in &done.state_changes {
        let what = format!("{} {:?}", change.resource_type, change.resource_id);
        world.was_map_used();
        world.were_folders_used();
        let verdict = ask(running, &world, change).await;
        // If the case has no response for a request, the verdict says nothing.
        if world.is_unanswered() {
            return Ok(());
        }
        match verdict {
            Ok(VerifyResult::Confirmed) => {}
            Ok(VerifyResult::Mismatch(found)) => {
                let message = format!("verify reports a mismatch for its own change of {what}");
                report(running, message, "confirmed", found, "report in the change what verify compares later");
                continue;
            }
            Err(failure) => {
                let message = format!("verify fails for its own change of {what}");
                let found = world.strip_paths(&failure.to_string());
                report(running, message, "confirmed", found, "verify gets the rights of a read-only operator");
                continue;
            }
        }
        for (fault, description) in question_faults(running, &world) {
            world.set_faults(fault);
            if let Ok(VerifyResult::Mismatch(found)) = ask(running, &world, change).await {
                let message = format!("{description}, and verify reports a mismatch for {what}");
                report(running, message, "an error", found, "a place that cannot answer shows no change");
                return Ok(());
            }
        }
        world.set_faults(FaultProfile::Fair);
    }
    if let Some(difference) = difference(&before, &world.state()) {
        running.add_finding("D117", format!("verify must only read, but it changes the world: {difference}"));
    }
    Ok(())
}

/// Checks that two changes of a call with different references have different resources. The host confirms only the newest
/// change of a resource.
fn check_one_resource(running: &mut RunningCase<'_>, changes: &[StateChange]) {
    let resource = |change: &StateChange| (change.resource_type.clone(), change.resource_id.clone());
    let is_other = |one: &StateChange, other: &StateChange| {
        resource(one) == resource(other) && one.external_ref.is_some() && one.external_ref != other.external_ref
    };
    let mut pairs = changes.iter().enumerate().filter_map(|(number, one)| {
        let other = changes[number + 1..].iter().find(|other| is_other(one, other) && other.external_ref.is_some())?;
        Some((one, other))
    });
    let Some((one, other)) = pairs.next() else { return };
    let (kind, id) = resource(one);
    let message = format!("two changes with different references have the resource {kind} {id:?}");
    let finding = running.add_finding("D117", message);
    (finding.expected, finding.found) = (one.external_ref.clone(), other.external_ref.clone());
    finding.hint =
        Some("give each entry an id of its own: only the newest change of a resource is confirmed".to_owned());
}

/// Lets `verify` look at the changes in a world without the call. The caller uses this only for calls that send no
/// world-changing request, because servers of a case have no state.
async fn check_without_call(
    running: &mut RunningCase<'_>,
    after: &WorldSnapshot,
    changes: &[StateChange],
) -> std::io::Result<()> {
    let world = running.world()?;
    // A change to the state that the entry had already is there without the call, too.
    let is_as_before = changes.iter().any(|change| world.has_version(&change.resource_id, change.version.as_deref()));
    if changes.is_empty() || is_as_before || difference(&world.state(), after).is_none() {
        return Ok(());
    }
    for change in changes {
        if !matches!(ask(running, &world, change).await, Ok(VerifyResult::Confirmed)) {
            return Ok(());
        }
    }
    let message = "verify confirms every change of the call, although nothing that the call wrote is there".to_owned();
    report(running, message, "a mismatch", "confirmed".to_owned(), "look for the change where the call wrote it");
    Ok(())
}

/// Checks that `verify` does not confirm a change that was replaced. A later call with another key has replaced
/// everything that the call wrote, and reports another version of the same resource.
async fn check_replaced(running: &mut RunningCase<'_>) -> std::io::Result<()> {
    for other in running.cases_with_other_inputs(INPUTS_MAX) {
        let alone = running.world()?;
        let before = alone.state();
        call_later(running, &alone, &other).await;
        let world = running.world()?;
        let Answer::Ok(done) = running.call(&world, 0).await.end.answer else { return Ok(()) };
        let first = world.state();
        let Some(later) = call_later(running, &world, &other).await else { continue };
        let (alone, both) = (alone.state(), world.state());
        let mut written = first.keys().filter(|name| first.get(*name) != before.get(*name)).peekable();
        let is_replaced = |name: &String| both.get(name) == alone.get(name) && both.get(name) != first.get(name);
        if written.peek().is_none() || !written.all(is_replaced) {
            continue;
        }
        for change in done.state_changes.iter().filter(|change| is_changed_since(change, &later.state_changes)) {
            if matches!(ask(running, &world, change).await, Ok(VerifyResult::Confirmed)) {
                let what = format!("{} {:?}", change.resource_type, change.resource_id);
                let message =
                    format!("a later call has replaced everything that the call wrote, but verify confirms {what}");
                let hint = "compare what is there with the version of the change";
                report(running, message, "a mismatch", "confirmed".to_owned(), hint);
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Checks that a later call of another operator reports each resource whose change `verify` no longer confirms. Otherwise the
/// host looks for the earlier change when the job is resumed. The other operator gets members of the result of the call, or
/// its own input: an id can be written in several ways.
async fn check_unreported(running: &mut RunningCase<'_>, result: &str) -> std::io::Result<()> {
    let linked = changing_others_after(running, result).into_iter().filter(|other| has_member_of(&other.input, result));
    let others: Vec<ToolCase> = linked.chain(changing_others(running, "{}").into_iter().take(OWN_INPUTS_MAX)).collect();
    for other in &others {
        let world = running.world()?;
        let Answer::Ok(done) = running.call(&world, 0).await.end.answer else { return Ok(()) };
        let mut confirmed = Vec::new();
        for change in done.state_changes {
            if matches!(ask(running, &world, &change).await, Ok(VerifyResult::Confirmed)) {
                confirmed.push(change);
            }
        }
        let Some(later) = output_of_other(running, &world, other).await else { continue };
        let resource = |change: &StateChange| (change.resource_type.clone(), change.resource_id.clone());
        let reported: Vec<_> = later.state_changes.iter().map(resource).collect();
        for change in confirmed.iter().filter(|change| !reported.contains(&resource(change))) {
            if let Ok(VerifyResult::Mismatch(found)) = ask(running, &world, change).await {
                let (kind, id) = resource(change);
                let message = format!(
                    "after a call of {}, which reports no change of {kind} {id:?}, verify reports a mismatch for it",
                    other.operator
                );
                let hint =
                    "report the change of each operator with the resource type and id of the entry that it changes";
                report(running, message, "confirmed", found, hint);
                return Ok(());
            }
        }
    }
    Ok(())
}

async fn call_later(running: &RunningCase<'_>, world: &World, other: &ToolCase) -> Option<Output> {
    match running.calling(other, world, running.context_of_other_call(), false).await.end.answer {
        Answer::Ok(done) => Some(done),
        Answer::NotApplied(_) | Answer::Unknown { .. } => None,
    }
}

/// Returns true if a later change of the same resource has another version, entity tag or reference.
fn is_changed_since(change: &StateChange, later: &[StateChange]) -> bool {
    let resource = |change: &StateChange| (change.resource_type.clone(), change.resource_id.clone());
    let state = |change: &StateChange| (change.version.clone(), change.etag.clone(), change.external_ref.clone());
    let mut of_resource = later.iter().filter(|other| resource(other) == resource(change)).peekable();
    of_resource.peek().is_some() && of_resource.all(|other| state(other) != state(change))
}

/// Lets `verify` look at the changes that a repetition under the same key reports. The job records those changes.
async fn check_repeated(running: &mut RunningCase<'_>) -> std::io::Result<()> {
    if running.class != RecoveryClass::Keyed || running.found.iter().any(|finding| finding.rule == "D117") {
        return Ok(());
    }
    let world = running.world()?;
    running.call(&world, 0).await;
    let Answer::Ok(again) = running.call(&world, 1).await.end.answer else { return Ok(()) };
    for change in &again.state_changes {
        if let Ok(VerifyResult::Mismatch(found)) = ask(running, &world, change).await {
            let message =
                "verify reports a mismatch for a change that a repetition under the same key reports".to_owned();
            let hint = "report in a repetition the changes of the first try, with their versions";
            report(running, message, "confirmed", found, hint);
            return Ok(());
        }
    }
    Ok(())
}

fn report(running: &mut RunningCase<'_>, message: String, expected: &str, found: String, hint: &str) {
    let finding = running.add_finding("D117", message);
    (finding.expected, finding.found) = (Some(expected.to_owned()), Some(found));
    finding.hint = Some(hint.to_owned());
}

async fn ask(running: &RunningCase<'_>, world: &World, change: &StateChange) -> Result<VerifyResult, Failure> {
    let plugin = running.plugin(world);
    let limits = plugin.limits(&running.case.operator);
    let asked = plugin.verify(&running.case.operator, change, running.later_context(), &limits);
    // Failures of `verify` are not logged.
    asked.with_subscriber(tracing::subscriber::NoSubscriber::new()).await
}
