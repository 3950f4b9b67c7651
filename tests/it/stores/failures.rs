//! Failures around a job: full disks, concurrent processes, lost and altered databases, reads that must
//! create nothing, and compiled code planted in a project. The tests use real processes.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::support::database::alter_database;
use crate::support::program;
use crate::support::program::{CommandOutput, command_output, latch_command};
use crate::support::test_env::{TestEnv, step};

/// Runs `latch` with a file size limit of `blocks` blocks of 512 bytes. The limit acts like a full disk.
fn run_with_file_size_limit(place: &Path, blocks: u64, args: &[&str]) -> CommandOutput {
    let mut command = Command::new("sh");
    // A write beyond the limit kills the process with a signal. If the process ignores the signal, the write
    // fails as on a full disk.
    command
        .arg("-c")
        .arg(format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\""))
        .arg("sh")
        .arg(program::latch_binary());
    command.args(args).current_dir(place).stdin(Stdio::null());
    program::clear_environment(&mut command);
    command_output(command.output().unwrap())
}

fn error_code(ran: &CommandOutput) -> (i32, String) {
    (ran.code, ran.json()["error"]["code"].as_str().unwrap_or_default().to_owned())
}

/// Finishes the job and checks the number of effects. If a call is in doubt, looks for its effect in the world and
/// resolves the call as applied or not applied.
fn finish_and_check_effects(place: &TestEnv) {
    place.finish_with_observed_effects();
    for (slot, times) in place.effect_counts() {
        let keyed = slot == "k" || slot == "d/2" || slot == "r" || slot == "d/3";
        assert!(times == 1 || keyed, "{slot} happened {times} times");
    }
}

/// I1, I87: a full disk stops the command with its own error code. No call is lost or repeated.
#[test]
fn full_disk_is_reported_and_the_job_continues_later() {
    let template = TestEnv::witness("atomic");
    // Every write goes to the write-ahead log until the database file grows. The limits are therefore near the size of
    // this log. They leave room for the schema.
    let mut stopped = 0;
    for blocks in [64, 320, 352, 384, 416] {
        let place = template.fresh_copy();
        let args = place.run_args();
        let ran = run_with_file_size_limit(&place.dir, blocks, &args);
        if ran.code == 0 {
            continue;
        }
        stopped += 1;
        assert_eq!(error_code(&ran), (1, "L0032".to_owned()), "{blocks} blocks: {} {}", ran.stdout, ran.stderr);
        finish_and_check_effects(&place);
    }
    assert!(stopped >= 2, "only {stopped} runs found the disk full");
}

