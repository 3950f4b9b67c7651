//! Step whose `describe` traps if memory that was never written contains a nonzero byte.

wit_bindgen::generate!({ path: "../../../wit", world: "step" });

use std::alloc::{Layout, alloc};

use exports::latchwork::plugin::plugin::{Determinism, Effect, LimitsWanted, Manifest, Operator, Resolution};
use exports::latchwork::plugin::{plugin, run};
use latchwork::plugin::types;

struct Swayed;

/// Size of the allocation. No block of this size was freed earlier, so the allocation gets memory that was never
/// written.
const BYTES: usize = 20_000;

impl plugin::Guest for Swayed {
    fn describe() -> Manifest {
        let layout = Layout::from_size_align(BYTES, 8).expect("a layout");
        // SAFETY: the layout has a nonzero size, and every byte of a Wasm memory is readable.
        let is_zero = unsafe {
            let start = alloc(layout);
            (BYTES / 2..BYTES - 4096).all(|at| start.add(at).read_volatile() == 0)
        };
        assert!(is_zero, "memory that was never written is not zero");
        let operator = Operator {
            name: "Swayed.Echo".into(),
            description: "Returns its input.".into(),
            input_schema: "true".into(),
            output_schema: "true".into(),
            effects: vec![Effect::ReadOnly],
            determinism: Determinism::Pure,
            outcome_type: None,
            outcome_status: None,
            resolution: Resolution { idempotent_by_key_seconds: 0, settling_ms: 0 },
            limits: LimitsWanted { memory_bytes: None, timeout_ms: None, output_bytes: None },
        };
        Manifest { version: "1.0.0".into(), operators: vec![operator] }
    }
}

impl run::Guest for Swayed {
    fn run(_operator: String, input: String) -> Result<String, types::Error> {
        Ok(input)
    }
}

export!(Swayed);
