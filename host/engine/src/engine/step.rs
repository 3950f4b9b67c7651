//! Runs a step in a new instance, with only the interfaces of a step.

use wasmtime::Store;
use wasmtime::component::{Component, HasSelf, InstancePre, Linker};

use latchwork_core::model::manifest::{Limits, WasiMode};

use crate::capability::clock::ClockViewData;
use crate::capability::step_view::StepViewData;
use crate::engine::instance_pool::InstancePermits;
use crate::engine::step_end::{ResourceUsage, RunResult, SecondRun, StepOutcome};
use crate::engine::step_state::StepState;
use crate::engine::virtual_wasi;
use crate::guest::bindings::{export, import};
use crate::guest::limits::oversized;
use crate::guest::step_calls::StepCalls;
use crate::guest::{fault, limits};

/// A step plugin that is ready to be instantiated.
pub(crate) struct StepCode {
    pre: InstancePre<StepState>,
    permits: InstancePermits,
    run: export::run::GuestIndices,
}

impl StepCode {
    pub(crate) fn link(
        engine: &wasmtime::Engine,
        component: &Component,
        turns: InstancePermits,
        wasi: WasiMode,
    ) -> wasmtime::Result<Self> {
        let mut linker = Linker::<StepState>::new(engine);
        import::types::add_to_linker::<_, HasSelf<StepState>>(&mut linker, host_state)?;
        import::context::add_to_linker::<_, StepViewData>(&mut linker, StepState::view)?;
        import::clock::add_to_linker::<_, ClockViewData>(&mut linker, StepState::clock_view)?;
        import::rng::add_to_linker::<_, StepViewData>(&mut linker, StepState::view)?;
        import::tools::add_to_linker::<_, StepViewData>(&mut linker, StepState::view)?;
        import::events::add_to_linker::<_, StepViewData>(&mut linker, StepState::view)?;
        import::log::add_to_linker::<_, StepViewData>(&mut linker, StepState::view)?;
        if wasi == WasiMode::Virtual {
            virtual_wasi::link(&mut linker, component)?;
        }
        let pre = linker.instantiate_pre(component)?;
        let run = export::run::GuestIndices::new(&pre)?;
        Ok(Self { pre, permits: turns, run })
    }

    /// Runs the step once. If `again` is given, then runs the step a second time in the same instance. Returns
    /// the end of the last run.
    pub(crate) async fn run(
        &self,
        operator: &str,
        input: &str,
        limits: &Limits,
        calls: Box<dyn StepCalls>,
        again: Option<SecondRun<'_>>,
    ) -> RunResult {
        let _turn = self.permits.acquire().await;
        let mut store = Store::new(self.pre.engine(), StepState::new(calls, limits));
        let mut fuel_given = None;
        let result = async {
            limits::apply_limits(&mut store, limits)?;
            let instance = self.pre.instantiate_async(&mut store).await?;
            let run = self.run.load(&mut store, &instance)?;
            store.set_fuel(limits.fuel)?;
            fuel_given = Some(limits.fuel);
            let input = input.to_owned();
            let first = run.call_run(&mut store, operator, &input).await?;
            let (Some(again), Ok(_)) = (again, &first) else { return Ok(first) };
            *again.began = true;
            store.data_mut().begin_second_run(again.calls);
            store.set_fuel(limits.fuel)?;
            run.call_run(&mut store, operator, &input).await
        }
        .await;
        store.data_mut().flush_output();
        let fuel = fuel_given.map_or(0, |given| given.saturating_sub(store.get_fuel().unwrap_or(0)));
        let memory_bytes = store.data().guard.memory_bytes();
        let functions = result.as_ref().err().map(fault::stack_functions).unwrap_or_default();
        let answer = match result {
            Ok(Ok(output)) if output.len() > limits.output_bytes as usize => {
                Err(StepOutcome::Fault(oversized(output.len(), limits)))
            }
            Ok(Ok(output)) => Ok(Ok(output)),
            Ok(Err(error)) => Ok(Err(crate::guest::convert::failure(error))),
            Err(error) if fault::is_stopped(&error) => Err(StepOutcome::Stopped),
            Err(error) => Err(StepOutcome::Fault(fault::failure(&error))),
        };
        (answer, ResourceUsage { fuel, memory_bytes, functions })
    }

    /// Instantiates the step, calls it and drops it. Checks nothing, and sets only what the engine needs for
    /// running a guest. Used to measure the cost of the sandbox itself.
    pub(crate) async fn run_bare(
        &self,
        operator: &str,
        input: &str,
        calls: Box<dyn StepCalls>,
    ) -> wasmtime::Result<()> {
        let _turn = self.permits.acquire().await;
        let mut store = Store::new(self.pre.engine(), StepState::new(calls, &Limits::default()));
        store.set_fuel(limits::INSTANTIATION_FUEL)?;
        store.set_epoch_deadline(1_000);
        let instance = self.pre.instantiate_async(&mut store).await?;
        let run = self.run.load(&mut store, &instance)?;
        drop(run.call_run(&mut store, operator, &input.to_owned()).await?);
        Ok(())
    }
}

fn host_state(state: &mut StepState) -> &mut StepState {
    state
}
