//! D102 and D119: a call is executed, but the host is killed before it writes the record of the call. It repeats the call
//! under the same key.

use latchwork_core::model::effect::{Answer, Output, StateChange};
use latchwork_core::model::ids::Hash;
use latchwork_core::model::manifest::RecoveryClass;

use crate::check::finding::displayed_value;
use crate::check::tools::applied::difference;
use crate::check::tools::fault_profile::FaultProfile;
use crate::check::tools::readers::{call_other, changing_others_after};
use crate::check::tools::running_case::{LATER_TRIES, RunningCase, describe_answer};
use crate::check::tools::stub_servers::ReceivedRequest;

/// Maximum number of reads of a repetition that are made to fail, one read in each run.
const READS_MAX: usize = 8;

/// Numbers of tries in the evening of a Sunday, of the last day of a month, and of the last day of a year. The clock of the
/// stub advances by an hour in each try.
pub(super) const EVENINGS: [u32; 3] = [6 * 24 + 11, 26 * 24 + 11, 360 * 24 + 11];
/// Number of tries from an evening to the next morning.
pub(super) const NIGHT: u32 = 8;

/// Repeats the call: at once, while reads of the map fail, and after a call of another operator.
pub(super) async fn run(running: &mut RunningCase<'_>) -> std::io::Result<()> {
    // A failing call leaves no effect, so no record of an effect can be lost.
    let has_effect = running.case.error.is_none() && running.spec.is_world_changing();
    if !has_effect || running.class != RecoveryClass::Keyed {
        return Ok(());
    }
    check_repeat(running, 0, 1).await?;
    let is_later_allowed = running.spec.resolution.idempotent_by_key_seconds > LATER_TRIES * 3_600;
    if is_later_allowed && !running.found.iter().any(|finding| ["D102", "D119"].contains(&finding.rule)) {
        check_repeat(running, 0, LATER_TRIES).await?;
        for evening in EVENINGS {
            check_repeat(running, evening, evening + NIGHT).await?;
        }
        check_repeat(running, 0, running.spec.resolution.idempotent_by_key_seconds / 3_600 - 1).await?;
        check_repeat_after_times(running).await?;
    }
    check_repeat_without_reads(running).await?;
    check_repeat_after_others(running).await
}

/// D102 and D119: a second call under the same key must leave the world as the first call left it. The second call must
/// also return the same facts about the world as the first call.
async fn check_repeat(running: &mut RunningCase<'_>, first_try: u32, later_try: u32) -> std::io::Result<()> {
    if running.found.iter().any(|finding| ["D102", "D119"].contains(&finding.rule)) {
        return Ok(());
    }
    let world = running.world()?;
    let first = running.call(&world, first_try).await;
    let (before, requests) = (world.state(), world.received());
    if !matches!(first.end.answer, Answer::Ok(_)) {
        return Ok(());
    }
    let second = running.call(&world, later_try).await;
    let (after, repeated) = (world.state(), world.received());
    if let Some(difference) = difference(&before, &after) {
        let message =
            format!("called again under the same key, as after a crash, it changes the world again: {difference}");
        running.add_finding("D102", message).hint = Some(
            "look for what an earlier call with the key made, or derive the name of what is made from the key"
                .to_owned(),
        );
    }
    check_repeated_requests(running, &requests, &repeated);
    if let (Answer::Ok(made), Answer::Ok(again)) = (&first.end.answer, &second.end.answer)
        && let Some(missing) = missing_proof(made, again)
    {
        let message = format!("called again under the same key it returns no {missing}, which the first try returns");
        running.add_finding("D119", message).hint =
            Some("return receipt and changes in every try, also if an earlier one did the work".to_owned());
    }
    if let (Answer::Ok(_), false) = (&first.end.answer, matches!(second.end.answer, Answer::Ok(_))) {
        let message = "called again under the same key it fails, and the job would never get the first answer";
        let displayed = describe_answer(&second.end.answer, &world);
        running.add_finding("D102", message).found = Some(displayed);
    }
    Ok(())
}

/// D102: a time of the input has passed between a call and its repetition. The repetition must still give the answer of the
/// call.
async fn check_repeat_after_times(running: &mut RunningCase<'_>) -> std::io::Result<()> {
    for (what, case) in running.cases_with_near_times() {
        let world = running.world()?;
        let first = running.calling(&case, &world, running.context(0), false).await;
        if !matches!(first.end.answer, Answer::Ok(_)) || running.found.iter().any(|finding| finding.rule == "D102") {
            continue;
        }
        let again = running.calling(&case, &world, running.context(LATER_TRIES), false).await;
        if !matches!(again.end.answer, Answer::Ok(_)) {
            let message =
                format!("with another input, {what}, and called again under the same key on the next day, it fails");
            let displayed = describe_answer(&again.end.answer, &world);
            let finding = running.add_finding("D102", message);
            finding.found = Some(displayed);
            finding.hint = Some("look for the entry of the key before you compare a time".to_owned());
        }
    }
    Ok(())
}

