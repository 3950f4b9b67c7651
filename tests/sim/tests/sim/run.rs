//! One run, fully determined by its seed.

use std::fmt::Write;
use std::sync::Arc;

use latchwork_core::ids::Hash;
use latchwork_core::storage::{Filter, Journal};

use crate::dice::Dice;
use crate::record::Recorded;
use crate::scene::Scene;
use crate::tally::Tally;
use crate::weather::Weather;
use crate::{check, people, plans, workers};

/// Simulated milliseconds after which an unfinished job counts as stuck.
const OVER_WITHIN_MS: u64 = 45 * 60 * 1_000;
/// Simulated milliseconds after which every message in transit has arrived and every paused process has
/// continued.
const AFTERMATH_MS: u32 = 11_000;

/// Result of a run.
pub(crate) struct Ran {
    /// Everything that happened, in order, and the final state.
    pub(crate) trace: String,
    /// First violation.
    pub(crate) wrong: Option<String>,
    pub(crate) tally: Tally,
    /// Observations of the jobs, if they were recorded.
    pub(crate) jobs: Vec<Recorded>,
}

impl Ran {
    pub(crate) fn hash(&self) -> Hash {
        Hash::of(&[self.trace.as_bytes()])
    }
}

/// Runs a seed in this thread. Simulated time advances as fast as possible.
pub(crate) fn seed(seed: u64) -> Ran {
    let dice = Dice::new(seed);
    let weather = Weather::of(&dice);
    run(|| Scene::new(dice, weather))
}

/// Runs a scene that the caller has set up.
pub(crate) fn run(set: impl FnOnce() -> Arc<Scene>) -> Ran {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let scene = runtime.expect("a runtime of one thread").block_on(async { live(set()).await });
    let (trace, wrong) = (scene.trace(), scene.first_wrong());
    let tally = Tally::default();
    tally.add(&scene.tally);
    let jobs = scene.records.as_ref().map_or_else(Vec::new, |records| records.all(scene.weather.staged));
    Ran { trace, wrong, tally, jobs }
}

async fn live(scene: Arc<Scene>) -> Arc<Scene> {
    scene.note(format_args!("{:?}", scene.weather));
    for n in 0..scene.weather.workers {
        tokio::spawn(workers::run(scene.clone(), n));
    }
    tokio::spawn(people::run(scene.clone()));
    for n in 0..scene.weather.jobs {
        let job = plans::job(&scene, n);
        scene.note(format_args!("{} is accepted: {:?}", job.row.job_id, job.events[1].body));
        let accepted = scene.store().submit(job).await;
        accepted.expect("the model takes every job");
        scene.pass(scene.dice.between(1, 2_000)).await;
    }
    loop {
        while scene.first_wrong().is_none() && open(&scene).await > 0 {
            if scene.now_ms() > OVER_WITHIN_MS || scene.is_endless() {
                scene.wrong("a job does not end");
                break;
            }
            scene.pass(500).await;
        }
        if scene.weather.pauses_in > 0 {
            scene.pass(AFTERMATH_MS).await;
        } else {
            scene.pass(AFTERMATH_MS / 4).await;
        }
        // A finished job may have been reopened by an undo request.
        let asks = scene.weather.undoes_in > 0 && scene.is_rough();
        if scene.first_wrong().is_some() || !asks && open(&scene).await == 0 {
            break;
        }
    }
    let left = check::all(&scene).await;
    scene.note(format_args!("{left}"));
    scene
}

async fn open(scene: &Scene) -> usize {
    let open = Filter { open: true, limit: u32::MAX, ..Filter::default() };
    scene.store().jobs(&open).await.expect("the model answers").len()
}

/// Returns the first line in which two traces differ.
pub(crate) fn difference(one: &str, two: &str) -> String {
    let mut said = String::new();
    for (number, (one, two)) in one.lines().zip(two.lines()).enumerate().filter(|(_, (one, two))| one != two).take(1) {
        write!(said, "line {number}:\n  {one}\n  {two}").expect("a string takes everything");
    }
    said
}
