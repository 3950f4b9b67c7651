//! D106 to D109: answers of a tool when servers fail. Runs only cases with canned responses of servers.

use latchwork_core::model::effect::Answer;
use latchwork_core::model::error::Code;

use crate::check::tools::applied;
use crate::check::tools::fault_profile::FaultProfile;
use crate::check::tools::running_case::{RunningCase, describe_answer};
use crate::check::tools::single_call::is_host_ended;
use crate::check::tools::stub_servers::ReceivedRequest;
use crate::check::tools::world::World;

/// Codes that a tool may report if the server failed by itself.
const OF_SERVER: &[Code] = &[Code::TemporaryProviderError, Code::DependencyUnavailable];
/// Codes that a tool may report if the server is overloaded or too slow.
const OF_LOAD: &[Code] =
    &[Code::TemporaryProviderError, Code::DependencyUnavailable, Code::RateLimit, Code::NetworkTimeout];
/// Codes that a tool may report if there is no answer.
const OF_NETWORK: &[Code] = &[Code::NetworkTimeout, Code::DependencyUnavailable, Code::TemporaryProviderError];

/// Simulated failures. Each has a description and the error codes that a tool may report for it. An empty list allows
/// every code.
const FAULTS: [(FaultProfile, &str, &[Code]); 8] = [
    (FaultProfile::Status(429), "answers 429", &[Code::RateLimit]),
    (FaultProfile::Status(500), "answers 500", OF_SERVER),
    (FaultProfile::Status(503), "answers 503", OF_LOAD),
    (FaultProfile::Silent, "does not answer", OF_NETWORK),
    (FaultProfile::Refused, "refuses connections", OF_NETWORK),
    (FaultProfile::Status(408), "answers 408", &[]),
    (FaultProfile::Status(502), "answers 502", OF_LOAD),
    (FaultProfile::Status(504), "answers 504", OF_LOAD),
];
/// More answers that show nothing of the state of the world.
const BLIND: [(FaultProfile, &str); 3] = [
    (FaultProfile::Status(401), "answers 401"),
    (FaultProfile::Status(403), "answers 403"),
    (FaultProfile::Garbled, "answers with a page of a proxy"),
];

/// Value of the header `retry-after` in an answer with status 429.
const RETRY_AFTER_S: u32 = 7;

/// Returns the faults under which `reconcile`, `verify` or `compensate` is called again, each with a description. The
/// faults of servers are included if the case has servers. The fault of the map is included if the function has used
/// the map in this world, and that of the folders if it has used them.
pub(super) fn question_faults(running: &RunningCase<'_>, world: &World) -> Vec<(FaultProfile, String)> {
    let faults = FAULTS.iter().map(|(fault, description, _)| (*fault, *description)).chain(BLIND);
    let servers = faults.filter(|_| !running.case.http.is_empty());
    let map = world.was_map_used().then(|| (FaultProfile::NoMap, "the map does not answer".to_owned()));
    let folders = world.were_folders_used().then(|| (FaultProfile::NoFolder, "the folders cannot be read".to_owned()));
    servers.map(|(fault, description)| (fault, format!("the server {description}"))).chain(map).chain(folders).collect()
}

