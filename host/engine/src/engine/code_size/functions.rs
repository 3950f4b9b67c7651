//! Work of compiling the functions of a component.
//!
//! The time of a compilation grows with the number of instructions. In each function it also grows with the number of
//! values that are alive at the same time, because the register allocator compares them. The time also grows with the
//! depth of the blocks, and with the squares of the numbers of loops and of branches. It grows with the third power of
//! the nesting depth of loops. Calls and operations on whole memories become many instructions. `branches` and
//! `expressions` count what branches carry and what is computed again. [`FunctionMeasures::work`] adds up these
//! quantities, with factors that were measured. [`FunctionMeasures::memory`] estimates the memory in the same way.

use wasmparser::{
    BinaryReaderError, FuncToValidate, FuncValidator, FuncValidatorAllocations, FunctionBody, ModuleArity, Operator,
    OperatorsReader, Parser, ValidPayload, Validator, ValidatorResources, WasmFeatures,
};

use latchwork_core::model::bounds;

use crate::engine::code_size::branches::{Branches, parameters_and_results};
use crate::engine::code_size::expressions::Expressions;
use crate::interfaces::PluginProblem;

/// Number of instructions after which the count of a function is compared with the limit, also inside a block.
const CHECKED_EACH: u64 = 256;

/// Checks the code of a component, function by function. A component whose structure is invalid passes, because the
/// engine refuses it before it compiles anything.
pub(super) fn check_code(bytes: &[u8]) -> Result<(), PluginProblem> {
    let mut validator = Validator::new_with_features(WasmFeatures::all());
    let mut allocations = FuncValidatorAllocations::default();
    let mut sums = Sums::default();
    for payload in Parser::new(0).parse_all(bytes) {
        let Ok(payload) = payload else { return Ok(()) };
        let Ok(checked) = validator.payload(&payload) else { return Ok(()) };
        if let ValidPayload::Func(function, body) = checked {
            allocations = check_function(function, &body, allocations, &mut sums)?;
            sums.check()?;
        }
    }
    Ok(())
}

/// Checks the size of one function and adds the work of compiling it to `sums`.
fn check_function(
    function: FuncToValidate<ValidatorResources>,
    body: &FunctionBody<'_>,
    allocations: FuncValidatorAllocations,
    sums: &mut Sums,
) -> Result<FuncValidatorAllocations, PluginProblem> {
    let index = function.index;
    let (start, len) = (body.range().start, body.range().len());
    sums.functions += 1;
    sums.bytes += len as u64;
    if len > bounds::FUNCTION_BYTES {
        let max = bounds::FUNCTION_BYTES;
        return Err(PluginProblem::TooLarge(format!(
            "its function {index} at byte {start:#x} has {len} bytes where {max} are allowed; split the function"
        )));
    }
    let mut validator = function.into_validator(allocations);
    let measured = FunctionMeasures::of(body, &mut validator).map_err(|error| {
        let text = format!("function {index} at byte {:#x} is invalid: {}", error.offset(), error.message());
        PluginProblem::NotAComponent(text)
    })?;
    measured.check().map_err(|text| {
        PluginProblem::TooLarge(format!(
            "its function {index} at byte {start:#x}{text}; split the function, or compile it with optimization"
        ))
    })?;
    sums.work = sums.work.saturating_add(measured.work());
    sums.memory = sums.memory.saturating_add(measured.memory());
    Ok(validator.into_allocations())
}

/// Sums over all functions of a component.
#[derive(Default)]
pub(super) struct Sums {
    pub(super) functions: u64,
    pub(super) bytes: u64,
    pub(super) work: u64,
    pub(super) memory: u64,
}

