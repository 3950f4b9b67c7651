//! Greedy plugins of one tenant beside honest jobs of another one, in one worker.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::plugins::built_guests::guest;
use crate::support::running_worker::{RunningWorker, worker_command};
use crate::support::test_env::{TestEnv, step};
use crate::support::waiting::wait_until;

/// Actions of greedy tools: files, listings, sockets, lookups of names, header fields, CPU, memory, logs, answers and
/// the map.
fn greedy_actions() -> Vec<Value> {
    let long = "x".repeat(50_000);
    vec![
        json!([{ "open": { "path": "/data/file", "count": 4096 } }]),
        json!([{ "list": { "path": "/data", "count": 4096 } }]),
        json!([{ "sockets": 4096 }]),
        json!([{ "requests": { "url": "http://localhost:1/", "count": 500 } }]),
        json!([{ "fields": 5000 }]),
        json!(["spin"]),
        json!(["allocate"]),
        Value::from(vec![json!({ "print": { "text": long } }); 15]),
        json!([{ "giant": 5_000_000 }]),
        json!([{ "giant-error": 5_000_000 }]),
        Value::from(vec![json!({ "change": { "type": "t" } }); 2_000]),
        json!([{ "http": { "url": "http://127.0.0.1:1/" } }]),
    ]
}

/// Writes to the map until the host refuses a write.
fn fill_map() -> Value {
    json!([{ "kv-fill": { "bytes": 60_000, "count": 99 } }])
}

/// Environment with the scripted tool, its folder, and one plan for each tenant.
fn env() -> TestEnv {
    let config = format!(
        "[[plugin]]\nname = \"world\"\nsource = {:?}\ngrants = {{ \
         http = [\"http://127.0.0.1:1\", \"http://localhost:1\"], tcp = [\"127.0.0.1:1\"], \
         dirs = [{{ host = \"data\", guest = \"/data\" }}], kv = {{ name = \"m\", bytes = \"1MiB\" }} }}\n",
        guest("hostile-tool"),
    );
    let place = TestEnv::configured(&config, vec![]);
    std::fs::create_dir(place.dir.join("data")).unwrap();
    std::fs::write(place.dir.join("data/file"), "x").unwrap();
    let write = |name: &str, steps: Vec<Value>| {
        let plan = json!({ "plan_id": name, "schema_version": "1.0", "steps": steps });
        std::fs::write(place.dir.join(format!("{name}.json")), plan.to_string()).unwrap();
    };
    let look = |id: String, actions: Value| step(&id, "World.Look", &[], json!({ "do": actions }));
    let keep = |id: &str, actions: Value| {
        json!({ "step_id": id, "kind": "operator", "name": "World.Keep", "payload": { "do": actions },
                "effects": ["internal_write"], "gate": "none" })
    };
    let greedy = greedy_actions().into_iter().enumerate().map(|(at, actions)| look(format!("g{at}"), actions));
    write("greedy", greedy.chain([keep("fill", fill_map())]).collect());
    let reads = json!([{ "read": { "path": "/data/file" } }]);
    let entry = json!([{ "kv-set": { "key": "k", "value": "v" } }, { "kv-get": { "key": "k" } }]);
    let honest = (0..3).map(|at| look(format!("h{at}"), reads.clone()));
    write("honest", honest.chain([keep("entry", entry)]).collect());
    place
}

fn submit(place: &TestEnv, tenant: &str) -> String {
    let plan = format!("{tenant}.json");
    let ran = place.latch(&["run", &plan, "--new", "--json", "--actor", "ada", "--tenant", tenant, "--detach"]);
    assert_eq!(ran.code, 0, "{} {}", ran.stdout, ran.stderr);
    ran.json()["job_id"].as_str().expect("an id").to_owned()
}

/// Waits until the job is over. Returns its state.
fn state_at_end(place: &TestEnv, job: &str) -> String {
    let waited = place.latch(&["job", "wait", job, "--timeout", "5m", "--json"]);
    waited.json()["state"].as_str().unwrap_or_default().to_owned()
}

/// Rounds after which the largest memory of a worker is known.
const MIN_MEMORY_ROUNDS: usize = 10;

