//! Tests on a disk that is really full: a small separate file system, filled to the last byte.
//!
//! Mounting a file system requires root. Without root, a test prints a message and passes.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::json;

use crate::support::kills::{check_jobs, check_single_job};
use crate::support::plugins::sdk_tools;
use crate::support::program;
use crate::support::program::{latch_command, run_latch};
use crate::support::running_worker::{RunningWorker, events_of, resolve_until_over, submit_detached, worker_command};
use crate::support::servers::postgres::server::Server;
use crate::support::test_env::{TestEnv, step, witness_plan_of};
use crate::support::waiting::wait_until;

/// A small mounted file system, which is unmounted on drop.
struct SmallDisk {
    dir: tempfile::TempDir,
}

impl SmallDisk {
    fn mount(kib: u32) -> Option<SmallDisk> {
        let dir = tempfile::Builder::new().prefix("latch-disk").tempdir_in("/tmp").expect("a temporary folder");
        let options = format!("size={kib}k,mode=755");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(dir.path()).output();
        if mounted.is_ok_and(|mounted| mounted.status.success()) {
            return Some(SmallDisk { dir });
        }
        let output = "SKIPPED: no file system can be mounted here, so no disk can be full\n";
        // Written directly to standard error, because the test harness shows `print!` output only if a test
        // fails.
        let _ = std::io::stderr().write_all(output.as_bytes());
        None
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Remounts the file system read-only.
    fn remount_read_only(&self) {
        let made = Command::new("mount").args(["-o", "remount,ro"]).arg(self.path()).status();
        assert!(made.is_ok_and(|made| made.success()), "the file system can be remounted");
    }

    /// Fills the file system except for `but_kib` KiB. Dropping the returned file frees the space.
    fn fill(&self, but_kib: usize) -> Ballast {
        let path = self.path().join("ballast");
        let mut file = std::fs::File::create(&path).expect("there is room for an empty file");
        let block = vec![1_u8; 1024];
        let mut written = 0;
        while file.write_all(&block).is_ok() {
            written += 1;
        }
        assert!(written > but_kib, "the disk was full before");
        let kept = u64::try_from((written - but_kib) * 1024).expect("a small disk");
        file.set_len(kept).expect("it shrinks");
        Ballast { path }
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // A lazy unmount keeps the file system until the processes that still use it end.
        let _ = Command::new("umount").arg("--lazy").arg(self.path()).status();
    }
}

/// The file that fills a disk. It is deleted on drop.
struct Ballast {
    path: PathBuf,
}

impl Drop for Ballast {
    fn drop(&mut self) {
        std::fs::remove_file(&self.path).expect("the ballast file exists");
    }
}

/// I1, I2, I87: the disk of a SQLite file becomes full at various points. The command reports the full disk and begins
/// no call that it cannot record. Once there is room again, another command continues the job.
#[test]
#[ignore = "fills a disk of a worker many times; run by .ci/long"]
fn sqlite_on_a_full_disk_loses_and_repeats_nothing() {
    let Some(disk) = SmallDisk::mount(4_096) else { return };
    let template = TestEnv::witness("atomic");
    let mut stopped = 0;
    for but_kib in [0, 96, 160, 224, 288, 352, 416, 480] {
        let file = disk.path().join(format!("{but_kib}.db"));
        let place = template.fresh_copy().with_database(&format!("sqlite://{}", file.display()));
        // The tables are created while there is room.
        assert_eq!(place.latch(&["worker", "--until-idle"]).code, 0);
        let full = disk.fill(but_kib);
        let ran = place.latch(&place.run_args());
        drop(full);
        if ran.code != 0 {
            stopped += 1;
            let error = &ran.json()["error"];
            assert_eq!((ran.code, error["code"].as_str()), (1, Some("L0100")), "{} {}", ran.stdout, ran.stderr);
            assert!(error["message"].to_string().contains("full"), "{error:#}");
        }
        place.finish_with_observed_effects();
        check_single_job(&place, &format!("{but_kib} KiB were left"));
        drop(place);
        for end in ["db", "db-wal", "db-shm"] {
            let _ = std::fs::remove_file(disk.path().join(format!("{but_kib}.{end}")));
        }
    }
    assert!(stopped >= 2, "only {stopped} runs found the disk full");
}

/// A full disk and an unwritable folder have error codes of their own. The codes are the same for stored
/// components, the database and an export.
#[test]
fn full_disk_and_read_only_folder_have_their_own_codes() {
    let Some(disk) = SmallDisk::mount(16 * 1_024) else { return };
    let place = TestEnv::witness("atomic").fresh_copy().with_approved(vec![]);
    let place = place.with_plan(&[step("r", "Effect.Read", &[], json!({ "note": 1 }))]);
    let done = place.latch(&place.run_args());
    assert_eq!(done.code, 0, "{} {}", done.stdout, done.stderr);
    let job = place.only_job()["job_id"].as_str().expect("an id").to_owned();
    let on = disk.path().join("project");
    std::fs::create_dir(&on).unwrap();
    for name in ["latch.toml", "plan.json"] {
        std::fs::copy(place.dir.join(name), on.join(name)).unwrap();
    }
    std::fs::create_dir(on.join("effects")).unwrap();
    let database = format!("sqlite://{}", place.dir.join("elsewhere.db").display());
    let export = disk.path().join("job.jsonl");
    let refused = |expected: (&str, i32), what: &str| {
        let code = |ran: program::CommandOutput| {
            let code = ran.json()["error"]["code"].as_str().map(str::to_owned).unwrap_or_default();
            (code, ran.code, format!("{what}: {} {}", ran.stdout, ran.stderr))
        };
        // Components are stored in the state directory, beside the configuration.
        let (found, exit, output) = code(run_latch(&on, &["run", "plan.json", "--json", "--db", &database]));
        assert_eq!((found.as_str(), exit), (expected.0, 2), "components, {output}");
        let (found, exit, output) = code(run_latch(&on, &["run", "plan.json", "--json"]));
        assert_eq!((found.as_str(), exit), expected, "the database, {output}");
        let export = export.to_str().expect("a plain name");
        let (found, exit, output) = code(place.latch(&["job", "export", &job, "--out", export, "--json"]));
        assert_eq!((found.as_str(), exit), expected, "an export, {output}");
        assert!(output.contains(disk.path().to_str().expect("a plain name")), "the message names the path: {output}");
    };
    let full = disk.fill(0);
    refused(("L0100", 1), "full");
    drop(full);
    disk.remount_read_only();
    refused(("L0101", 2), "read-only");
}

/// The disk is full or the folder is not writable. The commands for plugin authors then fail with the error code of the
/// cause, and leave no partial files.
#[test]
fn failed_author_commands_leave_no_files() {
    let Some(disk) = SmallDisk::mount(4 * 1_024) else { return };
    let names = || {
        let entries = std::fs::read_dir(disk.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = entries.map(|name| name.into_string().unwrap()).collect();
        names.retain(|name| name != "ballast");
        names.sort();
        names
    };
    let new = ["plugin", "new", "there", "--lang", "c", "--kind", "step"];
    assert_eq!(run_latch(disk.path(), &new).code, 0);
    let refused = |expected: (&str, i32)| {
        for args in [
            &["init", "project", "--lang", "c"][..],
            &["plugin", "new", "other", "--lang", "c", "--kind", "tool"],
            &["plugin", "build", "there"],
            &["plugin", "check", "there"],
            &["key", "new", "key.pem"],
        ] {
            let ran = sdk_tools::run_latch(disk.path(), &[args, &["--json"]].concat());
            let error = ran.json()["error"].clone();
            let found = (error["code"].as_str().unwrap_or_default(), ran.code);
            assert_eq!(found, expected, "{args:?}: {} {}", ran.stdout, ran.stderr);
            let message = error["message"].as_str().unwrap();
            assert!(!message.contains("/.new-") && !message.contains("/.latch-"), "a temporary name: {message}");
            assert_eq!(names(), ["there"], "{args:?}: {message}");
        }
    };
    let full = disk.fill(0);
    refused(("L0100", 1));
    drop(full);
    assert_eq!(run_latch(disk.path(), &["key", "new", "key.pem"]).code, 0, "the refused file can be created later");
    std::fs::remove_file(disk.path().join("key.pem")).unwrap();
    disk.remount_read_only();
    refused(("L0101", 2));
}

/// I1, I2, I87: the disk of a server becomes full while workers run. The server then stops or refuses writes. When
/// there is room again, every job is completed, with each call executed once.
#[test]
#[ignore = "fills a disk of a server; run by .ci/long"]
fn postgres_on_a_full_disk_loses_and_repeats_nothing() {
    let Some(disk) = SmallDisk::mount(96 * 1024) else { return };
    let small = ["max_wal_size=4MB", "min_wal_size=2MB", "wal_init_zero=off", "wal_recycle=off"];
    let Some(server) = Server::start_in(disk.path(), &["--wal-segsize=1"], &small) else { return };
    let place = TestEnv::witness("atomic").with_database(&server.url());
    let note = "n".repeat(40_000);
    let jobs: Vec<String> = (0..6)
        .map(|number| {
            let mut plan = witness_plan_of(number);
            for step in plan["steps"].as_array_mut().expect("a list") {
                if step["payload"].get("note").is_some() {
                    step["payload"] = json!({ "note": note, "after_ms": 300 });
                }
            }
            std::fs::write(place.dir.join("plan.json"), plan.to_string()).expect("writable");
            submit_detached(&place)
        })
        .collect();
    let mut working = vec![RunningWorker::start(&place, worker_command(&place, &[]))];
    wait_until("calls are made", || !place.effect_counts().is_empty());
    let full = disk.fill(64);
    wait_until("the disk is full", || server.log().contains("No space left on device"));
    std::thread::sleep(Duration::from_secs(1));
    drop(full);
    // The server may still run, or it may have stopped by itself because it could not write its log. In both cases the
    // test restarts the server.
    server.stop();
    server.run();
    working.push(RunningWorker::start(&place, worker_command(&place, &[])));
    resolve_until_over(&place, "the disk was full");
    for worker in working {
        let notes = worker.messages();
        // A worker that waited too long for the unavailable server exits with code 1.
        assert!(matches!(worker.stop().0, Some(0 | 1)), "{notes}");
    }
    check_jobs(&place, &jobs, "the disk was full");
}

/// I87, I127: the disk of a SQLite file is full when an opaque call returns. The process keeps the answer and records
/// it once there is room again. The call is never in doubt.
#[test]
fn opaque_answer_survives_a_full_disk() {
    for (commit, waits) in [("atomic", false), ("staged", false), ("atomic", true)] {
        let Some(disk) = SmallDisk::mount(4_096) else { return };
        let file = disk.path().join("latch.db");
        let place = TestEnv::witness(commit).fresh_copy().with_database(&format!("sqlite://{}", file.display()));
        let step = step("o", "Effect.Opaque", &[], json!({ "note": 1, "after_ms": 1_500 }));
        let place = place.with_approved(vec!["o"]).with_plan(&[step]);
        assert_eq!(place.latch(&["worker", "--until-idle"]).code, 0, "the worker creates the tables");
        let command = if waits {
            latch_command(&place.dir, &place.run_args())
        } else {
            submit_detached(&place);
            worker_command(&place, &[])
        };
        let mut working = RunningWorker::start(&place, command);
        wait_until("the call is in flight", || place.effect_counts().contains_key("o"));
        let full = disk.fill(0);
        // Waits until the call has certainly returned.
        std::thread::sleep(Duration::from_secs(4));
        drop(full);
        if waits {
            working.wait_until_ended();
            place.finish_with_observed_effects();
        }
        assert_eq!(
            resolve_until_over(&place, "the disk was full"),
            0,
            "{commit}: nothing was in doubt: {}",
            working.messages()
        );
        assert_eq!(place.effect_counts()["o"], 1);
        let job = place.only_job();
        assert_eq!(job["state"], "COMPLETED", "{commit}: {}", working.messages());
        let listed = events_of(&place, job["job_id"].as_str().expect("a job has an id"));
        let asked = listed.iter().filter(|event| event["type"] == "invocation_resolved").count();
        assert_eq!(asked, 0, "{commit}: no resolution by a person was needed: {}", working.messages());
    }
}
