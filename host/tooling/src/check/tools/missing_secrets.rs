//! D109: a secret has no value. A call that fails for it must have changed nothing, or must say that it may have changed
//! something.

use latchwork_core::model::effect::Answer;

use crate::check::tools::applied;
use crate::check::tools::running_case::{RunningCase, describe_answer};
use crate::check::tools::stub_servers::ReceivedRequest;

/// Calls the tool without the value of each secret in turn.
pub(super) async fn run(running: &mut RunningCase<'_>) -> std::io::Result<()> {
    if running.case.error.is_some() || !running.spec.is_world_changing() {
        return Ok(());
    }
    for name in running.case.secrets.keys() {
        let mut world = running.world()?;
        world.set_secrets(running.case.secrets.clone().into_iter().filter(|(other, _)| other != name).collect());
        let before = world.state();
        let called = running.calling(running.case, &world, running.context(0), false).await;
        let when = format!("the secret {name} has no value");
        if applied::check(running, &when, &before, &world, &called.end.answer) {
            break;
        }
        let is_sent = world.received().iter().any(ReceivedRequest::may_change_state);
        if is_sent && matches!(called.end.answer, Answer::NotApplied(_)) {
            let displayed = describe_answer(&called.end.answer, &world);
            let message = format!("{when}, a world-changing request was received, but the tool reports no change");
            let finding = running.add_finding("D109", message);
            finding.found = Some(displayed);
            finding.hint = Some("read all secrets before the first request, or report `applied` as unknown".to_owned());
            break;
        }
    }
    Ok(())
}
