//! Display of a response for people, and its exit code.

use latchwork_core::event::Consequence;
use latchwork_core::model::differences::Difference;
use latchwork_core::model::divergence::Divergence;
use latchwork_core::model::error::Code;
use latchwork_core::model::job::JobState;
use latchwork_core::model::result_type::ResultType;
use latchwork_core::model::step::StepState;
use latchwork_core::response::{
    BlockedView, CompensationState, CompensationView, PendingView, Response, UnconfirmedView, WouldCallView, one_line,
};
use latchwork_core::rules::cost::usd;
use latchwork_engine::os;

use crate::context::CommandContext;
use crate::display::{arguments, changed, results};
use crate::error::Exit;
use crate::output::Printer;
use crate::text::{Text, Tone, table, visible};

/// Prints a response with the exact calls of its open gates and returns the exit status.
pub(crate) fn answer(ctx: &CommandContext<'_>, response: &Response, gates: &[String]) -> Exit {
    if ctx.json {
        ctx.printer.document(&document(ctx, response));
    } else {
        print(ctx, &with_typed_actions(ctx, response), gates);
    }
    exit(response)
}

/// Returns a response as JSON.
pub(crate) fn document(ctx: &CommandContext<'_>, response: &Response) -> serde_json::Value {
    serde_json::to_value(with_typed_actions(ctx, response)).expect("a response is plain data")
}

/// Adds the necessary flags to the next actions of a response.
fn with_typed_actions(ctx: &CommandContext<'_>, response: &Response) -> Response {
    let next_actions = response.next_actions.iter().map(|action| ctx.with_project_flags(action)).collect();
    let durability = ctx.is_relaxed().then(|| "relaxed".to_owned());
    Response { next_actions, durability, ..response.clone() }
}

/// Formats a request that the job has not applied yet.
fn pending_line(pending: &PendingView) -> String {
    let what = match (&pending.slot, &pending.correlation_key) {
        (Some(slot), _) => slot.to_string(),
        (None, Some(key)) => key.clone(),
        (None, None) => "the job".to_owned(),
    };
    let why = pending.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
    let (done, by) = (pending.asked.past_participle(), &pending.by);
    visible(&format!("{what}: {done} by {by}{why}; applied when the job continues"))
}

/// Returns the exit status of a response: 0 for a completed job, 1 for a failed or cancelled job, else 3.
pub(crate) fn exit(response: &Response) -> Exit {
    match response.state {
        JobState::Completed => Exit::Done,
        JobState::Failed | JobState::Cancelled => Exit::Failed,
        _ => Exit::ActionRequired,
    }
}

/// Prints the state first, then the required actions, then the results.
fn print(ctx: &CommandContext<'_>, response: &Response, gates: &[String]) {
    let printer = ctx.printer;
    print_job(printer, response);
    print_steps(printer, response);
    for line in gates {
        printer.print_text(line);
    }
    for pending in &response.pending {
        printer.print_text(pending_line(pending));
    }
    print_requests(printer, response);
    print_contradictions(printer, response);
    if !response.next_actions.is_empty() {
        printer.print_text(Tone::Title.of("next:"));
        for action in &response.next_actions {
            printer.print_text(Text::unwrapped(action).indented(2));
        }
    }
    for step in &response.steps {
        for line in step.would_call.iter().flat_map(would_call) {
            printer.print_text(line);
        }
    }
    for line in compensation_lines(response) {
        printer.print_text(line);
    }
    print_cost(printer, response);
    results::print(ctx, response);
}

/// Prints the state of the job, its cause, and warnings about the whole job.
fn print_job(printer: &Printer, response: &Response) {
    let tone = match response.state {
        JobState::Completed => Tone::Good,
        JobState::Failed | JobState::Cancelled | JobState::Diverged => Tone::Bad,
        _ => Tone::Attention,
    };
    let status = tone.of(&response.status);
    let state = response.state.as_str();
    let reason = response.reason_code.map(|code| format!(": {code}")).unwrap_or_default();
    printer.print_text(
        Text::from(format!("{} ", response.job_id)) + status + format!(" ({state}{reason}, {})", response.mode),
    );
    if let Some(cause) = &response.cause {
        printer.print_text(visible(cause));
    }
    for line in changed::change_lines(response) {
        printer.print_text(Tone::Attention.of(line));
    }
    if let Some(durability) = &response.durability {
        let head = Tone::Attention.of(format!("durability {durability}:"));
        printer.print_text(head + " a power failure may undo the state shown here");
    }
}

