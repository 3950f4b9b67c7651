//! Workers on one database are killed at random while they run jobs. The files that executions create are the
//! independent record of what happened.
//!
//! `LATCH_TEST_SEED` repeats the random choices of a run. `LATCH_TEST_JOBS` and `LATCH_TEST_KILLS` make a run
//! longer. `LATCH_TEST_PATIENCE` is the time limit in seconds. For example, a long run:
//!
//! ```sh
//! LATCH_TEST_JOBS=2000 LATCH_TEST_KILLS=100000 LATCH_TEST_PATIENCE=7200 \
//!     cargo test --test it -- --nocapture kills::golden_flows
//! ```

#![expect(clippy::disallowed_methods, reason = "the test measures real time")]
#![expect(clippy::print_stdout, reason = "the seed and the numbers of a run are printed")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use latchwork_core::encoding::rng::StepRng;

use crate::support::database::blocking_database;
use crate::support::evidence;
use crate::support::kills::check_jobs;
use crate::support::program::{latch_command, run_latch};
use crate::support::running_worker::{open_jobs, resolve_parked};
use crate::support::seed::{commit_of_seed, number_from_env, run_seed, seeded_rng};
use crate::support::test_env::{TestEnv, witness_plan_of};

const WORKERS: usize = 4;
/// Minimum number of kills in a run, no matter how fast the workers are.
const MIN_KILLS: u64 = 24;
/// Pause between two extra jobs. Extra jobs only extend the run until enough workers were killed.
const EXTRA_JOB_PAUSE: Duration = Duration::from_millis(200);
/// Number of consecutive kills that form one window. Throughput is checked at the end of each window.
const KILL_WINDOW: u64 = 20;
/// Minimum number of jobs that must end in one window. The minimum does not apply if fewer jobs are open.
const MIN_ENDED_PER_WINDOW: u64 = 3;
/// Maximum number of jobs of a run that is replayed from every prefix afterwards. A run with more jobs is not replayed.
const MAX_REPLAYED_JOBS: u64 = 100;
/// Settings with a short lease, so that the job of a killed worker is soon claimed again.
const SHORT_LEASE: &str = "lease = \"2s\"\nheartbeat = \"500ms\"\nclock_margin = \"200ms\"";

/// Expected duration of a submission on an idle machine. If a submission takes longer, the pauses between kills grow by
/// the same factor.
const EXPECTED_SUBMISSION_TIME: Duration = Duration::from_millis(150);

/// Submits plan number `n` for the workers, and returns the job's id.
fn submit(place: &TestEnv, n: u64, plan: &Value) -> String {
    let file = format!("plan-{n}.json");
    std::fs::write(place.dir.join(&file), plan.to_string()).expect("writable");
    let mut args = place.run_args();
    args[1] = &file;
    let ran = run_latch(&place.dir, &[&args[..], &["--detach"]].concat());
    assert_eq!(ran.code, 0, "{} {}", ran.stdout, ran.stderr);
    ran.json()["job_id"].as_str().expect("an id").to_owned()
}

/// A worker process that is killed on drop.
struct KillableWorker(Child);

impl KillableWorker {
    fn start(place: &TestEnv) -> KillableWorker {
        let mut command = latch_command(&place.dir, &["worker", "--jobs", "4"]);
        KillableWorker(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("latch runs"))
    }
}

