//! D117: `verify` must confirm what the call changed, and nothing without the call. It must only read, and report a mismatch
//! only if it has seen one.

use tracing::instrument::WithSubscriber as _;

use latchwork_core::model::effect::{Answer, StateChange};
use latchwork_core::model::error::Failure;
use latchwork_engine::VerifyResult;

use crate::check::tools::applied::difference;
use crate::check::tools::fault_profile::FaultProfile;
use crate::check::tools::running_case::RunningCase;
use crate::check::tools::server_faults::question_faults;
use crate::check::tools::stub_servers::ReceivedRequest;
use crate::check::tools::world::{State, World};

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
    }
    for change in &done.state_changes {
        let what = format!("{} {:?}", change.resource_type, change.resource_id);
        world.was_map_used();
        let verdict = ask(running, &world, change).await;
        // Without an answer of its server, `verify` can do nothing else.
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
        for (fault, told) in question_faults(running, &world) {
            world.set_faults(fault);
            if let Ok(VerifyResult::Mismatch(found)) = ask(running, &world, change).await {
                let message = format!("{told}, and verify reports a mismatch for {what}");
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

/// Lets `verify` look at the changes in a world without the call. Only for calls that changed folders or the map alone,
/// because servers of a case have no state.
async fn check_without_call(
    running: &mut RunningCase<'_>,
    after: &State,
    changes: &[StateChange],
) -> std::io::Result<()> {
    let world = running.world()?;
    if changes.is_empty() || difference(&world.state(), after).is_none() {
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
