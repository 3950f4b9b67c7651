//! Whole life of a job whose database is on a server. Only `latch.toml` names the server.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::database::blocking_database;
use crate::support::evidence;
use crate::support::program::{command_output, latch_command};
use crate::support::test_env::TestEnv;

fn count_messages(place: &TestEnv) -> usize {
    std::fs::read_dir(place.dir.join("outbox/new")).map_or(0, Iterator::count)
}

fn run_args<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["run", "plan.json", "--json", "--actor", "ada"], more].concat()
}

#[test]
fn job_runs_on_a_server_as_in_a_file() {
    let Some(url) = blocking_database() else { return };
    let place = TestEnv::golden("atomic").fresh_copy().with_database(&url);
    let early = place.latch(&["doctor"]);
    assert!(early.stdout.contains("no Latchwork tables yet"), "{} {}", early.stdout, early.stderr);
    assert!(!early.stdout.contains("not available"), "a database without tables is not an error: {}", early.stdout);
    let early = place.latch(&["job", "list", "--json"]);
    assert_eq!((early.code, &early.json()["jobs"]), (0, &json!([])), "{}", early.stderr);
    let first = place.latch(&run_args(&[]));
    assert_eq!(first.code, 3, "{}", first.stderr);
    let id = first.json()["job_id"].as_str().expect("a job has an id").to_owned();
    assert_eq!(count_messages(&place), 0);
    for step in ["s5", "s6"] {
        assert_eq!(place.latch(&["job", "approve", &id, step, "--actor", "bob"]).code, 0);
        place.latch(&["resume", &id]);
    }
    let done = place.latch(&run_args(&[]));
    assert_eq!((done.code, &done.json()["status"]), (0, &json!("completed")), "{}", done.stderr);
    assert!(done.stderr.contains("attached to"), "the same request is the same job: {}", done.stderr);
    assert_eq!(count_messages(&place), 1);

    assert_eq!(place.only_job()["job_id"], json!(id));
    for command in ["show", "events", "costs"] {
        let printed = place.latch(&["job", command, &id]);
        assert_eq!(printed.code, 0, "{command}: {}", printed.stderr);
        assert!(!printed.stdout.is_empty(), "{command}");
    }
    let replay = place.latch(&["job", "replay", &id, "--every-prefix", "--json"]);
    assert_eq!((replay.code, &replay.json()["divergence"]), (0, &json!(null)), "{}", replay.stdout);
    evidence::verify_offline(&place, &id, "on a server");
    assert_eq!(count_messages(&place), 1, "replay executes nothing");
    assert!(!place.dir.join("latch.db").exists(), "no database file is created");

    let doctor = place.latch(&["doctor", "--json"]).json();
    let check = |name: &str| -> Value {
        let checks = doctor["checks"].as_array().expect("a list");
        checks.iter().find(|check| check["check"] == name).cloned().unwrap_or_default()
    };
    for name in ["database", "durability", "generation"] {
        assert_eq!(check(name)["verdict"], "ok", "{doctor:#}");
    }
    let found = check("database")["found"].to_string();
    assert!(found.contains("PostgreSQL") && found.contains("synchronous_commit=on"), "{found}");
}

#[test]
fn same_request_from_many_folders_concurrently_is_one_job() {
    let Some(url) = blocking_database() else { return };
    let template = TestEnv::golden("atomic");
    // Each folder simulates a machine with its own state directory and its own outbox.
    let places: Vec<TestEnv> = (0..4).map(|_| template.fresh_copy().with_database(&url)).collect();
    let children: Vec<_> = places
        .iter()
        .map(|place| {
            let mut command = latch_command(&place.dir, &run_args(&["--approve", "s5", "--approve", "s6"]));
            command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().expect("it runs")
        })
        .collect();
    let mut ids = BTreeSet::new();
    for child in children {
        let ran = command_output(child.wait_with_output().expect("it ends"));
        assert_eq!((ran.code, &ran.json()["status"]), (0, &json!("completed")), "{} {}", ran.stdout, ran.stderr);
        ids.insert(ran.json()["job_id"].as_str().expect("an id").to_owned());
    }
    let sent: usize = places.iter().map(count_messages).sum();
    assert_eq!((ids.len(), sent), (1, 1), "{ids:?}");
}
