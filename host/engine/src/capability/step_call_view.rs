//! View of a running step that its capabilities share.

use wasmtime::component::HasData;

use crate::guest::limits::Guard;
use crate::guest::step_calls::StepCalls;

/// The host calls of a try, and the guard that counts them. Nothing else of the step's state is reachable.
pub(crate) struct StepCallView<'a> {
    pub(crate) calls: &'a mut dyn StepCalls,
    pub(crate) guard: &'a mut Guard,
}

/// Type of [`StepCallView`] for the linker.
pub(crate) struct StepCallViewData;

impl HasData for StepCallViewData {
    type Data<'a> = StepCallView<'a>;
}
