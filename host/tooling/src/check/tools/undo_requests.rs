//! D109 and D118: the requests that `compensate` sends.

use latchwork_core::model::effect::Answer;

use crate::check::tools::applied;
use crate::check::tools::compensation::{compensate, report};
use crate::check::tools::emptied::emptied_resource;
use crate::check::tools::fault_profile::FaultProfile;
use crate::check::tools::running_case::RunningCase;
use crate::check::tools::stub_servers::ReceivedRequest;
use crate::check::tools::world::World;

/// Statuses that say that an entry has changed.
pub(super) const CONFLICTS: [u16; 2] = [409, 412];

/// Compares the requests of an undo with those of the call.
pub(super) fn check_sent(
    running: &mut RunningCase<'_>,
    requests: &[ReceivedRequest],
    undoing: &[ReceivedRequest],
    answer: &Answer,
    world: &World,
) {
    if let Some(url) = emptied_resource(requests, undoing) {
        let message = format!("compensate puts an empty entry to {url}, where the server had none before the call");
        report(running, message, answer, world, "delete what the call created, or mark it as undone");
    }
    if let Some((header, url)) = repeated_key(requests, undoing) {
        let message = format!(
            "compensate sends the {header} of the call to {url}, and the server returns the answer of the call"
        );
        report(running, message, answer, world, "send the key of the compensation, which is in its context");
    }
}

/// D109: a server accepts a request of `compensate`, and refuses a later one or cannot be reached.
pub(super) async fn check_later_refusals(
    running: &mut RunningCase<'_>,
    undoing: &[ReceivedRequest],
) -> std::io::Result<()> {
    let changing = undoing.iter().filter(|request| request.may_change_state()).count();
    for number in 1..changing {
        for is_refused in [true, false] {
            let world = running.world()?;
            let Answer::Ok(done) = running.call(&world, 0).await.end.answer else { return Ok(()) };
            let of_call = world.received().iter().filter(|request| request.may_change_state()).count();
            let (fault, what) = match is_refused {
                true => (FaultProfile::RefusedFrom(of_call + number), "is refused"),
                false => (FaultProfile::UnreachableAfter(of_call + number), "does not reach its server"),
            };
            world.set_faults(fault);
            let answer = compensate(running, &world, &done).await;
            let when = format!("world-changing request {} of compensate {what}", number + 1);
            let requests = world.received();
            if applied::check_requests(running, &when, &requests, &world, &answer) {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// D118: a server refuses a conditional request of `compensate`, because the entry has changed since the call. A repetition
/// of the request is refused again, so the error must be final.
pub(super) async fn check_conflict(running: &mut RunningCase<'_>, undoing: &[ReceivedRequest]) -> std::io::Result<()> {
    let is_conditional = |request: &ReceivedRequest| {
        request.may_change_state() && request.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("if-match"))
    };
    if !undoing.iter().any(is_conditional) {
        return Ok(());
    }
    for status in CONFLICTS {
        let world = running.world()?;
        let Answer::Ok(done) = running.call(&world, 0).await.end.answer else { return Ok(()) };
        world.set_faults(FaultProfile::ChangeStatus(status));
        let answer = compensate(running, &world, &done).await;
        if let Answer::NotApplied(failure) = &answer
            && failure.code.is_retryable()
        {
            let message = format!(
                "the server answers {status} to a conditional request of compensate, but its error asks for another try"
            );
            report(running, message, &answer, &world, "return a final code, such as POLICY_DENIED: a person decides");
            return Ok(());
        }
    }
    Ok(())
}

/// Returns a header with a key and the address of a POST request that the call and its undo both send. Servers answer a
/// repeated key with the first answer.
fn repeated_key(call: &[ReceivedRequest], undoing: &[ReceivedRequest]) -> Option<(String, String)> {
    let keys_of = |request: &ReceivedRequest| -> Vec<(String, String)> {
        let is_key = |(name, _): &&(String, String)| name.to_lowercase().contains("idempotency");
        request.headers.iter().filter(is_key).cloned().collect()
    };
    let posts = |requests: &[ReceivedRequest]| -> Vec<ReceivedRequest> {
        requests.iter().filter(|request| request.method == "POST").cloned().collect()
    };
    let of_call = posts(call);
    posts(undoing).iter().find_map(|undo| {
        let same = of_call.iter().filter(|request| request.url == undo.url && request.body != undo.body);
        let keys: Vec<(String, String)> = same.flat_map(keys_of).collect();
        let (name, _) = keys_of(undo).into_iter().find(|key| keys.contains(key))?;
        Some((name, undo.url.clone()))
    })
}
