//! What a worker has in hand outlives a database that cannot be written to for a while.

use std::time::Duration;

use serde_json::{Value, json};

use super::faults::read_only;
use super::live_call::{blocking, until};
use super::server::{Server, sql};
use crate::place::{Place, step, wait};
use crate::workers::{Working, detached, events, until_over, worker};

/// A job whose call shows what it did long before it comes back; nobody can be asked about it.
fn opaque(place: Place) -> Place {
    let lease = "lease = \"2s\"\nheartbeat = \"300ms\"\nclock_margin = \"200ms\"";
    let step = step("o", "Effect.Opaque", &[], json!({ "note": 1, "after_ms": 1_500 }));
    place.approved(vec!["o"]).configure_first(lease).plan(&[step])
}

/// I127: the answer of a call that was made before a server takes no writes is recorded when it takes them again:
/// nothing is in doubt, and nobody is asked.
#[test]
fn an_answer_outlives_a_server_that_takes_no_writes() {
    for commit in ["atomic", "staged"] {
        let Some(server) = Server::start() else { return };
        let place = opaque(Place::witness(commit).on_server(&server.url()));
        let job = detached(&place);
        let working = Working::start(&place, worker(&place, &[]));
        until("the call is under way", || place.world().contains_key("o"));
        blocking(read_only(&server.url(), true));
        // Longer than the call, and than its lease.
        std::thread::sleep(Duration::from_secs(4));
        blocking(read_only(&server.url(), false));
        assert_eq!(
            until_over(&place, "no writes for a while"),
            0,
            "{commit}: nothing was in doubt: {}",
            working.notes()
        );
        assert_eq!(place.world()["o"], 1);
        let state = place.latch(&["job", "show", &job, "--json"]).json()["state"].clone();
        assert_eq!(state, "COMPLETED", "{commit}: {}", working.notes());
    }
}

/// I125: a job whose effects are in a database that is away is given back, as often as that is tried, and is done when
/// they can be had again; no attempt counts.
#[test]
fn jobs_whose_effects_are_away_are_given_back() {
    let Some(server) = Server::start() else { return };
    blocking(sql(&server.url(), "CREATE DATABASE effects"));
    let (base, parameters) = server
        .url()
        .split_once('?')
        .map_or((server.url(), String::new()), |(base, rest)| (base.to_owned(), format!("?{rest}")));
    let effects = format!("{}/effects{parameters}", base.rsplit_once('/').expect("it names a database").0);
    let place = Place::witness("staged").on_server(&server.url()).approved(vec!["o"]);
    let lines = format!("effect_store = {effects:?}\nmax_attempts_without_progress = 2");
    let place = place.configure_first(&lines);
    let pause = wait("w", json!({ "wait_kind": "timer", "duration": "4s" }));
    let place = place.plan(&[pause, step("o", "Effect.Opaque", &["w"], json!({ "note": 1 }))]);
    let job = detached(&place);
    let working = Working::start(&place, worker(&place, &["--jobs", "1"]));
    until("it waits", || place.the_job()["state"] == "WAITING");
    let allow = |is: bool| format!("ALTER DATABASE effects ALLOW_CONNECTIONS {is}");
    blocking(sql(&server.url(), &allow(false)));
    let ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'effects'";
    blocking(sql(&server.url(), ended));
    until("it is given back three times", || working.notes().matches(&format!("{job} is given back")).count() >= 3);
    blocking(sql(&server.url(), &allow(true)));
    assert_eq!(until_over(&place, "effects were away"), 0, "nobody was asked: {}", working.notes());
    let released = events(&place, &job).iter().filter(|event| event["type"] == "job_released").count();
    assert!(released >= 3, "{released}");
    let (code, tally) = working.stop();
    assert_eq!((code, &tally["rested"]["COMPLETED"]), (Some(0), &json!(1)), "{tally}");
    assert_eq!(place.world()["o"], 1);
}

/// I120: a job that takes longer to load than a lease is long stays with whoever loads it.
#[test]
fn a_lease_is_kept_while_a_job_is_loaded() {
    let Some(server) = Server::start() else { return };
    let place = opaque(Place::witness("atomic").on_server(&server.url()));
    let lease = "lease = \"600ms\"\nheartbeat = \"100ms\"\nclock_margin = \"100ms\"";
    let file = place.dir.join("latch.toml");
    let config = std::fs::read_to_string(&file)
        .expect("it was written")
        .split_once("margin = \"200ms\"")
        .expect("it is there")
        .1
        .to_owned();
    std::fs::write(&file, format!("{lease}{config}")).expect("writable");
    let job = detached(&place);
    let locked = std::thread::scope(|scope| {
        let locks = scope.spawn(|| {
            let text = "DO $$ BEGIN LOCK TABLE payloads IN ACCESS EXCLUSIVE MODE; PERFORM pg_sleep(3); END $$";
            blocking(sql(&server.url(), text));
        });
        std::thread::sleep(Duration::from_millis(300));
        let working: Vec<Working> = (0..2).map(|_| Working::start(&place, worker(&place, &[]))).collect();
        locks.join().expect("it lets go");
        working
    });
    assert_eq!(until_over(&place, "loading took long"), 0);
    for working in locked {
        let notes = working.notes();
        let (code, tally) = working.stop();
        assert_eq!((code, &tally["lost"], &tally["failed"]), (Some(0), &json!(0), &json!(0)), "{notes}");
    }
    let claims: Vec<Value> = events(&place, &job).into_iter().filter(|event| event["type"] == "job_claimed").collect();
    assert_eq!(claims.len(), 1, "{claims:#?}");
    assert_eq!(claims[0]["attempt"], 1);
}
