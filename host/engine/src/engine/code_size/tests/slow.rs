//! Functions of a few kilobytes whose compilation takes seconds or gigabytes. The times and sizes in the comments were
//! measured on one core.

use std::iter::repeat_n;

use wasm_encoder::{
    BlockType, CodeSection, Function, FunctionSection, Instruction as I, MemArg, MemorySection, MemoryType, Module,
    RefType, TableSection, TableType, TypeSection, ValType,
};

use latchwork_core::model::bounds;

use super::assert_refused;
use crate::engine::code_size::functions::check_code;

/// Type of the function: one parameter, no result.
const OWN: u32 = 0;
/// Type of a block or of a function: no parameters, several results.
const RESULTS: u32 = 1;
/// Type of a block or of a function: as many parameters as results.
const BOTH: u32 = 2;

/// Module with this function, a function of the type [`BOTH`], and a memory. `width` is the number of parameters and
/// results of the types.
fn module(width: usize, locals: u32, code: &[I<'_>]) -> Vec<u8> {
    let numbers = |count: usize| repeat_n(ValType::I32, count);
    let (mut types, mut functions, mut memories, mut bodies) =
        (TypeSection::new(), FunctionSection::new(), MemorySection::new(), CodeSection::new());
    types.ty().function(numbers(1), []);
    types.ty().function([], numbers(width));
    types.ty().function(numbers(width), numbers(width));
    functions.function(OWN).function(BOTH);
    memories.memory(MemoryType { minimum: 1, maximum: None, memory64: false, shared: false, page_size_log2: None });
    let mut tables = TableSection::new();
    tables.table(TableType {
        element_type: RefType::FUNCREF,
        minimum: 1,
        maximum: None,
        table64: false,
        shared: false,
    });
    let mut body = Function::new([(locals, ValType::I32)]);
    code.iter().chain([&I::End]).for_each(|one| {
        body.instruction(one);
    });
    let mut same = Function::new([]);
    (0..width as u32).map(I::LocalGet).chain([I::End]).for_each(|one| {
        same.instruction(&one);
    });
    bodies.function(&body).function(&same);
    let mut module = Module::new();
    module.section(&types).section(&functions).section(&tables).section(&memories).section(&bodies);
    module.finish()
}

fn block(ty: u32) -> I<'static> {
    I::Block(BlockType::FunctionType(ty))
}

fn repeated<'a>(one: &[I<'a>], count: usize) -> impl Iterator<Item = I<'a>> {
    repeat_n(one.to_vec(), count).flatten()
}

fn at(offset: u64) -> MemArg {
    MemArg { offset, align: 0, memory_index: 0 }
}

/// Blocks inside each other with results, and a table of branches to all of them.
fn table_of_branches(blocks: u32, results: usize) -> Vec<u8> {
    let code: Vec<_> = repeat_n(block(RESULTS), blocks as usize)
        .chain(repeat_n(I::LocalGet(0), results + 1))
        .chain([I::BrTable((0..blocks).collect::<Vec<_>>().into(), 0)])
        .chain(repeat_n(I::End, blocks as usize))
        .chain(repeat_n(I::Drop, results))
        .collect();
    module(results, 0, &code)
}

/// I247: a table of branches carries its values to each target. The function of 9 KB with 1,000 targets takes 11 s and
/// 5.8 GB.
#[test]
fn tables_of_branches_are_counted() {
    check_code(&table_of_branches(64, 16)).unwrap();
    assert_refused(check_code(&table_of_branches(1_000, 1_000)), "copies of values for branches");
    assert_refused(check_code(&table_of_branches(500, 500)), "copies of values for branches");
    // Each entry of a table counts, even if all entries lead to the same label.
    let code: Vec<_> = [block(RESULTS)]
        .into_iter()
        .chain(repeat_n(I::LocalGet(0), 501))
        .chain([I::BrTable(vec![0; 2_000].into(), 0), I::End])
        .chain(repeat_n(I::Drop, 500))
        .collect();
    assert_refused(check_code(&module(500, 0, &code)), "copies of values for branches");
}