impl Sums {
    pub(super) fn check(&self) -> Result<(), PluginProblem> {
        let rows = [
            (self.functions, bounds::COMPONENT_FUNCTIONS, "functions"),
            (self.bytes, bounds::CODE_BYTES, "bytes of code"),
            (self.work, bounds::COMPONENT_WORK, "units of compilation"),
            (self.memory, bounds::COMPONENT_COMPILE_BYTES, "bytes of memory for its compilation"),
        ];
        match rows.into_iter().find(|(sum, max, _)| *sum > *max as u64) {
            Some((_, max, what)) => {
                Err(PluginProblem::TooLarge(format!("it has more than {max} {what}; split it into several plugins")))
            }
            None => Ok(()),
        }
    }
}

/// Properties of a function that determine how long its compilation takes.
#[derive(Clone, Copy, Debug, Default)]
struct FunctionMeasures {
    instructions: u64,
    /// Locals plus the highest stack of operands.
    values: u64,
    loops: u64,
    /// Highest number of loops inside each other.
    loop_depth: u64,
    /// Sum of the depths of all blocks.
    block_depths: u64,
    branches: u64,
    /// Copies of values for the paths that lead to labels.
    copies: u64,
    /// Sum, over all values, of the squared numbers of labels that a value passes.
    squared_labels: u64,
    /// Arguments and results of all calls.
    passed: u64,
    /// Lengths of the operations that become hundreds of instructions.
    lengths: u64,
    /// Operations that are computed more than once.
    repeated: u64,
    /// Sum, over all expressions, of the squared numbers of values that are alive until their use.
    squared_alive: u64,
}

impl FunctionMeasures {
    /// Counts a function. If its work exceeds the limit, the count ends early.
    fn of(
        body: &FunctionBody<'_>,
        validator: &mut FuncValidator<ValidatorResources>,
    ) -> Result<Self, BinaryReaderError> {
        let mut reader = body.get_binary_reader();
        validator.read_locals(&mut reader)?;
        let mut operators = OperatorsReader::new(reader);
        let mut measured = Self::default();
        // One flag for each open block: true if the block is a loop.
        let mut open = Vec::new();
        let mut open_loops = 0;
        let (mut branches, mut expressions) = (Branches::of(validator), Expressions::new());
        while !operators.eof() {
            let (operator, offset) = operators.read_with_offset()?;
            let arity = operator.operator_arity(&*validator).unwrap_or_default();
            branches.before(&operator)?;
            measured.passed += passed_values(&operator, validator);
            validator.op(offset, &operator)?;
            let height = validator.operand_stack_height();
            measured.instructions += 1;
            measured.branches += u64::from(is_branch(&operator));
            measured.lengths += length(&operator);
            measured.values = measured.values.max(u64::from(height));
            let is_loop = matches!(operator, Operator::Loop { .. });
            let mut ended = None;
            if is_loop || matches!(operator, Operator::Block { .. } | Operator::If { .. } | Operator::TryTable { .. }) {
                branches.begin(validator);
                open.push(is_loop);
                open_loops += u64::from(is_loop);
                measured.block_depths += open.len() as u64;
                measured.loops += u64::from(is_loop);
                measured.loop_depth = measured.loop_depth.max(open_loops);
            } else if matches!(operator, Operator::End) {
                open_loops -= u64::from(open.pop() == Some(true));
                ended = branches.end();
            }
            let arity = (arity.0 as usize, arity.1 as usize);
            expressions.add(&operator, arity, height as usize, &branches, ended.as_ref());
            (measured.copies, measured.repeated) = (branches.copies, expressions.repeated);
            measured.squared_alive = expressions.squared_alive;
            // The work only grows, and the count takes longer the more it counts. It therefore ends at the limit.
            let is_checked = ended.is_some() || measured.instructions.is_multiple_of(CHECKED_EACH);
            if is_checked && measured.work() > bounds::FUNCTION_WORK as u64 {
                return Ok(measured);
            }
        }
        operators.finish()?;
        measured.values += u64::from(validator.len_locals());
        measured.squared_labels = branches.squared_labels();
        Ok(measured)
    }

