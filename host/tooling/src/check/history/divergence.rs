//! Describes a divergence from a real job.

use latchwork_core::model::differences::differences;
use latchwork_core::model::divergence::Divergence;
use latchwork_core::model::ids::Slot;
use latchwork_core::state::Durable;

/// Description of a divergence for a finding.
pub(super) struct DivergenceDescription {
    pub(super) rule: &'static str,
    pub(super) message: String,
    pub(super) expected: String,
    pub(super) found: String,
}

pub(super) fn describe_divergence(durable: &Durable, divergence: &Divergence) -> DivergenceDescription {
    let Divergence { at, what, field, recorded, found, .. } = divergence;
    let rule = match what.as_str() {
        "call" | "missing call" | "call left out" => "D150",
        "event" => "D151",
        _ => "D152",
    };
    let expected = recorded_value(durable, at, what, field).unwrap_or_else(|| recorded.clone());
    let message = format!("the job would diverge at {at}: {field} of the {what}");
    // For JSON, report the first value that differs.
    match differences(&expected, found).into_iter().next() {
        Some(first) if !first.at.is_empty() => {
            let displayed = |text: String| if text.is_empty() { "nothing".to_owned() } else { text };
            let message = format!("{message}, at {}", first.at);
            DivergenceDescription { rule, message, expected: displayed(first.recorded), found: displayed(first.found) }
        }
        _ => DivergenceDescription { rule, message, expected, found: found.clone() },
    }
}

/// Returns the recorded value if the history contains the value and not only its hash.
fn recorded_value(durable: &Durable, at: &str, what: &str, field: &str) -> Option<String> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match (what, field) {
        ("call", "arguments") => {
            let slot: &Slot = durable.job.calls.keys().find(|slot| slot.to_string() == at)?;
            durable.args(slot).map(|bytes| text(&bytes))
        }
        _ => None,
    }
}
