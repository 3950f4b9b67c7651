//! Workers over one database, killed at random while they work. An independent witness, the files that
//! executions leave, says what happened.
//!
//! `LATCH_TEST_SEED` repeats a run's choices, `LATCH_TEST_JOBS` makes it longer.

#![expect(clippy::disallowed_methods, reason = "how long the world outside takes is measured here")]
#![expect(clippy::print_stdout, reason = "what repeats a run is told")]

use std::collections::BTreeMap;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::evidence;
use crate::place::{Place, witness_plan};
use crate::program::latch;

const WORKERS: usize = 4;
/// What the run has to have brought about in this time, so that it cannot pass by doing nothing.
const PATIENCE: Duration = Duration::from_secs(600);

/// A generator that a number repeats (xorshift64*).
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % n
    }
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().map_or(default, |text| text.parse().expect("a number"))
}

fn submit(place: &Place, n: u64) -> String {
    let mut plan = witness_plan();
    for step in plan["steps"].as_array_mut().expect("a list") {
        if step["kind"] == "operator" {
            step["idempotency_template"] = json!(format!("{}:{n}", step["step_id"].as_str().expect("an id")));
        }
    }
    std::fs::write(place.dir.join("plan.json"), plan.to_string()).expect("writable");
    let args = [&place.run_args()[..], &["--detach"]].concat();
    let ran = place.latch(&args);
    assert_eq!(ran.code, 0, "{} {}", ran.stdout, ran.stderr);
    ran.json()["job_id"].as_str().expect("an id").to_owned()
}

fn worker(place: &Place) -> Child {
    let mut command = latch(&place.dir, &["worker", "--jobs", "4"]);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("latch runs")
}

