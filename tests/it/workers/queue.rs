//! Workers that share a queue: many jobs, several processes, priorities, and a full queue.

use std::process::Child;
use std::time::Duration;

use serde_json::json;

use crate::support::plans::fetches::{
    env_with_fetch_tool, fetch_step, run_detached, show_job, submit_detached, write_plan,
};
use crate::support::running_worker;
use crate::support::running_worker::{RunningWorker, send_sigterm};
use crate::support::servers::http::TestServer;
use crate::support::test_env::{TestEnv, step, wait};
use crate::workers::{output_of_ended, requested_paths, start_worker};

/// I1, I4, I95: several processes claim detached jobs from one database file. One process executes each job, and no
/// effect happens twice.
#[test]
fn several_workers_share_a_queue() {
    let place = TestEnv::witness("atomic");
    let jobs: Vec<String> = (0..12)
        .map(|n| {
            let steps = [
                step("o", "Effect.Opaque", &[], json!({ "note": n })),
                wait("w", json!({ "wait_kind": "timer", "duration": "300ms" })),
                step("k", "Effect.Keyed", &["o", "w"], json!({ "note": n })),
            ];
            let mut steps = steps.to_vec();
            for step in &mut steps {
                if step["kind"] == "operator" {
                    step["idempotency_template"] = json!(format!("{}:{n}", step["step_id"]));
                }
            }
            write_plan(&place, &steps);
            submit_detached(&place, &["--approve", "o", "--approve", "k"])
        })
        .collect();
    assert!(std::fs::read_dir(place.dir.join("effects")).unwrap().next().is_none(), "nothing is executed here");
    let workers: Vec<Child> = (0..3).map(|_| start_worker(&place, &["--jobs", "3"])).collect();
    for _ in 0..600 {
        let open = place.latch(&["job", "list", "--open", "--json"]);
        if open.json()["jobs"] == json!([]) {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    workers.iter().for_each(send_sigterm);
    let mut rested = 0;
    for worker in workers {
        let ran = output_of_ended(worker);
        assert_eq!(ran.code, 0, "{} {}", ran.stdout, ran.stderr);
        let tally = ran.json();
        assert_eq!((&tally["failed"], &tally["lost"]), (&json!(0), &json!(0)), "{tally} {}", ran.stderr);
        rested += tally["rested"]["COMPLETED"].as_u64().unwrap_or(0);
    }
    assert_eq!(rested, 12);
    for job in &jobs {
        assert_eq!(show_job(&place, job)["state"], "COMPLETED");
    }
    // Each job leaves three files: one for each of its two executions, and one for the applied effect of its keyed
    // call. No two calls share a file name.
    assert_eq!(std::fs::read_dir(place.dir.join("effects")).unwrap().count(), 12 * 3);
}

/// I122: with `--until-idle`, a worker that finds a restored database claims no job, prints the next command
/// and ends.
#[test]
fn until_idle_worker_ends_on_a_restored_database() {
    let server = TestServer::start();
    let place = env_with_fetch_tool(&server, "");
    write_plan(&place, &[fetch_step("a", &[], server.url("/a"))]);
    let first = submit_detached(&place, &[]);
    let (database, backup) = (place.dir.join("latch.db"), place.dir.join("backup.db"));
    std::fs::copy(&database, &backup).unwrap();
    assert_eq!(place.latch(&["worker", "--until-idle"]).code, 0);
    assert_eq!(show_job(&place, &first)["state"], "COMPLETED");
    std::fs::copy(&backup, &database).unwrap();
    let mut worker = RunningWorker::start(&place, running_worker::worker_command(&place, &["--until-idle"]));
    for _ in 0..1_200 {
        if worker.child.try_wait().unwrap().is_some() {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(worker.child.try_wait().unwrap().is_some(), "the worker does not end");
    let (code, summary) = worker.stop();
    assert_eq!((code, &summary["error"]["code"]), (Some(3), &json!("L0033")), "{summary}");
    assert!(summary.to_string().contains("--accept-restore"), "{summary}");
    assert_eq!((show_job(&place, &first)["state"].as_str(), server.requests().len()), (Some("PENDING"), 1));
}

/// I98: the job with the highest priority is claimed first, and among jobs of equal priority the oldest.
/// Requests that differ only in priority are one job.
#[test]
fn job_with_highest_priority_is_claimed_first() {
    let server = TestServer::start().with_slow_answers();
    let place = env_with_fetch_tool(&server, "");
    for (n, priority) in ["0", "-5", "70", "0", "100"].iter().enumerate() {
        write_plan(&place, &[fetch_step("a", &[], server.url(&format!("/{n}")))]);
        submit_detached(&place, &["--priority", priority]);
    }
    write_plan(&place, &[fetch_step("a", &[], server.url("/0"))]);
    let again = run_detached(&place, &["--priority", "3"]);
    assert_eq!((again.code, &again.json()["new"]), (0, &json!(false)), "{}", again.stdout);
    // A priority for an existing job has no effect. A message reports this.
    assert!(
        again.stderr.contains("--priority 3 applies to new jobs only") && again.stderr.contains("stays 0"),
        "{}",
        again.stderr
    );
    let again = run_detached(&place, &["--priority", "0", "--approve", "a"]);
    assert!(!again.stderr.contains("--priority"), "it has that priority: {}", again.stderr);
    let job = again.json()["job_id"].as_str().unwrap().to_owned();
    let advice = format!("--approve a applies to new jobs only and has no effect on {job}: `latch job show {job}`");
    assert!(again.stderr.contains(&advice), "{}", again.stderr);
    let ran = place.latch(&["worker", "--until-idle", "--jobs", "1", "--json"]);
    assert_eq!(ran.json()["rested"], json!({ "COMPLETED": 5 }), "{} {}", ran.stdout, ran.stderr);
    assert_eq!(requested_paths(&server), ["/4", "/2", "/0", "/3", "/1"]);
    // A request may contain its priority.
    let whole = json!({
        "intent": { "type": "t", "payload": {} }, "priority": 101,
        "plan": { "plan_id": "p", "schema_version": "1.0", "steps": [fetch_step("a", &[], server.url("/x"))] },
    });
    std::fs::write(place.dir.join("plan.json"), whole.to_string()).unwrap();
    let refused = run_detached(&place, &[]);
    assert!(refused.code == 2 && refused.stdout.contains("from -100 to 100"), "{}", refused.stdout);
}

/// I99: a full queue refuses a new job and stores no part of it. Repeating the request of a job that is already in the
/// queue still finds that job.
#[test]
fn full_queue_refuses_new_jobs() {
    let server = TestServer::start().with_slow_answers();
    let place = env_with_fetch_tool(&server, "[queue]\npending = 3\ntenants = { acme = 1 }");
    let ask = |n: u32, tenant: &str| {
        write_plan(&place, &[fetch_step("a", &[], server.url(&format!("/{n}")))]);
        run_detached(&place, &["--tenant", tenant])
    };
    assert_eq!(ask(0, "acme").code, 0);
    let refused = ask(1, "acme");
    assert_eq!((refused.code, &refused.json()["error"]["code"]), (1, &json!("L0062")), "{}", refused.stdout);
    assert!(
        refused.json()["error"]["message"]
            .as_str()
            .unwrap()
            .starts_with("the queue of tenant acme is full (1 pending jobs)")
    );
    assert_eq!((ask(1, "other").code, ask(2, "other").code), (0, 0));
    let refused = ask(3, "other");
    assert!(refused.code == 1 && refused.stdout.contains("the queue is full (3 pending jobs)"), "{}", refused.stdout);
    assert_eq!(ask(0, "acme").json()["new"], json!(false), "the same request");
    let listed = place.latch(&["job", "list", "--json"]).json()["jobs"].as_array().map(Vec::len);
    assert_eq!(listed, Some(3));
    // `latch run` without `--detach` does not use the queue.
    write_plan(&place, &[fetch_step("a", &[], server.url("/spot"))]);
    assert_eq!(place.latch(&["run", "plan.json", "--json", "--tenant", "acme"]).code, 0);
    let ran = place.latch(&["worker", "--until-idle", "--json"]);
    assert_eq!(ran.json()["rested"], json!({ "COMPLETED": 3 }), "{} {}", ran.stdout, ran.stderr);
    assert_eq!(ask(3, "other").code, 0, "there is room again");
}