pub(super) async fn run(running: &mut RunningCase<'_>) -> std::io::Result<()> {
    if running.case.http.is_empty() {
        return Ok(());
    }
    if !check_later_refusals(running).await? {
        return Ok(());
    }
    if running.spec.is_world_changing() {
        check_conflict(running).await?;
        check_garbled_success(running).await?;
        check_failed_questions(running).await?;
    }
    check_wait(running).await?;
    for (weather, description, fitting) in FAULTS {
        let world = running.world()?;
        let before = world.state();
        world.set_faults(weather);
        let called = running.call(&world, 0).await;
        let requests = world.received();
        applied::check(running, &format!("the server {description}"), &before, &world, &called.end.answer);
        // A try that sends no request is skipped, because a failing server does not affect it. A server that refuses
        // connections never receives a request. With such a server, a try without requests is not skipped.
        if requests.is_empty() && weather != FaultProfile::Refused {
            continue;
        }
        let displayed = describe_answer(&called.end.answer, &world);
        let changed = requests.iter().any(ReceivedRequest::may_change_state);
        let (failure, applied_unknown) = match &called.end.answer {
            Answer::Ok(_) => {
                if running.spec.is_world_changing() && changed {
                    let message = format!("the server {description}, but the tool reports that its effect took place");
                    running.add_finding("D108", message).found = Some(displayed);
                }
                continue;
            }
            Answer::NotApplied(failure) => (failure, false),
            Answer::Unknown { failure, .. } => (failure, true),
        };
        if is_host_ended(failure.code) {
            let message = format!(
                "the server {description}, and the tool ends without an answer: {}",
                world.strip_paths(&failure.message)
            );
            running.add_finding("D106", message).hint = Some("return a typed error; catch all exceptions".to_owned());
            continue;
        }
        // A tool that sends another request after status 429, or only asks before its change, may have one code for all
        // failures. The host repeats such a call.
        let is_limited = weather == FaultProfile::Status(429);
        let is_of_question = running.spec.is_world_changing() && !changed;
        let fitting = if is_limited && (requests.len() > 1 || is_of_question) { OF_LOAD } else { fitting };
        if !fitting.is_empty() && !fitting.contains(&failure.code) {
            let codes: Vec<_> = fitting.iter().map(|code| code.as_str()).collect();
            let finding =
                running.add_finding("D107", format!("the server {description}, but the tool's error does not say so"));
            (finding.expected, finding.found) = (Some(codes.join(" or ")), Some(displayed.clone()));
        }
        // After these failures the server may have applied the request, so the call is in doubt. After status 429 or a
        // refused connection, the server has not applied the request.
        let in_doubt = matches!(weather, FaultProfile::Status(408 | 500..) | FaultProfile::Silent);
        if in_doubt && changed && !applied_unknown && running.spec.is_world_changing() {
            let message = format!(
                "its world-changing request was received, the server {description}, but the tool reports no change"
            );
            let finding = running.add_finding("D109", message);
            finding.found = Some(displayed);
            finding.hint = Some("report `applied` as unknown: the host then finds out, or asks a person".to_owned());
        }
    }
    Ok(())
}

/// D108 and D109: status 409 can mean that an earlier try had the effect, or that another entry is in the way. A tool may
/// report success, or no change, only after it has asked the server.
async fn check_conflict(running: &mut RunningCase<'_>) -> std::io::Result<()> {
    let world = running.world()?;
    world.set_faults(FaultProfile::ChangeStatus(409));
    let called = running.call(&world, 0).await;
    let requests = world.received();
    let mut after = requests.iter().skip_while(|request| !request.may_change_state()).skip(1);
    let is_asked = after.any(|request| !request.may_change_state());
    let is_sent = requests.iter().any(ReceivedRequest::may_change_state);
    let displayed = describe_answer(&called.end.answer, &world);
    if is_sent && !is_asked && matches!(called.end.answer, Answer::Ok(_)) {
        let message = "the server answers 409, and the tool reports success without a question to the server";
        let finding = running.add_finding("D108", message);
        finding.found = Some(displayed);
        finding.hint = Some("the entry of the server can be another one: read it and compare".to_owned());
    } else if is_sent && !is_asked && matches!(called.end.answer, Answer::NotApplied(_)) {
        let message = "the server answers 409, and the tool reports no change without a question to the server";
        let finding = running.add_finding("D109", message);
        finding.found = Some(displayed);
        finding.hint = Some("an earlier try can have this effect: look, or report `applied` as unknown".to_owned());
    }
    Ok(())
}

/// D108: a server does not answer the question that the call asks before its change. A failed question does not prove that
/// there is no entry.
async fn check_failed_questions(running: &mut RunningCase<'_>) -> std::io::Result<()> {
    let world = running.world()?;
    let usual = running.call(&world, 0).await;
    let requests = world.received();
    let is_asked = requests.iter().take_while(|request| !request.may_change_state()).any(ReceivedRequest::is_question);
    if !is_asked || !matches!(usual.end.answer, Answer::Ok(_)) {
        return Ok(());
    }
    let world = running.world()?;
    world.set_faults(FaultProfile::QuestionStatus(503));
    let called = running.call(&world, 0).await;
    let is_sent = world.received().iter().any(ReceivedRequest::may_change_state);
    if is_sent && matches!(called.end.answer, Answer::Ok(_)) {
        let message = "the server answers 503 to the question before the change, and the tool makes the change";
        let displayed = describe_answer(&called.end.answer, &world);
        let finding = running.add_finding("D108", message);
        finding.found = Some(displayed);
        finding.hint = Some("return the error of the question, and change nothing".to_owned());
    }
    Ok(())
}

