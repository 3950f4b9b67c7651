//! Checks how the run of a case ended: D051 to D053, D055 to D061, D068, D069, D075, D079.

use std::collections::BTreeMap;

use serde_json::Value;

use latchwork_core::encoding::canon;
use latchwork_core::model::error::Code;
use latchwork_engine::guest::json_gate::NO_CANONICAL_FORM;
use latchwork_engine::guest::last_words::LAST_WORDS;

use crate::check::dynamic::address;
use crate::check::dynamic::baseline::CaseBaseline;
use crate::check::dynamic::trace::{HostCall, RunEnd, Trace};
use crate::check::exception;
use crate::check::finding::Finding;

/// Text that follows the operator's name in the message with which every SDK refuses an output.
const REFUSED_BY_SDK: &str = "is not JSON: ";

/// Returns a finding if the host ended the run. Returns `None` if the machine lacked resources, because the plugin is
/// not the cause.
pub(super) fn host_fault(ran: &CaseBaseline<'_>, trace: &Trace, when: &str) -> Option<Finding> {
    let failure = trace.fault().filter(|failure| failure.code != Code::MachineFault)?;
    let rule = match failure.code {
        Code::SchemaValidationFailed if failure.message.contains(NO_CANONICAL_FORM) => "D075",
        // The guest can cause this failure with an invalid event or an invalid output. The host checks an event while
        // the guest runs, so the failure of an event has a call stack. The failure of an output has none.
        Code::SchemaValidationFailed if !trace.functions.is_empty() => "D060",
        Code::SchemaValidationFailed => "D055",
        Code::OutOfFuel => "D057",
        // The usual cause is a loop that reads the clock until a certain time.
        Code::PluginTrap if failure.message.contains("limits.host_calls") => "D057",
        Code::MemoryLimit => "D058",
        Code::OutputLimit => "D059",
        Code::StackOverflow | Code::WallClockLimit => "D061",
        _ => "D056",
    };
    let (reason, last_words) = match failure.message.find(LAST_WORDS) {
        // The last words of an endless loop are all alike.
        Some(start) if rule == "D057" => (&failure.message[..start], ""),
        Some(start) => failure.message.split_at(start),
        None => (failure.message.as_str(), ""),
    };
    // Removes the functions from the reason, because the finding lists them separately.
    let reason = reason.split(" in ").next().filter(|_| !trace.functions.is_empty()).unwrap_or(reason);
    let message = format!("{when}{reason}{last_words}");
    Some(ran.finding(rule, message).functions(trace.functions.clone()))
}

/// Returns a finding if the host ended the run, or if the SDK refused the output. For the usual run of a case,
/// [`host_fault`] is used alone, because D069 reports an output that the SDK refused.
pub(super) fn broken(ran: &CaseBaseline<'_>, trace: &Trace, when: &str) -> Option<Finding> {
    host_fault(ran, trace, when).or_else(|| refused_by_sdk(ran, trace, when))
}

/// D075: finds an error with which an SDK refuses to return an output.
fn refused_by_sdk(ran: &CaseBaseline<'_>, trace: &Trace, when: &str) -> Option<Finding> {
    let RunEnd::Failed(failure) = &trace.ended else { return None };
    let start = format!("output of {} {REFUSED_BY_SDK}", ran.case.operator);
    (failure.code == Code::SchemaValidationFailed && failure.message.starts_with(&start))
        .then(|| ran.finding("D075", format!("{when}{}", failure.message)))
}

/// D075: finds a call whose arguments have no canonical form. A worker refuses such a call.
pub(super) fn refused_arguments(ran: &CaseBaseline<'_>) -> Option<Finding> {
    ran.base.calls().enumerate().find_map(|(number, (operator, args))| {
        let error = canon::parse_strict(args.as_bytes()).err()?;
        let message = format!("the arguments of call {number} ({operator}) have no canonical form: {error}");
        Some(ran.finding("D075", message))
    })
}

/// D077: returns a finding if the step ended with an exception that its code does not handle.
pub(super) fn uncaught(ran: &CaseBaseline<'_>, trace: &Trace, when: &str) -> Option<Finding> {
    let RunEnd::Failed(failure) = &trace.ended else { return None };
    if failure.code != Code::PluginException {
        return None;
    }
    let message = format!("{when}it ends with an exception: {}", failure.message);
    Some(ran.finding("D077", message).functions(exception::frames(failure)))
}

/// Checks the end of the usual run of a case.
pub(super) fn check_end(ran: &CaseBaseline<'_>) -> Vec<Finding> {
    let found = host_fault(ran, &ran.base, "").into_iter().chain(refused_arguments(ran));
    found
        .chain(near_limit(ran))
        .chain(address::displayed_address(ran))
        .chain(shared_action_key(ran))
        .chain(asked_retry(ran))
        .collect()
}

/// D083: the step asks for a retry, and no tool did. The error of a step is final.
fn asked_retry(ran: &CaseBaseline<'_>) -> Option<Finding> {
    let RunEnd::Failed(failure) = &ran.base.ended else { return None };
    let wait = failure.retry_after_ms?;
    let is_of_tool = ran.script.answers.iter().any(|given| given.answer.is_err());
    let message = format!("it fails with {} and asks for a retry after {wait} ms", failure.code);
    (!is_of_tool).then(|| ran.finding("D083", message))
}

