//! Measures the cost of the sandbox by comparing an empty step with a call of the engine alone. Uses no database.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde::Serialize;
use tracing::Level;

use latchwork::builder::Stores;
use latchwork::config::Config;
use latchwork_core::memory::{ManualClock, Memory};
use latchwork_core::model::error::Failure;
use latchwork_core::storage::Owner;
use latchwork_engine::StepOutcome;
use latchwork_engine::guest::sources::{StepContext, StepSources};
use latchwork_engine::guest::step_calls::{StepCalls, Stop, ToolCall};
use latchwork_engine::os::clock;

use crate::bench::{BenchError, Load, Workload};
use crate::session::Session;

const NOOP: &str = "Bench.Noop";

/// Times of one run of an empty step, in microseconds.
#[derive(Clone, Debug, Serialize)]
pub struct SandboxTimes {
    /// Time that the engine alone needs to create an instance, call the step and drop the instance.
    pub engine_us: f64,
    /// Time of the same run under limits, with checks of input and output.
    pub step_us: f64,
    /// Time of a whole job that has this step only, with stores in memory.
    pub job_us: f64,
}

/// Measures all three times, each for the given duration.
///
/// # Errors
/// The benchmark plugins are not loaded, or a run failed.
pub(crate) async fn measure_sandbox(
    session: &Session,
    config: Config,
    time: Duration,
) -> Result<SandboxTimes, BenchError> {
    let memory = Arc::new(Memory::new(Arc::new(ManualClock::default()), config.clock_margin_ms()));
    let stores = Stores::new(memory, Owner::unlocked("bench"));
    let builder = session.host_builder(stores).config(config);
    let host = builder.start().map_err(|error| BenchError::Engine(error.to_string()))?;
    let host = Arc::new(host);
    let pinned = host.registry().pinned_operators().get(NOOP).cloned();
    let pinned = pinned.ok_or_else(|| BenchError::Engine(format!("no plugin serves {NOOP}")))?;
    let plugin =
        host.registry().component(pinned.digest, pinned.wasi).map_err(|error| BenchError::Engine(error.to_string()))?;

    let engine_us = time_per_round(time, async || {
        plugin
            .run_bare(NOOP, "{}", Box::new(null_host()))
            .await
            .map_err(|error| BenchError::Engine(format!("{error:#}")))
    })
    .await?;
    let step_us = time_per_round(time, async || {
        match plugin.run_step(NOOP, "{}", &pinned.limits, Box::new(null_host())).await.outcome {
            StepOutcome::Output(_) => Ok(()),
            other => Err(BenchError::Engine(format!("{NOOP}: {other:?}"))),
        }
    })
    .await?;
    let measured = crate::bench::run(&host, Load { workload: Workload::Zero, concurrency: 1, time }).await?;
    Ok(SandboxTimes { engine_us, step_us, job_us: 1e6 / measured.per_second })
}

/// Returns the average duration of one round, in microseconds.
async fn time_per_round(
    time: Duration,
    mut round: impl AsyncFnMut() -> Result<(), BenchError>,
) -> Result<f64, BenchError> {
    for _ in 0..100 {
        round().await?;
    }
    let started_us = clock::boot_us();
    let until_us = started_us + u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
    let mut rounds = 0_u32;
    loop {
        for _ in 0..50 {
            round().await?;
        }
        rounds += 50;
        let now_us = clock::boot_us();
        if now_us >= until_us {
            return Ok((now_us - started_us) as f64 / f64::from(rounds));
        }
    }
}

/// Host of a step that makes no host calls.
struct NullHost(StepSources);

fn null_host() -> NullHost {
    NullHost(StepSources::new(StepContext::default(), [0; 32], 0))
}

#[async_trait]
impl StepCalls for NullHost {
    fn sources(&mut self) -> &mut StepSources {
        &mut self.0
    }
    fn log(&mut self, _: Level, _: &str) {}
    async fn call(&mut self, _: String, _: String, _: Option<String>) -> Result<Result<String, Failure>, Stop> {
        Err(Stop)
    }
    async fn call_all(&mut self, _: Vec<ToolCall>) -> Result<Vec<Result<String, Failure>>, Stop> {
        Err(Stop)
    }
    async fn emit(&mut self, _: String, _: String) -> Result<(), Stop> {
        Err(Stop)
    }
}