/// D102: a repetition that cannot read the map does not know whether the call was made. It must not write again.
async fn check_repeat_without_reads(running: &mut RunningCase<'_>) -> std::io::Result<()> {
    if running.found.iter().any(|finding| finding.rule == "D102") {
        return Ok(());
    }
    for number in 0..READS_MAX {
        let world = running.world()?;
        if !matches!(running.call(&world, 0).await.end.answer, Answer::Ok(_)) {
            return Ok(());
        }
        let before = world.state();
        world.set_faults(FaultProfile::ReadRefused(number));
        running.call(&world, 1).await;
        if !world.is_map_refused() {
            return Ok(());
        }
        if let Some(difference) = difference(&before, &world.state()) {
            let message = format!(
                "called again under the same key, while read {} of the map fails, it changes the world again: \
                 {difference}",
                number + 1
            );
            running.add_finding("D102", message).hint =
                Some("return the error of a read: it does not say that there is no entry".to_owned());
            return Ok(());
        }
    }
    Ok(())
}

/// D102: another operator has changed what the call reads, or an entry of the call. A repetition must not change an entry
/// that the call wrote. If the other operator removed an entry of the call, the repetition must not write it
/// again.
async fn check_repeat_after_others(running: &mut RunningCase<'_>) -> std::io::Result<()> {
    if running.found.iter().any(|finding| finding.rule == "D102") {
        return Ok(());
    }
    let world = running.world()?;
    let Answer::Ok(done) = running.call(&world, 0).await.end.answer else { return Ok(()) };
    for other in &changing_others_after(running, &done.result) {
        let world = running.world()?;
        let untouched = world.state();
        if !matches!(running.call(&world, 0).await.end.answer, Answer::Ok(_)) {
            return Ok(());
        }
        let first = world.state();
        if !call_other(running, &world, other).await {
            continue;
        }
        let before = world.state();
        running.call(&world, 1).await;
        let after = world.state();
        let is_written_again = |(name, _): &(&String, &Hash)| match before.get(*name) {
            // An entry that the other operator has changed must not change again either.
            Some(left) => after.get(*name).is_some_and(|other| other != left),
            None => after.contains_key(*name) && !untouched.contains_key(*name),
        };
        let Some((name, _)) = first.iter().find(is_written_again) else { continue };
        let (operator, is_removed) = (&other.operator, !before.contains_key(name));
        let (message, hint) = if is_removed {
            (
                format!(
                    "called again under the same key after a call of {operator}, which removed {name}, it writes {name} again"
                ),
                "keep an entry of the key when its effect is taken back, and look for that entry first",
            )
        } else {
            (
                format!(
                    "called again under the same key after a call of {operator}, it changes the world again: {name} is changed"
                ),
                "look for the entry of the key first, and keep it as it is",
            )
        };
        running.add_finding("D102", message).hint = Some(hint.to_owned());
        return Ok(());
    }
    Ok(())
}

/// Names a receipt or a change of the first try that the repetition does not return.
fn missing_proof(first: &Output, again: &Output) -> Option<String> {
    if first.receipt.is_some() && again.receipt.is_none() {
        return Some("receipt".to_owned());
    }
    let resource = |change: &StateChange| (change.resource_type.clone(), change.resource_id.clone());
    let returned: Vec<_> = again.state_changes.iter().map(resource).collect();
    let missing = first.state_changes.iter().map(resource).find(|change| !returned.contains(change))?;
    Some(format!("change of {} {:?}", missing.0, missing.1))
}

/// D102: each world-changing request of the repetition must be one of the first call.
fn check_repeated_requests(running: &mut RunningCase<'_>, first: &[ReceivedRequest], repeated: &[ReceivedRequest]) {
    let key = running.key();
    let first: Vec<_> = first.iter().filter(|request| request.may_change_state()).collect();
    for other in repeated.iter().filter(|request| request.may_change_state()) {
        if first.iter().any(|request| request.identity(&key) == other.identity(&key)) {
            continue;
        }
        let message = format!(
            "called again under the same key it sends a different {} {}, which a server refuses or treats as new",
            other.method, other.url
        );
        let displayed = |request: &ReceivedRequest| {
            let headers: String =
                request.keyed_headers(&key).map(|(name, value)| format!("{name}: {value}; ")).collect();
            displayed_value(&format!("{headers}{}", String::from_utf8_lossy(&request.body)))
        };
        let before = first.iter().find(|request| (&request.method, &request.url) == (&other.method, &other.url));
        let finding = running.add_finding("D102", message);
        (finding.expected, finding.found) = (before.map(|request| displayed(request)), Some(displayed(other)));
        finding.hint =
            Some("build the request from the arguments and the key alone: no time, no randomness".to_owned());
    }
}
