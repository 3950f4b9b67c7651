//! Work of compiling the functions of a component.
//!
//! The time of a compilation grows with the number of instructions. In each function it also grows with the number of
//! values that are alive at the same time, because the register allocator compares them. The time also grows with the
//! depth of the blocks, with the square of the number of loops, and with the cube of the nesting depth of loops. The
//! values that branches, blocks and calls carry add work of their own. [`Measured::work`] adds up these quantities, with
//! factors that were measured.

use wasmparser::{
    BinaryReaderError, FuncToValidate, FuncValidator, FuncValidatorAllocations, FunctionBody, Operator,
    OperatorsReader, Parser, ValidPayload, Validator, ValidatorResources, WasmFeatures,
};

use latchwork_core::model::bounds;

use crate::interfaces::Problem;

use super::carried::CarriedValues;

/// Checks the code of a component, function by function. A component whose structure is invalid passes, because the
/// engine refuses it before it compiles anything.
pub(super) fn check_code(bytes: &[u8]) -> Result<(), Problem> {
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
) -> Result<FuncValidatorAllocations, Problem> {
    let index = function.index;
    let (start, len) = (body.range().start, body.range().len());
    sums.functions += 1;
    sums.bytes += len as u64;
    if len > bounds::FUNCTION_BYTES {
        let max = bounds::FUNCTION_BYTES;
        return Err(Problem::TooLarge(format!(
            "its function {index} at byte {start:#x} has {len} bytes where {max} are allowed; split the function"
        )));
    }
    let mut validator = function.into_validator(allocations);
    let measured = Measured::of(body, &mut validator).map_err(|error| {
        let text = format!("function {index} at byte {:#x} is invalid: {}", error.offset(), error.message());
        Problem::NotAComponent(text)
    })?;
    let work = measured.work();
    sums.work = sums.work.saturating_add(work);
    if work > bounds::FUNCTION_WORK as u64 {
        let Measured { instructions, values, loops, .. } = measured;
        return Err(Problem::TooLarge(format!(
            "its function {index} at byte {start:#x}, with {instructions} instructions, {loops} loops, and {values} values \
             at the same time, needs {work} units of compilation where {} are allowed; split the function, or compile it \
             with optimization",
            bounds::FUNCTION_WORK
        )));
    }
    Ok(validator.into_allocations())
}

/// Sums over all functions of a component.
#[derive(Default)]
pub(super) struct Sums {
    pub(super) functions: u64,
    pub(super) bytes: u64,
    pub(super) work: u64,
}

impl Sums {
    pub(super) fn check(&self) -> Result<(), Problem> {
        let rows = [
            (self.functions, bounds::COMPONENT_FUNCTIONS, "functions"),
            (self.bytes, bounds::CODE_BYTES, "bytes of code"),
            (self.work, bounds::COMPONENT_WORK, "units of compilation"),
        ];
        match rows.into_iter().find(|(sum, max, _)| *sum > *max as u64) {
            Some((_, max, what)) => {
                Err(Problem::TooLarge(format!("it has more than {max} {what}; split it into several plugins")))
            }
            None => Ok(()),
        }
    }
}

/// Properties of a function that determine how long its compilation takes.
#[derive(Clone, Copy, Debug, Default)]
struct Measured {
    instructions: u64,
    /// Locals plus the highest stack of operands.
    values: u64,
    loops: u64,
    /// Highest number of loops inside each other.
    loop_depth: u64,
    /// Sum of the depths of all blocks.
    block_depths: u64,
    carried: CarriedValues,
}

impl Measured {
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
        while !operators.eof() {
            let (operator, offset) = operators.read_with_offset()?;
            measured.carried.add(&operator, validator);
            validator.op(offset, &operator)?;
            measured.instructions += 1;
            measured.values = measured.values.max(u64::from(validator.operand_stack_height()));
            let is_loop = matches!(operator, Operator::Loop { .. });
            if is_loop || matches!(operator, Operator::Block { .. } | Operator::If { .. }) {
                open.push(is_loop);
                open_loops += u64::from(is_loop);
                measured.block_depths += open.len() as u64;
                measured.loops += u64::from(is_loop);
                measured.loop_depth = measured.loop_depth.max(open_loops);
            } else if matches!(operator, Operator::End) {
                open_loops -= u64::from(open.pop() == Some(true));
            }
        }
        operators.finish()?;
        measured.values += u64::from(validator.len_locals());
        Ok(measured)
    }

    /// Returns an upper bound of the work. A compilation takes about a second for a hundred million units of work.
    fn work(&self) -> u64 {
        let of_values = self.instructions.saturating_mul(self.values);
        let of_blocks = self.block_depths.saturating_mul(4);
        let of_loops = self.loops.saturating_pow(2).saturating_mul(2);
        let of_nested_loops = self.loop_depth.saturating_pow(3) / 2;
        let of_operators = of_values.saturating_add(of_blocks).saturating_add(of_loops).saturating_add(of_nested_loops);
        of_operators.saturating_add(self.carried.work())
    }
}
