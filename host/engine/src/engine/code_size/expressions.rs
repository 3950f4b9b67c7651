//! Expressions that the compiler computes where they are used.
//!
//! The compiler does not compute an operation without side effects where it stands, but where its value is used. All
//! values that the expression reads are alive until then. If blocks that do not contain each other use the value, each
//! of them computes the whole expression again. A few bytes of code can therefore become megabytes.

use std::collections::HashMap;

use wasmparser::Operator;

use crate::engine::code_size::branches::{Branches, Ended};

/// Number of values for which a processor has registers.
const REGISTERS: u64 = 16;
/// Largest number of repeated operations of a function that is counted.
const REPEATED_MAX: u64 = 1 << 24;

/// Index of a value in [`Expressions::values`]. `None` is a constant.
type ValueIndex = Option<u32>;

#[derive(Clone, Copy, Default)]
struct Value {
    /// Operands. All are `None` if the value is the result of an operation with side effects.
    operands: [ValueIndex; 3],
    /// True if the value has been computed on each path to the current operator.
    is_computed: bool,
    /// True if the value has been computed on any path.
    was_computed: bool,
    /// Last use that counted the value.
    counted_by: u32,
}

/// Block that is open.
#[derive(Default)]
struct Open {
    /// Values of the locals that are set in the block, from before the block.
    before: HashMap<u32, ValueIndex>,
    /// Values that were computed in the block.
    computed: Vec<u32>,
}

/// The expressions of one function.
pub(super) struct Expressions {
    values: Vec<Value>,
    stack: Vec<ValueIndex>,
    locals: HashMap<u32, ValueIndex>,
    open: Vec<Open>,
    uses: u32,
    /// Number of operations that are computed more than once.
    pub(super) repeated: u64,
    /// Sum, over all used expressions, of the squared numbers of values that are alive until the use and have no
    /// register.
    pub(super) squared_alive: u64,
}

impl Expressions {
    pub(super) fn new() -> Self {
        let open = vec![Open::default()];
        let (values, stack, locals) = (vec![], vec![], HashMap::new());
        Self { values, stack, locals, open, uses: 0, repeated: 0, squared_alive: 0 }
    }

    /// Counts an operator. It pops and pushes the given numbers of values, and `height` is the height of the stack of
    /// operands after it. `ended` is the block that the operator ends.
    pub(super) fn add(
        &mut self,
        operator: &Operator<'_>,
        (pops, pushes): (usize, usize),
        height: usize,
        branches: &Branches,
        ended: Option<&Ended>,
    ) {
        match operator {
            Operator::LocalGet { local_index } => {
                let value = self.local(*local_index);
                self.stack.push(value);
            }
            Operator::LocalSet { local_index } => {
                let value = self.stack.pop().flatten();
                self.set_local(*local_index, value);
            }
            Operator::LocalTee { local_index } => {
                self.set_local(*local_index, self.stack.last().copied().flatten());
            }
            Operator::Block { .. } | Operator::Loop { .. } | Operator::TryTable { .. } => {
                self.open.push(Open::default());
            }
            Operator::If { .. } => {
                self.use_top(1);
                self.open.push(Open::default());
            }
            Operator::Else => self.start_else(),
            Operator::End => {
                if let Some(ended) = ended {
                    self.end(ended);
                }
            }
            Operator::Br { relative_depth } => self.use_top(branches.values(*relative_depth)),
            Operator::BrIf { relative_depth } => {
                self.use_top(1);
                self.stack.pop();
                self.use_top(branches.values(*relative_depth));
            }
            Operator::BrTable { targets } => self.use_top(1 + branches.values(targets.default())),
            Operator::I32Const { .. }
            | Operator::I64Const { .. }
            | Operator::F32Const { .. }
            | Operator::F64Const { .. }
            | Operator::V128Const { .. } => self.stack.push(None),
            other if pushes == 1 && (1..=3).contains(&pops) && is_pure(other) => self.push_pure(pops),
            _ => {
                self.use_top(pops);
                self.stack.truncate(self.stack.len().saturating_sub(pops));
                for _ in 0..pushes {
                    self.push_result();
                }
            }
        }
        self.stack.resize(height, None);
    }

    fn local(&mut self, local: u32) -> ValueIndex {
        let next = self.values.len() as u32;
        let value = *self.locals.entry(local).or_insert(Some(next));
        if value == Some(next) {
            self.values.push(Value { is_computed: true, ..Value::default() });
        }
        value
    }

    fn set_local(&mut self, local: u32, value: ValueIndex) {
        let before = self.local(local);
        self.locals.insert(local, value);
        if let Some(open) = self.open.last_mut() {
            open.before.entry(local).or_insert(before);
        }
    }

    fn push(&mut self, value: Value) {
        self.stack.push(Some(self.values.len() as u32));
        self.values.push(value);
    }

    /// Pushes the result of an operation with side effects.
    fn push_result(&mut self) {
        self.push(Value { is_computed: true, ..Value::default() });
    }

