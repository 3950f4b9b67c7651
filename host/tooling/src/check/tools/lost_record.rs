//! D103, D104 and D121: a call is executed, but the host is killed before it writes the record of the call. It asks
//! `reconcile`.

use serde_json::Value;
use tracing::instrument::WithSubscriber as _;

use latchwork_core::model::effect::{Answer, Output};
use latchwork_core::model::manifest::RecoveryClass;
use latchwork_engine::ReconcileVerdict;
use latchwork_engine::capability::denied::ONLY_READS;
use latchwork_engine::guest::tool_call::ToolCallContext;

use crate::check::tools::applied::difference;
use crate::check::tools::fault_profile::FaultProfile;
use crate::check::tools::readers::{call_other, changing_others_after};
use crate::check::tools::refusal;
use crate::check::tools::repeated::{EVENINGS, NIGHT};
use crate::check::tools::running_case::RunningCase;
use crate::check::tools::server_faults::question_faults;
use crate::check::tools::stub_servers::ReceivedRequest;
use crate::check::tools::world::{CapturedLog, World};

/// Number of the try that is more than a year after the call.
const MUCH_LATER: u32 = 400 * 24;
/// Tenant of a call of another tenant.
const OTHER_TENANT: &str = "north";

pub(super) async fn run(running: &mut RunningCase<'_>) -> std::io::Result<()> {
    // A failing call leaves no effect, so no record of an effect can be lost.
    if running.case.error.is_some() || !running.spec.is_world_changing() {
        return Ok(());
    }
    if running.tools.plugin.reconcile {
        check_reconcile(running).await?;
        check_reconcile_of_unanswered_call(running).await?;
        check_reconcile_of_another_call(running).await?;
        check_reconcile_of_another_tenant(running).await?;
        check_reconcile_after_others(running).await?;
        check_reconcile_later(running).await?;
        check_reconcile_after_times(running).await?;
        check_reconcile_without_answers(running).await?;
        check_settling_time(running).await?;
    }
    Ok(())
}

/// D103 and D104: reconcile must report the actual state of the world.
async fn check_reconcile(running: &mut RunningCase<'_>) -> std::io::Result<()> {
    // Simulates a crash before the call. The world is unchanged.
    let world = running.world()?;
    // `unknown` alone breaks no rule. All operators of the plugin share the export `reconcile`, and an operator that
    // does not support reconcile always answers `unknown`.
    let mut is_blind = false;
    match ask(running, &world).await {
        Ok(ReconcileVerdict::Unknown) => is_blind = true,
        // The servers of the case answer as after an earlier try, so the verdict is right.
        Ok(ReconcileVerdict::Happened(_)) if meets_earlier_try(running).await? => return Ok(()),
        Ok(ReconcileVerdict::Happened(output)) => {
            let finding = running.add_finding("D104", "reconcile says that a call happened which was never made");
            finding.expected = Some("did-not-happen".to_owned());
            finding.found = Some(output.result);
        }
        Ok(_) => {}
        Err(why) => {
            running.add_finding("D103", format!("reconcile fails before anything happened: {why}"));
        }
    }
    let state = world.state();
    let untouched = running.world()?.state();
    if let Some(difference) = difference(&untouched, &state) {
        running.add_finding("D104", format!("reconcile must only read, but it changes the world: {difference}"));
    }

    // Simulates a crash between the call and its record.
    let world = running.world()?;
    let called = running.call(&world, 0).await;
    let Answer::Ok(done) = called.end.answer else { return Ok(()) };
    world.received();
    let verdict = ask(running, &world).await;
    // A server of the case fails after the call, and its failure proves nothing.
    let has_failed = world.received().iter().any(ReceivedRequest::has_failed);
    match verdict {
        Ok(ReconcileVerdict::Unknown) | Err(_) if has_failed => {}
        Ok(ReconcileVerdict::Happened(output)) => {
            if !is_same_result(&done, &output) {
                let message = "reconcile finds the call but returns a different result than the call";
                let finding = running.add_finding("D103", message);
                (finding.expected, finding.found) = (Some(done.result), Some(output.result));
            } else if let Some((what, expected, found)) = other_proof(&done, &output) {
                let message = format!("reconcile finds the call but returns {what} than the call");
                let finding = running.add_finding("D103", message);
                (finding.expected, finding.found) = (Some(expected), Some(found));
                finding.hint = Some("return the output of the call itself, with its receipt and changes".to_owned());
            }
        }
        Ok(ReconcileVerdict::Unknown) if is_blind => {
            // For a keyed tool this is no problem and gets no note. The host repeats a keyed call under the same key,
            // and needs reconcile only after the key has expired.
            if running.class != RecoveryClass::Keyed {
                let name = &running.case.operator;
                running.notes.push(format!(
                    "reconcile cannot answer for {name}: a call whose record is lost parks its job until a person \
                     resolves it"
                ));
            }
        }
        Ok(verdict) => {
            let word = match verdict {
                ReconcileVerdict::DidNotHappen => "did-not-happen: the host would execute the call a second time",
                ReconcileVerdict::NotYet(_) => "not-yet",
                _ => "unknown: the job would park",
            };
            let finding = running.add_finding("D103", "reconcile does not find a call that happened");
            (finding.expected, finding.found) = (Some("happened".to_owned()), Some(word.to_owned()));
        }
        Err(why) => {
            running.add_finding("D103", format!("reconcile fails after a call that happened: {why}"));
        }
    }
    Ok(())
}

