//! The server, or only a worker's sessions on it, fails while a tool call is in flight.

use std::time::Duration;

use serde_json::json;
use sqlx::Row;

use crate::support::running_worker::{RunningWorker, events_of, resolve_until_over, submit_detached, worker_command};
use crate::support::servers::postgres::server::{Server, sql};
use crate::support::test_env::{TestEnv, step};
use crate::support::waiting::{block_on, wait_until};

/// Environment with a job of two calls. The first call performs its effect long before it returns.
fn environment(server: &Server) -> TestEnv {
    let place = TestEnv::witness("atomic").with_approved(vec!["o", "q"]).with_database(&server.url());
    let lease = "lease = \"1s\"\nheartbeat = \"200ms\"\nclock_margin = \"200ms\"";
    place.configure_first(lease).with_plan(&[
        step("o", "Effect.Opaque", &[], json!({ "note": 1, "after_ms": 15_000 })),
        step("q", "Effect.Queryable", &["o"], json!({ "note": 2 })),
    ])
}

/// Returns the process ids of the server's backends that serve sessions of workers.
fn worker_sessions(server: &Server) -> Vec<i32> {
    let ours = "SELECT pid FROM pg_stat_activity WHERE application_name = 'latchwork'";
    block_on(sql(&server.url(), ours)).iter().map(|row| row.get(0)).collect()
}

/// Runs a call on one worker while `trouble` affects the server. A second worker could take over the job. Asserts that
/// the second worker does not execute the call again.
fn assert_call_executed_once(trouble: impl FnOnce(&Server, &[i32])) {
    let Some(server) = Server::start() else { return };
    let place = environment(&server);
    let job = submit_detached(&place);
    let caller = RunningWorker::start(&place, worker_command(&place, &["--jobs", "1"]));
    wait_until("the call is in flight", || place.effect_counts().contains_key("o"));
    let its = worker_sessions(&server);
    assert!(!its.is_empty(), "the caller has sessions");
    let other = RunningWorker::start(&place, worker_command(&place, &["--jobs", "2"]));
    wait_until("the other worker has sessions", || worker_sessions(&server).len() > its.len());
    trouble(&server, &its);
    // The second worker is able to work: it completes another job.
    let second =
        place.fresh_copy().with_approved(vec![]).with_plan(&[step("r", "Effect.Read", &[], json!({ "note": 3 }))]);
    let free = submit_detached(&second);
    let state = |id: &str| place.latch(&["job", "show", id, "--json"]).json()["state"].clone();
    wait_until("another job is done meanwhile", || state(&free) == json!("COMPLETED"));
    assert_eq!(resolve_until_over(&place, "a live call"), 0, "nothing was in doubt");
    assert_eq!(place.effect_counts(), [("o".to_owned(), 1), ("q".to_owned(), 1)].into());
    for worker in [caller, other] {
        let (code, summary) = worker.stop();
        assert_eq!(code, Some(0), "{summary:#}");
    }
    let started = events_of(&place, &job).iter().filter(|event| event["type"] == "tool_invocation_started").count();
    assert_eq!(started, 2, "one start per call");
}

/// I1, I87, I114.
#[test]
fn call_is_executed_once_if_the_server_restarts_during_it() {
    assert_call_executed_once(|server, _| {
        server.stop();
        // The server is stopped for longer than the lease.
        std::thread::sleep(Duration::from_millis(1_500));
        server.run();
    });
}

/// I1, I87, I114: if a worker loses its session, another worker must not conclude that the first worker died.
#[test]
#[ignore = "waits for leases; run by .ci/long"]
fn call_is_executed_once_if_the_worker_loses_its_sessions_during_it() {
    assert_call_executed_once(|server, its| {
        // Ends sessions again and again, for longer than the lease. The sessions that the second worker has at this
        // point are not ended.
        let others: Vec<i32> = worker_sessions(server).into_iter().filter(|pid| !its.contains(pid)).collect();
        for _ in 0..30 {
            let kept = others.iter().map(i32::to_string).collect::<Vec<_>>().join(",");
            let terminate = format!(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'latchwork' AND pid NOT IN \
                 ({kept})"
            );
            block_on(sql(&server.url(), &terminate));
            std::thread::sleep(Duration::from_millis(50));
        }
    });
}