/// Prints the table of steps, then the failed steps and the blocked steps.
fn print_steps(printer: &Printer, response: &Response) {
    let rows: Vec<[String; 4]> = response
        .steps
        .iter()
        .map(|step| {
            let reason = step.reason_code.map(|code| code.to_string()).unwrap_or_default();
            let notes = step.notes.join(", ");
            let meant = step.result_type.and_then(notable_result_type).unwrap_or_default().to_owned();
            let why = [reason, meant, notes].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("; ");
            [step.step_id.to_string(), visible(&step.operator), step_state_name(step.state).to_owned(), visible(&why)]
        })
        .collect();
    printer.print_text(table(["step", "operator", "state", ""], &rows).indented(2));
    for failed in &response.failed {
        let head = Tone::Bad.of(format!("{} {}", failed.step_id, failed.reason_code));
        printer.print_text(head + format!(": {} (`latch explain {}`)", visible(&failed.message), failed.reason_code));
    }
    for blocked in &response.blocked {
        printer.print_text(Tone::Attention.of(blocked.slot.as_str()) + blocked_text(blocked));
        for line in waiting_call_lines(blocked) {
            printer.print_text(line);
        }
    }
}

/// Prints the requests to cancel or undo the job.
fn print_requests(printer: &Printer, response: &Response) {
    if let Some(by) = &response.cancelled_by {
        printer.print_text(visible(&format!("it is being cancelled, as requested by {by}")));
    }
    if let Some(by) = &response.undone_by {
        let is = if response.state.is_terminal() { "was undone" } else { "is being undone" };
        printer.print_text(visible(&format!("the job {is}, as requested by {by}")));
    }
}

/// Prints failed confirmations, later evidence against decisions, and a divergence.
fn print_contradictions(printer: &Printer, response: &Response) {
    for unconfirmed in &response.unconfirmed {
        printer.print_text(unconfirmed_line(unconfirmed));
    }
    for slot in &response.contradicted {
        let page = "`latch explain RESOLUTION_CONFLICT`";
        printer.print_text(format!("{slot}: later evidence contradicts the decision about it ({page})"));
    }
    if response.confirmation_replay_warnings_total > 0 {
        let total = response.confirmation_replay_warnings_total;
        printer.print_text(format!("confirmation_replay_warnings_total: {total}"));
    }
    if let Some(divergence) = &response.divergence {
        let Divergence { what, at, field, .. } = divergence;
        printer.print_text(Tone::Bad.of("diverged:") + format!(" {what} at {at}, {field}"));
        printer.print_text(side_by_side(divergence).indented(2));
    }
}

/// Prints the cost of the calls of language models.
fn print_cost(printer: &Printer, response: &Response) {
    if response.cost.calls > 0 {
        let cost = &response.cost;
        let amount = usd(cost.cost_micro_usd);
        let models = if cost.nondeterministic > 0 { " (models answered: another run may differ)" } else { "" };
        let tokens = format!("{} tokens in, {} out", cost.tokens_in, cost.tokens_out);
        printer.print_text(Tone::Title.of("cost:") + format!(" {amount} USD, {tokens}{models}"));
    }
}

/// Returns the name of a result type that adds information to the state of a step. Returns `None` for other
/// result types.
fn notable_result_type(result_type: ResultType) -> Option<&'static str> {
    match result_type {
        ResultType::CompensatableFailure => Some("compensatable_failure"),
        ResultType::Compensated => Some("compensated"),
        _ => None,
    }
}

/// Returns a line for each call with an effect that the job undoes or has undone.
fn compensation_lines(response: &Response) -> Vec<Text> {
    if response.compensations.is_empty() {
        return Vec::new();
    }
    let line = |view: &CompensationView| {
        let (tone, what) = match view.state {
            CompensationState::Compensated => (Tone::Good, "compensated"),
            CompensationState::Waiting => (Tone::Quiet, "to be compensated"),
            CompensationState::UnderWay => (Tone::Attention, "being compensated"),
            CompensationState::Failed => (Tone::Bad, "could not be compensated"),
            CompensationState::Left => (Tone::Bad, "not compensated"),
            CompensationState::Impossible => (
                Tone::Bad,
                "cannot be compensated: its plugin exports no compensate, and the plan names no compensating operator",
            ),
            CompensationState::Unknown => (Tone::Bad, "unknown whether it happened"),
        };
        let why = view.reason_code.map(|code| format!(" ({code})")).unwrap_or_default();
        let by = view.by.as_ref().map(|by| match by.own {
            true => format!(", {}: by its own plugin", by.slot),
            false => format!(", {}: by {}", by.slot, by.operator),
        });
        let operator = visible(&view.operator);
        let by = visible(&by.unwrap_or_default());
        Text::from(format!("  {} {operator}: ", view.slot)) + tone.of(what) + format!("{why}{by}")
    };
    let head = Tone::Title.of("undone, the last effect first:");
    std::iter::once(head).chain(response.compensations.iter().map(line)).collect()
}

