//! `latch worker`: many jobs, several processes, limits, and stopping.

use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::kills::is_killed;
use crate::support::plans::bookings;
use crate::support::plans::bookings::{never_ending_wait, with_field};
use crate::support::plans::fetches::{
    env_with_fetch_tool, fetch_step, run_detached, show_job, submit_detached, write_plan,
};
use crate::support::program::{CommandOutput, command_output, latch_command};
use crate::support::running_worker::{RunningWorker, send_sigterm};
use crate::support::servers::http::TestServer;
use crate::support::suspension::{continue_process, env_with_short_lease, suspended};
use crate::support::test_env::{TestEnv, step, wait};
use crate::support::waiting::wait_until;
use crate::support::{evidence, running_worker};

/// Returns the requested paths in order.
fn requested_paths(server: &TestServer) -> Vec<String> {
    server.requests().iter().filter_map(|asked| asked.line.split(' ').nth(1).map(str::to_owned)).collect()
}

fn start_worker(place: &TestEnv, args: &[&str]) -> Child {
    let mut command = latch_command(&place.dir, &[&["worker", "--json"], args].concat());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("latch runs")
}

fn output_of_ended(child: Child) -> CommandOutput {
    command_output(child.wait_with_output().expect("it ends"))
}

/// Waits until the worker has received its first SIGTERM.
fn wait_until_stopping(worker: &RunningWorker) {
    wait_until("the worker has received the signal", || {
        worker.messages().contains("stopping: calls in flight end first")
    });
}

fn event_types(place: &TestEnv, job: &str) -> Vec<String> {
    let all = place.latch(&["job", "events", job, "--json"]).json()["events"].clone();
    all.as_array().expect("a list").iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect()
}

/// I1, I4, I95: several processes claim detached jobs from one database file. Each job is executed by one of
/// them, and no effect happens twice.
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
    // Each job leaves one file for each of its two executions and one for the applied effect of its keyed call. No two
    // calls share a file name.
    assert_eq!(std::fs::read_dir(place.dir.join("effects")).unwrap().count(), 12 * 3);
}

/// I97: stopping a worker loses nothing. Calls in flight end and are recorded, and the job is released. The
/// attempt does not count as one without progress.
#[test]
fn stopped_worker_ends_its_calls_and_releases_its_job() {
    let server = TestServer::start().hold_answers();
    let place = env_with_fetch_tool(&server, "max_attempts_without_progress = 1");
    write_plan(&place, &[fetch_step("a", &[], server.url("/a")), fetch_step("b", &["a"], server.url("/b"))]);
    let job = submit_detached(&place, &[]);
    let mut worker = RunningWorker::start(&place, running_worker::worker_command(&place, &[]));
    server.wait_for(1);
    send_sigterm(&worker.child);
    wait_until_stopping(&worker);
    assert_eq!(show_job(&place, &job)["state"], "RUNNING", "the call is not interrupted");
    server.release_answers();
    worker.wait_until_ended();
    let notes = worker.messages();
    let (code, tally) = worker.stop();
    assert_eq!((code, &tally["released"]), (Some(0), &json!(1)), "{tally} {notes}");
    let shown = show_job(&place, &job);
    assert_eq!(shown["state"], "PENDING", "{shown:#}");
    let told = event_types(&place, &job);
    assert_eq!(told.last().map(String::as_str), Some("job_released"), "{told:?}");
    assert!(told.iter().any(|event| event == "tool_invocation_finished"), "{told:?}");
    evidence::verify_offline(&place, &job, "given back");
    let ran = place.latch(&["worker", "--until-idle", "--json"]);
    assert_eq!((ran.code, &ran.json()["rested"]), (0, &json!({ "COMPLETED": 1 })), "{} {}", ran.stdout, ran.stderr);
    assert_eq!(server.requests().len(), 2, "a recorded call is not repeated");
}

