//! Data in the wasmtime `Store` of a running step.

use latchwork_core::model::manifest::Limits;

use crate::capability::clock::ClockView;
use crate::capability::step_call_view::StepCallView;
use crate::engine::virtual_wasi::VirtualWasi;
use crate::guest::bindings::import;
use crate::guest::limits::{Guard, Guarded};
use crate::guest::step_calls::StepCalls;

/// Data in the wasmtime `Store` of a running step.
pub(crate) struct StepInstanceState {
    pub(crate) calls: Box<dyn StepCalls>,
    pub(crate) guard: Guard,
    pub(crate) wasi: VirtualWasi,
}

impl StepInstanceState {
    pub(crate) fn new(calls: Box<dyn StepCalls>, limits: &Limits) -> Self {
        Self { calls, guard: Guard::new(limits), wasi: VirtualWasi::new() }
    }

    /// Returns the part of the state that most capabilities of steps use.
    pub(crate) fn view(&mut self) -> StepCallView<'_> {
        StepCallView { calls: self.calls.as_mut(), guard: &mut self.guard }
    }

    /// Returns the part of the state that the clock uses.
    pub(crate) fn clock_view(&mut self) -> ClockView<'_> {
        ClockView { calls: self.calls.as_mut(), clock: &mut self.wasi.clock, guard: &mut self.guard }
    }
}

impl import::types::Host for StepInstanceState {}

impl Guarded for StepInstanceState {
    fn guard(&mut self) -> &mut Guard {
        &mut self.guard
    }
}
