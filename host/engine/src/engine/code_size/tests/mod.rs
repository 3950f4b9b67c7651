//! Tests of the limits at their edges: the limit passes, and one more is refused.

mod slow;

use wasm_encoder::{
    Alias, BlockType, CodeSection, ComponentBuilder, ComponentExportKind, ComponentOuterAliasKind, Function,
    FunctionSection, Instruction, Module, ModuleArg, TypeSection, ValType,
};

use latchwork_core::model::bounds;

use super::check_bytes;
use super::functions::{Sums, check_code};
use super::instances::check_instances;
use crate::capability::settings::LimitsConfig;
use crate::interfaces::PluginProblem;

/// Number of parameters and of results of type 1 of a module.
const MANY: usize = 100;

/// Module whose functions have these types and bodies. Type 0 has one parameter, a number, and no result. Type 1 has
/// many parameters and results.
fn module_of(bodies: impl IntoIterator<Item = (u32, Function)>) -> Vec<u8> {
    let (mut types, mut functions, mut code) = (TypeSection::new(), FunctionSection::new(), CodeSection::new());
    types.ty().function([ValType::I32], []);
    types.ty().function([ValType::I32; MANY], [ValType::I32; MANY]);
    for (type_index, body) in bodies {
        functions.function(type_index);
        code.function(&body);
    }
    let mut module = Module::new();
    module.section(&types).section(&functions).section(&code);
    module.finish()
}

/// Module whose functions have these bodies, and one parameter each.
fn module(bodies: impl IntoIterator<Item = Function>) -> Vec<u8> {
    module_of(bodies.into_iter().map(|body| (0, body)))
}

fn body(instructions: impl IntoIterator<Item = Instruction<'static>>) -> Function {
    let mut body = Function::new([]);
    instructions.into_iter().for_each(|one| {
        body.instruction(&one);
    });
    body.instruction(&Instruction::End);
    body
}

