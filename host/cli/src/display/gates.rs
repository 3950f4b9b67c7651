//! Gates as text: the exact call of each gate, and the rules of the policy about approvals.

use latchwork::config::Config;
use latchwork_core::decide;
use latchwork_core::event::{DecidedBy, Header};
use latchwork_core::model::ids::Slot;
use latchwork_core::model::rules::Rules;
use latchwork_core::state::{Durable, Gate, pending};
use latchwork_core::storage::InboxRow;
use latchwork_engine::os;

use crate::display::arguments;
use crate::display::brief::assurance_word;
use crate::text::visible;

/// Rule of a policy: an approval needs a reason.
pub(crate) const REQUIRES_REASON: &str = "requires a reason for each approval";
/// Rule of a policy: the actor of a job may not approve its calls.
pub(crate) const FORBIDS_SELF_APPROVAL: &str = "does not allow approving calls of one's own job";

/// Rule of a policy: an approval needs a signature.
pub(crate) const REQUIRES_SIGNATURE: &str = "requires a signature for each approval";

/// Formats every open gate that no pending inbox row decides.
pub(crate) fn undecided_gate_lines(config: &Config, durable: &Durable, inbox: &[InboxRow]) -> Vec<String> {
    let rules = effective_rules(config, &durable.job.header);
    let open = durable.job.gates.keys().filter_map(|slot| {
        let gate = durable.job.open_gate(slot).filter(|gate| !pending::is_decided(gate, inbox, slot))?;
        Some(gate_lines(durable, slot, gate, &rules))
    });
    open.flatten().collect()
}

/// Returns the gate rules of a job: the current policy, narrowed by the rules under which the job was
/// accepted.
pub(crate) fn effective_rules(config: &Config, header: &Header) -> Rules {
    let policy = config.policy().get(&header.tenant_id).or_else(|| config.policy().get("default"));
    let rules = policy.map(Rules::from).unwrap_or_default();
    header.rules.iter().fold(rules, Rules::narrowed_by)
}

/// Formats the gated call line by line: operator, plugin, effects, and every argument.
pub(crate) fn gate_lines(durable: &Durable, slot: &Slot, gate: &Gate, rules: &Rules) -> Vec<String> {
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
        let name = |by: &DecidedBy| visible(&format!("{} {}", by.actor, assurance_word(by)));
        let who: Vec<_> = gate.approvals.iter().map(|approval| name(&approval.by)).collect();
        let by = if who.is_empty() { String::new() } else { format!(" ({})", who.join(", ")) };
        let counting = decide::counted_approvals(rules, &durable.job.header, gate);
        let given = gate.approvals.len();
        let not = match given - counting as usize {
            0 => String::new(),
            n => format!("; {n} of {given} given do not count under the current policy"),
        };
        lines.push(format!("  {counting} of {quorum} approvals{by}{not}"));
    }
    if !decide::required_assurance(rules, gate).is_claimed() {
        lines.push("  approvals have to be signed (--key FILE)".to_owned());
    }
    let bytes = durable.args(slot).unwrap_or_default();
    match serde_json::from_slice::<serde_json::Value>(&bytes) {
        Ok(value) if value.is_object() => lines.extend(arguments::fields(&value)),
        _ => lines.push(format!("  {}", visible(&String::from_utf8_lossy(&bytes)))),
    }
    lines.push(String::new());
    lines
}