/// D079: finds a call with the operator and the action key of an earlier call that succeeded. A worker refuses such a call if
/// its arguments are other ones, and gives it the earlier result otherwise.
fn shared_action_key(ran: &CaseBaseline<'_>) -> Option<Finding> {
    const HINT: &str = "a worker makes the first call alone, and gives its result to the second one";
    let result_of = |number: usize| -> Option<Value> {
        let answer = &ran.script.answers.get(number)?.answer;
        serde_json::from_str(answer.as_ref().ok()?).ok()
    };
    let calls = ran.base.asked.iter().filter(|asked| matches!(asked, HostCall::Call { .. })).enumerate();
    let mut earlier = BTreeMap::new();
    for (number, asked) in calls {
        let HostCall::Call { operator, args, action_key: Some(key), .. } = asked else { continue };
        let (first, before) = *earlier.entry((operator, key)).or_insert((number, args));
        if before != args {
            let message = format!("two calls of {operator} have the action key {key:?} and other arguments");
            return Some(ran.finding("D079", message).values(before, args));
        }
        if let (Some(expected), Some(found)) = (result_of(first), result_of(number))
            && expected != found
        {
            let message =
                format!("two calls of {operator} have the action key {key:?}, and the case has two results for them");
            let finding = ran.finding("D079", message).values(&expected.to_string(), &found.to_string());
            return Some(finding.hint(HINT));
        }
        // Two equal questions have one answer.
        let changes_nothing =
            ran.case.answers.get(number).is_some_and(|one| one.effects.as_ref().is_some_and(Vec::is_empty));
        if number != first && !changes_nothing && result_of(first).is_some() && result_of(number).is_some() {
            let message = format!("two calls of {operator} have the action key {key:?} and equal arguments");
            return Some(ran.finding("D079", message).hint(HINT));
        }
    }
    None
}

/// Checks that the calls and the end of the step match the case.
pub(super) fn check_fit(ran: &CaseBaseline<'_>) -> Vec<Finding> {
    let base = &ran.base;
    let mut found = Vec::new();
    if ran.case.recorded.is_some() {
        // The case was made from a step of a real job. The rules of histories already report a difference from this job
        // as a divergence.
        return found;
    }
    if let Some(mismatch) = &base.mismatch {
        let message = format!("call {} does not match the case in its {}", mismatch.call, mismatch.what);
        let finding = ran.finding("D052", message).values(&mismatch.expected, &mismatch.found);
        found.push(finding.functions(base.functions.clone()));
    } else if base.unanswered {
        let (operator, args) = base.calls().last().expect("it ended at a call");
        let n = base.calls().count();
        let message =
            format!("the case has no answer for call {} ({operator}): the rest of the step was not run", n - 1);
        let hint = format!("add an answer to the case: {{\"operator\":{operator:?},\"args\":{args},\"result\":…}}");
        found.push(ran.finding("D051", message).hint(hint));
    } else if base.unused > 0 && matches!(base.ended, RunEnd::Output(_) | RunEnd::Failed(_)) {
        let message = format!("{} of {} answers were not used", base.unused, ran.case.answers.len());
        found.push(ran.finding("D053", message));
    }
    found.extend(unexpected(ran));
    found
}

/// D069: the run failed although the case expects an output, or succeeded although the case expects an error.
fn unexpected(ran: &CaseBaseline<'_>) -> Option<Finding> {
    let expected = ran.case.error;
    match (&ran.base.ended, expected) {
        (RunEnd::Failed(failure), _) if expected != Some(failure.code) => {
            let message = format!("it failed with {}: {}", failure.code, failure.message);
            let wanted = expected.map_or("an output".to_owned(), |code| format!("error {code}"));
            let finding = ran.finding("D069", message).values(&wanted, &ran.base.describe_end());
            let finding = finding.functions(exception::frames(failure));
            Some(
                finding
                    .hint(format!("fix the step, or declare the failure in the case: \"error\":\"{}\"", failure.code)),
            )
        }
        (RunEnd::Output(_), Some(code)) => {
            let finding = ran.finding("D069", format!("it returned an output, but the case expects {code}"));
            Some(finding.values(&format!("error {code}"), &ran.base.describe_end()))
        }
        _ => None,
    }
}

/// D068: the run used more than nine tenths of a limit.
fn near_limit(ran: &CaseBaseline<'_>) -> Option<Finding> {
    let (base, limits) = (&ran.base, &ran.script.limits);
    let output = match &base.ended {
        RunEnd::Output(output) => output.len() as u64,
        RunEnd::Fault(_) => return None,
        _ => 0,
    };
    let uses = [
        ("fuel", base.fuel, limits.fuel),
        ("bytes of memory", base.memory_bytes, limits.memory_bytes),
        ("bytes of output", output, u64::from(limits.output_bytes)),
    ];
    let (what, used, limit) = uses.into_iter().find(|(_, used, limit)| used / 9 > limit / 10)?;
    let finding = ran.finding("D068", format!("it used {used} of {limit} {what}"));
    Some(finding.hint("slightly more input would exceed the limit: use less, or ask for more in `limits`"))
}
