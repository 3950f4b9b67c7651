//! A primary that dies while workers use it, and the standby that takes over.

use serde_json::json;
use sqlx::Row;

use crate::support::kills::check_jobs;
use crate::support::running_worker::{
    RunningWorker, open_jobs, resolve_until_over, submit_detached, worker_command, worker_through,
};
use crate::support::servers::postgres::proxy::Proxy;
use crate::support::servers::postgres::server::{Server, sql};
use crate::support::test_env::{TestEnv, witness_plan_of};
use crate::support::waiting::{block_on, wait_until};

/// Value of `synchronous_standby_names`: a commit waits for the first of these standbys that is connected.
const SYNCHRONOUS_STANDBYS: &str = "FIRST 1 (a, b)";

/// Starts a primary with the standby `a`, and the standby `b` of `a`. A commit waits for the standby that is connected
/// to the server. `b` never has more of the log than `a`, and can thus follow `a` after its promotion.
fn start_cluster() -> Option<[Server; 3]> {
    let primary = Server::start()?;
    let quick = "wal_retrieve_retry_interval=100ms";
    let names = format!("synchronous_standby_names={SYNCHRONOUS_STANDBYS}");
    let from = |name: &str, server: &Server| {
        format!("primary_conninfo=host={} user=latch application_name={name}", server.socket_dir().display())
    };
    let a = primary.start_standby(&[quick, &names, &from("a", &primary)]);
    let b = primary.start_standby(&[quick, &names, &from("b", &a)]);
    wait_for_standbys(&primary, SYNCHRONOUS_STANDBYS);
    wait_until("commits wait for standby a", || synchronous_standbys(&primary) == ["a"]);
    Some([primary, a, b])
}

/// Lets the commits of a server wait for these standbys.
fn wait_for_standbys(server: &Server, names: &str) {
    block_on(sql(&server.url(), &format!("ALTER SYSTEM SET synchronous_standby_names = '{names}'")));
    block_on(sql(&server.url(), "SELECT pg_reload_conf()"));
}

/// Names of the standbys that a server's commits wait for.
fn synchronous_standbys(server: &Server) -> Vec<String> {
    let names = "SELECT application_name FROM pg_stat_replication WHERE sync_state = 'sync'";
    block_on(sql(&server.url(), names)).iter().map(|row| row.get(0)).collect()
}

/// Submits a job with its own plan to the workers. Returns the job id.
fn submit_numbered(place: &TestEnv, number: u64) -> String {
    let mut plan = witness_plan_of(number);
    for step in plan["steps"].as_array_mut().expect("a list") {
        let payload = &mut step["payload"];
        if payload.get("note").is_some() {
            // Slow calls: many of them are in flight when the primary dies.
            payload["after_ms"] = json!(200);
        }
    }
    std::fs::write(place.dir.join("plan.json"), plan.to_string()).expect("writable");
    submit_detached(place)
}

/// I1, I87, I89: workers with `failover = "synchronous"` continue on the standby that took over. Every
/// accepted job exists there, and each call happened once. Calls in doubt are reported.
#[test]
fn workers_continue_on_a_standby_that_has_every_acknowledged_write() {
    let Some([primary, a, b]) = start_cluster() else { return };
    let proxy = Proxy::start(&primary.url(), |_| false);
    let lease = "lease = \"2s\"\nheartbeat = \"500ms\"\nfailover = \"synchronous\"";
    let place = TestEnv::witness("atomic").with_database(proxy.url()).with_call_timeout("5s").configure_first(lease);
    let workers: Vec<RunningWorker> = (0..2).map(|_| worker_through(&place, &proxy)).collect();
    let jobs: Vec<String> = (0..6).map(|number| submit_numbered(&place, number)).collect();
    wait_until("calls are made", || place.effect_counts().values().sum::<u32>() >= 8);
    primary.stop();
    block_on(sql(&a.url(), "SELECT pg_promote()"));
    wait_until("its commits wait for the other standby", || synchronous_standbys(&a) == ["b"]);
    let in_the_middle = !open_jobs_on(&place, &a).is_empty();
    assert!(in_the_middle, "all jobs were over when the primary died: {}", workers[0].messages());
    proxy.redirect_to(&a.url());
    resolve_until_over(&place, "a standby took over");
    for worker in workers {
        let notes = worker.messages();
        let (code, tally) = worker.stop();
        assert_eq!(code, Some(0), "{tally} {notes}");
    }
    check_jobs(&place, &jobs, "after a standby took over");
    drop(b);
}

/// Returns the open jobs that are stored on this server. The workers do not use this server yet.
fn open_jobs_on(place: &TestEnv, server: &Server) -> Vec<serde_json::Value> {
    open_jobs(&place.fresh_copy().with_database(&server.url()))
}

/// I89: without `failover = "synchronous"`, a worker starts nothing on the standby until an administrator
/// accepts the restore. Then the worker continues.
#[test]
fn workers_start_nothing_on_a_standby_until_the_restore_is_accepted() {
    let Some([primary, a, _b]) = start_cluster() else { return };
    let proxy = Proxy::start(&primary.url(), |_| false);
    let place = TestEnv::witness("atomic").with_database(proxy.url());
    let working = worker_through(&place, &proxy);
    assert_eq!(resolve_until_over(&place, &submit_numbered(&place, 1)), 0);
    primary.stop();
    block_on(sql(&a.url(), "SELECT pg_promote()"));
    proxy.redirect_to(&a.url());
    let before = place.effect_counts();
    let left = submit_numbered(&place, 2);
    wait_until("the worker prints what to do", || working.messages().contains("--accept-restore"));
    // The worker tries again several times while the test waits.
    std::thread::sleep(std::time::Duration::from_secs(2));
    assert_eq!(place.effect_counts(), before, "{}", working.messages());
    let run = place.latch(&["job", "show", &left, "--json"]);
    assert_eq!(run.json()["state"], "PENDING", "{} {} {}", run.stdout, run.stderr, working.messages());
    let accepted = place.latch(&["doctor", "--accept-restore"]);
    assert_eq!(accepted.code, 0, "{} {}", accepted.stdout, accepted.stderr);
    // The waiting worker continues by itself.
    assert_eq!(resolve_until_over(&place, "accepted"), 0);
    assert_eq!(working.stop().0, Some(0));
}

/// I338: a worker whose commits wait for a standby that is not connected prints this, and continues afterwards.
#[test]
fn worker_whose_commits_wait_for_a_standby_prints_it() {
    let Some(server) = Server::start() else { return };
    let place = TestEnv::witness("atomic").with_database(&server.url());
    let job = submit_numbered(&place, 1);
    wait_for_standbys(&server, "absent");
    let working = RunningWorker::start(&place, worker_command(&place, &[]));
    wait_until("the worker prints that it waits", || working.messages().contains("synchronous_standby_names is set"));
    wait_for_standbys(&server, "");
    assert_eq!(resolve_until_over(&place, &job), 0);
    let messages = working.messages();
    assert_eq!(working.stop().0, Some(0), "{messages}");
}
