//! Running a step: a fresh instance, the step's own interfaces and nothing else.

use async_trait::async_trait;
use latchwork_core::error::{Code, Failure};
use latchwork_core::manifest::{Limits, WasiMode};
use serde::{Deserialize, Serialize};
use tracing::Level;
use wasmtime::Store;
use wasmtime::component::{Component, HasSelf, InstancePre, Linker};

use super::StepSources;
use super::bindings::{export, import};
use super::fault;
use super::limits::{self, Guard, Guarded};
use super::slots::Turns;
use super::virtual_wasi::{self, VirtualWasi};

/// What a step, and a tool, is told of its job.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepContext {
    /// Whose data it is.
    pub tenant: String,
    /// Who asked.
    pub actor: String,
    /// Correlation id of the request.
    pub correlation_id: String,
    /// The job.
    pub job_id: String,
    /// Label of the plan.
    pub plan_id: String,
    /// The step.
    pub step_id: String,
}

/// One call of a tool, as a step asks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCall {
    /// The operator.
    pub operator: String,
    /// JSON text.
    pub args: String,
    /// Names the action across jobs.
    pub action_key: Option<String>,
}

/// Drop this try: the guest is torn down at once. Whoever says so knows why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop;

/// What a running step asks of the host. The worker implements it, once per try.
#[async_trait]
pub trait StepCalls: Send {
    /// The step's own conditions: what it reads of them is the same whoever answers its calls.
    fn own(&mut self) -> &mut StepSources;
    /// A reading of the injected clock: microseconds since 1970 UTC.
    fn now_us(&mut self) -> i64 {
        self.own().now_us
    }
    /// The next bytes of the injected generator.
    fn random(&mut self, buf: &mut [u8]) {
        self.own().random(buf);
    }
    /// The next number of the injected generator.
    fn next_u32(&mut self) -> u32 {
        self.own().next_u32()
    }
    /// A number in `0..bound` of the injected generator; 0 where `bound` is 0.
    fn below(&mut self, bound: u32) -> u32 {
        self.own().below(bound)
    }
    /// A log record, cut to 8 KiB.
    fn log(&mut self, level: Level, message: &str);
    /// Call a tool. The inner error is the recorded answer, in the step's own codes
    /// ([`Failure::for_guest`] is applied here).
    async fn call(
        &mut self,
        operator: String,
        args: String,
        action_key: Option<String>,
    ) -> Result<Result<String, Failure>, Stop>;
    /// Call several tools at once; answers in the order of the calls.
    async fn call_all(&mut self, calls: Vec<ToolCall>) -> Result<Vec<Result<String, Failure>>, Stop>;
    /// Append an informational event.
    async fn emit(&mut self, name: String, payload: String) -> Result<(), Stop>;
}

/// How a try of a step ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepEnd {
    /// What came of it.
    pub outcome: StepOutcome,
    /// Fuel used, instantiation not counted.
    pub fuel: u64,
    /// Linear memory it ended with, which is also the most it had.
    pub memory_bytes: u64,
    /// Where the host ended it: the function it was in, and those that called that.
    pub functions: Vec<String>,
}

impl StepEnd {
    /// It never ran.
    pub(crate) fn not_run(failure: Failure) -> Self {
        Self { outcome: StepOutcome::Fault(failure), fuel: 0, memory_bytes: 0, functions: vec![] }
    }
}

/// What a try took, and where it was ended.
pub(crate) struct Spent {
    pub(crate) fuel: u64,
    pub(crate) memory_bytes: u64,
    pub(crate) functions: Vec<String>,
}

/// The answer of a try, as text that is not looked at yet, and what it took.
pub(crate) type Ran = (Result<Result<String, Failure>, StepOutcome>, Spent);

/// A second run in the instance that the first one leaves.
pub(crate) struct Again<'b> {
    pub(crate) calls: Box<dyn StepCalls>,
    /// Whether it came to that.
    pub(crate) began: &'b mut bool,
}

/// What came of a try of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepOutcome {
    /// It returned: JSON text that fits its schema, kept as received.
    Output(String),
    /// It returned an error of its own: deterministic, and final.
    Failed(Failure),
    /// The host ended it, or its answer was not one. `STACK_OVERFLOW` and `WALL_CLOCK_LIMIT`
    /// depend on the machine; all other codes are reproducible.
    Fault(Failure),
    /// [`StepCalls`] said [`Stop`].
    Stopped,
}