/// I97: a stopping worker does not wait for a compensation that is delayed by the limit of its operator.
#[test]
fn stopped_worker_does_not_wait_for_an_operator_limit() {
    let place = TestEnv::undo("atomic");
    let booked = |id: &str, depends_on: &[&str]| {
        let made = step(id, "Booking.Make", depends_on, json!({ "note": id }));
        with_field(made, "compensate_with", json!("Booking.Cancel"))
    };
    bookings::write_plan(&place, "keep", &[booked("a", &[]), booked("b", &["a"]), never_ending_wait("b")]);
    let ran = bookings::run_plan(&place, &["--approve", "a", "--approve", "b"]);
    let job = bookings::job_id(&ran.json());
    // Both commands die after the request is stored and before it is applied.
    let mut cancel = latch_command(&place.dir, &["job", "cancel", &job, "--actor", "bob"]);
    assert!(is_killed(cancel.env("LATCH_CRASH_AT", "inbox_insert:after:1")));
    let mut cancel = latch_command(&place.dir, &["job", "cancel", &job, "--actor", "bob"]);
    assert!(is_killed(cancel.env("LATCH_CRASH_AT", "claim_look:before:1")));
    let plain = std::fs::read_to_string(place.dir.join("latch.toml")).expect("the configuration was written");
    let limit = "[worker]\noperators = { \"Booking.Cancel\" = { rate = \"1/1h\" } }";
    std::fs::write(place.dir.join("latch.toml"), format!("{plain}\n{limit}\n")).expect("writable");
    let worker = start_worker(&place, &[]);
    wait_until("one call is undone", || event_types(&place, &job).iter().any(|event| event == "compensation_finished"));
    std::thread::sleep(Duration::from_millis(300));
    send_sigterm(&worker);
    let ran = output_of_ended(worker);
    assert_eq!((ran.code, &ran.json()["released"]), (0, &json!(1)), "{} {}", ran.stdout, ran.stderr);
    let told = event_types(&place, &job);
    assert_eq!(told.last().map(String::as_str), Some("job_released"), "{told:?}");
    std::fs::write(place.dir.join("latch.toml"), plain).expect("writable");
    let ran = place.latch(&["worker", "--until-idle", "--json"]);
    assert_eq!((ran.code, &ran.json()["rested"]), (0, &json!({ "CANCELLED": 1 })), "{} {}", ran.stdout, ran.stderr);
    assert_eq!(event_types(&place, &job).iter().filter(|event| *event == "compensation_finished").count(), 2);
}

/// I97: a worker that is stopped while it writes a barrier either executes the call or writes no barrier.
/// Stopping leaves no call in doubt.
#[test]
fn stopped_worker_leaves_no_barrier_without_its_call() {
    let template = TestEnv::witness("atomic").with_plan(&[
        step("o", "Effect.Opaque", &[], json!({ "note": 1 })),
        step("k", "Effect.Keyed", &["o"], json!({ "note": 2 })),
    ]);
    for nth in 1..=8 {
        let place = template.fresh_copy();
        submit_detached(&place, &["--approve", "o", "--approve", "k"]);
        let mut command = latch_command(&place.dir, &["worker", "--until-idle", "--json"]);
        command.env("LATCH_STOP_AT", format!("group_write:before:{nth}"));
        let Some(worker) = suspended(command) else { break };
        // The process receives SIGTERM when it continues.
        send_sigterm(&worker);
        continue_process(&worker);
        let ran = output_of_ended(worker);
        assert_eq!(ran.code, 0, "{nth}: {} {}", ran.stdout, ran.stderr);
        let ran = place.latch(&["worker", "--until-idle", "--json"]);
        let job = place.only_job();
        assert_eq!((ran.code, &job["state"]), (0, &json!("COMPLETED")), "{nth}: {} {}", ran.stdout, ran.stderr);
        let world = place.effect_counts();
        assert_eq!((world["o"], world["k"], world["applied k"]), (1, 1, 1), "{nth}: {world:?}");
    }
}

/// I97: after a second SIGTERM a worker ends immediately and names its open jobs. The next worker completes
/// them.
#[test]
fn second_signal_ends_the_worker_immediately() {
    let server = TestServer::start().hold_answers();
    let place = env_with_fetch_tool(&server, "");
    write_plan(&place, &[fetch_step("a", &[], server.url("/a"))]);
    let job = submit_detached(&place, &[]);
    let mut worker = RunningWorker::start(&place, running_worker::worker_command(&place, &[]));
    server.wait_for(1);
    send_sigterm(&worker.child);
    // The system delivers two pending SIGTERM signals as one. The second signal is therefore sent after the worker has
    // received the first.
    wait_until_stopping(&worker);
    send_sigterm(&worker.child);
    worker.wait_until_ended();
    let notes = worker.messages();
    let (code, said) = worker.stop();
    assert_eq!((code, &said["error"]["code"]), (Some(3), &json!("L0063")), "{said} {notes}");
    assert!(said["error"]["message"].to_string().contains(&job), "{said}");
    // A worker whose calls do not end within the drain time also ends immediately and names its open jobs.
    let place = place.configure("[worker]\ndrain = \"300ms\"");
    let worker = start_worker(&place, &[]);
    server.wait_for(2);
    send_sigterm(&worker);
    let ran = output_of_ended(worker);
    assert_eq!((ran.code, &ran.json()["error"]["code"]), (3, &json!("L0063")), "{} {}", ran.stdout, ran.stderr);
    assert!(ran.json()["error"]["message"].to_string().contains(&job), "{}", ran.stdout);
    server.release_answers();
    let ran = place.latch(&["worker", "--until-idle", "--json"]);
    assert_eq!(ran.json()["rested"], json!({ "COMPLETED": 1 }), "{} {}", ran.stdout, ran.stderr);
    assert_eq!(show_job(&place, &job)["state"], "COMPLETED");
}