impl Drop for KillableWorker {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Number of jobs that ended in each window of [`KILL_WINDOW`] kills.
#[derive(Default)]
struct KillWindows {
    ended: Vec<u64>,
    /// Total numbers of kills and of ended jobs at the end of the last window.
    last: (u64, u64),
}

impl KillWindows {
    /// Ends the window once it contains [`KILL_WINDOW`] kills. `left` is the number of open jobs. Returns a problem if
    /// fewer than [`MIN_ENDED_PER_WINDOW`] jobs ended in the window, although at least as many jobs are open.
    fn note(&mut self, kills: u64, ended: u64, left: usize) -> Option<String> {
        if kills < self.last.0 + KILL_WINDOW {
            return None;
        }
        let within = ended.saturating_sub(self.last.1);
        self.ended.push(within);
        self.last = (kills, ended);
        (within < MIN_ENDED_PER_WINDOW && left as u64 >= MIN_ENDED_PER_WINDOW)
            .then(|| format!("too few jobs ended within {KILL_WINDOW} kills: {:?}", self.ended))
    }
}

/// Lets workers run `jobs` jobs, and kills one worker after each pause. Submits more jobs until enough workers were
/// killed, because the test must not pass without kills. Returns the ids of all jobs.
fn run_with_kills(
    place: &TestEnv,
    seed: u64,
    jobs: u64,
    plan: impl Fn(u64) -> Value + Sync,
    mut pause: impl FnMut(&mut StepRng) -> Duration,
) -> Vec<String> {
    let mut dice = seeded_rng(seed);
    let patience = Duration::from_secs(number_from_env("LATCH_TEST_PATIENCE", 600));
    // Number of kills after which no more workers are killed. The remaining jobs then finish undisturbed.
    let kills_max = number_from_env("LATCH_TEST_KILLS", 60);
    let begun = Instant::now();
    let mut workers: Vec<KillableWorker> = (0..WORKERS).map(|_| KillableWorker::start(place)).collect();
    let (kills, accepted, failed) = (AtomicU64::new(0), AtomicU64::new(0), AtomicBool::new(false));
    // Duration of the last submission, from which the slowness of the machine is estimated.
    let submitted_in_ms = AtomicU64::new(0);
    let enough = || kills.load(Relaxed) >= MIN_KILLS.min(kills_max) || failed.load(Relaxed);
    let accept = |n: u64| {
        if n >= jobs {
            std::thread::sleep(EXTRA_JOB_PAUSE);
        }
        let since = Instant::now();
        let id = submit(place, n, &plan(n));
        submitted_in_ms.store(u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX), Relaxed);
        accepted.fetch_add(1, Relaxed);
        id
    };
    let (mut questions, mut windows, mut wrong) = (0, KillWindows::default(), None);
    let ids = std::thread::scope(|scope| {
        let submits = scope.spawn(|| (0..).take_while(|n| *n < jobs || !enough()).map(accept).collect::<Vec<String>>());
        let mut looked = Instant::now();
        while wrong.is_none() {
            let slower = submitted_in_ms.load(Relaxed) as f64 / EXPECTED_SUBMISSION_TIME.as_millis() as f64;
            std::thread::sleep(pause(&mut dice).mul_f64(slower.clamp(1.0, 20.0)));
            if kills.load(Relaxed) < kills_max {
                workers[dice.below(WORKERS as u32) as usize] = KillableWorker::start(place);
                kills.fetch_add(1, Relaxed);
            }
            if looked.elapsed() < Duration::from_secs(1) {
                continue;
            }
            let (done, known) = (submits.is_finished(), accepted.load(Relaxed));
            let left = open_jobs(place);
            if done && left.is_empty() {
                break;
            }
            let ended = known.saturating_sub(left.len() as u64);
            wrong = windows.note(kills.load(Relaxed), ended, left.len());
            if begun.elapsed() > patience {
                wrong = Some(format!("after {kills:?} kills these are still open: {left:#?}"));
            }
            for job in left.iter().filter(|job| job["state"] == "PARKED") {
                questions += 1;
                resolve_parked(place, job["job_id"].as_str().expect("an id"));
            }
            looked = Instant::now();
        }
        failed.store(wrong.is_some(), Relaxed);
        submits.join().expect("every job is accepted")
    });
    assert!(wrong.is_none(), "seed {seed}: {}", wrong.unwrap_or_default());
    println!("{} jobs, {kills:?} kills, {questions} questions, {:?}", ids.len(), begun.elapsed());
    println!("jobs that ended within {KILL_WINDOW} kills each: {:?}", windows.ended);
    ids
}

/// I1, I3, I4, I192.
#[test]
fn randomly_killed_workers_on_sqlite_complete_every_job_once() {
    check_witnessed_jobs(TestEnv::witness("atomic"));
}

/// I1, I3, I4, I192.
#[test]
#[ignore = "kills at random times; run by .ci/long"]
fn randomly_killed_workers_on_sqlite_with_staged_commit_complete_every_job_once() {
    check_witnessed_jobs(TestEnv::witness("staged"));
}

/// I1, I3, I4, I192.
#[test]
#[ignore = "kills at random times; run by .ci/long"]
fn randomly_killed_workers_on_postgres_complete_every_job_once() {
    let Some(url) = blocking_database() else { return };
    check_witnessed_jobs(TestEnv::witness("atomic").with_database(&url));
}

