//! D117: `verify` must confirm what the call itself changed.

use tracing::instrument::WithSubscriber as _;

use latchwork_core::model::effect::Answer;
use latchwork_engine::VerifyResult;

use crate::check::tools::running_case::RunningCase;

/// Lets `verify` look at each change of a call, in the world that the call left.
pub(super) async fn run(running: &mut RunningCase<'_>) -> std::io::Result<()> {
    if !running.tools.plugin.verify || running.case.error.is_some() || !running.spec.is_world_changing() {
        return Ok(());
    }
    let world = running.world()?;
    let Answer::Ok(done) = running.call(&world, 0).await.end.answer else { return Ok(()) };
    let plugin = running.plugin(&world);
    let limits = plugin.limits(&running.case.operator);
    for change in &done.state_changes {
        let asked = plugin.verify(&running.case.operator, change, running.context(0), &limits);
        // Failures of `verify` are not logged. Such an end proves nothing about the change.
        let Ok(VerifyResult::Mismatch(found)) = asked.with_subscriber(tracing::subscriber::NoSubscriber::new()).await
        else {
            continue;
        };
        let what = format!("{} {:?}", change.resource_type, change.resource_id);
        let found = world.strip_paths(&found);
        let finding = running.add_finding("D117", format!("verify reports a mismatch for its own change of {what}"));
        (finding.expected, finding.found) = (Some("confirmed".to_owned()), Some(found));
        finding.hint = Some("report in the change what verify compares later".to_owned());
    }
    Ok(())
}