/// I247: blocks in a row, and loops, carry their parameters and results as well.
#[test]
fn parameters_of_blocks_are_counted() {
    let in_a_row = |begin: I<'static>, count: usize| {
        let code: Vec<_> = repeat_n(I::LocalGet(0), 100)
            .chain(repeated(&[begin, I::LocalGet(0), I::BrIf(0), I::End], count))
            .chain(repeat_n(I::Drop, 100))
            .collect();
        module(100, 0, &code)
    };
    check_code(&in_a_row(block(BOTH), 500)).unwrap();
    assert_refused(check_code(&in_a_row(block(BOTH), 1_000)), "bytes of memory");
    let begin = I::Loop(BlockType::FunctionType(BOTH));
    check_code(&in_a_row(begin.clone(), 200)).unwrap();
    assert_refused(check_code(&in_a_row(begin, 500)), "bytes of memory");
}

/// I247: the compiler compares branches that lead to one place in pairs. The function of 200 KB with 50,000 branches
/// takes 15 s.
#[test]
fn branches_to_one_place_are_counted() {
    let to_one_end = |count: usize| {
        let begin = [I::Block(BlockType::Empty)].into_iter();
        let code: Vec<_> = begin.chain(repeated(&[I::LocalGet(0), I::BrIf(0)], count)).chain([I::End]).collect();
        module(1, 0, &code)
    };
    check_code(&to_one_end(22_000)).unwrap();
    assert_refused(check_code(&to_one_end(23_000)), "units of compilation");
    let in_a_row = |count: usize| {
        let one = [I::LocalGet(0), I::If(BlockType::Empty), I::End];
        module(1, 0, &repeated(&one, count).collect::<Vec<_>>())
    };
    check_code(&in_a_row(22_000)).unwrap();
    assert_refused(check_code(&in_a_row(23_000)), "units of compilation");
}

/// I247: a local that is set in a block is carried to its end. The function of 8 KB with 500 locals takes 10 s.
#[test]
fn locals_that_blocks_set_are_counted() {
    let nested = |locals: u32| {
        let code: Vec<_> = repeat_n(I::Block(BlockType::Empty), locals as usize)
            .chain((0..locals).flat_map(|depth| [I::LocalGet(0), I::BrIf(depth)]))
            .chain((1..=locals).flat_map(|local| [I::End, I::LocalGet(0), I::LocalSet(local)]))
            .collect();
        module(1, locals, &code)
    };
    check_code(&nested(200)).unwrap();
    assert_refused(check_code(&nested(500)), "copies of values for branches");
}

/// I247: the function of 10 KB with 1,000 calls takes 10 s and 1 GB.
#[test]
fn arguments_and_results_of_calls_are_counted() {
    let calls = |count: usize| {
        let code: Vec<_> = repeat_n(I::LocalGet(0), 1_000)
            .chain(repeat_n(I::Call(1), count))
            .chain(repeat_n(I::Drop, 1_000))
            .collect();
        module(1_000, 0, &code)
    };
    check_code(&calls(100)).unwrap();
    assert_refused(check_code(&calls(1_000)), "arguments and results of calls");
}

/// I247: some operations become hundreds of instructions. The function of 500 KB with 55,000 operations on a memory
/// takes 6 s and 1.4 GB.
#[test]
fn long_operations_are_counted() {
    let check = |one: &[I<'static>], within, beyond| {
        let check = |count| check_code(&module(1, 0, &repeated(one, count).collect::<Vec<_>>()));
        check(within).unwrap();
        assert_refused(check(beyond), "where");
    };
    check(&[I::LocalGet(0), I::LocalGet(0), I::LocalGet(0), I::MemoryFill(0)], 22_000, 23_000);
    check(&[I::LocalGet(0), I::MemoryGrow(0), I::Drop], 22_000, 23_000);
    let indirect = I::CallIndirect { type_index: OWN, table_index: 0 };
    check(&[I::LocalGet(0), I::LocalGet(0), indirect], 18_000, 22_000);
    let copy = I::TableCopy { src_table: 0, dst_table: 0 };
    check(&[I::LocalGet(0), I::LocalGet(0), I::LocalGet(0), copy], 7_000, 10_000);
}