/// Formats the reason why a step waits, the time limit, and the approvals so far.
fn blocked_text(blocked: &BlockedView) -> String {
    let mut text = format!(" {}", blocked.reason_code);
    if let Some(key) = &blocked.correlation_key {
        text += &format!(" {key:?}");
    }
    if let Some(until_us) = blocked.until {
        text += &format!(" until {}", humantime::format_rfc3339_seconds(os::clock::system_time(until_us)));
    }
    let (kind, given) = match blocked.approvals.is_claimed() {
        true => ("", blocked.approved_by.len()),
        false => ("signed ", blocked.signed_by.len()),
    };
    match blocked.quorum {
        Some(quorum) => text += &format!(", {given} of {quorum} {kind}approvals"),
        None if !kind.is_empty() => text += ", approvals have to be signed",
        None => {}
    }
    let assurance = |name: &String| if blocked.signed_by.contains(name) { "verified" } else { "claimed" };
    let names: Vec<String> = blocked.approved_by.iter().map(|name| format!("{name} {}", assurance(name))).collect();
    if !names.is_empty() {
        text += &format!(" ({})", names.join(", "));
    }
    text
}

/// Describes the call for which a step waits. For a call in doubt, the lines help a person to find the effect in the
/// external system. For a call that needs a grant, the output is the message of the refusal, which contains the line of
/// `latch.toml`.
fn waiting_call_lines(blocked: &BlockedView) -> Vec<String> {
    let Some(call) = &blocked.call else { return Vec::new() };
    match (blocked.reason_code, &call.failure) {
        (Code::IndeterminateEffect, _) => {}
        (Code::GrantRequired, Some(failure)) => {
            return vec![format!("  {}: {}", visible(&call.operator), visible(&failure.message))];
        }
        _ => return Vec::new(),
    }
    let mut lines = vec![format!("  {} may have happened, with", visible(&call.operator))];
    if let Some(key) = &call.external_key {
        lines.push(format!("  external key: {key}"));
    }
    if let Some(failure) = &call.failure {
        lines.push(format!("  its call ended with {}", visible(&one_line(failure))));
    }
    lines.extend(arguments::fields(&call.args));
    lines
}

/// Formats a recorded change that was not confirmed, and the consequence.
fn unconfirmed_line(view: &UnconfirmedView) -> String {
    let followed = match (&view.settled_by, view.consequence) {
        (Some(by), _) if view.gone => format!("recorded as lost by {by}"),
        (Some(by), _) => format!("confirmed by {by}"),
        (None, Consequence::Ended) => "the job has ended (`latch explain CONFIRMATION_MISMATCH`)".to_owned(),
        (None, Consequence::Warned) => "the job continued".to_owned(),
        (None, Consequence::Asked) => "waits for a person".to_owned(),
    };
    let (slot, outcome) = (&view.slot, view.outcome.as_str());
    visible(&format!("{slot} {}, {outcome}: {}; {followed}", view.resource, view.found))
}

/// Formats the recorded and the replayed values in two columns. Each differing value has its own row. If the differing
/// values are not known, one row shows the whole field.
fn side_by_side(divergence: &Divergence) -> Text {
    let rows: Vec<[String; 3]> = match divergence.values.as_slice() {
        [] => vec![[divergence.field.clone(), visible(&divergence.recorded), visible(&divergence.found)]],
        values => {
            let row = |value: &Difference| {
                let at = if value.at.is_empty() { "(all)".to_owned() } else { visible(&value.at) };
                [at, visible(&value.recorded), visible(&value.found)]
            };
            values.iter().map(row).collect()
        }
    };
    table([divergence.field.as_str(), "recorded", "found"], &rows)
}

/// Formats a call that a dry run left out, with every argument.
fn would_call(call: &WouldCallView) -> Vec<String> {
    let mut lines = vec![format!("{} would call {}", call.slot, call.operator)];
    lines.extend(arguments::fields(&call.args));
    if !call.open.is_empty() {
        lines.push(format!("  open, because a dry run does not produce these values: {}", call.open.join(", ")));
    }
    lines
}

fn step_state_name(state: StepState) -> &'static str {
    state.as_str()
}
