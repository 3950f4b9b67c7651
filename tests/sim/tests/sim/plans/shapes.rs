//! Jobs of the shape that the protocol model supports: calls one after another, without gates, compensation
//! and wait steps.

use serde_json::{Value, json};

use latchwork_model::ModelClass;

use crate::dice::Dice;
use crate::world::operators::SCRIPT;

/// Tools of these jobs and their classes in the model.
const TOOLS: [(&str, ModelClass); 4] = [
    ("Sim.Opaque", ModelClass::Opaque),
    ("Sim.Keyed", ModelClass::Keyed),
    ("Sim.Queryable", ModelClass::Queryable),
    ("Sim.Read", ModelClass::Read),
];

/// Returns a step that makes up to three calls or is itself a call.
pub(crate) fn step(dice: &Dice) -> (Value, Vec<ModelClass>) {
    let calls: Vec<(&str, ModelClass)> = (0..dice.between(1, 4)).map(|_| *dice.pick(&TOOLS)).collect();
    let (name, payload) = match calls.as_slice() {
        [(name, _)] if dice.one_in(2) => (*name, json!({ "n": 0 })),
        calls => (SCRIPT, json!({ "calls": calls.iter().map(|(name, _)| [name]).collect::<Vec<_>>() })),
    };
    let step = json!({
        "step_id": "s0", "kind": "operator", "name": name, "depends_on": [], "payload": payload,
        "effects": ["read_only", "external_send"], "policy_tags": [], "gate": "none", "cache_policy": "never",
        "idempotency_template": format!("s0:{}", dice.number()),
    });
    (step, calls.into_iter().map(|(_, class)| class).collect())
}
