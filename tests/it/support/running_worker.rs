//! Helpers for tests with `latch worker`: submit jobs, start and stop workers, and read their output.

use std::fs::File;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::Value;

use latchwork_engine::os::clock::now_us;

use crate::support::program::latch_command;
use crate::support::servers::postgres::proxy::Proxy;
use crate::support::test_env::TestEnv;

/// Longest time that a test waits for its jobs, in microseconds.
const PATIENCE_US: i64 = 300_000_000;

/// Time between two checks while a test waits.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// Submits the environment's plan with `--detach`. A worker then executes the job. Returns the job's id.
pub(crate) fn submit_detached(place: &TestEnv) -> String {
    let args = [&place.run_args()[..], &["--detach"]].concat();
    let ran = place.latch(&args);
    assert_eq!(ran.code, 0, "{} {}", ran.stdout, ran.stderr);
    ran.json()["job_id"].as_str().expect("an id").to_owned()
}

/// Returns a worker's command, to which environment variables can be added.
pub(crate) fn worker_command(place: &TestEnv, args: &[&str]) -> Command {
    latch_command(&place.dir, &[&["worker", "--json"], args].concat())
}

/// A running worker process, which is killed on drop.
pub(crate) struct RunningWorker {
    pub(crate) child: Child,
    stdout_file: PathBuf,
    stderr_file: PathBuf,
}

impl RunningWorker {
    /// Starts the command and writes its output to files. The test need not read the output while the worker runs.
    pub(crate) fn start(place: &TestEnv, mut command: Command) -> RunningWorker {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let file = |what: &str| place.dir.join(format!("worker-{number}.{what}"));
        let (printed, noted) = (file("out"), file("err"));
        let open = |path: &PathBuf| File::create(path).expect("writable");
        command.stdout(open(&printed)).stderr(open(&noted));
        RunningWorker { child: command.spawn().expect("latch runs"), stdout_file: printed, stderr_file: noted }
    }

    /// Returns the worker's messages for users so far, from standard error.
    pub(crate) fn messages(&self) -> String {
        std::fs::read_to_string(&self.stderr_file).unwrap_or_default()
    }

    /// Returns the JSON document on standard output, or null.
    pub(crate) fn summary(&self) -> Value {
        let printed = std::fs::read_to_string(&self.stdout_file).unwrap_or_default();
        serde_json::from_str(&printed).unwrap_or(Value::Null)
    }

    /// Waits until the worker process has ended or the worker holds no job. The worker holds no job if each claimed job
    /// has settled, was released, or was lost to another worker.
    pub(crate) fn wait_until_idle(&mut self) {
        const END_MESSAGES: [&str; 4] = [" is ", " is released", " belongs to another worker now", " stops here: "];
        let end = now_us() + PATIENCE_US;
        while now_us() < end {
            let notes = self.messages();
            let count = |ends: &[&str]| notes.lines().filter(|line| ends.iter().any(|end| line.contains(end))).count();
            let over = self.child.try_wait().expect("our child").is_some();
            if over || count(&[" begins", " continues, attempt "]) <= count(&END_MESSAGES) {
                return;
            }
            std::thread::sleep(CHECK_INTERVAL);
        }
        panic!("the worker does not settle its jobs: {}", self.messages());
    }

    /// Waits until the process ends by itself.
    pub(crate) fn wait_until_ended(&mut self) {
        self.child.wait().expect("our child");
    }

    /// Sends SIGTERM and waits. Returns the exit code and the JSON summary.
    pub(crate) fn stop(mut self) -> (Option<i32>, Value) {
        if self.child.try_wait().expect("our child").is_none() {
            let pid = rustix::process::Pid::from_child(&self.child);
            rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("the process exists");
        }
        let status = self.child.wait().expect("our child");
        (status.code(), self.summary())
    }
}

impl Drop for RunningWorker {
    fn drop(&mut self) {
        if self.child.try_wait().is_ok_and(|status| status.is_none()) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// Returns the jobs that have not ended.
pub(crate) fn open_jobs(place: &TestEnv) -> Vec<Value> {
    let listed = place.latch(&["job", "list", "--open", "--limit", "100000", "--json"]);
    assert_eq!(listed.code, 0, "{} {}", listed.stdout, listed.stderr);
    listed.json()["jobs"].as_array().expect("a list").clone()
}

/// Resolves the call in doubt of a parked job as applied or not applied, as the effects of the call show. If the job
/// has exhausted its attempts, lets the job continue.
pub(crate) fn resolve_parked(place: &TestEnv, job: &str) {
    let displayed = place.latch(&["job", "show", job, "--json"]).json();
    let blocked = &displayed["blocked_on"];
    match displayed["reason_code"].as_str() {
        // The test interrupted the attempts, so the job may continue.
        Some("ATTEMPTS_EXHAUSTED") => {
            place.latch(&["job", "resolve", job, "--continue", "--reason", "the attempts were interrupted"]);
        }
        _ if blocked["reason_code"] == "INDETERMINATE_EFFECT" => {
            // The resolution is refused if the call was settled in the meantime.
            place.resolve_as_observed(job, blocked["slot"].as_str().expect("a call in doubt has a slot"));
        }
        _ => {}
    }
}

/// Waits until every job has ended. Meanwhile calls `resolve_parked` for each parked job, and returns the
/// number of these calls.
pub(crate) fn resolve_until_over(place: &TestEnv, when: &str) -> u32 {
    let mut answered = 0;
    let end = now_us() + PATIENCE_US;
    while now_us() < end {
        let left = open_jobs(place);
        if left.is_empty() {
            return answered;
        }
        for job in left.iter().filter(|job| job["state"] == "PARKED") {
            answered += 1;
            resolve_parked(place, job["job_id"].as_str().expect("an id"));
        }
        std::thread::sleep(CHECK_INTERVAL);
    }
    let last_events = |job: &Value| {
        let events = events_of(place, job["job_id"].as_str().expect("an id"));
        events[events.len().saturating_sub(5)..].to_vec()
    };
    let left: Vec<_> = open_jobs(place).into_iter().map(|job| (last_events(&job), job)).collect();
    panic!("{when}: still open: {left:#?}\n{}", messages_of_workers(place));
}

/// Returns the messages of all workers that were started in this environment.
fn messages_of_workers(place: &TestEnv) -> String {
    let files = std::fs::read_dir(&place.dir).expect("readable").flatten().map(|entry| entry.path());
    let errors = files.filter(|path| path.extension().is_some_and(|extension| extension == "err"));
    let messages =
        errors.map(|path| format!("{}:\n{}", path.display(), std::fs::read_to_string(&path).unwrap_or_default()));
    messages.collect::<Vec<_>>().join("\n")
}

/// Returns the events of a job.
pub(crate) fn events_of(place: &TestEnv, job: &str) -> Vec<Value> {
    let all = place.latch(&["job", "events", job, "--json"]).json()["events"].clone();
    all.as_array().expect("a list").clone()
}

/// Starts a worker whose connections all go through the proxy.
pub(crate) fn worker_through(place: &TestEnv, proxy: &Proxy) -> RunningWorker {
    let mut command = worker_command(place, &[]);
    command.env("LATCH_DATABASE", proxy.url());
    let working = RunningWorker::start(place, command);
    // Waits until the worker has opened the database. Cuts that follow then affect its work, not its start.
    while !working.messages().contains("working, ") {
        std::thread::sleep(Duration::from_millis(20));
    }
    working
}

pub(crate) fn send_sigterm(child: &Child) {
    let pid = rustix::process::Pid::from_child(child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("the process exists");
}
