//! Values that branches carry to labels.
//!
//! Several paths lead to a label: the end of its block, and the branches to it. The compiler keeps a copy for each path
//! of each value that can depend on the path. These values are the parameters and results of the block, and the locals
//! that are set inside it. It keeps parameters and results even if there is a single path. The register allocator then
//! tries to give all copies of a value the same register. The memory for that grows with the square of the number of
//! labels that a value passes.

use std::collections::{BTreeMap, HashMap, HashSet};

use wasmparser::{
    BinaryReaderError, BlockType, CompositeInnerType, FrameKind, FuncValidator, ModuleArity, Operator,
    ValidatorResources,
};

/// Weight of a loop in the number of labels that a value passes. Its values pass the start of the loop as well.
const LOOP_WEIGHT: u64 = 3;

/// Label of an open block.
struct Label {
    kind: FrameKind,
    /// Number of values that a branch to the label carries.
    values: u64,
    /// Number of values that pass the label on any path. For a loop, the results of the loop count too.
    passing: u64,
    /// Number of paths that lead to the label.
    paths: u64,
    /// Locals that are set inside the block.
    set: HashSet<u32>,
}

/// Block that has ended.
pub(super) struct Ended {
    pub(super) is_loop: bool,
    /// True if several paths lead to the end of the block.
    pub(super) joins: bool,
    /// Number of results of the block.
    pub(super) results: usize,
}

/// Counts the values that the branches of one function carry.
pub(super) struct Branches {
    open: Vec<Label>,
    /// Number of copies of values, one for each value and path.
    pub(super) copies: u64,
    /// Labels that each local passes.
    of_locals: HashMap<u32, u64>,
    /// Labels by the number of values that pass them, without locals.
    of_results: BTreeMap<u64, u64>,
}

impl Branches {
    /// Counts the branches of a function whose locals have been read.
    pub(super) fn of(validator: &FuncValidator<ValidatorResources>) -> Self {
        let mut branches = Self { open: vec![], copies: 0, of_locals: HashMap::new(), of_results: BTreeMap::new() };
        branches.begin(validator);
        branches
    }

    /// Counts an operator that the validator has not read yet.
    pub(super) fn before(&mut self, operator: &Operator<'_>) -> Result<(), BinaryReaderError> {
        match operator {
            Operator::Br { relative_depth } | Operator::BrIf { relative_depth } => self.add_path(*relative_depth),
            Operator::BrTable { targets } => {
                for depth in targets.targets() {
                    self.add_path(depth?);
                }
                self.add_path(targets.default());
            }
            Operator::Return => self.add_path(self.open.len().saturating_sub(1) as u32),
            Operator::LocalSet { local_index } | Operator::LocalTee { local_index } => {
                if let Some(label) = self.open.last_mut() {
                    label.set.insert(*local_index);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Opens the block whose first operator the validator has just read.
    pub(super) fn begin(&mut self, validator: &FuncValidator<ValidatorResources>) {
        let Some((ty, kind)) = validator.label_block(0) else { return };
        let (parameters, results) = values_of_block(ty, validator);
        let (values, passing) = match kind {
            FrameKind::Loop => (parameters, parameters.max(results)),
            _ => (results, results),
        };
        // The end of an `if` is also reached without its first branch: through `else`, or directly.
        let paths = 1 + u64::from(kind == FrameKind::If);
        self.open.push(Label { kind, values, passing, paths, set: HashSet::new() });
    }

    /// Closes the innermost block.
    pub(super) fn end(&mut self) -> Option<Ended> {
        let Label { kind, values, passing, paths, set } = self.open.pop()?;
        let (is_loop, joins) = (kind == FrameKind::Loop, paths > 1);
        // No local is used after the end of the function, and a local that came along a single path has one value.
        let locals = if joins && !self.open.is_empty() { set.len() as u64 } else { 0 };
        self.copies = self.copies.saturating_add(paths.saturating_mul(passing + locals));
        let weight = if is_loop { LOOP_WEIGHT } else { 1 };
        if passing > 0 {
            *self.of_results.entry(passing).or_default() += weight;
        }
        if locals > 0 {
            set.iter().for_each(|local| *self.of_locals.entry(*local).or_default() += weight);
        }
        if let Some(outer) = self.open.last_mut() {
            let (mut large, small) = if outer.set.len() < set.len() {
                (set, std::mem::take(&mut outer.set))
            } else {
                (std::mem::take(&mut outer.set), set)
            };
            large.extend(small);
            outer.set = large;
        }
        Some(Ended { is_loop, joins, results: values as usize })
    }

    /// Number of values that a branch to a label carries.
    pub(super) fn values(&self, depth: u32) -> usize {
        self.label(depth).map_or(0, |at| self.open[at].values as usize)
    }

    /// Returns the sum, over all values, of the squared numbers of labels that a value passes.
    pub(super) fn squared_labels(&self) -> u64 {
        let squared = |labels: u64| labels.saturating_mul(labels);
        let mut sum = self.of_locals.values().fold(0, |sum: u64, labels| sum.saturating_add(squared(*labels)));
        // A branch that carries three values carries a first, a second and a third one.
        let mut labels = 0_u64;
        let mut descending = self.of_results.iter().rev().peekable();
        while let Some((values, more)) = descending.next() {
            labels += more;
            let next = descending.peek().map_or(0, |(next, _)| **next);
            sum = sum.saturating_add((values - next).saturating_mul(squared(labels)));
        }
        sum
    }

    fn add_path(&mut self, depth: u32) {
        if let Some(at) = self.label(depth) {
            self.open[at].paths += 1;
        }
    }

    fn label(&self, depth: u32) -> Option<usize> {
        self.open.len().checked_sub(1)?.checked_sub(depth as usize)
    }
}

/// Returns the number of parameters and of results of a function type.
pub(super) fn parameters_and_results(validator: &FuncValidator<ValidatorResources>, ty: u32) -> (u64, u64) {
    match validator.sub_type_at(ty).map(|ty| &ty.composite_type.inner) {
        Some(CompositeInnerType::Func(ty)) => (ty.params().len() as u64, ty.results().len() as u64),
        _ => (0, 0),
    }
}

/// Returns the number of parameters and of results of a block.
fn values_of_block(ty: BlockType, validator: &FuncValidator<ValidatorResources>) -> (u64, u64) {
    match ty {
        BlockType::Empty => (0, 0),
        BlockType::Type(_) => (0, 1),
        BlockType::FuncType(ty) => parameters_and_results(validator, ty),
    }
}