/// To detect a restored backup, a database counts the processes that use it for work. A wrong count would look like a
/// restored backup. Processes that start concurrently are counted correctly, so none of them reports a restored backup.
#[test]
fn concurrent_first_runs_all_end() {
    let place = TestEnv::witness("atomic");
    let args = place.run_args();
    let args: Vec<&str> = args.iter().copied().chain(["--new"]).collect();
    let start = |_| -> Child {
        latch_command(&place.dir, &args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let running: Vec<Child> = (0..6).map(start).collect();
    for child in running {
        let ran = command_output(child.wait_with_output().unwrap());
        // All these jobs perform the same actions. A job may run to its end, or stop because another job performs one
        // of its actions. Both results are accepted.
        let waits = ran.code == 3 && ran.stdout.contains("ACTION_IN_PROGRESS");
        assert!(ran.code == 0 || waits, "{} {}", ran.stdout, ran.stderr);
    }
}

/// I122: a lost database also loses the record of its jobs, so no job runs until a person accepts the loss.
#[test]
fn lost_database_stops_all_work_until_accepted() {
    let place = TestEnv::witness("atomic");
    let done = place.latch(&place.run_args());
    assert_eq!(done.code, 0, "{} {}", done.stdout, done.stderr);
    let world = place.effect_counts();
    let database = place.dir.join("latch.db");
    assert!(!place.dir.join("latch.db-wal").exists(), "a clean exit leaves one file");
    for lost in [true, false] {
        if lost {
            std::fs::remove_file(&database).unwrap();
            let doctor = place.latch(&["doctor", "--json"]);
            assert_eq!(doctor.code, 1, "{}", doctor.stdout);
            assert!(!database.exists());
        } else {
            std::fs::write(&database, "").unwrap();
        }
        let again = place.latch(&place.run_args());
        assert_eq!(error_code(&again), (3, "L0033".to_owned()), "{} {}", again.stdout, again.stderr);
        assert_eq!(place.effect_counts(), world, "no effect is repeated");
    }
    assert_eq!(place.latch(&["doctor", "--accept-restore", "--json"]).code, 0);
    let again = place.latch(&place.run_args());
    assert_eq!(again.code, 0, "{} {}", again.stdout, again.stderr);
}

/// A payload or effect is used only if its bytes match the hash in the log.
#[test]
fn altered_payloads_and_effects_are_reported_as_damage() {
    let template = TestEnv::witness("atomic");
    let done = template.latch(&template.run_args());
    assert_eq!(done.code, 0, "{} {}", done.stdout, done.stderr);
    let id = done.json()["job_id"].as_str().unwrap().to_owned();
    for change in [
        "UPDATE payloads SET bytes = CAST('{\"calls\":[]}' AS BLOB) WHERE label LIKE 'input/d'",
        "DELETE FROM payloads WHERE label LIKE 'input/d'",
        "UPDATE effects SET bytes = CAST(replace(CAST(bytes AS TEXT), 'null', 'true') AS BLOB)",
        "DELETE FROM effects",
    ] {
        let mut place = template.fresh_copy();
        place.skip_replay_of_damaged_jobs();
        alter_database(&place.dir.join("latch.db"), change);
        for args in [&["job", "show", &id, "--json"][..], &["job", "replay", &id, "--json"]] {
            let ran = place.latch(args);
            assert_eq!(error_code(&ran), (1, "L0030".to_owned()), "{change}: {} {}", ran.stdout, ran.stderr);
        }
    }
}

/// Reading the jobs of a project creates no database, and reports the path of the missing database.
#[test]
fn reading_commands_create_no_database() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("latch.toml"), "").unwrap();
    let id = "job_01ARZ3NDEKTSV4RRFFQ69G5FAV";
    for args in [&["job", "list"][..], &["resume"]] {
        let ran = program::run_latch(folder.path(), &[&["--json"], args].concat());
        assert_eq!((ran.code, &ran.json()["jobs"]), (0, &json!([])), "{args:?} {}", ran.stderr);
        assert!(ran.stderr.contains("latch.db does not exist yet"), "{}", ran.stderr);
    }
    for args in [
        &["job", "show", id][..],
        &["job", "events", id],
        &["job", "replay", id],
        &["job", "cancel", id],
        &["job", "approve", id, "s1"],
        &["resume", id],
    ] {
        let ran = program::run_latch(folder.path(), &[&["--json"], args].concat());
        assert_eq!(error_code(&ran), (2, "L0014".to_owned()), "{args:?} {}", ran.stdout);
        assert!(ran.stdout.contains("latch.db does not exist yet"), "{}", ran.stdout);
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no file was created");
}

/// A result given for a call in doubt must match the operator's output schema.
#[test]
fn resolution_with_an_invalid_result_is_refused() {
    let place = TestEnv::witness("atomic");
    let killed =
        latch_command(&place.dir, &place.run_args()).env("LATCH_CRASH_AT", "execute:after:2").output().unwrap();
    assert_eq!(killed.status.code(), None, "the process was killed");
    let (id, slot) = loop {
        let ran = place.latch(&place.run_args());
        let response = ran.json();
        let blocked = &response["blocked_on"];
        if blocked["reason_code"] == "INDETERMINATE_EFFECT" {
            break (response["job_id"].as_str().unwrap().to_owned(), blocked["slot"].as_str().unwrap().to_owned());
        }
        assert_ne!(response["state"], "COMPLETED", "no call is in doubt");
    };
    let give = |result: &str| {
        std::fs::write(place.dir.join("given.json"), result).unwrap();
        place.latch(&["--json", "job", "resolve", &id, &slot, "--applied", "given.json", "--reason", "looked"])
    };
    for unfit in ["17", "{\"file\": 17}", "{"] {
        assert_eq!(error_code(&give(unfit)), (2, "L0011".to_owned()), "{unfit}");
    }
    assert_eq!(give(r#"{"file":null,"note":null}"#).code, 0);
}

/// I229. Native code runs without checks, so compiled code is never loaded from a project.
#[test]
fn compiled_code_is_stored_outside_the_project() {
    let place = TestEnv::witness("atomic");
    let home = tempfile::tempdir().unwrap();
    let list = |variables: &[(&str, &Path)]| {
        let mut command = latch_command(&place.dir, &["plugin", "list", "--json"]);
        command.env_remove("LATCH_CACHE_DIR").env_remove("XDG_CACHE_HOME").env("HOME", home.path());
        for (name, value) in variables {
            command.env(name, value);
        }
        command_output(command.output().unwrap())
    };
    assert_eq!(list(&[]).code, 0);
    let kept = home.path().join(".cache/latchwork/compiled");
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let state = home.path().join(".local/state/latchwork/compiled");
    assert_eq!((mode(&kept), mode(&state), mode(&state.join("secret"))), (0o700, 0o700, 0o600));
    assert!(std::fs::read_dir(&kept).unwrap().count() > 0 && !kept.join("secret").exists());
    // A cache inside the project is refused and never read.
    let inside = place.dir.join("cache");
    let named = list(&[("LATCH_CACHE_DIR", &inside)]);
    assert_eq!(error_code(&named), (2, "L0006".to_owned()), "{} {}", named.stdout, named.stderr);
    assert_eq!(list(&[("HOME", &place.dir)]).code, 0);
    assert!(!inside.exists() && !place.dir.join(".cache").exists() && !place.dir.join(".latch/cache").exists());
    std::fs::set_permissions(&kept, std::fs::Permissions::from_mode(0o777)).unwrap();
    let open: Value = list(&[]).json();
    assert!(open["error"]["message"].as_str().is_some_and(|message| message.contains("chmod 700")), "{open}");
}

/// Control and formatting characters in names, messages and answers are escaped and never reach the terminal.
#[test]
fn untrusted_text_is_escaped_on_the_terminal() {
    let place = TestEnv::witness("atomic");
    let evil = "ada\u{202e}\u{200b}\u{2066}";
    let text = std::fs::read_to_string(place.dir.join("plan.json")).unwrap();
    let mut plan: Value = serde_json::from_str(&text).unwrap();
    plan["plan_id"] = json!(evil);
    std::fs::write(place.dir.join("plan.json"), plan.to_string()).unwrap();
    let mut printed = String::new();
    for args in [
        &["run", "plan.json", "--actor", evil, "--approve", "o", "--approve", "k", "--approve", "q", "--approve", "d"]
            [..],
        &["job", "list"],
        &["plan", "check", "plan.json"],
    ] {
        let ran = place.latch(args);
        printed += &format!("{}{}", ran.stdout, ran.stderr);
    }
    let acts = |c: char| (c.is_control() && c != '\n') || evil[3..].contains(c);
    assert!(!printed.contains(acts), "{printed:?}");
    assert!(printed.contains(r"ada\u{202e}\u{200b}\u{2066}"), "{printed}");
}

/// After a database was restored from a backup, each of its jobs is shown as possibly outdated.
#[test]
fn restored_database_is_reported_with_each_job() {
    let place = TestEnv::witness("atomic").with_plan(&[step("r", "Effect.Read", &[], json!({ "note": 1 }))]);
    let run = |more: &[&str]| {
        let ran = place.latch(&[&["run", "plan.json", "--json"], more].concat());
        assert_eq!(ran.code, 0, "{} {}", ran.stdout, ran.stderr);
        ran.json()["job_id"].as_str().unwrap().to_owned()
    };
    let show = |id: &str| place.latch(&["job", "show", id, "--json"]).json();
    let id = run(&[]);
    let (database, backup) = (place.dir.join("latch.db"), place.dir.join("backup.db"));
    std::fs::copy(&database, &backup).unwrap();
    run(&["--new"]);
    assert_eq!(show(&id)["reason_code"], Value::Null);
    std::fs::copy(&backup, &database).unwrap();
    let displayed = show(&id);
    let reported = (&displayed["reason_code"], &displayed["next_actions"]);
    assert_eq!(reported, (&json!("RESTORED"), &json!(["latch doctor --accept-restore"])), "{displayed:#}");
    let text = place.latch(&["job", "show", &id]).stdout;
    assert!(text.contains(": RESTORED"), "{text}");
    assert_eq!(place.latch(&["doctor", "--accept-restore", "--json"]).code, 0);
    assert_eq!(show(&id)["reason_code"], Value::Null);
}