    /// Checks the work and the memory of one function. The error describes the function.
    fn check(&self) -> Result<(), String> {
        let FunctionMeasures { instructions, values, loops, branches, copies, passed, repeated, .. } = self;
        for (needed, max, what) in [
            (self.work(), bounds::FUNCTION_WORK, "units of compilation"),
            (self.memory(), bounds::FUNCTION_COMPILE_BYTES, "bytes of memory for its compilation"),
        ] {
            if needed > max as u64 {
                return Err(format!(
                    ", with {instructions} instructions, {loops} loops, {branches} branches, {values} values at the \
                     same time, {copies} copies of values for branches, {passed} arguments and results of calls, and \
                     {repeated} operations that are computed again, needs at least {needed} {what} where {max} are \
                     allowed"
                ));
            }
        }
        Ok(())
    }

    /// Returns an upper bound of the work. A compilation takes about a second for a hundred million units of work.
    fn work(&self) -> u64 {
        // The compiler redirects branches to places that only branch further, and compares them in pairs for that.
        let of_branches = self.branches.saturating_pow(2).saturating_mul(3) / 5;
        let of_loops = self.loops.saturating_pow(2).saturating_mul(2);
        let of_nested_loops = self.loop_depth.saturating_pow(3) / 2;
        // Copies cost more if there are more values than registers.
        let of_copy = self.values.saturating_sub(64).saturating_mul(8).saturating_add(100);
        [
            self.instructions.saturating_mul(self.values),
            self.block_depths.saturating_mul(4),
            of_branches,
            of_loops,
            of_nested_loops,
            self.copies.saturating_mul(of_copy),
            self.passed.saturating_mul(500),
            self.lengths.saturating_mul(2_500),
            self.repeated.saturating_mul(400),
            self.squared_alive.saturating_mul(3) / 2,
        ]
        .into_iter()
        .fold(0, u64::saturating_add)
    }

    /// Returns an upper bound of the memory that the listed properties need, in bytes.
    fn memory(&self) -> u64 {
        let of_labels = self.squared_labels.saturating_mul(7);
        let of_calls = self.passed.saturating_mul(600).saturating_add(self.lengths.saturating_mul(6_000));
        let of_expressions = self.repeated.saturating_mul(1_300);
        of_labels.saturating_add(of_calls).saturating_add(of_expressions)
    }
}

/// Returns true for a branch. A branch table is one branch, because its entries are cheaper. Indirect calls and
/// accesses to tables have branches for their checks.
fn is_branch(operator: &Operator<'_>) -> bool {
    use Operator as O;
    matches!(operator, O::Br { .. } | O::BrIf { .. } | O::BrTable { .. } | O::If { .. } | O::Return)
        || length(operator) == 1
}

/// Returns the length of an operation that becomes hundreds of instructions. The unit is that of an indirect call.
fn length(operator: &Operator<'_>) -> u64 {
    use Operator as O;
    match operator {
        O::CallIndirect { .. } | O::ReturnCallIndirect { .. } | O::TableGet { .. } | O::TableSet { .. } => 1,
        O::MemoryInit { .. } | O::MemoryCopy { .. } | O::MemoryFill { .. } | O::MemoryGrow { .. } => 4,
        O::TableInit { .. } | O::TableCopy { .. } | O::TableFill { .. } | O::TableGrow { .. } => 12,
        _ => 0,
    }
}

/// Returns the number of arguments and results of a call.
fn passed_values(operator: &Operator<'_>, validator: &FuncValidator<ValidatorResources>) -> u64 {
    let ty = match operator {
        Operator::Call { function_index } | Operator::ReturnCall { function_index } => {
            validator.type_index_of_function(*function_index)
        }
        Operator::CallIndirect { type_index, .. }
        | Operator::ReturnCallIndirect { type_index, .. }
        | Operator::CallRef { type_index }
        | Operator::ReturnCallRef { type_index } => Some(*type_index),
        _ => None,
    };
    let (parameters, results) = ty.map_or((0, 0), |ty| parameters_and_results(validator, ty));
    parameters + results
}