/// I1, I3, I4, I192.
#[test]
#[ignore = "kills at random times; run by .ci/long"]
fn randomly_killed_workers_on_postgres_with_staged_commit_complete_every_job_once() {
    let Some(url) = blocking_database() else { return };
    check_witnessed_jobs(TestEnv::witness("staged").with_database(&url));
}

/// I1, I3, I4: several workers run many jobs, with a SIGKILL every 50 to 500 ms. Every job completes. Opaque
/// and queryable calls happened exactly once. Keyed calls used one key and were applied once.
fn check_witnessed_jobs(place: TestEnv) {
    let (seed, jobs) = (run_seed(), number_from_env("LATCH_TEST_JOBS", 16));
    let place = place.configure_first(SHORT_LEASE);
    let pause = |dice: &mut StepRng| Duration::from_millis(50 + u64::from(dice.below(450)));
    let ids = run_with_kills(&place, seed, jobs, witness_plan_of, pause);
    all_completed(&place, seed, &ids);
    check_jobs(&place, &ids, &format!("seed {seed}"));
}

/// I1, I3, I5, I192: golden flows (see `TestEnv::golden`) run on four workers, one of which is killed every half
/// second. Afterwards the outbox contains each letter once, and each record has one revision. The seed selects the
/// commit mode.
#[test]
fn golden_flows_with_randomly_killed_workers_on_postgres_send_one_message_each() {
    let Some(url) = blocking_database() else { return };
    let (seed, jobs) = (run_seed(), number_from_env("LATCH_TEST_JOBS", 16));
    let mut place = TestEnv::golden(commit_of_seed(seed)).fresh_copy().with_database(&url).configure_first(SHORT_LEASE);
    if jobs > MAX_REPLAYED_JOBS {
        place.skip_replay_of_many_jobs();
    }
    let shipped = std::fs::read_to_string(place.dir.join("plan.json")).expect("the example has a plan");
    let shipped: Value = serde_json::from_str(&shipped).expect("the plan is JSON");
    let plan = |n: u64| {
        let mut plan = shipped.clone();
        let steps = plan["steps"].as_array_mut().expect("a list");
        // Gives each job its own letter and its own record.
        steps[2]["payload"]["position"] = json!(format!("doctoral position {n}"));
        steps[4]["payload"]["request_id"] = json!(n.to_string());
        plan
    };
    let ids = run_with_kills(&place, seed, jobs, plan, |_| Duration::from_millis(500));
    all_completed(&place, seed, &ids);
    let mut letters: BTreeMap<String, u32> = BTreeMap::new();
    for letter in files(&place.dir.join("outbox/new")) {
        let text = std::fs::read_to_string(letter).expect("a letter");
        let key = text.split("<latch.").nth(1).and_then(|rest| rest.split('.').next());
        *letters.entry(key.expect("the external key is the Message-ID").to_owned()).or_default() += 1;
    }
    for (n, id) in ids.iter().enumerate() {
        assert_eq!(letters.get(id), Some(&1), "seed {seed}: letters of {id}");
        let revisions = files(&place.dir.join(format!("requests/{n}")));
        assert_eq!(revisions.len(), 1, "seed {seed}: revisions of {id}: {revisions:?}");
    }
    assert_eq!(letters.len(), ids.len(), "seed {seed}: nothing else was sent");
    assert!(files(&place.dir.join("outbox/tmp")).is_empty(), "seed {seed}: never half a letter");
    for id in ids.iter().take(3) {
        evidence::verify_offline(&place, id, &format!("seed {seed}"));
    }
}

fn all_completed(place: &TestEnv, seed: u64, ids: &[String]) {
    let listed = place.latch(&["job", "list", "--limit", "100000", "--json"]).json();
    let listed = listed["jobs"].as_array().expect("a list");
    let states: BTreeMap<&str, &Value> =
        listed.iter().filter_map(|job| Some((job["job_id"].as_str()?, &job["state"]))).collect();
    for id in ids {
        assert_eq!(states.get(id.as_str()), Some(&&json!("COMPLETED")), "seed {seed}: {id}");
    }
    assert_eq!(states.len(), ids.len(), "seed {seed}: each request is one job");
}

fn files(dir: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().filter_map(Result::ok);
    entries.filter(|entry| !entry.file_name().to_string_lossy().starts_with('.')).map(|entry| entry.path()).collect()
}
