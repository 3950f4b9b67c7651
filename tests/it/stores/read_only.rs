//! Read-only databases: on a read-only mount, and as immutable files.
//!
//! Mounting requires root. Without that permission a test prints a message and passes.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection};

use crate::support::program::{latch_command, run_latch};
use crate::support::test_env::{TestEnv, wait};

/// A folder bind-mounted read-only over itself until the value is dropped.
struct ReadOnlyMount<'p>(&'p Path);

impl ReadOnlyMount<'_> {
    fn over(dir: &Path) -> Option<ReadOnlyMount<'_>> {
        let mount = |args: &[&str]| {
            let done = Command::new("mount").args(args).arg(dir).output();
            done.is_ok_and(|done| done.status.success())
        };
        if mount(&["--bind", dir.to_str().unwrap()]) {
            let mounted = ReadOnlyMount(dir);
            if mount(&["-o", "remount,ro,bind"]) {
                return Some(mounted);
            }
        }
        report_skipped("nothing can be mounted here, so no folder is read-only");
        None
    }
}

impl Drop for ReadOnlyMount<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(self.0).status();
    }
}

/// Writes directly to standard error, because the test harness shows `print!` output only if a test fails.
fn report_skipped(why: &str) {
    let _ = std::io::stderr().write_all(format!("SKIPPED: {why}\n").as_bytes());
}

/// Returns a project with two jobs. The first job waits for a signal. The process of the second job was killed, so this
/// job is only in the write-ahead log.
fn project_with_two_jobs() -> (TestEnv, [String; 2]) {
    let payload = json!({ "wait_kind": "signal", "correlation_key": "go" });
    let mut place = TestEnv::configured("", vec![]).with_plan(&[wait("w", payload)]);
    // The jobs cannot be replayed in a read-only folder. The tests replay copies.
    place.skip_replay_of_many_jobs();
    let first = place.latch(&["run", "plan.json", "--json"]).json()["job_id"].as_str().unwrap().to_owned();
    let mut second = latch_command(&place.dir, &["run", "plan.json", "--new", "--json"]);
    let killed = second.env("LATCH_CRASH_AT", "group_write:after:1").output().unwrap();
    assert_eq!(killed.status.code(), None, "the process is killed");
    let log = std::fs::metadata(place.dir.join("latch.db-wal")).unwrap();
    assert!(log.len() > 0, "the killed process leaves its log");
    let elsewhere = copy_without_replay(&place);
    let listed = elsewhere.latch(&["job", "list", "--json"]).json();
    let second = listed["jobs"][0]["job_id"].as_str().unwrap().to_owned();
    assert_ne!(first, second, "the log has a job that the file lacks");
    (place, [first, second])
}

fn copy_without_replay(place: &TestEnv) -> TestEnv {
    let mut copy = place.fresh_copy();
    copy.skip_replay_of_many_jobs();
    copy
}

/// Returns every file with its content. The content of the write-ahead log's index is left out, because
/// readers of SQLite take locks in it.
fn file_contents(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if entry.file_type().unwrap().is_dir() {
            files.extend(
                crate::stores::read_only::file_contents(&entry.path())
                    .into_iter()
                    .map(|(inner, bytes)| (format!("{name}/{inner}"), bytes)),
            );
        } else {
            let is_index = name.ends_with("-shm");
            files.insert(name, if is_index { Vec::new() } else { std::fs::read(entry.path()).unwrap() });
        }
    }
    files
}

/// Returns the answers of all reading commands about the jobs.
fn read_all(dir: &Path, jobs: &[String]) -> Vec<Value> {
    let mut printed = Vec::new();
    let mut ask = |args: &[&str]| {
        let ran = run_latch(dir, &[args, &["--json"]].concat());
        assert_eq!(ran.code, 0, "{args:?} {} {}", ran.stdout, ran.stderr);
        printed.push(without_ages(ran.json()));
    };
    ask(&["job", "list"]);
    ask(&["job", "costs"]);
    ask(&["job", "replay", "--all"]);
    for job in jobs {
        ask(&["job", "show", job]);
        ask(&["job", "events", job]);
        ask(&["job", "costs", job]);
        ask(&["job", "replay", job]);
    }
    printed
}

/// Removes the ages of jobs from an answer. The ages grow between two commands, so they cannot be compared.
fn without_ages(mut answer: Value) -> Value {
    for job in answer["jobs"].as_array_mut().into_iter().flatten() {
        job.as_object_mut().unwrap().remove("age_us");
    }
    answer
}

/// I168: the read-only database gives the same answers as a writable copy, and no file changes.
fn assert_reads_as(dir: &Path, jobs: &[String], expected: &[Value]) {
    let before = file_contents(dir);
    assert_eq!(read_all(dir, jobs), expected);
    for job in jobs {
        let out = tempfile::tempdir().unwrap();
        let file = out.path().join("e.jsonl");
        let exported = run_latch(dir, &["job", "export", job, "--out", file.to_str().unwrap()]);
        assert_eq!(exported.code, 0, "{}", exported.stderr);
        assert_eq!(run_latch(out.path(), &["verify", "e.jsonl"]).code, 0);
    }
    for job in jobs {
        // One job waits for a signal and the other job for a worker, so both jobs have no output.
        let output = run_latch(dir, &["job", "output", job, "--json"]);
        assert_eq!((output.code, &output.json()["error"]["code"]), (1, &json!("L0075")), "{}", output.stderr);
        let waited = run_latch(dir, &["job", "wait", job, "--timeout", "10ms", "--json"]);
        assert_eq!(waited.code, 3, "{} {}", waited.stdout, waited.stderr);
    }
    let doctor = run_latch(dir, &["doctor", "--json"]);
    let checks = doctor.json()["checks"].clone();
    let database = checks.as_array().unwrap().iter().find(|check| check["check"] == "database").unwrap().clone();
    assert_eq!(database["verdict"], "warn", "{checks:#}");
    assert!(database["found"].as_str().unwrap().contains("cannot be written"), "{database}");
    let job = &jobs[0];
    for args in [
        &["run", "plan.json", "--new"][..],
        &["resume"],
        &["resume", job],
        &["worker", "--until-idle"],
        &["job", "signal", job, "go"],
        &["job", "cancel", job],
        &["doctor", "--accept-restore"],
    ] {
        let ran = run_latch(dir, &[args, &["--json"]].concat());
        if args[0] == "doctor" {
            assert_eq!(ran.code, 1, "{}", ran.stdout);
            continue;
        }
        assert_eq!((ran.code, &ran.json()["error"]["code"]), (2, &json!("L0112")), "{args:?} {}", ran.stdout);
        let message = ran.json()["error"]["message"].as_str().unwrap().to_owned();
        assert!(message.contains("latch.db"), "{args:?}: {message}");
    }
    assert_eq!(file_contents(dir), before, "no file is created or changed");
}

