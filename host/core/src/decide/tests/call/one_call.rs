//! Job with one call, which is the plan step itself or is made by a step plugin.

use serde_json::json;

use crate::decide::tests::support::{Sim, step};
use crate::model::effect::Answer;
use crate::model::ids::Slot;
use crate::model::mode::Mode;

/// Returns a job with one call of the operator, whose first tries have these answers.
pub(super) fn job(mode: Mode, operator: &str, inside: bool, answers: Vec<Answer>) -> Sim {
    let planned = match inside {
        true => step("a", "Script", &[], json!({ "calls": [operator] })),
        false => step("a", operator, &[], json!({})),
    };
    let mut sim = Sim::new(mode, vec![planned]);
    sim.script.insert(operator.into(), answers);
    sim
}

/// Returns the slot of the call.
pub(super) fn slot(inside: bool) -> Slot {
    if inside { Slot::of_call(&"a".into(), 0) } else { Slot::of_step(&"a".into()) }
}
