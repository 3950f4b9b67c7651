//! `latch worker` as tests run it: jobs are left to it, it is watched, stopped, and what it said is read.

use std::fs::File;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::Value;

use crate::place::Place;
use crate::program::latch;

/// Looks at jobs, 50 ms apart, each by a process of its own: three minutes and more.
const LOOKS: u32 = 1_000;

/// Leaves the place's plan to workers; answers the job's id.
pub(crate) fn detached(place: &Place) -> String {
    let args = [&place.run_args()[..], &["--detach"]].concat();
    let ran = place.latch(&args);
    assert_eq!(ran.code, 0, "{} {}", ran.stdout, ran.stderr);
    ran.json()["job_id"].as_str().expect("an id").to_owned()
}

/// A worker that has not begun: more can be said to it in its environment.
pub(crate) fn worker(place: &Place, args: &[&str]) -> Command {
    latch(&place.dir, &[&["worker", "--json"], args].concat())
}

/// A process that works until it is stopped, killed where it is dropped.
pub(crate) struct Working {
    pub(crate) child: Child,
    said: PathBuf,
    noted: PathBuf,
}

impl Working {
    /// What it says goes to files of the place: nobody has to read while it works.
    pub(crate) fn start(place: &Place, mut command: Command) -> Working {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let file = |what: &str| place.dir.join(format!("worker-{number}.{what}"));
        let (said, noted) = (file("out"), file("err"));
        let open = |path: &PathBuf| File::create(path).expect("writable");
        command.stdout(open(&said)).stderr(open(&noted));
        Working { child: command.spawn().expect("latch runs"), said, noted }
    }

    /// What it has told people so far.
    pub(crate) fn notes(&self) -> String {
        std::fs::read_to_string(&self.noted).unwrap_or_default()
    }

    /// The document that it has printed; null where there is none.
    pub(crate) fn said(&self) -> Value {
        let said = std::fs::read_to_string(&self.said).unwrap_or_default();
        serde_json::from_str(&said).unwrap_or(Value::Null)
    }

    /// Waits until every job that it has claimed has come to an end in its hands.
    pub(crate) fn until_idle(&mut self) {
        const ENDS: [&str; 4] = [" is ", " is released", " belongs to another worker now", " stops here: "];
        for _ in 0..LOOKS * 3 {
            let notes = self.notes();
            let count = |ends: &[&str]| notes.lines().filter(|line| ends.iter().any(|end| line.contains(end))).count();
            let over = self.child.try_wait().expect("our child").is_some();
            if over || count(&[" begins", " continues, attempt "]) <= count(&ENDS) {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("it does not come to an end: {}", self.notes());
    }

    /// Waits until it ends by itself.
    pub(crate) fn until_ended(&mut self) {
        self.child.wait().expect("our child");
    }

    /// Asks it to stop, and waits; answers its exit code and what it counted.
    pub(crate) fn stop(mut self) -> (Option<i32>, Value) {
        if self.child.try_wait().expect("our child").is_none() {
            let pid = rustix::process::Pid::from_child(&self.child);
            rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("it is there");
        }
        let status = self.child.wait().expect("our child");
        (status.code(), self.said())
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        if self.child.try_wait().is_ok_and(|status| status.is_none()) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// Jobs that are not over.
pub(crate) fn open(place: &Place) -> Vec<Value> {
    let listed = place.latch(&["job", "list", "--open", "--limit", "100000", "--json"]);
    assert_eq!(listed.code, 0, "{} {}", listed.stdout, listed.stderr);
    listed.json()["jobs"].as_array().expect("a list").clone()
}

/// Answers a parked job's question with what the world shows.
pub(crate) fn answer(place: &Place, job: &str) {
    let shown = place.latch(&["job", "show", job, "--json"]).json();
    let blocked = &shown["blocked_on"];
    match shown["reason_code"].as_str() {
        // What cut its attempts off is no fault of the job.
        Some("ATTEMPTS_EXHAUSTED") => {
            place.latch(&["job", "resolve", job, "--continue", "--reason", "it was cut off"]);
        }
        _ if blocked["reason_code"] == "INDETERMINATE_EFFECT" => {
            // Refused where somebody found out meanwhile.
            place.resolve_truly(job, blocked["slot"].as_str().expect("a call in doubt has a slot"));
        }
        _ => {}
    }
}

/// Waits until every job is over, and answers questions with the truth; how many there were.
pub(crate) fn until_over(place: &Place, when: &str) -> u32 {
    let mut answered = 0;
    for _ in 0..LOOKS {
        let left = open(place);
        if left.is_empty() {
            return answered;
        }
        for job in left.iter().filter(|job| job["state"] == "PARKED") {
            answered += 1;
            answer(place, job["job_id"].as_str().expect("an id"));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("{when}: still open: {:#?}", open(place));
}

/// The events of a job.
pub(crate) fn events(place: &Place, job: &str) -> Vec<Value> {
    let all = place.latch(&["job", "events", job, "--json"]).json()["events"].clone();
    all.as_array().expect("a list").clone()
}