/// I168: a database on a read-only mount is read together with its write-ahead log.
#[test]
fn database_on_a_read_only_mount_is_read_with_its_log() {
    let (place, jobs) = project_with_two_jobs();
    let expected = read_all(&copy_without_replay(&place).dir, &jobs);
    // The database is read in three forms: with the write-ahead log and its index, with the log alone, and as a single
    // file after a clean end.
    for remove in [&[][..], &["latch.db-shm"]] {
        for name in remove {
            std::fs::remove_file(place.dir.join(name)).unwrap();
        }
        let Some(_mounted) = ReadOnlyMount::over(&place.dir) else { return };
        assert_reads_as(&place.dir, &jobs, &expected);
    }
    let whole = copy_without_replay(&place);
    read_all(&whole.dir, &jobs);
    assert!(!whole.dir.join("latch.db-wal").exists(), "a clean end leaves one file");
    let Some(_mounted) = ReadOnlyMount::over(&whole.dir) else { return };
    assert_reads_as(&whole.dir, &jobs, &expected);
}

/// I168: an immutable database file in a writable folder is read, and nothing is created in the folder.
#[test]
fn immutable_database_file_is_read() {
    let (place, jobs) = project_with_two_jobs();
    let expected = read_all(&copy_without_replay(&place).dir, &jobs);
    let file = place.dir.join("latch.db");
    let flag =
        |flag: &str| Command::new("chattr").arg(flag).arg(&file).output().is_ok_and(|done| done.status.success());
    if !flag("+i") {
        return report_skipped("no file can be made immutable here");
    }
    let read = std::panic::catch_unwind(|| assert_reads_as(&place.dir, &jobs, &expected));
    assert!(flag("-i"));
    read.unwrap();
}

/// I168: if a read-only database has an old schema, the error reports this and names the remedy.
#[test]
fn old_schema_of_a_read_only_database_is_reported() {
    let (place, _) = project_with_two_jobs();
    // A process that ends cleanly leaves only the database file, without a write-ahead log.
    assert_eq!(place.latch(&["job", "list"]).code, 0);
    let forget = async {
        let options = SqliteConnectOptions::new().filename(place.dir.join("latch.db"));
        let mut conn = options.connect().await.unwrap();
        let last = "DELETE FROM _sqlx_migrations WHERE version = (SELECT MAX(version) FROM _sqlx_migrations)";
        sqlx::raw_sql(last).execute(&mut conn).await.unwrap();
        conn.close().await.unwrap();
    };
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(forget);
    let Some(_mounted) = ReadOnlyMount::over(&place.dir) else { return };
    let before = file_contents(&place.dir);
    let listed = place.latch(&["job", "list", "--json"]);
    assert_eq!((listed.code, &listed.json()["error"]["code"]), (2, &json!("L0112")), "{}", listed.stdout);
    let message = listed.json()["error"]["message"].as_str().unwrap().to_owned();
    for part in ["latch.db", "has schema", "cannot be migrated", "Copy it"] {
        assert!(message.contains(part), "{part}: {message}");
    }
    assert_eq!(file_contents(&place.dir), before);
}

/// Commands that only read plugins and plans create nothing, so they work in a read-only folder.
#[test]
fn plugins_and_plans_are_read_in_a_read_only_folder() {
    let place = TestEnv::witness("atomic").fresh_copy();
    std::fs::remove_dir(place.dir.join("effects")).unwrap();
    assert!(!place.dir.join(".latch").exists(), "inspecting the plugins has stored no component");
    let before = file_contents(&place.dir);
    let Some(_mounted) = ReadOnlyMount::over(&place.dir) else { return };
    for args in [&["plugin", "list"][..], &["plan", "check", "plan.json"]] {
        let ran = place.latch(args);
        assert_eq!(ran.code, 0, "{args:?} {} {}", ran.stdout, ran.stderr);
    }
    let called = place.latch(&["run", "plan.json", "--json"]);
    assert_eq!(called.json()["error"]["code"], "L0101", "{} {}", called.stdout, called.stderr);
    assert!(!called.stdout.contains("P012"), "{}", called.stdout);
    let doctor = place.latch(&["doctor", "--json"]).json();
    let checks = doctor["checks"].as_array().unwrap();
    let database = checks.iter().find(|check| check["check"] == "database").unwrap();
    let fix = database["fix"].as_str().unwrap();
    assert!(fix.starts_with("make ") && fix.contains(" writable"), "the fix names write permission: {fix}");
    assert_eq!(file_contents(&place.dir), before);
}
