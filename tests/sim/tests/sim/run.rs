//! One run, fully determined by its seed.

use std::fmt::Write;
use std::sync::Arc;

use latchwork_core::model::ids::Hash;
use latchwork_core::storage::{JobFilter, Journal};

use crate::dice::Dice;
use crate::event_counts::EventCounts;
use crate::faults::SimulatedFaults;
use crate::simulation::Simulation;
use crate::traces::observations::ObservedJob;
use crate::world::people;
use crate::{check, plans, workers};

/// Simulated milliseconds after which an unfinished job counts as stuck.
const OVER_WITHIN_MS: u64 = 45 * 60 * 1_000;
/// Simulated milliseconds after which every message in transit has arrived and every paused process has
/// continued.
const AFTERMATH_MS: u32 = 11_000;

/// Result of a run.
pub(crate) struct SimulationResult {
    /// Everything that happened, in order, and the final state.
    pub(crate) trace: String,
    /// First violation.
    pub(crate) violation: Option<String>,
    pub(crate) tally: EventCounts,
    /// Observations of the jobs, if they were recorded.
    pub(crate) jobs: Vec<ObservedJob>,
}

impl SimulationResult {
    pub(crate) fn hash(&self) -> Hash {
        Hash::of(&[self.trace.as_bytes()])
    }
}

/// Runs the simulation of a seed in this thread. Simulated time advances as fast as possible.
pub(crate) fn run_seed(seed: u64) -> SimulationResult {
    let dice = Dice::new(seed);
    let weather = SimulatedFaults::of(&dice);
    run(|| Simulation::new(dice, weather))
}

/// Runs the simulation that `set` returns.
pub(crate) fn run(set: impl FnOnce() -> Arc<Simulation>) -> SimulationResult {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let scene = runtime.expect("a runtime of one thread").block_on(async { simulate(set()).await });
    let (trace, wrong) = (scene.trace(), scene.first_violation());
    let tally = EventCounts::default();
    tally.add(&scene.tally);
    let jobs = scene.records.as_ref().map_or_else(Vec::new, |records| records.all(scene.weather.staged));
    SimulationResult { trace, violation: wrong, tally, jobs }
}

async fn simulate(scene: Arc<Simulation>) -> Arc<Simulation> {
    scene.add_trace_line(format_args!("{:?}", scene.weather));
    for n in 0..scene.weather.workers {
        tokio::spawn(workers::run(scene.clone(), n));
    }
    tokio::spawn(people::run(scene.clone()));
    for n in 0..scene.weather.jobs {
        let job = plans::job(&scene, n);
        scene.add_trace_line(format_args!("{} is accepted: {:?}", job.row.job_id, job.events[1].body));
        let accepted = scene.store().submit(job).await;
        accepted.expect("the model takes every job");
        scene.sleep_ms(scene.dice.between(1, 2_000)).await;
    }
    loop {
        while scene.first_violation().is_none() && open_jobs(&scene).await > 0 {
            if scene.now_ms() > OVER_WITHIN_MS || scene.exceeds_trace_limit() {
                scene.report_violation("a job does not end");
                break;
            }
            scene.sleep_ms(500).await;
        }
        if scene.weather.pauses_in > 0 {
            scene.sleep_ms(AFTERMATH_MS).await;
        } else {
            scene.sleep_ms(AFTERMATH_MS / 4).await;
        }
        // If people may still request an undo, a finished job may be reopened. The run then continues.
        let asks = scene.weather.undoes_in > 0 && scene.allows_faults();
        if scene.first_violation().is_some() || !asks && open_jobs(&scene).await == 0 {
            break;
        }
    }
    let left = check::check_all(&scene).await;
    scene.add_trace_line(format_args!("{left}"));
    scene
}

async fn open_jobs(scene: &Simulation) -> usize {
    let open = JobFilter { open: true, limit: u32::MAX, ..JobFilter::default() };
    scene.store().jobs(&open).await.expect("the model answers").len()
}

/// Returns the first line in which two traces differ.
pub(crate) fn difference(one: &str, two: &str) -> String {
    let mut differences = String::new();
    for (number, (one, two)) in one.lines().zip(two.lines()).enumerate().filter(|(_, (one, two))| one != two).take(1) {
        write!(differences, "line {number}:\n  {one}\n  {two}").expect("a string takes everything");
    }
    differences
}
