//! Workers that are stopped while their server is unreachable.

use std::process::Child;
use std::time::Duration;

use serde_json::json;

use super::server::Server;
use crate::place::{Place, step};
use crate::postgres::live_call::until;
use crate::worker::terminate;
use crate::workers::{Working, detached, worker};

/// Environment on this server whose jobs cannot be replayed at the end of the test, because the server is
/// stopped.
fn place(server: &Server) -> Place {
    let mut place = Place::witness("atomic").approved(vec!["o"]).on_server(&server.url());
    place.unreplayed();
    place.plan(&[step("o", "Effect.Opaque", &[], json!({ "note": 1, "after_ms": 25_000 }))])
}

/// Returns the exit code of a worker that must end within 20 seconds. A call in flight takes longer.
fn soon_ended(working: &mut Working) -> Option<i32> {
    for _ in 0..400 {
        if let Some(status) = working.child.try_wait().expect("our child") {
            return status.code();
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("the worker does not end: {}", working.notes());
}

/// Returns true if the process has installed a handler for SIGTERM.
fn listens(child: &Child) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = caught.and_then(|set| u64::from_str_radix(set.trim(), 16).ok()).unwrap_or_default();
    caught & 1 << 14 != 0
}

/// I97: a worker without jobs has nothing to wait for.
#[test]
fn an_idle_worker_ends_without_its_server() {
    let Some(server) = Server::start() else { return };
    let place = place(&server);
    let mut idle = Working::start(&place, worker(&place, &[]));
    until("the worker works", || idle.notes().contains("working, "));
    server.stop();
    // The worker is stopped while it tries to reach the server.
    std::thread::sleep(Duration::from_secs(1));
    terminate(&idle.child);
    assert_eq!(soon_ended(&mut idle), Some(0), "{}", idle.notes());
    assert!(idle.notes().contains("stopping: "), "{}", idle.notes());
}

/// I97: after a second SIGTERM the worker does not wait for the server, and reports the jobs it held.
#[test]
fn a_worker_that_is_told_twice_ends_without_its_server() {
    let Some(server) = Server::start() else { return };
    let place = place(&server);
    let job = detached(&place);
    let mut caller = Working::start(&place, worker(&place, &[]));
    until("the call is in flight", || place.world().contains_key("o"));
    server.stop();
    terminate(&caller.child);
    until("the worker has received the signal", || caller.notes().contains("stopping: "));
    terminate(&caller.child);
    assert_eq!(soon_ended(&mut caller), Some(3), "{}", caller.notes());
    let said = caller.said();
    assert_eq!(said["error"]["code"], "L0063", "{said} {}", caller.notes());
    assert!(said["error"]["message"].to_string().contains(&job), "{said}");
}

/// A worker that has not reached its server yet has nothing to release.
#[test]
fn a_worker_that_waits_for_its_server_to_begin_can_be_stopped() {
    let Some(server) = Server::start() else { return };
    let place = place(&server);
    server.stop();
    let mut waiting = Working::start(&place, worker(&place, &[]));
    until("the worker handles SIGTERM", || listens(&waiting.child));
    terminate(&waiting.child);
    assert_eq!(soon_ended(&mut waiting), Some(0), "{}", waiting.notes());
    assert!(waiting.notes().contains("before the start"), "{}", waiting.notes());
    assert_eq!(waiting.said()["rested"], json!({}), "{}", waiting.notes());
}