/// I96: an operator's limit applies to all jobs of a process, also within one `call-all`. A tenant's limit
/// applies to that tenant's jobs.
#[test]
fn operator_and_tenant_limits_apply() {
    // Answers take long enough for calls to overlap on a busy machine.
    let takes = Duration::from_secs(1);
    let server = TestServer::start().with_delay(takes);
    let limits = "[worker]\njobs = 8\ntenants = { acme = 2 }\noperators = { \"Web.Fetch\" = { at_once = 3 } }";
    let place = env_with_fetch_tool(&server, limits);
    let call = |n: u32| json!({ "operator": "Web.Fetch", "args": { "url": server.url(&format!("/op/{n}")) } });
    let calls: Vec<Value> = (0..7).map(call).collect();
    write_plan(&place, &[step("d", "Driver.Run", &[], json!({ "calls": calls, "all": true }))]);
    let first = submit_detached(&place, &[]);
    write_plan(
        &place,
        &(0..3).map(|n| fetch_step(&format!("f{n}"), &[], server.url(&format!("/op/f{n}")))).collect::<Vec<_>>(),
    );
    submit_detached(&place, &[]);
    let ran = place.latch(&["worker", "--until-idle", "--json"]);
    assert_eq!(ran.json()["rested"], json!({ "COMPLETED": 2 }), "{} {}", ran.stdout, ran.stderr);
    assert_eq!(
        (server.requests().len(), server.max_concurrent("op")),
        (10, 3),
        "the maximum is exactly the limit of three"
    );
    let replayed = place.latch(&["job", "replay", &first, "--every-prefix", "--json"]);
    assert_eq!(replayed.code, 0, "{}", replayed.stdout);

    let server = TestServer::start().with_delay(takes);
    let limits = "[worker]\njobs = 8\ntenants = { acme = 2 }\noperators = { \"Driver.Run\" = { at_once = 1 } }";
    let place = env_with_fetch_tool(&server, limits);
    for n in 0..6 {
        write_plan(&place, &[fetch_step("a", &[], server.url(&format!("/acme/{n}")))]);
        submit_detached(&place, &["--tenant", "acme"]);
        write_plan(&place, &[fetch_step("a", &[], server.url(&format!("/other/{n}")))]);
        submit_detached(&place, &["--tenant", "other"]);
        let calls = [json!({ "operator": "Web.Fetch", "args": { "url": server.url(&format!("/step/{n}")) } })];
        write_plan(&place, &[step("d", "Driver.Run", &[], json!({ "calls": calls }))]);
        submit_detached(&place, &["--tenant", "steps"]);
    }
    let ran = place.latch(&["worker", "--until-idle", "--json"]);
    assert_eq!(ran.json()["rested"], json!({ "COMPLETED": 18 }), "{} {}", ran.stdout, ran.stderr);
    assert_eq!(
        (server.max_concurrent("acme"), server.max_concurrent("step")),
        (2, 1),
        "a step has a limit like a tool"
    );
    assert!(server.max_concurrent("other") > 2, "{}", server.max_concurrent("other"));
}

