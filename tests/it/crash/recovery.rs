//! Recovery of a long job, and of a thousand jobs, after a crash. The memory of the recovering process stays within a
//! limit.

use std::process::{Output, Stdio};
use std::time::Duration;

use serde_json::json;

use latchwork::builder::Stores;
use latchwork::config::{Config, LoadOptions};
use latchwork::host::{EnqueueResult, Host};
use latchwork::submit::Submission;
use latchwork_core::storage::Owner;
use latchwork_store::{Database, OpenOptions};

use crate::support::kills::run_until_killed;
use crate::support::program::{CommandOutput, assert_completed, command_output, compile_cache_dir, latch_command};
use crate::support::test_env::{TestEnv, step};

/// Runs a process to its end and returns its peak memory in bytes.
fn run_with_peak_memory(place: &TestEnv, args: &[&str]) -> (CommandOutput, u64) {
    // Standard output goes to a file, because a full pipe would block the process. This function reads the output only
    // after the process has ended.
    let answer = tempfile::NamedTempFile::new().expect("a file");
    let stdout = answer.reopen().expect("the file is there");
    let mut child = latch_command(&place.dir, args).stdout(stdout).stderr(Stdio::null()).spawn().expect("latch runs");
    let file = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    while child.try_wait().expect("a child").is_none() {
        let status = std::fs::read_to_string(&file).unwrap_or_default();
        let kib = status
            .lines()
            .find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse::<u64>().ok());
        peak = peak.max(kib.unwrap_or_default() * 1024);
        std::thread::sleep(Duration::from_millis(5));
    }
    let ended = child.wait_with_output().expect("the process has ended");
    (command_output(Output { stdout: std::fs::read(answer.path()).expect("its answer"), ..ended }), peak)
}

/// I1, I6, I189: a job of ten thousand events continues after a crash, and its memory stays within a limit.
#[test]
fn long_job_recovers_in_bounded_memory() {
    let calls: Vec<_> = (0..1_200).map(|n| json!({ "operator": "Effect.Keyed", "args": { "note": n } })).collect();
    let ids = ["a", "b", "c"];
    let steps: Vec<_> = ids.iter().map(|id| step(id, "Driver.Run", &[], json!({ "calls": calls }))).collect();
    let auto = "[policy.default]\nmodes = [\"AUTO_EXEC\"]\nauto_exec = true\ntrust = { \"ada/Effect.Keyed\" = 3 }";
    let mut place = TestEnv::witness("atomic").fresh_copy().configure(auto).with_plan(&steps);
    let args = ["run", "plan.json", "--json", "--actor", "ada", "--mode", "AUTO_EXEC"];
    run_until_killed(&place, &args, "execute:after:3500");
    let job = place.only_job()["job_id"].as_str().expect("an id").to_owned();
    let (resumed, bytes) = run_with_peak_memory(&place, &["resume", &job, "--json"]);
    assert_completed(&resumed);
    let applied = place.effect_counts().into_iter().filter(|(label, _)| label.starts_with("applied "));
    let applied: Vec<u32> = applied.map(|(_, times)| times).collect();
    assert_eq!(applied.len(), 3_600);
    assert!(applied.iter().all(|times| *times == 1));
    let events = place.latch(&["job", "events", &job, "--json"]).json()["events"].as_array().map(Vec::len);
    assert!(events >= Some(10_000), "{events:?}");
    assert!(bytes > 0 && bytes < 512 << 20, "{} MiB", bytes >> 20);
    let replayed = place.latch(&["job", "replay", &job, "--json"]);
    assert_eq!(replayed.code, 0, "{} {}", replayed.stdout, replayed.stderr);
    // Replaying from every prefix would take longer than a test may.
    place.skip_replay_of_damaged_jobs();
}

/// Submits `jobs` jobs through the library, as a program that embeds the host does. Each job has its own action key.
fn submit_jobs(place: &TestEnv, jobs: usize) {
    let options = LoadOptions { cwd: &place.dir, config: None, db: None, plan_folder: None, env: &|_| None };
    let config = Config::load(&options).expect("the configuration is valid").with_cache_dir(compile_cache_dir());
    let runtime = tokio::runtime::Runtime::new().expect("threads");
    runtime.block_on(async {
        let journal = Database::open(OpenOptions::new(place.dir.join("latch.db"))).await.expect("a database");
        // An owner without a lock file suffices, because this host only submits jobs and claims none.
        let owner = Owner::unlocked("");
        let stores = Stores::new(journal, owner);
        let host = Host::builder(stores).config(config).start().expect("a host");
        for n in 0..jobs {
            let mut keyed = step("k", "Effect.Keyed", &["r"], json!({ "note": n }));
            keyed["idempotency_template"] = json!(format!("k:{n}"));
            let steps = [step("r", "Effect.Read", &[], json!({ "before_ms": 20 })), keyed];
            let plan = json!({ "plan_id": "p", "schema_version": "1.0", "steps": steps });
            let plan = host.check(plan.to_string().as_bytes()).expect("a plan");
            let mut submission = Submission::of_plan(plan, "ada");
            submission.standing_approvals = vec!["k".into()];
            let enqueued = host.enqueue(submission).await.expect("the queue accepts the job");
            assert!(matches!(enqueued, EnqueueResult::New(_)));
        }
    });
}

/// I1, I189: a worker dies after it has claimed a thousand jobs. Another worker claims all of them concurrently, and
/// every job ends.
#[test]
#[ignore = "recovers a thousand jobs; run by .ci/long"]
fn thousand_jobs_recover_concurrently_in_bounded_memory() {
    const JOBS: usize = 1_000;
    let place = TestEnv::witness("atomic").fresh_copy();
    let plain = std::fs::read_to_string(place.dir.join("latch.toml")).expect("the configuration was written");
    // `Effect.Read` may be called only once per hour, so nearly every job waits. Nearly every job is therefore still
    // open when the worker claims the last job, even if the claims take long.
    let one = "operators = { \"Effect.Read\" = { at_once = 1, rate = \"1/1h\" } }";
    let mut place = place.configure(&format!("[worker]\njobs = {JOBS}\n{one}"));
    submit_jobs(&place, JOBS);
    run_until_killed(&place, &["worker", "--until-idle"], &format!("claim_take:after:{JOBS}"));
    std::fs::write(place.dir.join("latch.toml"), format!("{plain}\n[worker]\njobs = {JOBS}\n")).expect("writable");
    let (ran, bytes) = run_with_peak_memory(&place, &["worker", "--until-idle", "--json"]);
    let rested = ran.json()["rested"]["COMPLETED"].as_u64();
    assert!(rested >= Some(JOBS as u64 / 2), "{} {}", ran.stdout, ran.stderr);
    let applied = place.effect_counts_by_job().into_iter().filter(|((_, label), _)| label == "applied k");
    let applied: Vec<u32> = applied.map(|(_, times)| times).collect();
    assert_eq!(applied.len(), JOBS);
    assert!(applied.iter().all(|times| *times == 1));
    assert!(bytes > 0 && bytes < 768 << 20, "{} MiB", bytes >> 20);
    place.skip_replay_of_damaged_jobs();
}
