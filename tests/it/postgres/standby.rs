//! A primary that dies while workers use it, and the standby that takes over.

use serde_json::json;
use sqlx::Row;

use super::cuts::through;
use super::live_call::{blocking, until};
use super::proxy::Proxy;
use super::server::{Server, sql};
use crate::crash::check_worlds;
use crate::place::{Place, witness_plan_of};
use crate::workers::{Working, detached, open, until_over};

/// Synchronous standby setting: commits wait for the first connected standby of these.
const WAITED_FOR: &str = "FIRST 1 (a, b)";

/// Starts a primary whose commits wait for its standbys `a` and `b`. Standby `b` follows the current primary.
fn cluster() -> Option<[Server; 3]> {
    let primary = Server::start()?;
    let quick = "wal_retrieve_retry_interval=100ms";
    let names = format!("synchronous_standby_names={WAITED_FOR}");
    let from = |name: &str, hosts: &str| {
        format!("primary_conninfo=host={hosts} port=5432,5432 user=latch application_name={name}")
    };
    let here = primary.socket().display();
    let a = primary.standby(&[quick, &names, &from("a", &format!("{here},{here}"))]);
    let b = primary.standby(&[quick, &names, &from("b", &format!("{here},{}", a.socket().display()))]);
    blocking(sql(&primary.url(), &format!("ALTER SYSTEM SET synchronous_standby_names = '{WAITED_FOR}'")));
    blocking(sql(&primary.url(), "SELECT pg_reload_conf()"));
    until("commits wait for standby a", || waits_for(&primary) == ["a"]);
    Some([primary, a, b])
}

/// Names of the standbys that a server's commits wait for.
fn waits_for(server: &Server) -> Vec<String> {
    let names = "SELECT application_name FROM pg_stat_replication WHERE sync_state = 'sync'";
    blocking(sql(&server.url(), names)).iter().map(|row| row.get(0)).collect()
}

/// Submits a job with a plan of its own, for the workers to execute. Returns the job id.
fn another(place: &Place, number: u64) -> String {
    let mut plan = witness_plan_of(number);
    for step in plan["steps"].as_array_mut().expect("a list") {
        let payload = &mut step["payload"];
        if payload.get("note").is_some() {
            // Long enough that the primary dies while many calls are in flight.
            payload["after_ms"] = json!(200);
        }
    }
    std::fs::write(place.dir.join("plan.json"), plan.to_string()).expect("writable");
    detached(place)
}

/// I1, I87, I89: workers with `failover = "synchronous"` continue on the standby that took over. Every
/// accepted job exists there, and each call happened once. Calls in doubt are reported.
#[test]
fn workers_go_on_with_a_standby_that_has_every_acknowledged_write() {
    let Some([primary, a, b]) = cluster() else { return };
    let proxy = Proxy::start(&primary.url(), |_| false);
    let lease = "lease = \"2s\"\nheartbeat = \"500ms\"\nfailover = \"synchronous\"";
    let place = Place::witness("atomic").on_server(proxy.url()).configure_first(lease);
    let workers: Vec<Working> = (0..2).map(|_| through(&place, &proxy)).collect();
    let jobs: Vec<String> = (0..6).map(|number| another(&place, number)).collect();
    until("calls are made", || place.world().values().sum::<u32>() >= 8);
    primary.stop();
    blocking(sql(&a.url(), "SELECT pg_promote()"));
    until("its commits wait for the other standby", || waits_for(&a) == ["b"]);
    let in_the_middle = !open_on(&place, &a).is_empty();
    assert!(in_the_middle, "all jobs were over when the primary died: {}", workers[0].notes());
    proxy.lead_to(&a.url());
    until_over(&place, "a standby took over");
    for worker in workers {
        let notes = worker.notes();
        let (code, tally) = worker.stop();
        assert_eq!(code, Some(0), "{tally} {notes}");
    }
    check_worlds(&place, &jobs, "after a standby took over");
    drop(b);
}

/// Returns the jobs that are not over, as stored on a server that the workers do not use yet.
fn open_on(place: &Place, server: &Server) -> Vec<serde_json::Value> {
    open(&place.again().on_server(&server.url()))
}

/// I89: without that setting, a worker starts nothing on the standby until an administrator accepts the
/// restore. Then the worker continues.
#[test]
fn workers_start_nothing_on_a_standby_until_it_is_accepted() {
    let Some([primary, a, _b]) = cluster() else { return };
    let proxy = Proxy::start(&primary.url(), |_| false);
    let place = Place::witness("atomic").on_server(proxy.url());
    let working = through(&place, &proxy);
    assert_eq!(until_over(&place, &another(&place, 1)), 0);
    primary.stop();
    blocking(sql(&a.url(), "SELECT pg_promote()"));
    proxy.lead_to(&a.url());
    let before = place.world();
    let left = another(&place, 2);
    until("the worker prints what to do", || working.notes().contains("--accept-restore"));
    // The worker retries repeatedly during this time.
    std::thread::sleep(std::time::Duration::from_secs(2));
    assert_eq!(place.world(), before, "{}", working.notes());
    let run = place.latch(&["job", "show", &left, "--json"]);
    assert_eq!(run.json()["state"], "PENDING", "{} {} {}", run.stdout, run.stderr, working.notes());
    let accepted = place.latch(&["doctor", "--accept-restore"]);
    assert_eq!(accepted.code, 0, "{} {}", accepted.stdout, accepted.stderr);
    // The waiting worker continues by itself.
    assert_eq!(until_over(&place, "accepted"), 0);
    assert_eq!(working.stop().0, Some(0));
}