/// Returns true if the servers of the case answer that the call was made before.
async fn meets_earlier_try(running: &mut RunningCase<'_>) -> std::io::Result<bool> {
    let world = running.world()?;
    running.call(&world, 0).await;
    Ok(world.received().iter().any(ReceivedRequest::is_conflict))
}

/// D103: the server receives the request and does not answer, so the call may have happened.
async fn check_reconcile_of_unanswered_call(running: &mut RunningCase<'_>) -> std::io::Result<()> {
    let world = running.world()?;
    world.set_faults(FaultProfile::Silent);
    running.call(&world, 0).await;
    world.set_faults(FaultProfile::Fair);
    let arrived = world.received().iter().any(ReceivedRequest::may_change_state);
    if arrived && matches!(ask(running, &world).await, Ok(ReconcileVerdict::DidNotHappen)) {
        let finding =
            running.add_finding("D103", "reconcile denies a call whose request was received and never answered");
        (finding.expected, finding.found) =
            (Some("happened, not-yet or unknown".to_owned()), Some("did-not-happen".to_owned()));
    }
    Ok(())
}

/// D121: a request can be in transit after the end of its call, so `did-not-happen` needs a settling time. A keyed call
/// is repeated under its key.
async fn check_settling_time(running: &mut RunningCase<'_>) -> std::io::Result<()> {
    if running.spec.resolution.settling_ms > 0 || running.class == RecoveryClass::Keyed {
        return Ok(());
    }
    let world = running.world()?;
    running.call(&world, 0).await;
    let is_sent = world.received().iter().any(ReceivedRequest::may_change_state);
    let world = running.world()?;
    if is_sent && matches!(ask(running, &world).await, Ok(ReconcileVerdict::DidNotHappen)) {
        let message = "reconcile answers did-not-happen about a request, but the operator declares no settling time";
        running.add_finding("D121", message).hint =
            Some("declare the longest time for which a sent request can be unseen".to_owned());
    }
    Ok(())
}

/// Returns true if `reconcile` returned the result of the call. Results are compared as JSON.
pub(super) fn is_same_result(done: &Output, found: &Output) -> bool {
    let value = |output: &Output| serde_json::from_str::<Value>(&output.result).ok();
    value(done) == value(found)
}

/// Returns the first difference of receipts and changes, with both values.
fn other_proof(done: &Output, found: &Output) -> Option<(&'static str, String, String)> {
    let receipt = |output: &Output| output.receipt.as_deref().and_then(|text| serde_json::from_str::<Value>(text).ok());
    let displayed = |value: &Option<Value>| value.as_ref().map_or("none".to_owned(), Value::to_string);
    let (expected, other) = (receipt(done), receipt(found));
    if expected != other {
        return Some(("another receipt", displayed(&expected), displayed(&other)));
    }
    let changes =
        |output: &Output| serde_json::to_string(&output.state_changes).expect("changes of the world are texts");
    (done.state_changes != found.state_changes).then(|| ("other changes", changes(done), changes(found)))
}

/// D104: a call with the same arguments under another key is another call.
async fn check_reconcile_of_another_call(running: &mut RunningCase<'_>) -> std::io::Result<()> {
    // The canned answers of servers do not depend on the key.
    if !running.case.http.is_empty() {
        return Ok(());
    }
    // The key of the tenth try of a call begins with that of its first try.
    let longer = ToolCallContext { external_key: format!("{}0", running.key()), ..running.context_of_other_call() };
    for other in [running.context_of_other_call(), longer] {
        let world = running.world()?;
        if !matches!(running.call_with(&world, other, false).await.end.answer, Answer::Ok(_)) {
            return Ok(());
        }
        let Ok(ReconcileVerdict::Happened(output)) = ask(running, &world).await else { continue };
        let message = "reconcile takes a call with equal arguments and another key for the call";
        let finding = running.add_finding("D104", message);
        (finding.expected, finding.found) = (Some("did-not-happen".to_owned()), Some(output.result));
        finding.hint = Some("search by the whole key of the call".to_owned());
        return Ok(());
    }
    Ok(())
}

