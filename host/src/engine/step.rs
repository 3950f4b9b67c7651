//! Runs a step in a new instance, with only the interfaces of a step.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use tracing::Level;
use wasmtime::Store;
use wasmtime::component::{Component, HasSelf, InstancePre, Linker};

use latchwork_core::model::error::{Code, Failure};
use latchwork_core::model::manifest::{Limits, WasiMode};

use super::bindings::{export, import};
use super::limits::{Guard, Guarded};
use super::virtual_wasi::VirtualWasi;
use super::{StepSources, fault, limits, virtual_wasi};
use crate::engine::instance_pool::InstancePermits;

/// Information about the job that steps and tools can read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepContext {
    /// Tenant that owns the job.
    pub tenant: String,
    /// Actor that submitted the job.
    pub actor: String,
    /// Correlation id of the request.
    pub correlation_id: String,
    /// Id of the job.
    pub job_id: String,
    /// Label of the plan.
    pub plan_id: String,
    /// Id of the step.
    pub step_id: String,
}

/// One call of a tool by a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCall {
    /// The operator.
    pub operator: String,
    /// Arguments, as JSON text.
    pub args: String,
    /// Action key, which identifies the action across jobs. `None`: the step gave no key.
    pub action_key: Option<String>,
}

/// Request to abandon a try. The guest is torn down immediately. The request does not contain the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop;

/// Host calls of a running step. The worker creates one implementation per try.
#[async_trait]
pub trait StepCalls: Send {
    /// Returns the step's deterministic inputs. Every implementation of this trait uses the same inputs.
    fn sources(&mut self) -> &mut StepSources;
    /// Returns the time of the injected clock, in microseconds since 1970 UTC.
    fn now_us(&mut self) -> i64 {
        self.sources().now_us
    }
    /// Fills `buf` with the next bytes of the injected random generator.
    fn random(&mut self, buf: &mut [u8]) {
        self.sources().random(buf);
    }
    /// Returns the next number of the injected random generator.
    fn next_u32(&mut self) -> u32 {
        self.sources().next_u32()
    }
    /// Returns a number in `0..bound` from the injected random generator, or 0 if `bound` is 0.
    fn below(&mut self, bound: u32) -> u32 {
        self.sources().below(bound)
    }
    /// Writes a log record, truncated to 8 KiB.
    fn log(&mut self, level: Level, message: &str);
    /// Calls a tool. The outer error stops the step. The inner error is the recorded failure of the call. The
    /// host converts this failure into the codes of a step with [`Failure::for_guest`].
    async fn call(
        &mut self,
        operator: String,
        args: String,
        action_key: Option<String>,
    ) -> Result<Result<String, Failure>, Stop>;
    /// Calls several tools concurrently. Returns the answers in the order of the calls.
    async fn call_all(&mut self, calls: Vec<ToolCall>) -> Result<Vec<Result<String, Failure>>, Stop>;
    /// Appends an informational event.
    async fn emit(&mut self, name: String, payload: String) -> Result<(), Stop>;
}

/// End of one try of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepEnd {
    /// Outcome of the try.
    pub outcome: StepOutcome,
    /// Fuel used, without instantiation.
    pub fuel: u64,
    /// Linear memory at the end, in bytes. This is also the maximum, because memory never shrinks.
    pub memory_bytes: u64,
    /// Function in which the host ended the guest, followed by its callers.
    pub functions: Vec<String>,
}

impl StepEnd {
    /// End of a step that was never started.
    pub(crate) fn not_run(failure: Failure) -> Self {
        Self { outcome: StepOutcome::Fault(failure), fuel: 0, memory_bytes: 0, functions: vec![] }
    }
}

/// Resources that a try used, and the functions on the guest's stack when the host ended it.
pub(crate) struct ResourceUsage {
    pub(crate) fuel: u64,
    pub(crate) memory_bytes: u64,
    pub(crate) functions: Vec<String>,
}

/// Unchecked answer of a try as text, and the resources it used.
pub(crate) type RunResult = (Result<Result<String, Failure>, StepOutcome>, ResourceUsage);

/// Request for a second run in the same instance, after the first run.
pub(crate) struct SecondRun<'b> {
    pub(crate) calls: Box<dyn StepCalls>,
    /// Set to true when the second run begins.
    pub(crate) began: &'b mut bool,
}

/// Outcome of one try of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepOutcome {
    /// The step returned JSON text that fits its schema. The text is kept as received.
    Output(String),
    /// The step returned an error of its own, which is deterministic and final.
    Failed(Failure),
    /// The host ended the step, or its answer was invalid. `STACK_OVERFLOW` and `WALL_CLOCK_LIMIT` depend on
    /// the machine. All other codes are reproducible.
    Fault(Failure),
    /// [`StepCalls`] returned [`Stop`].
    Stopped,
}

/// A step plugin that is ready to be instantiated.
pub(crate) struct StepCode {
    pre: InstancePre<StepState>,
    permits: InstancePermits,
    run: export::run::GuestIndices,
}

/// Data in the wasmtime `Store` of a running step.
pub(crate) struct StepState {
    pub(crate) calls: Box<dyn StepCalls>,
    pub(crate) guard: Guard,
    pub(crate) wasi: VirtualWasi,
}

impl StepState {
    pub(crate) fn new(calls: Box<dyn StepCalls>, limits: &Limits) -> Self {
        Self { calls, guard: Guard::new(limits), wasi: VirtualWasi::new() }
    }
}

impl import::types::Host for StepState {}

impl Guarded for StepState {
    fn guard(&mut self) -> &mut Guard {
        &mut self.guard
    }
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
        import::context::add_to_linker::<_, HasSelf<StepState>>(&mut linker, host_state)?;
        import::clock::add_to_linker::<_, HasSelf<StepState>>(&mut linker, host_state)?;
        import::rng::add_to_linker::<_, HasSelf<StepState>>(&mut linker, host_state)?;
        import::tools::add_to_linker::<_, HasSelf<StepState>>(&mut linker, host_state)?;
        import::events::add_to_linker::<_, HasSelf<StepState>>(&mut linker, host_state)?;
        import::log::add_to_linker::<_, HasSelf<StepState>>(&mut linker, host_state)?;
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
            Ok(Err(error)) => Ok(Err(super::convert::failure(error))),
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

pub(crate) fn oversized(len: usize, limits: &Limits) -> Failure {
    Failure::new(
        Code::OutputLimit,
        format!("the plugin answered with {len} bytes where {} are allowed; raise limits.output", limits.output_bytes),
    )
}