/// How often each call of each job was executed, and how often each key was applied.
fn world(place: &Place) -> BTreeMap<(String, String), u32> {
    let mut world = BTreeMap::new();
    for entry in std::fs::read_dir(place.dir.join("effects")).expect("the world exists") {
        let name = entry.expect("readable").file_name().into_string().expect("plain names");
        let mut parts = name.split('.');
        let (what, key) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        // latch-<job>-<slot>-<attempt>, everything but letters and digits as `-`: job_… is two words.
        let mut words = key.splitn(4, '-').skip(1);
        let job = format!("{}_{}", words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let slot = words.next().and_then(|rest| rest.rsplit_once('-')).map(|(slot, _)| slot.replace('-', "/"));
        let slot = slot.unwrap_or_else(|| panic!("{name} names no slot"));
        let slot = if what == "applied" { format!("applied {slot}") } else { slot };
        *world.entry((job, slot)).or_default() += 1;
    }
    world
}

fn open(place: &Place) -> Vec<Value> {
    let listed = place.latch(&["job", "list", "--open", "--limit", "100000", "--json"]);
    listed.json()["jobs"].as_array().expect("a list").clone()
}

/// Answers each question about a call in doubt with what the world shows.
fn answer(place: &Place, job: &str) {
    let shown = place.latch(&["job", "show", job, "--json"]).json();
    let blocked = &shown["blocked_on"];
    match shown["reason_code"].as_str() {
        // The kills are no fault of the job.
        Some("ATTEMPTS_EXHAUSTED") => {
            place.latch(&["job", "resolve", job, "--continue", "--reason", "it was killed"]);
        }
        _ if blocked["reason_code"] == "INDETERMINATE_EFFECT" => {
            let slot = blocked["slot"].as_str().expect("a call in doubt has a slot");
            let happened = world(place).contains_key(&(job.to_owned(), slot.to_owned()));
            std::fs::write(place.dir.join("result.json"), r#"{"file":null,"note":null}"#).expect("writable");
            let verdict: &[&str] = if happened { &["--applied", "result.json"] } else { &["--not-applied"] };
            // Refused where somebody found out meanwhile.
            place.latch(&[&["job", "resolve", job, slot, "--reason", "looked"], verdict].concat());
        }
        _ => {}
    }
}

#[test]
fn workers_over_a_file_killed_at_random_complete_every_job_once() {
    storm(Place::witness("atomic"));
}

#[test]
fn workers_over_a_server_killed_at_random_complete_every_job_once() {
    let Some(url) = crate::postgres::live::a_database() else { return };
    storm(Place::witness("atomic").on_server(&url));
}

/// I1, I3, I4: N workers, M jobs, a SIGKILL every 50 to 500 ms: every job completes, opaque and queryable
/// calls happened exactly once, keyed ones under one key, applied once.
fn storm(place: Place) {
    let seed = number("LATCH_TEST_SEED", u64::from(std::process::id()) << 20 | 1);
    let jobs = number("LATCH_TEST_JOBS", 16);
    println!("LATCH_TEST_SEED={seed} LATCH_TEST_JOBS={jobs}");
    let mut dice = Dice(seed);
    let place = place.configure_first("lease = \"2s\"\nheartbeat = \"500ms\"\nclock_margin = \"200ms\"");
    let ids: Vec<String> = (0..jobs).map(|n| submit(&place, n)).collect();
    let begun = Instant::now();
    let mut workers: Vec<Child> = (0..WORKERS).map(|_| worker(&place)).collect();
    let mut kills = 0;
    let mut looked = Instant::now();
    loop {
        assert!(begun.elapsed() < PATIENCE, "seed {seed}: {kills} kills, still open: {:#?}", open(&place));
        std::thread::sleep(Duration::from_millis(50 + dice.below(450)));
        // The first half of the work is done under fire, and every worker is killed now and then after that.
        let at = dice.below(WORKERS as u64) as usize;
        workers[at].kill().expect("it is ours");
        workers[at].wait().expect("it is ours");
        kills += 1;
        workers[at] = worker(&place);
        if looked.elapsed() < Duration::from_secs(2) {
            continue;
        }
        let left = open(&place);
        if left.is_empty() {
            break;
        }
        for job in left.iter().filter(|job| job["state"] == "PARKED") {
            answer(&place, job["job_id"].as_str().expect("an id"));
        }
        // A worker needs a while to get anywhere: what is left over is finished in peace.
        if kills > 60 {
            break;
        }
        looked = Instant::now();
    }
    while !open(&place).is_empty() {
        assert!(begun.elapsed() < PATIENCE, "seed {seed}: {kills} kills, still open: {:#?}", open(&place));
        for job in open(&place).iter().filter(|job| job["state"] == "PARKED") {
            answer(&place, job["job_id"].as_str().expect("an id"));
        }
        std::thread::sleep(Duration::from_millis(200));
    }
    for mut worker in workers {
        worker.kill().expect("it is ours");
        worker.wait().expect("it is ours");
    }
    assert!(kills >= 5, "seed {seed}: only {kills} kills");
    let world = world(&place);
    for id in &ids {
        let job = place.latch(&["job", "show", id, "--json"]).json();
        assert_eq!(job["state"], "COMPLETED", "seed {seed}: {job:#}");
        let times = |slot: &str| world.get(&(id.clone(), slot.to_owned())).copied().unwrap_or(0);
        for slot in ["o", "q", "d/0", "d/1"] {
            assert_eq!(times(slot), 1, "seed {seed}: {id} {slot}");
        }
        for slot in ["k", "d/2"] {
            assert!(times(slot) >= 1, "seed {seed}: {id} {slot}");
            assert_eq!(times(&format!("applied {slot}")), 1, "seed {seed}: {id} {slot}");
        }
    }
    for id in ids.iter().take(3) {
        evidence::holds(&place, id, &format!("seed {seed}"));
    }
    assert_eq!(world.len(), ids.len() * 8, "seed {seed}: nothing else happened");
    println!("{jobs} jobs, {kills} kills, {:?}", begun.elapsed());
}
