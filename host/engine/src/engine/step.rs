//! Runs a step in a new instance, with only the interfaces of a step.

use wasmtime::Store;
use wasmtime::component::{Component, HasSelf, InstancePre, Linker};

use latchwork_core::model::bounds;
use latchwork_core::model::manifest::{Limits, WasiMode};

use crate::capability::clock::ClockViewData;
use crate::capability::step_call_view::StepCallViewData;
use crate::engine::instance_pool::InstancePermits;
use crate::engine::step_end::{ResourceUsage, RunResult, StepOutcome};
use crate::engine::step_state::StepInstanceState;
use crate::engine::virtual_wasi;
use crate::guest::bindings::{export, import};
use crate::guest::limits::oversized;
use crate::guest::step_calls::StepCalls;
use crate::guest::{convert, fault, limits};

/// A step plugin that is ready to be instantiated.
pub(crate) struct StepCode {
    pre: InstancePre<StepInstanceState>,
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
        let mut linker = Linker::<StepInstanceState>::new(engine);
        import::types::add_to_linker::<_, HasSelf<StepInstanceState>>(&mut linker, host_state)?;
        import::context::add_to_linker::<_, StepCallViewData>(&mut linker, StepInstanceState::view)?;
        import::clock::add_to_linker::<_, ClockViewData>(&mut linker, StepInstanceState::clock_view)?;
        import::rng::add_to_linker::<_, StepCallViewData>(&mut linker, StepInstanceState::view)?;
        import::tools::add_to_linker::<_, StepCallViewData>(&mut linker, StepInstanceState::view)?;
        import::events::add_to_linker::<_, StepCallViewData>(&mut linker, StepInstanceState::view)?;
        import::log::add_to_linker::<_, StepCallViewData>(&mut linker, StepInstanceState::view)?;
        if wasi == WasiMode::Virtual {
            virtual_wasi::link(&mut linker, component)?;
        }
        let pre = linker.instantiate_pre(component)?;
        let run = export::run::GuestIndices::new(&pre)?;
        Ok(Self { pre, permits: turns, run })
    }

    /// Runs the step once.
    pub(crate) async fn run(
        &self,
        operator: &str,
        input: &str,
        limits: &Limits,
        calls: Box<dyn StepCalls>,
    ) -> RunResult {
        let mut ended = self.run_repeatedly(operator, input, limits, vec![calls]).await;
        ended.pop().expect("a run has an end")
    }

    /// Runs the step in one instance, once for each host. Returns the end of each run. A run that returns no output is
    /// the last one.
    pub(crate) async fn run_repeatedly(
        &self,
        operator: &str,
        input: &str,
        limits: &Limits,
        calls: Vec<Box<dyn StepCalls>>,
    ) -> Vec<RunResult> {
        let _turn = self.permits.acquire().await;
        let mut calls = calls.into_iter();
        let first = calls.next().expect("a step has a host");
        let mut store = Store::new(self.pre.engine(), StepInstanceState::new(first, limits));
        let started = async {
            limits::apply_limits(&mut store, limits)?;
            let instance = self.pre.instantiate_async(&mut store).await?;
            self.run.load(&mut store, &instance)
        }
        .await;
        let run = match started {
            Ok(run) => run,
            Err(error) => return vec![run_end(&mut store, limits, Err(error), false)],
        };
        let (input, mut ended) = (input.to_owned(), Vec::new());
        loop {
            let result = async {
                store.set_fuel(limits.fuel)?;
                store.data_mut().calls.begin_run();
                run.call_run(&mut store, operator, &input).await
            }
            .await;
            let is_last = !matches!(result, Ok(Ok(_)));
            ended.push(run_end(&mut store, limits, result, true));
            match calls.next() {
                Some(again) if !is_last => store.data_mut().begin_next_run(again),
                _ => return ended,
            }
        }
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
        let mut store = Store::new(self.pre.engine(), StepInstanceState::new(calls, &Limits::default()));
        store.set_fuel(bounds::INSTANTIATION_FUEL)?;
        store.set_epoch_deadline(1_000);
        let instance = self.pre.instantiate_async(&mut store).await?;
        let run = self.run.load(&mut store, &instance)?;
        drop(run.call_run(&mut store, operator, &input.to_owned()).await?);
        Ok(())
    }
}

/// Returns the end of a run. `has_begun` is false if the instantiation failed.
fn run_end(
    store: &mut Store<StepInstanceState>,
    limits: &Limits,
    result: wasmtime::Result<Result<String, import::types::Error>>,
    has_begun: bool,
) -> RunResult {
    store.data_mut().flush_output();
    let fuel = if has_begun { limits.fuel.saturating_sub(store.get_fuel().unwrap_or(0)) } else { 0 };
    let memory_bytes = store.data().guard.memory_bytes();
    let functions = result.as_ref().err().map(fault::stack_functions).unwrap_or_default();
    let answer = match result {
        Ok(Ok(output)) if output.len() > limits.output_bytes as usize => {
            Err(StepOutcome::Fault(oversized(output.len(), limits)))
        }
        Ok(Ok(output)) => Ok(Ok(output)),
        Ok(Err(error)) => Ok(Err(convert::bounded_failure(error, limits))),
        Err(error) if fault::is_stopped(&error) => Err(StepOutcome::Stopped),
        Err(error) => {
            // A step has no secrets.
            let words = &store.data().guard.last_words;
            Err(StepOutcome::Fault(words.explain(fault::failure(&error), |text, _| text.to_vec())))
        }
    };
    (answer, ResourceUsage { fuel, memory_bytes, functions })
}

fn host_state(state: &mut StepInstanceState) -> &mut StepInstanceState {
    state
}