/// I247: an expression is computed in each block that uses it. The function of 52 KB with an expression of 8,000
/// operations and 1,000 blocks takes 15 s and 4.5 GB.
#[test]
fn repeated_expressions_are_counted() {
    let store = [I::LocalGet(0), I::If(BlockType::Empty), I::LocalGet(0), I::LocalGet(1), I::I32Store(at(0)), I::End];
    let function = |operations: i32, uses: usize| {
        let code: Vec<_> = (0..operations)
            .flat_map(|n| [I::LocalGet(1), I::I32Const(n), I::I32Mul, I::LocalGet(0), I::I32Xor, I::LocalSet(1)])
            .chain(repeated(&store, uses))
            .collect();
        module(1, 1, &code)
    };
    check_code(&function(1_000, 100)).unwrap();
    assert_refused(check_code(&function(1_000, 1_000)), "operations that are computed again");
    // A use that is always reached first computes the expression once.
    let once: Vec<_> = (0..1_000)
        .flat_map(|n| [I::LocalGet(1), I::I32Const(n), I::I32Mul, I::LocalGet(0), I::I32Xor, I::LocalSet(1)])
        .chain([I::LocalGet(0), I::LocalGet(1), I::I32Store(at(0))])
        .chain(repeated(&store, 1_000))
        .collect();
    check_code(&module(1, 1, &once)).unwrap();
}

/// I247: all values that an expression reads are alive until its use. The function of 316 KB with 40,000 values takes
/// 25 s.
#[test]
fn values_of_long_expressions_are_counted() {
    let sum = |values: u64| {
        let load = |offset| [I::LocalGet(0), I::I32Load(at(offset)), I::I32Add];
        let code: Vec<_> = [I::LocalGet(0), I::LocalGet(0)]
            .into_iter()
            .chain((0..values).flat_map(load))
            .chain([I::I32Store(at(0))])
            .collect();
        module(1, 0, &code)
    };
    check_code(&sum(10_000)).unwrap();
    assert_refused(check_code(&sum(20_000)), "units of compilation");
}

/// I247: the count of a function ends at the limit. Without this, it would take minutes and gigabytes for these
/// functions.
#[test]
fn count_ends_at_the_limit() {
    let sets = 40_000;
    let nested = |blocks: usize, branch: &[I<'static>]| {
        let code: Vec<_> = repeat_n(I::Block(BlockType::Empty), blocks)
            .chain((1..=sets).flat_map(|local| [I::LocalGet(0), I::LocalSet(local)]))
            .chain(repeated(&[branch, &[I::End]].concat(), blocks))
            .collect();
        module(1, sets, &code)
    };
    let calls: Vec<_> = repeat_n(I::LocalGet(0), 1_000).chain(repeat_n(I::Call(1), 200_000)).collect();
    assert_refused(check_code(&nested(10_000, &[I::LocalGet(0), I::BrIf(0)])), "units of compilation");
    assert_refused(check_code(&nested(10_000, &[])), "units of compilation");
    assert_refused(check_code(&module(1_000, 0, &calls)), "units of compilation");
}

/// I247: bound `function_compile_bytes`. The memory grows with the square of the number of blocks that a result
/// passes.
#[test]
fn function_is_refused_beyond_its_largest_memory() {
    let nested = |blocks: usize| {
        let code: Vec<_> = repeat_n(block(RESULTS), blocks)
            .chain([I::LocalGet(0)])
            .chain(repeated(&[I::LocalGet(0), I::BrIf(0), I::End], blocks))
            .chain([I::Drop])
            .collect();
        module(1, 0, &code)
    };
    let within = (1..).take_while(|blocks| 7 * blocks * blocks <= bounds::FUNCTION_COMPILE_BYTES).last().unwrap();
    check_code(&nested(within)).unwrap();
    assert_refused(check_code(&nested(within + 1)), "bytes of memory for its compilation");
}
