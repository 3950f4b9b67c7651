//! D100, D101, D105, D108, D110, D111, D112, D114 and D124: one call while all servers work.

use latchwork_core::model::bounds;
use latchwork_core::model::effect::Answer;
use latchwork_core::model::error::Code;
use latchwork_core::model::manifest::RecoveryClass;
use latchwork_engine::capability::denied::{
    DECLARE_EFFECTS, DECLARE_EXTERNAL_EFFECTS, NO_EXTERNAL_EFFECT, NOT_FOR_PURE,
};

use crate::check::exception;
use crate::check::tools::applied;
use crate::check::tools::refusal;
use crate::check::tools::running_case::{CallResult, RunningCase, describe_answer};
use crate::check::tools::stub_servers::ReceivedRequest;

/// Minimum length of a checked secret, in bytes. A shorter secret could occur in a text by chance.
const SECRET_BYTES_MIN: usize = 4;

pub(super) async fn run(running: &mut RunningCase<'_>) -> std::io::Result<()> {
    let world = running.world()?;
    let before = world.state();
    let called = running.call(&world, 0).await;
    let requests = world.received();
    let when = "while everything works";
    if !applied::check(running, when, &before, &world, &called.end.answer) {
        applied::check_requests(running, when, &requests, &world, &called.end.answer);
    }
    check_second_server(running, &requests, &called.end.answer);
    let is_impure = check_denials(running, &called);
    let is_of_denial = matches!(&called.end.answer, Answer::NotApplied(failure) | Answer::Unknown { failure, .. }
        if failure.code == Code::CapabilityDenied);
    // The refusal of an impure read is a finding of its own.
    if !(is_impure && is_of_denial) {
        check_answer(running, &called, &describe_answer(&called.end.answer, &world));
    }
    check_secrets(running, &called);
    check_wait(running, &called);
    if running.class == RecoveryClass::Keyed {
        check_keys(running, &requests).await?;
    }
    Ok(())
}

/// D101: each world-changing request of a keyed call has the external key, or a value that is derived from it, such as a
/// UUID. Such a request differs in a call with another key, and is equal in the next try.
async fn check_keys(running: &mut RunningCase<'_>, requests: &[ReceivedRequest]) -> std::io::Result<()> {
    let key = running.key();
    let mut unkeyed =
        requests.iter().filter(|request| request.may_change_state() && !request.contains_key(&key)).peekable();
    if unkeyed.peek().is_none() {
        return Ok(());
    }
    let requests_of = async |running: &mut RunningCase<'_>, context| {
        let world = running.world()?;
        running.call_with(&world, context, false).await;
        std::io::Result::Ok(world.received())
    };
    let with_other_key = requests_of(running, running.context_of_other_key()).await?;
    let of_next_try = requests_of(running, running.context(1)).await?;
    let is_derived = |request: &&ReceivedRequest| !with_other_key.contains(request) && of_next_try.contains(request);
    for request in unkeyed.filter(|request| !is_derived(request)) {
        let message = format!(
            "{} {} changes something but does not carry the external key, by which the server would recognize a \
             repetition",
            request.method, request.url
        );
        let hint = "send the key of the call's context in the header or field in which the server expects it";
        running.add_finding("D101", message).hint = Some(hint.to_owned());
    }
    Ok(())
}

/// D108: a first server may have made the change, and a second one gets the same request.
fn check_second_server(running: &mut RunningCase<'_>, requests: &[ReceivedRequest], answer: &Answer) {
    if !matches!(answer, Answer::Ok(_)) {
        return;
    }
    let is_same = |one: &ReceivedRequest, other: &ReceivedRequest| {
        one.method == other.method && one.body == other.body && one.origin() != other.origin()
    };
    let in_doubt = requests.iter().enumerate().filter(|(_, one)| one.may_have_changed_state() && !one.is_successful());
    let second = in_doubt.filter(|(_, one)| !one.body.is_empty()).find_map(|(number, one)| {
        let later = requests[number + 1..].iter().find(|other| other.is_successful() && is_same(one, other))?;
        Some((one, later))
    });
    if let Some((first, second)) = second {
        let message = format!(
            "{} may have made the change, and {} gets the same request: the effect can happen twice",
            first.url, second.url
        );
        running.add_finding("D108", message).hint =
            Some("report `applied` as unknown after a request whose outcome is not known".to_owned());
    }
}

/// D124: a tool asks for a longer wait than the host grants.
fn check_wait(running: &mut RunningCase<'_>, called: &CallResult) {
    let (Answer::NotApplied(failure) | Answer::Unknown { failure, .. }) = &called.end.answer else { return };
    let Some(wait) = failure.retry_after_ms.filter(|wait| *wait > bounds::RETRY_AFTER_MS) else { return };
    let message =
        format!("it asks for a retry after {wait} ms, and the host waits at most {} ms", bounds::RETRY_AFTER_MS);
    let hint = "put a wait into the plan, or return an error that is final";
    running.add_finding("D124", message).hint = Some(hint.to_owned());
}

