//! The server, or only a worker's sessions on it, fails while a tool call is in flight.

use std::time::Duration;

use serde_json::json;
use sqlx::Row;

use super::server::{Server, sql};
use crate::place::{Place, step};
use crate::workers::{Working, detached, events, until_over, worker};

/// Environment with a job of two calls. The first call performs its effect long before it returns.
fn place(server: &Server) -> Place {
    let place = Place::witness("atomic").approved(vec!["o", "q"]).on_server(&server.url());
    let lease = "lease = \"1s\"\nheartbeat = \"200ms\"\nclock_margin = \"200ms\"";
    place.configure_first(lease).plan(&[
        step("o", "Effect.Opaque", &[], json!({ "note": 1, "after_ms": 15_000 })),
        step("q", "Effect.Queryable", &["o"], json!({ "note": 2 })),
    ])
}

pub(crate) fn blocking<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

/// Backend process ids of the workers' sessions.
fn sessions(server: &Server) -> Vec<i32> {
    let ours = "SELECT pid FROM pg_stat_activity WHERE application_name = 'latchwork'";
    blocking(sql(&server.url(), ours)).iter().map(|row| row.get(0)).collect()
}

pub(crate) fn until(what: &str, is: impl Fn() -> bool) {
    for _ in 0..1_200 {
        if is() {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("timed out while waiting: {what}");
}

/// Runs a call on one worker while `trouble` affects the server. Another worker could take over the job, and
/// must not execute the call again.
fn nobody_else_executes(trouble: impl FnOnce(&Server, &[i32])) {
    let Some(server) = Server::start() else { return };
    let place = place(&server);
    let job = detached(&place);
    let caller = Working::start(&place, worker(&place, &["--jobs", "1"]));
    until("the call is in flight", || place.world().contains_key("o"));
    let its = sessions(&server);
    assert!(!its.is_empty(), "the caller has sessions");
    let other = Working::start(&place, worker(&place, &["--jobs", "2"]));
    until("the other worker has sessions", || sessions(&server).len() > its.len());
    trouble(&server, &its);
    // The other worker is able to work, and completes another job.
    let second = place.again().approved(vec![]).plan(&[step("r", "Effect.Read", &[], json!({ "note": 3 }))]);
    let free = detached(&second);
    let state = |id: &str| place.latch(&["job", "show", id, "--json"]).json()["state"].clone();
    until("another job is done meanwhile", || state(&free) == json!("COMPLETED"));
    assert_eq!(until_over(&place, "a live call"), 0, "nothing was in doubt");
    assert_eq!(place.world(), [("o".to_owned(), 1), ("q".to_owned(), 1)].into());
    for worker in [caller, other] {
        let (code, said) = worker.stop();
        assert_eq!(code, Some(0), "{said:#}");
    }
    let started = events(&place, &job).iter().filter(|event| event["type"] == "tool_invocation_started").count();
    assert_eq!(started, 2, "one start per call");
}

/// I1, I87, I114.
#[test]
fn a_server_that_restarts_during_a_call_lets_nobody_else_execute_it() {
    nobody_else_executes(|server, _| {
        server.stop();
        // Longer than the lease.
        std::thread::sleep(Duration::from_millis(1_500));
        server.run();
    });
}

/// I1, I87, I114: a lost session does not prove that its worker died.
#[test]
fn sessions_that_are_cut_during_a_call_let_nobody_else_execute_it() {
    nobody_else_executes(|server, its| {
        // Ends the sessions again whenever they are reconnected, for longer than the lease.
        let others: Vec<i32> = sessions(server).into_iter().filter(|pid| !its.contains(pid)).collect();
        for _ in 0..30 {
            let kept = others.iter().map(i32::to_string).collect::<Vec<_>>().join(",");
            let cut = format!(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'latchwork' AND pid NOT IN \
                 ({kept})"
            );
            blocking(sql(&server.url(), &cut));
            std::thread::sleep(Duration::from_millis(50));
        }
    });
}
