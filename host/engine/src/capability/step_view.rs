//! View of a running step that its capabilities share.

use wasmtime::component::HasData;

use crate::guest::limits::Guard;
use crate::guest::step_calls::StepCalls;

/// The host calls of a try, and the guard that counts them. Nothing else of the step's state is reachable.
pub(crate) struct StepView<'a> {
    pub(crate) calls: &'a mut dyn StepCalls,
    pub(crate) guard: &'a mut Guard,
}

/// Type of [`StepView`] for the linker.
pub(crate) struct StepViewData;

impl HasData for StepViewData {
    type Data<'a> = StepView<'a>;
}
