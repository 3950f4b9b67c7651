//! Values that branches, blocks and calls of a function carry from one place to another.
//!
//! The compiler makes one parameter of a block for each value of each entry of a branch table. The register allocator
//! joins the lifetimes of a value that passes through one block after the other, in a time that grows with the square
//! of the number of blocks. A few kilobytes of code could therefore take minutes and gigabytes.

use wasmparser::{
    BlockType, BrTable, FrameKind, FuncType, FuncValidator, Operator, ValidatorResources, WasmModuleResources,
};

/// Units of work of a value in one entry of a branch table. Measured: 26 µs.
const TABLE_WORK: u64 = 3_000;
/// Units of work of a value that another branch carries. Measured: 0.6 µs.
const BRANCH_WORK: u64 = 60;
/// Units of work of a parameter or a result of a call. Measured: 9 to 21 µs, of which most is the definition of the
/// value, which counts as an instruction.
const CALL_WORK: u64 = 500;
/// Units of work of a parameter or a result of a block, for each block of the function that has any. Measured: 0.03 to
/// 0.11 µs, and up to 40 bytes.
const BLOCK_WORK: u64 = 16;

/// Numbers of carried values.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CarriedValues {
    /// Values of branches, for each branch.
    branches: u64,
    /// Values of branch tables, for each entry.
    tables: u64,
    /// Parameters and results of calls, for each call.
    calls: u64,
    /// Parameters and results of blocks, for each block.
    blocks: u64,
    /// Blocks that have parameters or results.
    joins: u64,
}

impl CarriedValues {
    /// Adds the values of an instruction that the validator has not seen yet. Labels that do not exist count nothing,
    /// because the validator refuses them.
    pub(super) fn add(&mut self, operator: &Operator<'_>, validator: &FuncValidator<ValidatorResources>) {
        let resources = validator.resources();
        match operator {
            Operator::Block { blockty } | Operator::Loop { blockty } | Operator::If { blockty } => {
                let carried = parameters(*blockty, resources) + results(*blockty, resources);
                self.blocks += carried;
                self.joins += u64::from(carried > 0);
            }
            Operator::Br { relative_depth } | Operator::BrIf { relative_depth } => {
                self.branches += values_of_label(*relative_depth, validator);
            }
            Operator::BrTable { targets } => self.tables += values_of_table(targets, validator),
            // A return carries the values of the outermost label.
            Operator::Return => {
                let outermost = validator.control_stack_height().saturating_sub(1);
                self.branches += values_of_label(outermost, validator);
            }
            Operator::Call { function_index } | Operator::ReturnCall { function_index } => {
                let index = resources.type_index_of_function(*function_index);
                self.calls += index.map_or(0, |index| values_of_type(index, resources));
            }
            Operator::CallIndirect { type_index, .. } | Operator::ReturnCallIndirect { type_index, .. } => {
                self.calls += values_of_type(*type_index, resources)
            }
            _ => {}
        }
    }

    /// Returns an upper bound of the work of these values, in the units of the work of a function.
    pub(super) fn work(self) -> u64 {
        let of_blocks = self.blocks.saturating_mul(self.joins).saturating_mul(BLOCK_WORK);
        let others = [(self.branches, BRANCH_WORK), (self.tables, TABLE_WORK), (self.calls, CALL_WORK)];
        others.into_iter().fold(of_blocks, |sum, (values, work)| sum.saturating_add(values.saturating_mul(work)))
    }
}

/// Returns the number of values in all entries of a branch table. The default entry counts too.
fn values_of_table(targets: &BrTable<'_>, validator: &FuncValidator<ValidatorResources>) -> u64 {
    // All labels of a valid table carry equally many values.
    values_of_label(targets.default(), validator).saturating_mul(u64::from(targets.len()) + 1)
}

/// Returns the number of values that a branch to a label carries.
fn values_of_label(depth: u32, validator: &FuncValidator<ValidatorResources>) -> u64 {
    let resources = validator.resources();
    validator.get_control_frame(depth as usize).map_or(0, |frame| match frame.kind {
        FrameKind::Loop => parameters(frame.block_type, resources),
        _ => results(frame.block_type, resources),
    })
}

fn parameters(block: BlockType, resources: &ValidatorResources) -> u64 {
    match block {
        BlockType::Empty | BlockType::Type(_) => 0,
        BlockType::FuncType(index) => function_type(index, resources).map_or(0, |ty| ty.params().len() as u64),
    }
}

fn results(block: BlockType, resources: &ValidatorResources) -> u64 {
    match block {
        BlockType::Empty => 0,
        BlockType::Type(_) => 1,
        BlockType::FuncType(index) => function_type(index, resources).map_or(0, |ty| ty.results().len() as u64),
    }
}

fn values_of_type(index: u32, resources: &ValidatorResources) -> u64 {
    function_type(index, resources).map_or(0, |ty| (ty.params().len() + ty.results().len()) as u64)
}

fn function_type(index: u32, resources: &ValidatorResources) -> Option<&FuncType> {
    match &resources.sub_type_at(index)?.composite_type.inner {
        wasmparser::CompositeInnerType::Func(ty) => Some(ty),
        _ => None,
    }
}