/// A step plugin, ready to be instantiated.
pub(crate) struct StepCode {
    pre: InstancePre<StepState>,
    turns: Turns,
    run: export::run::GuestIndices,
}

/// What the store of a running step holds.
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
        turns: Turns,
        wasi: WasiMode,
    ) -> wasmtime::Result<Self> {
        let mut linker = Linker::<StepState>::new(engine);
        import::types::add_to_linker::<_, HasSelf<StepState>>(&mut linker, own)?;
        import::context::add_to_linker::<_, HasSelf<StepState>>(&mut linker, own)?;
        import::clock::add_to_linker::<_, HasSelf<StepState>>(&mut linker, own)?;
        import::rng::add_to_linker::<_, HasSelf<StepState>>(&mut linker, own)?;
        import::tools::add_to_linker::<_, HasSelf<StepState>>(&mut linker, own)?;
        import::events::add_to_linker::<_, HasSelf<StepState>>(&mut linker, own)?;
        import::log::add_to_linker::<_, HasSelf<StepState>>(&mut linker, own)?;
        if wasi == WasiMode::Virtual {
            virtual_wasi::link(&mut linker, component)?;
        }
        let pre = linker.instantiate_pre(component)?;
        let run = export::run::GuestIndices::new(&pre)?;
        Ok(Self { pre, turns, run })
    }

    /// Run once, or a second time where that is wanted: then it is the second run's end.
    pub(crate) async fn run(
        &self,
        operator: &str,
        input: &str,
        limits: &Limits,
        calls: Box<dyn StepCalls>,
        again: Option<Again<'_>>,
    ) -> Ran {
        let _turn = self.turns.take().await;
        let mut store = Store::new(self.pre.engine(), StepState::new(calls, limits));
        let mut fuel_given = None;
        let result = async {
            limits::apply(&mut store, limits)?;
            let instance = self.pre.instantiate_async(&mut store).await?;
            let run = self.run.load(&mut store, &instance)?;
            store.set_fuel(limits.fuel)?;
            fuel_given = Some(limits.fuel);
            let input = input.to_owned();
            let first = run.call_run(&mut store, operator, &input).await?;
            let (Some(again), Ok(_)) = (again, &first) else { return Ok(first) };
            *again.began = true;
            store.data_mut().begin_again(again.calls);
            store.set_fuel(limits.fuel)?;
            run.call_run(&mut store, operator, &input).await
        }
        .await;
        store.data_mut().flush_output();
        let fuel = fuel_given.map_or(0, |given| given.saturating_sub(store.get_fuel().unwrap_or(0)));
        let memory_bytes = store.data().guard.memory_bytes();
        let functions = result.as_ref().err().map(fault::functions).unwrap_or_default();
        let answer = match result {
            Ok(Ok(output)) if output.len() > limits.output_bytes as usize => {
                Err(StepOutcome::Fault(oversized(output.len(), limits)))
            }
            Ok(Ok(output)) => Ok(Ok(output)),
            Ok(Err(error)) => Ok(Err(super::convert::failure(error))),
            Err(error) if fault::is_stop(&error) => Err(StepOutcome::Stopped),
            Err(error) => Err(StepOutcome::Fault(fault::failure(&error))),
        };
        (answer, Spent { fuel, memory_bytes, functions })
    }

    /// Instantiate, call and drop, with no more around it than the engine needs: what the
    /// sandbox itself costs.
    pub(crate) async fn run_bare(
        &self,
        operator: &str,
        input: &str,
        calls: Box<dyn StepCalls>,
    ) -> wasmtime::Result<()> {
        let _turn = self.turns.take().await;
        let mut store = Store::new(self.pre.engine(), StepState::new(calls, &Limits::default()));
        store.set_fuel(limits::INSTANTIATION_FUEL)?;
        store.set_epoch_deadline(1_000);
        let instance = self.pre.instantiate_async(&mut store).await?;
        let run = self.run.load(&mut store, &instance)?;
        drop(run.call_run(&mut store, operator, &input.to_owned()).await?);
        Ok(())
    }
}

fn own(state: &mut StepState) -> &mut StepState {
    state
}

pub(crate) fn oversized(len: usize, limits: &Limits) -> Failure {
    Failure::new(
        Code::OutputLimit,
        format!("the plugin answered with {len} bytes where {} are allowed; raise limits.output", limits.output_bytes),
    )
}