fn repeated(one: Instruction<'static>, count: usize) -> impl Iterator<Item = Instruction<'static>> {
    std::iter::repeat_n(one, count)
}

/// Function with `values` values on the stack at the same time. It has twice as many instructions, and one local.
fn with_values(values: usize) -> Function {
    body(repeated(Instruction::I32Const(7), values).chain(repeated(Instruction::Drop, values)))
}

#[track_caller]
fn assert_refused(checked: Result<(), PluginProblem>, says: &str) {
    match checked {
        Err(PluginProblem::TooLarge(text)) => assert!(text.contains(says), "{text}"),
        other => panic!("expected {says:?}: {other:?}"),
    }
}

/// I219: bound `function_bytes`.
#[test]
fn function_is_refused_beyond_its_largest_size() {
    // A body has one byte for its locals and one for its end.
    let of_bytes = |bytes| module([body(repeated(Instruction::Nop, bytes - 2))]);
    check_code(&of_bytes(bounds::FUNCTION_BYTES)).unwrap();
    assert_refused(check_code(&of_bytes(bounds::FUNCTION_BYTES + 1)), "its function 0 at byte");
}

/// I219: bound `function_work`. The work is the product of instructions and values.
#[test]
fn function_is_refused_beyond_its_largest_work() {
    let within = (1..).take_while(|n| (2 * n + 1) * (n + 1) <= bounds::FUNCTION_WORK).last().unwrap();
    check_code(&module([with_values(within)])).unwrap();
    assert_refused(check_code(&module([with_values(within + 1)])), "values at the same time");
}

/// I219: loops in a row and loops inside each other are part of the work. A compiler needs a minute for 2,000 nested
/// loops in 14 KB.
#[test]
fn function_with_many_loops_is_refused() {
    let nested = |count| {
        let begins = repeated(Instruction::Loop(BlockType::Empty), count);
        module([body(begins.chain(repeated(Instruction::End, count)))])
    };
    check_code(&nested(800)).unwrap();
    assert_refused(check_code(&nested(900)), "900 loops");
    let in_a_row = |count| {
        let one = [Instruction::Loop(BlockType::Empty), Instruction::End];
        module([body(std::iter::repeat_n(one, count).flatten())])
    };
    check_code(&in_a_row(12_000)).unwrap();
    assert_refused(check_code(&in_a_row(12_300)), "units of compilation");
    let blocks = |count| {
        let begins = repeated(Instruction::Block(BlockType::Empty), count);
        module([body(begins.chain(repeated(Instruction::End, count)))])
    };
    check_code(&blocks(12_000)).unwrap();
    assert_refused(check_code(&blocks(12_300)), "units of compilation");
}

/// Checks a function that puts many numbers on the stack, and then has `inner` as often as `count` says. Function 1 of
/// its module has many parameters and results.
fn check_with_many_values(inner: &[Instruction<'static>], count: usize) -> Result<(), PluginProblem> {
    let (begins, ends) = (repeated(Instruction::I32Const(7), MANY), repeated(Instruction::Drop, MANY));
    let repetitions = std::iter::repeat_n(inner.to_vec(), count).flatten();
    let checked = body(begins.chain(repetitions).chain(ends));
    check_code(&module_of([(0, checked), (1, body([Instruction::Unreachable]))]))
}

/// I247: values of branch tables are part of the work. A compiler needs 47 seconds and 1.2 GB for 38 KB with 50 tables of
/// 120 labels with 300 values.
#[test]
fn function_with_many_values_in_branch_tables_is_refused() {
    let table = |entries: usize| {
        let table = Instruction::BrTable(vec![0; entries].into(), 0);
        let block = Instruction::Block(BlockType::FunctionType(1));
        check_with_many_values(&[block, Instruction::LocalGet(0), table, Instruction::End], 1)
    };
    table(7_300).unwrap();
    assert_refused(table(7_500), "units of compilation");
}

/// I247: parameters and results of blocks are part of the work. A compiler needs 23 seconds and 8 GB for 14 KB with
/// 2,000 loops of 50 parameters and results.
#[test]
fn function_with_many_values_of_blocks_is_refused() {
    let many = BlockType::FunctionType(1);
    let check = |inner: &[Instruction<'static>], within, beyond| {
        check_with_many_values(inner, within).unwrap();
        assert_refused(check_with_many_values(inner, beyond), "bytes of memory for its compilation");
    };
    check(&[Instruction::Block(many), Instruction::End], 870, 880);
    check(&[Instruction::Loop(many), Instruction::End], 290, 295);
    check(&[Instruction::LocalGet(0), Instruction::If(many), Instruction::End], 870, 880);
}

/// I247: values of other branches and of calls are part of the work. A compiler needs a microsecond for each value of a
/// branch, and 20 for each value of a call.
#[test]
fn function_with_many_values_of_branches_and_calls_is_refused() {
    let check = |inner: &[Instruction<'static>], within, beyond| {
        check_with_many_values(inner, within).unwrap();
        assert_refused(check_with_many_values(inner, beyond), "units of compilation");
    };
    // All branches leave one block.
    let branches = |count| {
        let begin = [Instruction::Block(BlockType::FunctionType(1))];
        let branches = std::iter::repeat_n([Instruction::LocalGet(0), Instruction::BrIf(0)], count).flatten();
        let inner: Vec<_> = begin.into_iter().chain(branches).chain([Instruction::End]).collect();
        check_with_many_values(&inner, 1)
    };
    branches(6_500).unwrap();
    assert_refused(branches(7_000), "units of compilation");
    check(&[Instruction::Call(1)], 2_900, 3_100);
}

/// I219: bound `component_functions`.
#[test]
fn component_is_refused_beyond_its_largest_number_of_functions() {
    let functions = |count| module(std::iter::repeat_n(body([]), count));
    check_code(&functions(bounds::COMPONENT_FUNCTIONS)).unwrap();
    assert_refused(check_code(&functions(bounds::COMPONENT_FUNCTIONS + 1)), "functions");
}

/// I219, I247: bounds `code_bytes`, `component_work` and `component_compile_bytes`.
#[test]
fn component_is_refused_beyond_its_largest_code() {
    let code = |bytes| Sums { bytes, ..Sums::default() };
    code(bounds::CODE_BYTES as u64).check().unwrap();
    assert_refused(code(bounds::CODE_BYTES as u64 + 1).check(), "bytes of code");
    let work = |work| Sums { work, ..Sums::default() };
    work(bounds::COMPONENT_WORK as u64).check().unwrap();
    assert_refused(work(bounds::COMPONENT_WORK as u64 + 1).check(), "units of compilation");
    let memory = |memory| Sums { memory, ..Sums::default() };
    memory(bounds::COMPONENT_COMPILE_BYTES as u64).check().unwrap();
    assert_refused(memory(bounds::COMPONENT_COMPILE_BYTES as u64 + 1).check(), "bytes of memory for its compilation");
    let many = bounds::COMPONENT_WORK / bounds::FUNCTION_WORK + 2;
    let large = with_values(12_000);
    assert_refused(check_code(&module(std::iter::repeat_n(large, many))), "units of compilation");
}

/// I219: bound `component_bytes`.
#[test]
fn component_is_refused_beyond_its_largest_size() {
    assert_eq!(LimitsConfig::default().max_component_bytes(), bounds::COMPONENT_BYTES as u64);
    check_bytes(&[0; 100], 100).unwrap();
    assert_refused(check_bytes(&[0; 101], 100), "limits.component");
}

/// Component in which each level instantiates the level before it twice.
fn doubled(levels: u32) -> Vec<u8> {
    let mut builder = ComponentBuilder::default();
    builder.component(None, ComponentBuilder::default());
    for level in 0..levels {
        let mut inner = ComponentBuilder::default();
        inner.alias(None, Alias::Outer { kind: ComponentOuterAliasKind::Component, count: 1, index: level });
        for _ in 0..2 {
            inner.instantiate(None, 0, Vec::<(&str, ComponentExportKind, u32)>::new());
        }
        builder.component(None, inner);
    }
    builder.finish()
}

/// I219: bound `instances`. A component of 500 bytes could make a million instances.
#[test]
fn component_is_refused_beyond_its_largest_number_of_instances() {
    // A component of level n has 2^(n + 1) - 1 instances.
    check_instances(&doubled(12)).unwrap();
    assert_refused(check_instances(&doubled(13)), "instances of components and modules");
    let in_a_row = |count: usize| {
        let mut builder = ComponentBuilder::default();
        builder.component(None, ComponentBuilder::default());
        for _ in 1..count {
            builder.instantiate(None, 0, Vec::<(&str, ComponentExportKind, u32)>::new());
        }
        builder.finish()
    };
    check_instances(&in_a_row(bounds::INSTANCES)).unwrap();
    assert_refused(check_instances(&in_a_row(bounds::INSTANCES + 1)), "10001 instances");
}

/// I219: bound `core_instances`.
#[test]
fn component_is_refused_beyond_its_largest_number_of_core_instances() {
    let of = |count: usize| {
        let mut builder = ComponentBuilder::default();
        builder.core_module(None, &Module::new());
        for _ in 0..count {
            builder.core_instantiate(None, 0, Vec::<(&str, ModuleArg)>::new());
        }
        builder.finish()
    };
    check_instances(&of(bounds::CORE_INSTANCES)).unwrap();
    assert_refused(check_instances(&of(bounds::CORE_INSTANCES + 1)), "65 modules");
}
