//! D103: a call has made a part of its effect and ends with an error whose outcome is unknown. `reconcile` must not deny
//! such a call.

use latchwork_core::model::effect::Answer;
use latchwork_engine::ReconcileVerdict;

use crate::check::tools::fault_profile::FaultProfile;
use crate::check::tools::lost_record::ask;
use crate::check::tools::running_case::RunningCase;
use crate::check::tools::stub_servers::ReceivedRequest;

/// Makes the call as the case defines it, and while a later request fails. Then asks about it.
pub(super) async fn run(running: &mut RunningCase<'_>) -> std::io::Result<()> {
    let is_asked = running.tools.plugin.reconcile && running.spec.is_world_changing();
    if !is_asked || running.case.http.is_empty() || running.found.iter().any(|finding| finding.rule == "D103") {
        return Ok(());
    }
    let world = running.world()?;
    running.call(&world, 0).await;
    let changing = world.received().iter().filter(|request| request.may_change_state()).count();
    let later = (1..changing).flat_map(|number| {
        let which = format!("world-changing request {} of the call", number + 1);
        let refused = (FaultProfile::RefusedFrom(number), format!("{which} is refused"));
        [refused, (FaultProfile::UnreachableAfter(number), format!("no server can be reached for {which}"))]
    });
    let own = (FaultProfile::Fair, "the call ends with the error of the case".to_owned());
    for (fault, what) in std::iter::once(own).chain(later) {
        let world = running.world()?;
        world.set_faults(fault);
        let called = running.call(&world, 0).await;
        world.set_faults(FaultProfile::Fair);
        let accepted: Vec<ReceivedRequest> = world.received().into_iter().filter(is_accepted).collect();
        let is_in_doubt = matches!(called.end.answer, Answer::Unknown { .. });
        let Some(request) = accepted.first().filter(|_| is_in_doubt) else { continue };
        let verdict = ask(running, &world).await;
        // If the case has no response for a question, the verdict says nothing.
        if matches!(verdict, Ok(ReconcileVerdict::DidNotHappen)) && !world.is_unanswered() {
            let message = format!(
                "{what}, and reconcile denies the call, although {} {} was answered with success",
                request.method, request.url
            );
            let finding = running.add_finding("D103", message);
            finding.expected = Some("happened, not-yet or unknown".to_owned());
            finding.found = Some("did-not-happen: the host would execute the call a second time".to_owned());
            finding.hint = Some("a call with a part of its effect has happened: answer unknown".to_owned());
            return Ok(());
        }
    }
    Ok(())
}

/// Returns true if a server reports that it has made a change. Status 202 reports only that it can still make one.
fn is_accepted(request: &ReceivedRequest) -> bool {
    request.may_change_state() && request.is_successful() && request.status != Some(202)
}
