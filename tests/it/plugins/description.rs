//! Limits of the call in which a component describes itself, at their edges.

use latchwork_core::model::bounds;
use wasm_encoder::{BlockType, Instruction, MemArg};

use crate::support::plugins::component_builder::{ComponentSpec, OperatorSpec, VALID_OPERATOR, VALID_STEP};
use crate::support::plugins::engine::{engine, settings};

/// Loads the component and returns the number of its operators, or the error.
fn load(component: ComponentSpec<'_>) -> Result<usize, String> {
    let loaded =
        engine().load(&component.build_component(), settings("described", Default::default(), Default::default()));
    loaded.map(|plugin| plugin.manifest.operators.len()).map_err(|error| error.to_string())
}

/// I225: bounds `operators` and `describe_bytes`. The host allows `host_call_slack_bytes` more for names and frames.
#[test]
fn operators_and_bytes_of_a_description_are_limited() {
    let most = bounds::OPERATORS;
    let operators: Vec<OperatorSpec> = (0..=most)
        .map(|number| OperatorSpec { name: format!("Made.Number{number}").leak(), ..VALID_OPERATOR })
        .collect();
    assert_eq!(load(ComponentSpec { operators: &operators[..most], ..VALID_STEP }), Ok(most));
    let refused = load(ComponentSpec { operators: &operators, ..VALID_STEP }).unwrap_err();
    assert!(refused.contains("there are 1001 operators where 1000 are allowed"), "{refused}");

    let described = |bytes: usize| {
        let operator = OperatorSpec { description: "x".repeat(bytes).leak(), ..VALID_OPERATOR };
        load(ComponentSpec { operators: &[operator], ..VALID_STEP })
    };
    let most = bounds::DESCRIBE_BYTES as usize;
    assert_eq!(described(most), Ok(1));
    described(most + bounds::HOST_CALL_SLACK_BYTES + 1).unwrap_err();
}

/// I225: bound `describe_fuel`.
#[test]
fn fuel_of_a_description_is_limited() {
    /// Fuel of one round of the loop: its instructions without `loop` and `end`.
    const EACH: u64 = 9;
    let left = MemArg { offset: 0, align: 0, memory_index: 0 };
    let loaded = |rounds: u64| {
        let body = [
            Instruction::I32Const(0),
            Instruction::I64Const(rounds as i64),
            Instruction::I64Store(left),
            Instruction::Loop(BlockType::Empty),
            Instruction::I32Const(0),
            Instruction::I32Const(0),
            Instruction::I64Load(left),
            Instruction::I64Const(-1),
            Instruction::I64Add,
            Instruction::I64Store(left),
            Instruction::I32Const(0),
            Instruction::I32Load(left),
            Instruction::BrIf(0),
            Instruction::End,
        ];
        load(ComponentSpec { describe_body: &body, ..VALID_STEP })
    };
    let most = bounds::DESCRIBE_FUEL / EACH;
    assert_eq!(loaded(most - 10), Ok(1));
    let refused = loaded(most + 10).unwrap_err();
    assert!(refused.contains("fuel"), "{refused}");
}
