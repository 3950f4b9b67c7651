//! State of the virtual WASI of one step.

use wasmtime::component::ResourceTable;

use latchwork_core::model::bounds;

use crate::engine::virtual_wasi::output::StreamOutput;
use crate::guest::step_clock::StepClock;

/// State of a step's virtual WASI during one try.
pub(crate) struct VirtualWasi {
    pub(crate) clock: StepClock,
    pub(super) table: ResourceTable,
    pub(super) output: StreamOutput,
}

impl VirtualWasi {
    pub(crate) fn new() -> Self {
        let mut table = ResourceTable::new();
        table.set_max_capacity(bounds::STEP_HANDLES);
        Self { clock: StepClock::default(), table, output: StreamOutput::default() }
    }
}
