//! A start function that leaves memory as earlier runs of the same instance would leave it: the unused stack and the free
//! blocks of the heap are not zero, and the free blocks have many sizes.

use wasm_encoder::{BlockType, Function, Instruction, MemArg, ValType};

/// Number of bytes below the new stack top that are filled before any code of the module runs. This number is smaller
/// than the smallest stack that compilers make, so the fill stays inside the stack.
pub(super) const STACK_FILL_BYTES: i32 = 8192;
/// Allocation sizes in bytes. Blocks from `HEAP_BLOCK_MIN` to `HEAP_BLOCK_MAX` are allocated, filled and freed.
const HEAP_BLOCK_MIN: i32 = 16;
const HEAP_BLOCK_MAX: i32 = 32_768;
/// Alignment of the allocated blocks. Every allocator places a block with this alignment without a gap before the
/// block. Small allocations would use such a gap and keep their usual addresses.
const HEAP_ALIGN: i32 = 8;
/// Sizes in bytes of the blocks that become holes, in the order of their addresses. `BETWEEN_HOLES` is the size in
/// bytes of the block that stays allocated between two holes.
const HOLES: [i32; 12] = [4_096, 2_048, 1_024, 768, 512, 384, 256, 192, 144, 112, 88, 72];
const BETWEEN_HOLES: i32 = 16;
/// Least and greatest size in bytes of the small holes. Sizes are multiples of `HEAP_ALIGN`, and each size has `EQUAL_HOLES`
/// holes, which become free in the order of their addresses.
const SMALL_HOLES: [i32; 2] = [16, 128];
const EQUAL_HOLES: i32 = 32;
/// Byte value with which memory is filled.
const FILL_BYTE: i32 = 0xA5;

/// Builds the start function. This function fills the unused stack, allocates a block of the heap, and leaves nonzero
/// bytes in freed memory.
///
/// The start function reallocates the block to each size in turn and then shrinks it. An allocator with separate lists
/// for different block sizes thus frees one block of each size. Any other allocator frees most of the largest block
/// when the block shrinks.
pub(super) fn start_function(top: i32, realloc: Option<u32>, heap_bytes: i32, has_holes: bool) -> Function {
    let mut code = Function::new([(1 + HOLES.len() as u32 + 5, ValType::I32)]);
    let fill = |code: &mut Function, from: Instruction<'_>, bytes: i32| {
        code.instruction(&from)
            .instruction(&Instruction::I32Const(FILL_BYTE))
            .instruction(&Instruction::I32Const(bytes));
        code.instruction(&Instruction::MemoryFill(0));
    };
    fill(&mut code, Instruction::I32Const(top - STACK_FILL_BYTES), STACK_FILL_BYTES);
    if let Some(realloc) = realloc {
        let sizes = std::iter::successors(Some(HEAP_BLOCK_MIN), |size| Some(size * 2))
            .take_while(|size| *size <= HEAP_BLOCK_MAX);
        let mut before = 0;
        for size in sizes.chain([heap_bytes]) {
            code.instruction(&Instruction::LocalGet(0));
            for number in [before, HEAP_ALIGN, size] {
                code.instruction(&Instruction::I32Const(number));
            }
            code.instruction(&Instruction::Call(realloc)).instruction(&Instruction::LocalSet(0));
            // `realloc` returns 0 if an allocation fails. The fill is then skipped.
            code.instruction(&Instruction::LocalGet(0)).instruction(&Instruction::If(BlockType::Empty));
            fill(&mut code, Instruction::LocalGet(0), size);
            code.instruction(&Instruction::End);
            before = size;
        }
        if has_holes {
            make_holes(&mut code, realloc);
            make_small_holes(&mut code, realloc, 1 + HOLES.len() as u32);
        }
    }
    code.instruction(&Instruction::End);
    code
}

/// Allocates the blocks of [`HOLES`] one after the other, and then shrinks each of them.
fn make_holes(code: &mut Function, realloc: u32) {
    let mut resize = |block: u32, before: i32, after: i32| {
        code.instruction(&Instruction::LocalGet(block));
        for argument in [before, HEAP_ALIGN, after] {
            code.instruction(&Instruction::I32Const(argument));
        }
        code.instruction(&Instruction::Call(realloc)).instruction(&Instruction::LocalSet(block));
    };
    for (block, size) in (1..).zip(HOLES) {
        resize(block, 0, size);
    }
    for (block, size) in (1..).zip(HOLES) {
        resize(block, size, BETWEEN_HOLES);
    }
}

/// Makes the holes of [`SMALL_HOLES`]. First allocates `EQUAL_HOLES` blocks of each size, with another block after each, and
/// then grows each block, so that it moves. Some allocators join neighbouring holes, so the blocks between them stay. Each
/// block contains the address of the next one. `locals` is the first of five locals.
fn make_small_holes(code: &mut Function, realloc: u32, locals: u32) {
    use Instruction::{
        BrIf, Call, Drop, End, I32Add, I32Const, I32LeU, I32Load, I32Shl, I32Store, I32Sub, LocalGet, LocalSet,
        LocalTee, Loop,
    };
    let [size, count, first, block, next] = [locals, locals + 1, locals + 2, locals + 3, locals + 4];
    let pointer = MemArg { offset: 0, align: 2, memory_index: 0 };
    let allocate = |size: Instruction<'static>| [I32Const(0), I32Const(0), I32Const(HEAP_ALIGN), size, Call(realloc)];
    let mut add = |instructions: &[Instruction<'_>]| {
        for instruction in instructions {
            code.instruction(instruction);
        }
    };
    let mut add_loops = |before: &[Instruction<'_>], body: &[&[Instruction<'_>]]| {
        add(before);
        add(&[I32Const(SMALL_HOLES[0]), LocalSet(size), Loop(BlockType::Empty)]);
        add(&[I32Const(EQUAL_HOLES), LocalSet(count), Loop(BlockType::Empty)]);
        for part in body {
            add(part);
        }
        add(&[LocalGet(count), I32Const(1), I32Sub, LocalTee(count), BrIf(0), End]);
        add(&[LocalGet(size), I32Const(HEAP_ALIGN), I32Add, LocalTee(size), I32Const(SMALL_HOLES[1]), I32LeU]);
        add(&[BrIf(0), End]);
    };
    add_loops(
        &[&allocate(I32Const(HEAP_BLOCK_MIN))[..], &[LocalTee(first), LocalSet(block)]].concat(),
        &[
            &[LocalGet(block)],
            &allocate(LocalGet(size)),
            &[LocalTee(block), I32Store(pointer)],
            &allocate(I32Const(BETWEEN_HOLES)),
            &[Drop],
        ],
    );
    add_loops(
        &[LocalGet(first), I32Load(pointer), LocalSet(block)],
        &[
            &[LocalGet(block), I32Load(pointer), LocalSet(next), LocalGet(block), LocalGet(size), I32Const(HEAP_ALIGN)],
            // Allocators with few sizes have another list for twice the size.
            &[LocalGet(size), I32Const(BETWEEN_HOLES), I32Add, I32Const(1), I32Shl, Call(realloc), Drop],
            &[LocalGet(next), LocalSet(block)],
        ],
    );
}
