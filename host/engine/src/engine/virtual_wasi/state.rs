//! State of the virtual WASI of one step.

use wasmtime::component::ResourceTable;

use crate::engine::virtual_wasi::output::Output;
use crate::guest::step_clock::StepClock;

/// Maximum number of streams and pollables that a step may hold at the same time.
pub(super) const HANDLES_MAX: usize = 1_000;

/// State of a step's virtual WASI during one try.
pub(crate) struct VirtualWasi {
    pub(crate) clock: StepClock,
    pub(super) table: ResourceTable,
    pub(super) output: Output,
}

impl VirtualWasi {
    pub(crate) fn new() -> Self {
        let mut table = ResourceTable::new();
        table.set_max_capacity(HANDLES_MAX);
        Self { clock: StepClock::default(), table, output: Output::default() }
    }
}