/// Checks that the call ended as the case expects.
fn check_answer(running: &mut RunningCase<'_>, called: &CallResult, displayed: &str) {
    let failure = match &called.end.answer {
        Answer::Ok(_) => {
            if let Some(expected) = running.case.error.clone() {
                let finding = running.add_finding("D100", format!("it succeeds, but the case expects {expected}"));
                (finding.expected, finding.found) = (Some(expected), Some(displayed.to_owned()));
            }
            return;
        }
        Answer::NotApplied(failure) | Answer::Unknown { failure, .. } => failure,
    };
    let expected = running.case.error.as_deref();
    if failure.code == Code::SchemaValidationFailed && expected != Some(failure.code.as_str()) {
        running.add_finding("D110", failure.message.clone());
        return;
    }
    if is_host_ended(failure.code) {
        running.add_finding("D100", format!("it does not answer: {}", failure.message));
        return;
    }
    let frames = exception::frames(failure);
    match running.case.error.clone() {
        Some(expected) if expected == failure.code.as_str() => {}
        expected => {
            let wanted = expected.unwrap_or_else(|| "an answer".to_owned());
            let finding = running.add_finding("D100", format!("it fails, but the case expects {wanted}"));
            (finding.expected, finding.found) = (Some(wanted), Some(displayed.to_owned()));
            *finding = finding.clone().functions(frames);
        }
    }
}

/// Returns true if the host uses this code when it ends a guest.
pub(super) fn is_host_ended(code: Code) -> bool {
    matches!(
        code,
        Code::PluginTrap
            | Code::OutOfFuel
            | Code::MemoryLimit
            | Code::StackOverflow
            | Code::WallClockLimit
            | Code::MachineFault
            | Code::OutputLimit
            | Code::Internal
    )
}

/// Reports everything that the host denied to the call. Returns true if the operator is pure and tried to read
/// something that a pure operator may not read.
fn check_denials(running: &mut RunningCase<'_>, called: &CallResult) -> bool {
    let mut is_impure = false;
    for refusal in refusal::in_log(&called.log) {
        let what = refusal.access;
        if refusal.has(NOT_FOR_PURE) {
            is_impure = true;
            let finding = running
                .add_finding("D114", format!("it declares that it is pure, but it {what}, which the host refuses"));
            *finding = finding.clone().functions(named_functions(&called.end.functions));
            continue;
        }
        let (rule, hint) = match is_undeclared(&refusal) {
            true => ("D105", "declare what it changes, or only read"),
            false => ("D112", "grant it in its [[plugin]], or leave it alone"),
        };
        running.add_finding(rule, format!("it {what}, which the host refuses")).hint = Some(hint.to_owned());
    }
    is_impure
}

fn is_undeclared(refusal: &refusal::RefusedAccess<'_>) -> bool {
    [DECLARE_EFFECTS, DECLARE_EXTERNAL_EFFECTS, NO_EXTERNAL_EFFECT].iter().any(|text| refusal.has(text))
}

/// Returns the first access that the host refused because the operator does not declare its effect.
pub(super) fn undeclared_access(called: &CallResult) -> Option<String> {
    let refused = refusal::in_log(&called.log).find(is_undeclared)?;
    Some(refused.access.to_owned())
}

/// Returns the functions with names, or all if none has one. Glue between modules has no names.
fn named_functions(functions: &[String]) -> Vec<String> {
    let named: Vec<String> = functions.iter().filter(|name| !name.starts_with("function ")).cloned().collect();
    if named.is_empty() { functions.to_vec() } else { named }
}

/// Reports secrets that occur in the answer or in the log.
fn check_secrets(running: &mut RunningCase<'_>, called: &CallResult) {
    let described = match &called.end.answer {
        Answer::Ok(output) => format!("{output:?}"),
        Answer::NotApplied(failure) | Answer::Unknown { failure, .. } => format!("{failure:?}"),
    };
    let secrets: Vec<(String, String)> = running.case.secrets.clone().into_iter().collect();
    for (name, value) in secrets.iter().filter(|(_, value)| value.len() >= SECRET_BYTES_MIN) {
        for (place, text) in [("answer", &described), ("log", &called.log)] {
            if text.contains(value) {
                let message = format!("the secret {name} appears in clear in its {place}");
                let hint = "keep credentials out of texts; without secrets_clear the tool never sees them";
                running.add_finding("D111", message).hint = Some(hint.to_owned());
            }
        }
    }
}
