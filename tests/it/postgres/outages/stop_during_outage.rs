//! Workers that are stopped while their server is unreachable.

use std::process::Child;
use std::time::Duration;

use serde_json::json;

use crate::support::running_worker::{RunningWorker, send_sigterm, submit_detached, worker_command};
use crate::support::servers::postgres::server::Server;
use crate::support::test_env::{TestEnv, step};
use crate::support::waiting::wait_until;

/// Environment on this server, with a plan of one slow call. The server is stopped when a test ends, so the environment
/// does not replay its jobs.
fn environment(server: &Server) -> TestEnv {
    let mut place = TestEnv::witness("atomic").with_approved(vec!["o"]).with_database(&server.url());
    place.skip_replay_of_many_jobs();
    place.with_plan(&[step("o", "Effect.Opaque", &[], json!({ "note": 1, "after_ms": 25_000 }))])
}

/// Returns the exit code of a worker that must end within 20 seconds, which is less than a call in flight takes.
fn exit_code_soon(working: &mut RunningWorker) -> Option<i32> {
    for _ in 0..400 {
        if let Some(status) = working.child.try_wait().expect("our child") {
            return status.code();
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("the worker does not end: {}", working.messages());
}

/// Returns true if the process has installed a handler for SIGTERM.
fn handles_sigterm(child: &Child) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = caught.and_then(|set| u64::from_str_radix(set.trim(), 16).ok()).unwrap_or_default();
    caught & 1 << 14 != 0
}

/// I97: a worker without jobs stops although its server is unreachable.
#[test]
fn idle_worker_stops_without_its_server() {
    let Some(server) = Server::start() else { return };
    let place = environment(&server);
    let mut idle = RunningWorker::start(&place, worker_command(&place, &[]));
    wait_until("the worker works", || idle.messages().contains("working, "));
    server.stop();
    // The worker is stopped while it tries to reach the server.
    std::thread::sleep(Duration::from_secs(1));
    send_sigterm(&idle.child);
    assert_eq!(exit_code_soon(&mut idle), Some(0), "{}", idle.messages());
    assert!(idle.messages().contains("stopping: "), "{}", idle.messages());
}

/// I97: after a second SIGTERM the worker does not wait for the server, and reports the jobs it held.
#[test]
fn worker_stops_without_its_server_after_a_second_signal() {
    let Some(server) = Server::start() else { return };
    let place = environment(&server);
    let job = submit_detached(&place);
    let mut caller = RunningWorker::start(&place, worker_command(&place, &[]));
    wait_until("the call is in flight", || place.effect_counts().contains_key("o"));
    server.stop();
    send_sigterm(&caller.child);
    wait_until("the worker has received the signal", || caller.messages().contains("stopping: "));
    send_sigterm(&caller.child);
    assert_eq!(exit_code_soon(&mut caller), Some(3), "{}", caller.messages());
    let summary = caller.summary();
    assert_eq!(summary["error"]["code"], "L0063", "{summary} {}", caller.messages());
    assert!(summary["error"]["message"].to_string().contains(&job), "{summary}");
}

/// A worker that has not reached its server yet holds no jobs, so it can be stopped and releases no job.
#[test]
fn worker_waiting_for_its_server_at_start_can_be_stopped() {
    let Some(server) = Server::start() else { return };
    let place = environment(&server);
    server.stop();
    let mut waiting = RunningWorker::start(&place, worker_command(&place, &[]));
    wait_until("the worker handles SIGTERM", || handles_sigterm(&waiting.child));
    send_sigterm(&waiting.child);
    assert_eq!(exit_code_soon(&mut waiting), Some(0), "{}", waiting.messages());
    assert!(waiting.messages().contains("before the start"), "{}", waiting.messages());
    assert_eq!(waiting.summary()["rested"], json!({}), "{}", waiting.messages());
}
