//! Gates on a terminal: the exact call is shown, and a person decides.

use latchwork_core::error::Code;
use latchwork_core::ids::Slot;
use latchwork_core::response::Response;
use latchwork_core::state::{Durable, Gate};
use latchwork_core::storage::Request;

use super::context::Context;
use super::visible::visible;
use crate::host::Host;

/// Asks about every open gate of a parked job; true where at least one was decided.
pub(super) async fn ask(ctx: &Context<'_>, host: &Host, response: &Response, actor: &str) -> anyhow::Result<bool> {
    if !ctx.printer.can_ask() {
        return Ok(false);
    }
    let mut decided = false;
    for view in response.blocked.iter().filter(|view| view.reason_code == Code::RequiresApproval) {
        let durable = host.load(&response.job_id).await?;
        let Some(gate) = durable.job.gates.get(&view.slot).filter(|gate| gate.decision.is_none()) else {
            continue;
        };
        for line in shown(&durable, &view.slot, gate) {
            ctx.printer.note(line);
        }
        let request = match ctx.printer.ask("approve? [y]es, [n]o, anything else: later").as_deref() {
            Some("y" | "yes") => Request::Approve { slot: view.slot.clone(), gate_hash: gate.hash },
            Some("n" | "no") => Request::Reject { slot: view.slot.clone(), gate_hash: gate.hash },
            _ => continue,
        };
        host.journal.put_inbox(&response.job_id, actor, None, request).await?;
        decided = true;
    }
    Ok(decided)
}

/// What would be executed, line by line: operator, plugin, effects, and every argument.
pub(super) fn shown(durable: &Durable, slot: &Slot, gate: &Gate) -> Vec<String> {
    let mut lines = vec![String::new(), visible(&format!("{slot} wants to execute {}", gate.operator))];
    if let Some(pinned) = durable.job.pinned(&gate.operator) {
        let effects: Vec<_> = pinned.effects.iter().map(|effect| effect.as_str()).collect();
        let plugin = visible(&format!("{} {}", pinned.plugin, pinned.version));
        lines.push(format!("  plugin {plugin}, effects {}", effects.join(", ")));
    }
    lines.push(format!("  gate-{slot}, hash {}", gate.hash));
    let bytes = durable.args(slot).unwrap_or_default();
    match serde_json::from_slice::<serde_json::Value>(&bytes) {
        Ok(serde_json::Value::Object(fields)) => {
            for (name, value) in fields {
                lines.extend(field(&name, &value));
            }
        }
        _ => lines.push(format!("  {}", visible(&String::from_utf8_lossy(&bytes)))),
    }
    lines.push(String::new());
    lines
}

fn field(name: &str, value: &serde_json::Value) -> Vec<String> {
    let text = value.as_str().map_or_else(|| format!("{value:#}"), str::to_owned);
    let name = visible(name);
    if !text.contains('\n') {
        return vec![format!("  {name}: {}", visible(&text))];
    }
    let mut lines = vec![format!("  {name}:")];
    lines.extend(text.lines().map(|line| format!("    {}", visible(line))));
    lines
}