/// D103: a call of another tenant is found as well.
async fn check_reconcile_of_another_tenant(running: &mut RunningCase<'_>) -> std::io::Result<()> {
    let of_tenant = |mut context: ToolCallContext| {
        context.step.tenant = OTHER_TENANT.to_owned();
        context
    };
    let world = running.world()?;
    let context = of_tenant(running.context(0));
    let is_made = matches!(running.call_with(&world, context, false).await.end.answer, Answer::Ok(_));
    if !is_made || running.found.iter().any(|finding| finding.rule == "D103") {
        return Ok(());
    }
    let later = of_tenant(running.later_context());
    let verdict = ask_about(running, &world, later, &running.case.input.clone()).await;
    if matches!(verdict, Ok(ReconcileVerdict::DidNotHappen)) {
        let message = "for another tenant than `default`, reconcile denies a call that happened";
        let finding = running.add_finding("D103", message);
        (finding.expected, finding.found) = (Some("happened".to_owned()), Some("did-not-happen".to_owned()));
        finding.hint = Some("name the entry in the call and in reconcile by the same tenant, or by none".to_owned());
    }
    Ok(())
}

/// D103: a new week, month or year has begun, or more than a year has passed, when `reconcile` is asked.
async fn check_reconcile_later(running: &mut RunningCase<'_>) -> std::io::Result<()> {
    let nights = EVENINGS.map(|evening| (evening, evening + NIGHT));
    for (first, later) in nights.into_iter().chain([(0, MUCH_LATER)]) {
        if running.found.iter().any(|finding| finding.rule == "D103") {
            return Ok(());
        }
        let world = running.world()?;
        if !matches!(running.call(&world, first).await.end.answer, Answer::Ok(_)) {
            continue;
        }
        let input = running.case.input.clone();
        let at_once = ask_about(running, &world, running.context(first), &input).await;
        let verdict = ask_about(running, &world, running.context(later), &input).await;
        let is_found = matches!(at_once, Ok(ReconcileVerdict::Happened(_)));
        if is_found && matches!(verdict, Ok(ReconcileVerdict::DidNotHappen)) {
            let message = format!("{} hours after the call, reconcile denies a call that happened", later - first);
            let finding = running.add_finding("D103", message);
            finding.expected = Some("happened or unknown".to_owned());
            finding.found = Some("did-not-happen: the host would execute the call a second time".to_owned());
            finding.hint = Some("look for the entry of the key alone, and compare no time".to_owned());
        }
    }
    Ok(())
}

/// D103: a time of the input has passed when `reconcile` is asked. A call that happened has still happened.
async fn check_reconcile_after_times(running: &mut RunningCase<'_>) -> std::io::Result<()> {
    for (what, case) in running.cases_with_near_times() {
        let world = running.world()?;
        let called = running.calling(&case, &world, running.context(0), false).await;
        if !matches!(called.end.answer, Answer::Ok(_)) || running.found.iter().any(|finding| finding.rule == "D103") {
            continue;
        }
        // A `reconcile` that never finds this call is another finding.
        let at_once = ask_about(running, &world, running.context(0), &case.input).await;
        let later = ask_about(running, &world, running.later_context(), &case.input).await;
        if !matches!(at_once, Ok(ReconcileVerdict::DidNotHappen)) && matches!(later, Ok(ReconcileVerdict::DidNotHappen))
        {
            let message = format!("with another input, {what}, reconcile denies on the next day a call that happened");
            running.add_finding("D103", message).hint =
                Some("look for the effect of the call alone, and compare no time".to_owned());
        }
    }
    Ok(())
}