/// Number of open descriptors, and memory in KiB, of a worker. Connections of the database are not counted, because their
/// number follows the load. Only a user with `CAP_SYS_PTRACE` sees the descriptors of a worker.
#[cfg(target_os = "linux")]
#[expect(clippy::print_stdout, reason = "a note of a test about what it leaves out")]
fn held_by(process: u32) -> (usize, u64) {
    let proc = Path::new("/proc").join(process.to_string());
    let listed = std::fs::read_dir(proc.join("fd"));
    if let Err(error) = &listed {
        assert!(!rustix::process::geteuid().is_root(), "{error}");
        println!("the descriptors of the worker are not counted, because the test does not run as root: {error}");
    }
    let targets = listed.into_iter().flatten().filter_map(|entry| entry.unwrap().path().read_link().ok());
    let open = targets.filter(|target| !target.to_string_lossy().contains(".db")).count();
    let status = std::fs::read_to_string(proc.join("status")).unwrap();
    let memory = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a line");
    (open, memory.trim().trim_end_matches(" kB").parse().expect("a number"))
}

/// Runs two honest jobs and, at the same time, `greedy` greedy jobs. Returns the time that the honest jobs took.
#[expect(clippy::disallowed_methods, reason = "the test measures real time")]
fn run_round(place: &TestEnv, greedy: usize) -> Duration {
    let begun = Instant::now();
    let greedy: Vec<String> = (0..greedy).map(|_| submit(place, "greedy")).collect();
    let honest = [submit(place, "honest"), submit(place, "honest")];
    for job in &honest {
        assert_eq!(state_at_end(place, job), "COMPLETED");
        let outputs = place.latch(&["job", "output", job, "--json"]).json()["outputs"].clone();
        assert_eq!(outputs["entry"], json!([true, "v"]), "the map of this tenant is not full: {outputs}");
    }
    let took = begun.elapsed();
    for job in &honest {
        let events = place.latch(&["job", "events", job, "--json"]).stdout;
        assert_eq!(events.matches("\"job_claimed\"").count(), 1, "the worker keeps its lease: {events}");
    }
    // A greedy job may be released until a retry is due, and claimed again.
    for job in &greedy {
        state_at_end(place, job);
    }
    took
}

/// I226: greedy plugins of one tenant lose no lease of a worker, stop no job of another tenant, and leave no descriptor
/// open. I239: lookups of names by greedy tools stop no other work. I233: the full map of one tenant does not affect the
/// map of another tenant. `LATCH_TEST_GREEDY` is the number of rounds.
#[cfg(target_os = "linux")]
#[test]
fn greedy_plugins_leave_the_jobs_of_another_tenant_alone() {
    let rounds: usize = std::env::var("LATCH_TEST_GREEDY").map_or(1, |text| text.parse().expect("a number"));
    let place = env();
    let worker = RunningWorker::start(&place, worker_command(&place, &[]));
    let alone = run_round(&place, 0);
    // The first rounds fill caches and pools.
    (0..rounds.min(3)).for_each(|_| {
        run_round(&place, 2);
    });
    let process = worker.child.id();
    let (open, _) = held_by(process);
    let (mut beside, mut memory) = (Duration::ZERO, Vec::new());
    for _ in 0..rounds {
        beside = beside.max(run_round(&place, 2));
        memory.push(held_by(process).1);
    }
    wait_until("descriptors close", || held_by(process).0 <= open);
    println!(
        "honest jobs: {alone:?} alone, {beside:?} beside greedy ones, ratio {:.1}; memory in KiB: {memory:?}",
        beside.as_secs_f64() / alone.as_secs_f64()
    );
    // After each round, the allocator keeps a different part of the memory. The test therefore compares the largest
    // values of many rounds instead of single values.
    if rounds >= 2 * MIN_MEMORY_ROUNDS {
        let (first, second) = memory.split_at(rounds / 2);
        let (first, second) = (first.iter().max().unwrap(), second.iter().max().unwrap());
        assert!(second - second.min(first) <= first / 5, "memory grew from {first} to {second} KiB");
    }
    let messages = worker.messages();
    assert!(!messages.contains("belongs to another worker now"), "{messages}");
    let (code, _) = worker.stop();
    assert_eq!(code, Some(0));
}