/// I96, I99: a call that waits for its backoff holds no permit of its operator and does not delay a stop. The
/// job is released immediately.
#[test]
fn call_waiting_for_its_backoff_holds_no_permit() {
    let place = env_with_limits("\"Effect.Queryable\" = { at_once = 1 }");
    let call = |operator: &str, note: u32| json!({ "operator": operator, "args": { "note": note, "after_ms": 1_000 } });
    let reads = (1..=3).map(|note| call("Effect.Queryable", note));
    let calls: Vec<Value> = reads.chain([call("Effect.Keyed", 4)]).collect();
    let mut driver = step("d", "Driver.Run", &[], json!({ "calls": calls, "all": true }));
    // The backoff is chosen at random from up to a day. It therefore does not end during the test.
    driver["retry"] = json!({ "max": 5, "base_ms": 86_400_000, "cap_ms": 86_400_000 });
    let place = place.with_plan(&[driver]);
    let job = running_worker::submit_detached(&place);
    let tries = |place: &TestEnv| {
        let all = running_worker::events_of(place, &job);
        all.iter().filter(|event| event["type"] == "tool_invocation_started" && event["slot"] == "d/3").count()
    };
    for nth in 1..=2 {
        let working = RunningWorker::start(&place, running_worker::worker_command(&place, &[]));
        wait_until("the keyed call is in flight", || tries(&place) == nth);
        drop(working);
    }
    let working = RunningWorker::start(&place, running_worker::worker_command(&place, &[]));
    wait_until("the others are done", || place.effect_counts().get("d/2").is_some_and(|times| *times > 0));
    let place = place.with_approved(vec!["q"]);
    let place = place.with_plan(&[step("q", "Effect.Queryable", &[], json!({ "note": 77 }))]);
    running_worker::submit_detached(&place);
    wait_until("another job's call is made", || place.effect_counts().contains_key("q"));
    // The answer of the other job's call is recorded some time after the call. The test waits until that job
    // has ended. Otherwise the stopped worker could release that job, too.
    wait_until("the other job is over", || running_worker::open_jobs(&place).len() == 1);
    let (code, tally) = working.stop();
    assert_eq!((code, &tally["released"]), (Some(0), &json!(1)), "{tally}");
    assert_eq!(tries(&place), 2, "the call still waits");
}

/// Creates an environment with these operator limits.
fn env_with_limits(limits: &str) -> TestEnv {
    let place = env_with_short_lease("atomic").with_approved(vec!["d"]);
    let file = place.dir.join("latch.toml");
    let config = std::fs::read_to_string(&file).expect("the configuration was written");
    let limits = format!("[worker]\noperators = {{ {limits} }}\n[[plugin]]");
    std::fs::write(&file, config.replacen("[[plugin]]", &limits, 1)).expect("writable");
    place
}

fn concurrent_calls(calls: &[(&str, u32)]) -> Value {
    let call = |(n, (operator, after_ms)): (usize, &(&str, u32))| json!({ "operator": operator, "args": { "note": n, "after_ms": after_ms } });
    let calls: Vec<Value> = calls.iter().enumerate().map(call).collect();
    step("d", "Driver.Run", &[], json!({ "calls": calls, "all": true }))
}

/// I182: if a crash leaves several concurrent keyed calls in doubt, all of them are retried before the first one
/// answers.
#[test]
fn concurrent_calls_in_doubt_are_retried_together() {
    let place = env_with_limits("\"Effect.Opaque\" = { at_once = 1 }");
    let place =
        place.with_plan(&[concurrent_calls(&[("Effect.Keyed", 500), ("Effect.Keyed", 500), ("Effect.Keyed", 500)])]);
    let job = running_worker::submit_detached(&place);
    let started = |place: &TestEnv| {
        let all = running_worker::events_of(place, &job);
        all.iter().filter(|event| event["type"] == "tool_invocation_started").count()
    };
    let working = RunningWorker::start(&place, running_worker::worker_command(&place, &[]));
    wait_until("all calls are in flight", || started(&place) == 3);
    drop(working);
    assert_eq!(place.latch(&["worker", "--until-idle"]).code, 0);
    let all = running_worker::events_of(&place, &job);
    let is = |event: &&Value, kind: &str| event["type"] == kind && event["slot"] != "d";
    let first_answer = all.iter().position(|event| is(&event, "tool_invocation_finished")).expect("they answer");
    let begun = all[..first_answer].iter().filter(|event| is(event, "tool_invocation_started")).count();
    assert_eq!(begun, 6, "each twice, before any answer: {all:#?}");
}

