//! Asks a person on the terminal about open gates.

use latchwork::host::Host;
use latchwork_core::decide;
use latchwork_core::model::error::Code;
use latchwork_core::response::Response;
use latchwork_core::storage::{InboxError, InboxRequest};

use crate::context::CommandContext;
use crate::display::gates::{REQUIRES_REASON, effective_rules, gate_lines, undecided_gate_lines};
use crate::interrupt;
use crate::text::Text;

/// Asks about every open gate of a parked job. Returns true if at least one gate was decided.
pub(crate) async fn ask_about_gates(
    ctx: &CommandContext<'_>,
    host: &Host,
    response: &Response,
    actor: &str,
) -> anyhow::Result<bool> {
    if !ctx.printer.can_ask() {
        return Ok(false);
    }
    let mut decided = false;
    let durable = host.load(&response.job_id).await?;
    let rules = effective_rules(host.config(), &durable.job.header);
    for view in response.blocked.iter().filter(|view| view.reason_code == Code::RequiresApproval) {
        let durable = host.load(&response.job_id).await?;
        let header = &durable.job.header;
        let Some(gate) = durable.job.open_gate(&view.slot) else { continue };
        if decide::has_approved(&rules, gate, actor) {
            ctx.printer.note(format!("{} is approved by {actor}; it needs another approver", view.slot));
            continue;
        }
        for line in gate_lines(&durable, &view.slot, gate, &rules) {
            ctx.printer.note(line);
        }
        let may = decide::may_approve(&rules, header, actor);
        let needs_signature = !decide::required_assurance(&rules, gate).is_claimed();
        let (may, needs_reason) = (may && !needs_signature, rules.gate_reason);
        let question = match may {
            _ if needs_signature => {
                "an approval has to be signed: `latch job approve --key FILE`; reject it? [n]o, anything else: later"
            }
            true if needs_reason => "approve with a reason? [y]es, [n]o, anything else: later",
            true => "approve? [y]es, [n]o, anything else: later",
            false => {
                "the policy does not allow approving a call of your own job; reject it? [n]o, anything else: later"
            }
        };
        let (request, reason) = match prompt(ctx, question).await.as_deref() {
            Some("y" | "yes") if may => {
                let reason = if needs_reason { prompt(ctx, "why?").await } else { None };
                if needs_reason && !decide::is_reason_given(reason.as_deref()) {
                    ctx.printer.warn(format!("{} stays open: the policy {REQUIRES_REASON}", view.slot));
                    continue;
                }
                (InboxRequest::Approve { slot: view.slot.clone(), gate_hash: gate.hash }, reason)
            }
            Some("n" | "no") => {
                let reason = prompt(ctx, "why?").await.filter(|reason| !reason.is_empty());
                (InboxRequest::Reject { slot: view.slot.clone(), gate_hash: gate.hash }, reason)
            }
            _ if interrupt::is_pressed() => {
                let next = ctx.with_project_flags(&format!("latch resume {}", response.job_id));
                let stands =
                    format!("\n{} is parked at {}, which needs approval; continue:", response.job_id, view.slot);
                ctx.printer.note_of(&response.job_id, Text::from(stands).with_command(next));
                return Ok(decided);
            }
            _ => continue,
        };
        match host.journal().put_inbox(&response.job_id, actor, reason.as_deref(), request).await {
            Ok(_) => decided = true,
            // The gate was decided elsewhere, or expired, while the question was open.
            Err(error @ InboxError::NotAwaited { .. }) => {
                ctx.printer.warn(error.to_string());
                decided = true;
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(decided)
}

/// Returns the answer to the question. Returns `None` if there is no answer or if ctrl-c is pressed.
async fn prompt(ctx: &CommandContext<'_>, question: &str) -> Option<String> {
    tokio::select! {
        answer = ctx.printer.ask(question) => answer,
        () = interrupt::pressed_times(1) => None,
    }
}

/// Returns the lines that show the open gates of a job, each with its exact call. A command prints these lines when it
/// stops executing the job. Returns no lines with `--json`, or if this terminal has already shown the gates.
/// `were_asked` is true if this command asked about the gates.
pub(crate) async fn open_gate_lines(
    ctx: &CommandContext<'_>,
    host: &Host,
    response: &Response,
    were_asked: bool,
) -> anyhow::Result<Vec<String>> {
    let waits = response.blocked.iter().any(|view| view.reason_code == Code::RequiresApproval);
    let were_displayed = were_asked && ctx.printer.can_ask() && ctx.printer.width().is_some();
    if ctx.json || !waits || were_displayed {
        return Ok(Vec::new());
    }
    let durable = host.load(&response.job_id).await?;
    let inbox = host.journal().inbox(&response.job_id).await?;
    Ok(undecided_gate_lines(host.config(), &durable, &inbox))
}
