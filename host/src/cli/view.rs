//! How a response looks to a person, and which exit code it has.

use latchwork_core::job::JobState;
use latchwork_core::response::Response;
use latchwork_core::step::StepState;

use super::context::Context;
use super::error::Exit;
use super::output::{Tone, table};
use super::visible::visible;

/// Prints a response and says how the command ends.
pub(super) fn answer(ctx: &Context<'_>, response: &Response) -> Exit {
    if ctx.json {
        ctx.printer.document(&document(ctx, response));
    } else {
        print(ctx, &to_type(ctx, response));
    }
    exit(response)
}

/// A response for programs.
pub(super) fn document(ctx: &Context<'_>, response: &Response) -> serde_json::Value {
    serde_json::to_value(to_type(ctx, response)).expect("a response is plain data")
}

/// The response with its next actions as they have to be typed here.
fn to_type(ctx: &Context<'_>, response: &Response) -> Response {
    let next_actions = response.next_actions.iter().map(|action| ctx.command(action)).collect();
    Response { next_actions, ..response.clone() }
}

/// 0 done, 1 failed, 3 stopped safely and needs someone.
pub(super) fn exit(response: &Response) -> Exit {
    match response.state {
        JobState::Completed => Exit::Done,
        JobState::Failed | JobState::Cancelled => Exit::Failed,
        _ => Exit::NeedsSomeone,
    }
}

fn print(ctx: &Context<'_>, response: &Response) {
    let printer = ctx.printer;
    let tone = match response.state {
        JobState::Completed => Tone::Good,
        JobState::Failed | JobState::Cancelled | JobState::Diverged => Tone::Bad,
        _ => Tone::Attention,
    };
    let status = printer.tone(tone, &response.status);
    let state = response.state.as_str();
    printer.say(format!("{} {status} ({state}, {})", response.job_id, response.mode));
    let rows: Vec<[String; 4]> = response
        .steps
        .iter()
        .map(|step| {
            let reason = step.reason_code.map(|code| code.to_string()).unwrap_or_default();
            let notes = step.notes.join(", ");
            let why = [reason, notes].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("; ");
            [step.step_id.to_string(), visible(&step.operator), word(step.state).to_owned(), visible(&why)]
        })
        .collect();
    for line in table(["step", "operator", "state", ""], &rows) {
        printer.say(format!("  {line}"));
    }
    for outcome in &response.outcomes {
        let head = format!("{} ({}) from {}", outcome.outcome_type, outcome.status, outcome.step_id);
        printer.say(format!("{}\n  {}", printer.tone(Tone::Title, &head), visible(&outcome.preview)));
    }
    for failed in &response.failed {
        let head = printer.tone(Tone::Bad, &format!("{} {}", failed.step_id, failed.reason_code));
        printer.say(format!("{head}: {} (`latch explain {}`)", visible(&failed.message), failed.reason_code));
    }
    if let Some(divergence) = &response.divergence {
        printer.say(format!("{} {}", printer.tone(Tone::Bad, "diverged:"), visible(&divergence.to_string())));
    }
    if !response.next_actions.is_empty() {
        printer.say(printer.tone(Tone::Title, "next:"));
        for action in &response.next_actions {
            printer.say(format!("  {action}"));
        }
    }
}

fn word(state: StepState) -> &'static str {
    state.as_str()
}