    fn push_pure(&mut self, pops: usize) {
        let mut operands = [None; 3];
        for operand in &mut operands[..pops] {
            *operand = self.stack.pop().flatten();
        }
        match operands {
            [None, None, None] => self.stack.push(None),
            _ => self.push(Value { operands, ..Value::default() }),
        }
    }

    /// Uses the topmost values of the stack.
    fn use_top(&mut self, count: usize) {
        for at in self.stack.len().saturating_sub(count)..self.stack.len() {
            self.use_value(self.stack[at]);
        }
    }

    /// Computes an expression and all parts of it that are not computed yet.
    fn use_value(&mut self, value: ValueIndex) {
        let Some(value) = value.filter(|value| !self.values[*value as usize].is_computed) else { return };
        self.uses += 1;
        let (mut open, mut alive) = (vec![value], 0_u64);
        while let Some(index) = open.pop() {
            let value = &mut self.values[index as usize];
            if value.is_computed {
                alive += u64::from(value.counted_by != self.uses);
                value.counted_by = self.uses;
                continue;
            }
            if self.repeated >= REPEATED_MAX {
                return;
            }
            self.repeated += u64::from(value.was_computed);
            (value.is_computed, value.was_computed, value.counted_by) = (true, true, self.uses);
            open.extend(value.operands.iter().flatten());
            if let Some(block) = self.open.last_mut() {
                block.computed.push(index);
            }
        }
        let without_register = alive.saturating_sub(REGISTERS);
        self.squared_alive = self.squared_alive.saturating_add(without_register.saturating_mul(without_register));
    }

    /// Starts the second branch of an `if`. It begins with the values from before the first branch.
    fn start_else(&mut self) {
        let Some(mut open) = self.open.pop() else { return };
        self.forget(&mut open);
        self.locals.extend(open.before.iter().map(|(local, value)| (*local, *value)));
        self.open.push(open);
    }

    fn end(&mut self, ended: &Ended) {
        // A branch carries the results and the locals, so it computes them.
        if ended.joins && !ended.is_loop {
            self.use_top(ended.results);
            let set: Vec<u32> = self.open.last().map(|open| open.before.keys().copied().collect()).unwrap_or_default();
            for local in set {
                let value = self.local(local);
                self.use_value(value);
                self.push_result();
                let joined = self.stack.pop().flatten();
                self.locals.insert(local, joined);
            }
            self.stack.truncate(self.stack.len().saturating_sub(ended.results));
            (0..ended.results).for_each(|_| self.push_result());
        }
        let Some(mut inner) = self.open.pop() else { return };
        if ended.joins && !ended.is_loop {
            self.forget(&mut inner);
        }
        let Some(outer) = self.open.last_mut() else { return };
        // The smaller collection is added to the larger one, because blocks can be nested deeply. For a local that both
        // blocks set, the value from before the outer block counts.
        if outer.computed.len() < inner.computed.len() {
            std::mem::swap(&mut outer.computed, &mut inner.computed);
        }
        outer.computed.append(&mut inner.computed);
        if outer.before.len() < inner.before.len() {
            inner.before.extend(outer.before.drain());
            outer.before = inner.before;
        } else {
            inner.before.into_iter().for_each(|(local, before)| {
                outer.before.entry(local).or_insert(before);
            });
        }
    }

    /// Forgets what was computed in a block, because the code after it can be reached without the block.
    fn forget(&mut self, open: &mut Open) {
        open.computed.drain(..).for_each(|value| self.values[value as usize].is_computed = false);
    }
}

/// Returns true if an operator with one result has no side effect and reads nothing but its operands.
fn is_pure(operator: &Operator<'_>) -> bool {
    use Operator as O;
    !matches!(
        operator,
        O::Call { .. }
            | O::CallIndirect { .. }
            | O::CallRef { .. }
            | O::MemoryGrow { .. }
            | O::TableGet { .. }
            | O::TableGrow { .. }
            | O::I32Load { .. }
            | O::I32Load8S { .. }
            | O::I32Load8U { .. }
            | O::I32Load16S { .. }
            | O::I32Load16U { .. }
            | O::I64Load { .. }
            | O::I64Load8S { .. }
            | O::I64Load8U { .. }
            | O::I64Load16S { .. }
            | O::I64Load16U { .. }
            | O::I64Load32S { .. }
            | O::I64Load32U { .. }
            | O::F32Load { .. }
            | O::F64Load { .. }
            | O::V128Load { .. }
            | O::V128Load8x8S { .. }
            | O::V128Load8x8U { .. }
            | O::V128Load16x4S { .. }
            | O::V128Load16x4U { .. }
            | O::V128Load32x2S { .. }
            | O::V128Load32x2U { .. }
            | O::V128Load8Splat { .. }
            | O::V128Load16Splat { .. }
            | O::V128Load32Splat { .. }
            | O::V128Load64Splat { .. }
            | O::V128Load32Zero { .. }
            | O::V128Load64Zero { .. }
            | O::V128Load8Lane { .. }
            | O::V128Load16Lane { .. }
            | O::V128Load32Lane { .. }
            | O::V128Load64Lane { .. }
    )
}
