//! Gates on a terminal: shows the exact call and asks a person to decide.

use latchwork_core::decide;
use latchwork_core::event::Header;
use latchwork_core::model::error::Code;
use latchwork_core::model::ids::Slot;
use latchwork_core::model::rules::Rules;
use latchwork_core::response::Response;
use latchwork_core::state::{Durable, Gate, pending};
use latchwork_core::storage::{InboxError, InboxRequest, InboxRow};

use super::context::Context;
use super::output::Text;
use super::text::visible;
use super::{arguments, interrupt};
use crate::config::Config;
use crate::host::Host;
use crate::os;

/// Asks about every open gate of a parked job. Returns true if at least one gate was decided.
pub(super) async fn ask_about_gates(
    ctx: &Context<'_>,
    host: &Host,
    response: &Response,
    actor: &str,
) -> anyhow::Result<bool> {
    if !ctx.printer.can_ask() {
        return Ok(false);
    }
    let mut decided = false;
    let durable = host.load(&response.job_id).await?;
    let rules = effective_rules(&host.config, &durable.job.header);
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
        let needs_reason = rules.gate_reason;
        let question = match may {
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
                    ctx.printer
                        .warn(format!("{} stays open: the policy requires a reason for each approval", view.slot));
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
        match host.journal.put_inbox(&response.job_id, actor, reason.as_deref(), request).await {
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
async fn prompt(ctx: &Context<'_>, question: &str) -> Option<String> {
    tokio::select! {
        answer = ctx.printer.ask(question) => answer,
        () = interrupt::pressed_times(1) => None,
    }
}

/// Formats the open gates of a job, each with its exact call. Called when this command stops executing the job. Returns
/// no lines with `--json`, or if this terminal has already shown the gates. `were_asked` is true if this command asked
/// about the gates.
pub(super) async fn open_gate_lines(
    ctx: &Context<'_>,
    host: &Host,
    response: &Response,
    were_asked: bool,
) -> anyhow::Result<Vec<String>> {
    let waits = response.blocked.iter().any(|view| view.reason_code == Code::RequiresApproval);
    let were_shown = were_asked && ctx.printer.can_ask() && ctx.printer.width().is_some();
    if ctx.json || !waits || were_shown {
        return Ok(Vec::new());
    }
    let durable = host.load(&response.job_id).await?;
    let inbox = host.journal.inbox(&response.job_id).await?;
    Ok(undecided_gate_lines(&host.config, &durable, &inbox))
}

/// Formats every open gate that no pending inbox row decides.
pub(super) fn undecided_gate_lines(config: &Config, durable: &Durable, inbox: &[InboxRow]) -> Vec<String> {
    let rules = effective_rules(config, &durable.job.header);
    let open = durable.job.gates.keys().filter_map(|slot| {
        let gate = durable.job.open_gate(slot).filter(|gate| !pending::is_decided(gate, inbox, slot))?;
        Some(gate_lines(durable, slot, gate, &rules))
    });
    open.flatten().collect()
}

/// Returns the gate rules of a job: the current policy, narrowed by the rules under which the job was
/// accepted.
pub(super) fn effective_rules(config: &Config, header: &Header) -> Rules {
    let policy = config.policy.get(&header.tenant_id).or_else(|| config.policy.get("default"));
    let rules = policy.map(Rules::from).unwrap_or_default();
    header.rules.iter().fold(rules, Rules::narrowed_by)
}

/// Formats the gated call line by line: operator, plugin, effects, and every argument.
pub(super) fn gate_lines(durable: &Durable, slot: &Slot, gate: &Gate, rules: &Rules) -> Vec<String> {
    let wants = match slot.compensated() {
        Some(of) => format!("{slot} wants to undo {of}, by {}", gate.operator),
        None => format!("{slot} wants to execute {}", gate.operator),
    };
    let mut lines = vec![String::new(), visible(&wants)];
    if let Some(pinned) = durable.job.pinned(&gate.operator) {
        let effects: Vec<_> = pinned.effects.iter().map(|effect| effect.as_str()).collect();
        let plugin = visible(&format!("{} {}", pinned.plugin, pinned.version));
        lines.push(format!("  plugin {plugin}, effects {}", effects.join(", ")));
    }
    lines.push(format!("  gate-{slot}, hash {}", gate.hash));
    if let Some(expires_us) = gate.expires_us {
        let when = humantime::format_rfc3339_seconds(os::clock::system_time(expires_us));
        lines.push(format!("  expires {when}"));
    }
    let quorum = gate.quorum.max(rules.gate_quorum);
    if quorum > 1 || !gate.approvals.is_empty() {
        let who: Vec<_> = gate.approvals.iter().map(|approval| visible(&approval.by.actor)).collect();
        let by = if who.is_empty() { String::new() } else { format!(" ({})", who.join(", ")) };
        let counting = decide::counted_approvals(rules, &durable.job.header, gate);
        let given = gate.approvals.len();
        let not = match given - counting as usize {
            0 => String::new(),
            n => format!("; {n} of {given} given do not count under the current policy"),
        };
        lines.push(format!("  {counting} of {quorum} approvals{by}{not}"));
    }
    let bytes = durable.args(slot).unwrap_or_default();
    match serde_json::from_slice::<serde_json::Value>(&bytes) {
        Ok(value) if value.is_object() => lines.extend(arguments::fields(&value)),
        _ => lines.push(format!("  {}", visible(&String::from_utf8_lossy(&bytes)))),
    }
    lines.push(String::new());
    lines
}
