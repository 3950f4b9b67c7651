//! Simulated workers. Each worker is a sequence of processes, and each process runs the production worker with its
//! pool.

pub(crate) mod plugins;
pub(crate) mod process;
pub(crate) mod store_connection;
pub(crate) mod writer;

use std::collections::BTreeMap;
use std::sync::Arc;

use latchwork::runtime::{
    Pool, PoolEvent, PoolSettings, PoolTally, StopHandle, Worker, WorkerError, WorkerParts, WorkerSettings,
};
use latchwork_core::storage::Clock;
use latchwork_engine::os::Machine;

use crate::plans::rules;
use crate::simulation::{MARGIN_MS, Simulation};
use plugins::Plugins;
use process::Process;
use store_connection::StoreConnection;

/// Time within which a stopped worker must have released its jobs. Covers a call's timeout and delays of the
/// store.
const STOPS_WITHIN_MS: u32 = 60_000;

fn settings(scene: &Simulation) -> WorkerSettings {
    WorkerSettings {
        lease_ms: 2_000,
        heartbeat_ms: 500,
        clock_margin_ms: MARGIN_MS,
        // Runs with `records` are compared with the protocol model. The model does not limit attempts without progress,
        // so workers of such runs do not limit them either.
        max_attempts_without_progress: if scene.records.is_some() { u32::MAX } else { 3 },
        staged: scene.weather.staged,
        limits: BTreeMap::new(),
        people: Default::default(),
    }
}

/// Returns the machine of a process. A process on a separate machine asks for the time of the database when it begins.
fn machine(process: &Arc<Process>) -> Machine {
    let machine = Machine::new(process.clone(), process.clone());
    if process.scene.weather.on_other_machines {
        machine.synchronize(process.scene.clock().now_us(), machine.boot_us());
    }
    machine
}

fn worker(process: &Arc<Process>) -> Arc<Worker> {
    let link = Arc::new(StoreConnection::of(process));
    let components = Arc::new(Plugins(Some(process.clone())));
    let settings = settings(&process.scene);
    let mut parts = WorkerParts::new(link.clone(), link, components, process.owner.clone(), settings, machine(process));
    parts.rules = BTreeMap::from([("default".to_owned(), rules())]);
    parts.crash = process.clone();
    Worker::start(parts)
}

/// Runs the `n`-th worker as a sequence of processes.
pub(crate) async fn run(scene: Arc<Simulation>, n: u32) {
    for life in 0.. {
        scene.sleep_ms(scene.dice.between(1, 400)).await;
        let process = Process::new(&scene, &format!("w{n}.{life}"));
        scene.add_trace_line(format_args!("{} begins", process.name()));
        let stop = StopHandle::default();
        let stops = scene.allows_faults() && scene.dice.one_in(scene.weather.stops_in);
        let mut pool = tokio::spawn(pool(process.clone(), stop.clone()));
        if stops {
            let (process, stop, after_ms) = (process.clone(), stop.clone(), scene.dice.between(200, 6_000));
            tokio::spawn(async move {
                process.scene.sleep_ms(after_ms).await;
                process.scene.add_trace_line(format_args!("{} is asked to stop", process.name()));
                stop.stop();
                process.scene.sleep_ms(STOPS_WITHIN_MS).await;
                if !process.is_dead() && !process.is_over() {
                    process.scene.report_violation(format!("{} does not stop", process.name()));
                }
            });
        }
        tokio::select! {
            biased;
            () = process.died.notified() => {}
            ended = &mut pool => {
                process.end();
                match ended {
                    Ok(tally) => scene.add_trace_line(format_args!("{} stopped: {tally:?}", process.name())),
                    Err(error) => scene.report_violation(format!("{}: {error}", process.name())),
                }
                scene.tally.count("stopped");
            }
        }
        let pause_ms = *scene.dice.pick(&[10, 500, 5_000]);
        scene.sleep_ms(pause_ms).await;
    }
}

async fn pool(process: Arc<Process>, stop: StopHandle) -> PoolTally {
    let settings = PoolSettings {
        max_jobs: process.scene.weather.max_held_jobs,
        max_jobs_by_tenant: BTreeMap::new(),
        until_idle: false,
    };
    let pool = Pool::new(worker(&process), settings);
    pool.run(&stop, |event| record_pool_event(&process, event)).await.0
}

fn record_pool_event(process: &Process, event: PoolEvent) {
    let scene = &process.scene;
    let name = process.name();
    match event {
        PoolEvent::Settled(response) => {
            scene.tally.count(format!("settled {}", response.state.as_str()));
            scene.add_trace_line(format_args!("{name} brought {} to {:?}", response.job_id, response.state));
        }
        PoolEvent::ParkedUnloaded(job, cause) => {
            scene.tally.count("parked unloaded");
            scene.add_trace_line(format_args!("{name} parks {job}: {cause}"));
        }
        PoolEvent::Claimed(job, attempt, _) => {
            scene.add_trace_line(format_args!("{name} has {job} as attempt {attempt}"))
        }
        PoolEvent::Released(job) => {
            scene.tally.count("released");
            scene.add_trace_line(format_args!("{name} releases {job}"));
        }
        PoolEvent::LeaseLost(job) => {
            scene.tally.count("lost to another worker");
            scene.add_trace_line(format_args!("{name} has lost {job}"));
        }
        PoolEvent::Failed(job, WorkerError::Store(error)) => {
            scene.tally.count("left after the store failed");
            scene.add_trace_line(format_args!("{name} abandons {job}: {error}"));
        }
        PoolEvent::Failed(job, error) | PoolEvent::Quarantined(job, error, _) => {
            scene.report_violation(format!("{name}, {job}: {error}"))
        }
        PoolEvent::NotLoaded(job, error) => {
            scene.tally.count("released unloaded");
            scene.add_trace_line(format_args!("{name} releases {job}: {error}"));
        }
        PoolEvent::Unavailable(_) => scene.tally.count("waited for the store"),
        PoolEvent::Available => {}
    }
}
