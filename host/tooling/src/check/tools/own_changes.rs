//! D117: `verify` must confirm what the call itself changed, only read, and report a mismatch only if it has seen one.

use tracing::instrument::WithSubscriber as _;

use latchwork_core::model::effect::{Answer, StateChange};
use latchwork_core::model::error::Failure;
use latchwork_engine::VerifyResult;

use crate::check::tools::applied::difference;
use crate::check::tools::running_case::RunningCase;
use crate::check::tools::server_faults::FAULTS;
use crate::check::tools::world::{FaultProfile, World};

/// Lets `verify` look at each change of a call, in the world that the call left, and while its servers fail.
pub(super) async fn run(running: &mut RunningCase<'_>) -> std::io::Result<()> {
    if !running.tools.plugin.verify || running.case.error.is_some() || !running.spec.is_world_changing() {
        return Ok(());
    }
    let world = running.world()?;
    let Answer::Ok(done) = running.call(&world, 0).await.end.answer else { return Ok(()) };
    let before = world.state();
    for change in &done.state_changes {
        let what = format!("{} {:?}", change.resource_type, change.resource_id);
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
        for (fault, told, _) in FAULTS.iter().filter(|_| !running.case.http.is_empty()) {
            world.set_faults(*fault);
            if let Ok(VerifyResult::Mismatch(found)) = ask(running, &world, change).await {
                let message = format!("the server {told}, and verify reports a mismatch for {what}");
                report(running, message, "an error", found, "a server that cannot answer shows no change");
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

fn report(running: &mut RunningCase<'_>, message: String, expected: &str, found: String, hint: &str) {
    let finding = running.add_finding("D117", message);
    (finding.expected, finding.found) = (Some(expected.to_owned()), Some(found));
    finding.hint = Some(hint.to_owned());
}

async fn ask(running: &RunningCase<'_>, world: &World, change: &StateChange) -> Result<VerifyResult, Failure> {
    let plugin = running.plugin(world);
    let limits = plugin.limits(&running.case.operator);
    let asked = plugin.verify(&running.case.operator, change, running.context(0), &limits);
    // Failures of `verify` are not logged.
    asked.with_subscriber(tracing::subscriber::NoSubscriber::new()).await
}