/// D107: a server asks for a wait, in seconds or until a time.
async fn check_wait(running: &mut RunningCase<'_>) -> std::io::Result<()> {
    for fault in [FaultProfile::Status(429), FaultProfile::LimitedUntil] {
        let world = running.world()?;
        world.set_faults(fault);
        let called = running.call(&world, 0).await;
        let requests = world.received();
        let (Answer::NotApplied(failure) | Answer::Unknown { failure, .. }) = &called.end.answer else { continue };
        let displayed = describe_answer(&called.end.answer, &world);
        let is_of_question =
            running.spec.is_world_changing() && !requests.iter().any(ReceivedRequest::may_change_state);
        let (message, expected) = match fault {
            FaultProfile::Status(_) if failure.retry_after_ms == Some(RETRY_AFTER_S) => {
                ("the server asks for a wait of seconds, and the tool asks for as many milliseconds", "7000 ms")
            }
            FaultProfile::LimitedUntil
                if requests.len() == 1
                    && failure.code != Code::RateLimit
                    && !(is_of_question && OF_LOAD.contains(&failure.code))
                    && !is_host_ended(failure.code) =>
            {
                (
                    "the server answers 429 with a date in retry-after, but the tool's error does not say so",
                    "RATE_LIMIT",
                )
            }
            _ => continue,
        };
        if running.found.iter().any(|finding| finding.rule == "D107") {
            return Ok(());
        }
        let finding = running.add_finding("D107", message);
        (finding.expected, finding.found) = (Some(expected.to_owned()), Some(displayed));
    }
    Ok(())
}

/// D106 and D109: the server accepts the world-changing request, and the body of its answer cannot be read.
async fn check_garbled_success(running: &mut RunningCase<'_>) -> std::io::Result<()> {
    let world = running.world()?;
    let usual = running.call(&world, 0).await;
    if !matches!(usual.end.answer, Answer::Ok(_)) || !world.received().iter().any(ReceivedRequest::may_change_state) {
        return Ok(());
    }
    let world = running.world()?;
    world.set_faults(FaultProfile::Garbled);
    let called = running.call(&world, 0).await;
    let displayed = describe_answer(&called.end.answer, &world);
    let is_sent = world.received().iter().any(ReceivedRequest::may_change_state);
    let description = "the server accepts a world-changing request and answers with a page of a proxy";
    match &called.end.answer {
        Answer::NotApplied(failure) | Answer::Unknown { failure, .. } if is_host_ended(failure.code) => {
            let message =
                format!("{description}, and the tool ends without an answer: {}", world.strip_paths(&failure.message));
            running.add_finding("D106", message).hint = Some("return a typed error; catch all exceptions".to_owned());
        }
        Answer::NotApplied(_) if is_sent => {
            let finding = running.add_finding("D109", format!("{description}, and the tool reports no change"));
            finding.found = Some(displayed);
            finding.hint = Some("the request was accepted: report `applied` as unknown".to_owned());
        }
        _ => {}
    }
    Ok(())
}

/// D109: a server accepts a world-changing request, and refuses a later request of the same call or cannot be reached. Returns
/// false if the call of the case sends no request. Servers do not affect such a call.
async fn check_later_refusals(running: &mut RunningCase<'_>) -> std::io::Result<bool> {
    let world = running.world()?;
    running.call(&world, 0).await;
    let requests = world.received();
    let changing = requests.iter().filter(|request| request.may_change_state()).count();
    let faults = |first| {
        let refused = format!("world-changing request {} of the call is refused", first + 1);
        let unreachable = format!("no server can be reached after world-changing request {first} of the call");
        [(FaultProfile::RefusedFrom(first), refused), (FaultProfile::UnreachableAfter(first), unreachable)]
    };
    let later = (1..changing).flat_map(faults);
    // The last change is followed by a question in some calls.
    let last = format!("no server can be reached after world-changing request {changing} of the call");
    let last = (changing > 0).then_some((FaultProfile::UnreachableAfter(changing), last));
    for (fault, what) in later.chain(last) {
        let world = running.world()?;
        world.set_faults(fault);
        let called = running.call(&world, 0).await;
        let is_made = world.received().iter().any(ReceivedRequest::may_have_changed_state);
        if let (Answer::NotApplied(_), true) = (&called.end.answer, is_made && running.spec.is_world_changing()) {
            let displayed = describe_answer(&called.end.answer, &world);
            let message = format!("{what}, and the tool reports no change");
            let finding = running.add_finding("D109", message);
            finding.found = Some(displayed);
            finding.hint = Some("an earlier request was accepted: report `applied` as unknown".to_owned());
            break;
        }
    }
    Ok(!requests.is_empty())
}
