//! Components with changed bytes or forbidden features.

use wasm_encoder::{ComponentSection, Instruction, MemoryType};

use crate::support::plugins::component_builder::{ComponentSpec, VALID_STEP};

/// Renames the package `latchwork:plugix` in a component's bytes to `latchwork:plugin`. The names have the
/// same length, so no size changes.
pub(crate) fn rename_to_latchwork(bytes: &[u8]) -> Vec<u8> {
    replace_all(bytes, b"latchwork:plugix/", b"latchwork:plugin/")
}

pub(crate) fn replace_all(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let mut out = bytes.to_vec();
    for at in 0..=out.len() - from.len() {
        if out[at..].starts_with(from) {
            out[at..at + to.len()].copy_from_slice(to);
        }
    }
    out
}

/// Returns components that use one forbidden feature each, with the feature's name.
pub(crate) fn components_with_forbidden_features() -> Vec<(&'static str, Vec<u8>)> {
    let memory = |memory64, shared| MemoryType { minimum: 1, maximum: Some(2), memory64, shared, page_size_log2: None };
    let body = |body: &[Instruction<'_>]| ComponentSpec { unused_body: body, ..VALID_STEP }.build_component();
    let any = wasm_encoder::HeapType::Abstract { shared: false, ty: wasm_encoder::AbstractHeapType::Any };
    let mut asynchronous = VALID_STEP.build_component();
    let mut canonical = wasm_encoder::CanonicalFunctionSection::new();
    canonical.task_cancel();
    canonical.append_to_component(&mut asynchronous);
    let four = Instruction::V128Const(0);
    vec![
        ("relaxed-simd", body(&[four, Instruction::I32x4RelaxedTruncF32x4S, Instruction::Drop])),
        ("threads", body(&[Instruction::AtomicFence])),
        ("threads", ComponentSpec { memory: Some(memory(false, true)), ..VALID_STEP }.build_component()),
        ("memory64", ComponentSpec { memory: Some(memory(true, false)), ..VALID_STEP }.build_component()),
        ("gc", body(&[Instruction::RefNull(any), Instruction::Drop])),
        (
            "wide-arithmetic",
            body(&[
                Instruction::I64Const(1),
                Instruction::I64Const(1),
                Instruction::I64MulWideU,
                Instruction::Drop,
                Instruction::Drop,
            ]),
        ),
        ("component-model-async", asynchronous),
    ]
}