/// D103: another operator has changed an entry of the call, or has removed it and written an entry that names the key of
/// the call. Such a trace shows that the call happened.
async fn check_reconcile_after_others(running: &mut RunningCase<'_>) -> std::io::Result<()> {
    if running.found.iter().any(|finding| finding.rule == "D103") {
        return Ok(());
    }
    let world = running.world()?;
    let Answer::Ok(done) = running.call(&world, 0).await.end.answer else { return Ok(()) };
    for other in &changing_others_after(running, &done.result) {
        let world = running.world()?;
        if !matches!(running.call(&world, 0).await.end.answer, Answer::Ok(_)) {
            return Ok(());
        }
        let made = world.state();
        if !call_other(running, &world, other).await {
            continue;
        }
        let left = world.state();
        let removed = made.keys().find(|name| running.is_named_by_key(name) && !left.contains_key(*name));
        let trace = left.keys().find(|name| running.is_named_by_key(name) && !made.contains_key(*name));
        let is_changed = |name: &&String| made.get(*name).is_some_and(|before| left.get(*name) != Some(before));
        let changed = left.keys().filter(|name| running.is_named_by_key(name)).find(is_changed);
        let (how, hint) = match (removed, trace, changed) {
            (Some(removed), Some(trace), _) => (
                format!("removed {removed} and written {trace}"),
                "look for the trace of a removed entry, and answer unknown",
            ),
            (_, _, Some(changed)) => {
                (format!("changed {changed}"), "an entry with the key shows the call, also if its content has changed")
            }
            _ => continue,
        };
        let verdict = ask(running, &world).await;
        if let Ok(ReconcileVerdict::Happened(output)) = &verdict
            && !is_same_result(&done, output)
        {
            let message = format!(
                "a call of {} has {how}, and reconcile returns a different result than the call",
                other.operator
            );
            let finding = running.add_finding("D103", message);
            (finding.expected, finding.found) = (Some(done.result.clone()), Some(output.result.clone()));
            finding.hint = Some("store the result of the call, or answer unknown after a change".to_owned());
            return Ok(());
        }
        if matches!(verdict, Ok(ReconcileVerdict::DidNotHappen)) {
            let message =
                format!("a call of {} has {how}, and reconcile denies the call that happened", other.operator);
            let finding = running.add_finding("D103", message);
            (finding.expected, finding.found) =
                (Some("happened or unknown".to_owned()), Some("did-not-happen".to_owned()));
            finding.hint = Some(hint.to_owned());
            return Ok(());
        }
    }
    Ok(())
}

/// D103: a server or a map that cannot answer gives no evidence that a call did not happen.
async fn check_reconcile_without_answers(running: &mut RunningCase<'_>) -> std::io::Result<()> {
    let world = running.world()?;
    if !matches!(running.call(&world, 0).await.end.answer, Answer::Ok(_)) {
        return Ok(());
    }
    world.was_map_used();
    world.were_folders_used();
    // A call that is denied without a fault is another finding.
    if matches!(ask(running, &world).await, Ok(ReconcileVerdict::DidNotHappen)) {
        return Ok(());
    }
    // Status 410 says that an entry existed and was removed. The call happened, so `reconcile` must not deny it.
    let removed =
        (!running.case.http.is_empty()).then(|| (FaultProfile::Status(410), "the server answers 410".to_owned()));
    for (fault, what) in question_faults(running, &world).into_iter().chain(removed) {
        world.set_faults(fault);
        if matches!(ask(running, &world).await, Ok(ReconcileVerdict::DidNotHappen)) {
            let finding = running.add_finding("D103", format!("{what}, and reconcile denies a call that happened"));
            finding.expected = Some("unknown, not-yet or an error".to_owned());
            finding.found = Some("did-not-happen: the host would execute the call a second time".to_owned());
            finding.hint = Some("answer did-not-happen only after the place of the effect has said so".to_owned());
            return Ok(());
        }
    }
    Ok(())
}

/// Asks `reconcile` about the call.
pub(super) async fn ask(running: &mut RunningCase<'_>, world: &World) -> Result<ReconcileVerdict, String> {
    let case = running.case;
    ask_about(running, world, running.later_context(), &case.input).await
}

/// Asks `reconcile` about a call with this input, in a context that has the key of the call. D104: it must not try to
/// write.
pub(super) async fn ask_about(
    running: &mut RunningCase<'_>,
    world: &World,
    context: ToolCallContext,
    input: &str,
) -> Result<ReconcileVerdict, String> {
    let plugin = running.plugin(world);
    let limits = plugin.limits(&running.case.operator);
    let asking = plugin.reconcile(&running.case.operator, input, context, &limits);
    // The caller reports unexpected failures as findings.
    let log = CapturedLog::default();
    let verdict = asking.with_subscriber(log.subscriber()).await;
    if let Some(refusal) = refusal::in_log(&log.text()).find(|refusal| refusal.has(ONLY_READS)) {
        let message = format!("reconcile {}, which the host refuses", refusal.access);
        if running.found.iter().all(|finding| finding.message != message) {
            running.add_finding("D104", message).hint = Some("reconcile only reads".to_owned());
        }
    }
    verdict.map_err(|failure| world.strip_paths(&failure.to_string()))
}