/// I96: several calls are made concurrently. A call that has the permit of its operator starts while calls
/// of other operators still wait for permits.
#[test]
fn call_waits_only_for_a_permit_of_its_own_operator() {
    let limits = "\"Effect.Queryable\" = { rate = \"1/1h\" }, \"Effect.Keyed\" = { at_once = 1 }";
    let place = env_with_limits(limits).with_approved(vec!["k"]);
    let place = place.with_plan(&[step("k", "Effect.Keyed", &[], json!({ "note": 7, "after_ms": 3_000 }))]);
    running_worker::submit_detached(&place);
    let working = RunningWorker::start(&place, running_worker::worker_command(&place, &[]));
    wait_until("another job's call is in flight", || place.effect_counts().contains_key("k"));
    let calls = [("Effect.Queryable", 0), ("Effect.Queryable", 0), ("Effect.Keyed", 0)];
    let place = place.with_approved(vec!["d"]).with_plan(&[concurrent_calls(&calls)]);
    running_worker::submit_detached(&place);
    wait_until("the call has got its permit", || place.effect_counts().contains_key("d/2"));
    assert!(
        place.effect_counts().contains_key("d/0") && !place.effect_counts().contains_key("d/1"),
        "{:?}",
        place.effect_counts()
    );
    let (code, tally) = working.stop();
    assert_eq!((code, &tally["released"]), (Some(0), &json!(1)), "{tally}");
}

/// Workers and `doctor` report a limit for an unknown operator or tenant.
#[test]
fn limit_of_an_unknown_operator_or_tenant_is_reported() {
    let server = TestServer::start();
    let limits = "failover = \"synchronous\"\n[policy.acme]\n[policy.team-1]\n[worker]\ntenants = { acem = 2, beta = 3, team-2 = 3 }\noperators = { \"Web.Fetsh\" = \
                  { at_once = 1 }, \"Driver.Run\" = { at_once = 1 } }\n[queue]\ntenants = { acmee = 1 }";
    let place = env_with_fetch_tool(&server, limits);
    let wrong = [
        "failover = \"synchronous\" applies to PostgreSQL",
        "`Web.Fetsh`, which no configured plugin serves now (did you mean `Web.Fetch`?)",
        "[worker] tenants limits `acem`, a tenant without a policy of its own (did you mean `acme`?)",
        "[queue] tenants limits `acmee`",
    ];
    let worked = place.latch(&["worker", "--until-idle"]);
    let doctor = place.latch(&["doctor", "--json"]);
    let checks = doctor.json()["checks"].as_array().unwrap().clone();
    let settings = checks.iter().find(|check| check["check"] == "settings").expect("the unknown names are reported");
    let told = settings["found"].as_str().unwrap();
    for wrong in wrong {
        assert!(worked.stderr.contains(wrong) && told.contains(wrong), "{wrong}: {} {told}", worked.stderr);
    }
    assert_eq!(
        (worked.code, doctor.code, &settings["verdict"]),
        (0, 0, &json!("warn")),
        "the limits are only warnings"
    );
    for right in ["Driver.Run", "beta", "team-2"] {
        assert!(!told.contains(right), "{told}");
    }
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
    let (code, said) = worker.stop();
    assert_eq!((code, &said["error"]["code"]), (Some(3), &json!("L0033")), "{said}");
    assert!(said.to_string().contains("--accept-restore"), "{said}");
    assert_eq!((show_job(&place, &first)["state"].as_str(), server.requests().len()), (Some("PENDING"), 1));
}

/// I96: a rate limit applies to the calls of one job. Only the minimum delay that the rate causes is checked,
/// because a busy machine adds to the delay.
#[test]
#[expect(clippy::disallowed_methods, reason = "the test measures real time")]
fn operator_rate_limit_applies() {
    let server = TestServer::start().with_slow_answers();
    let place = env_with_fetch_tool(&server, "[worker]\noperators = { \"Web.Fetch\" = { rate = \"2/1s\" } }");
    write_plan(
        &place,
        &(0..4).map(|n| fetch_step(&format!("f{n}"), &[], server.url(&format!("/op/{n}")))).collect::<Vec<_>>(),
    );
    submit_detached(&place, &[]);
    let begun = std::time::Instant::now();
    let ran = place.latch(&["worker", "--until-idle", "--json"]);
    assert_eq!(ran.json()["rested"], json!({ "COMPLETED": 1 }), "{} {}", ran.stdout, ran.stderr);
    // Two calls start immediately, then one every half second.
    assert!(begun.elapsed() >= Duration::from_millis(1_000), "{:?}", begun.elapsed());
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

/// I99: a full queue refuses a new job and stores nothing of it. Repeating the request of a job that is
/// already in the queue still finds that job.
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
