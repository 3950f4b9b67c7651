//! Kills the process at crash points while a job is undone, and restarts the process. Each test uses half of the crash
//! points. In a sweep, each test uses every point. A call in doubt is resolved as applied if its effect exists, and
//! otherwise as not applied. Finally the effects are counted.

use std::collections::BTreeSet;
use std::os::unix::process::ExitStatusExt;

use serde_json::Value;

use latchwork::runtime::EXECUTE_POINTS;
use latchwork_store::STATEMENTS;

use crate::support::evidence::verify_offline;
use crate::support::kills::{passes, sides_in_mode};
use crate::support::plans::bookings::{bookings, job_id, run_plan, show_job, write_plan};
use crate::support::program::latch_command;
use crate::support::seed::{Half, half_of};
use crate::support::test_env::TestEnv;

/// Crash points that are reached on any machine while effects are undone, in both commit modes.
const ALWAYS_REACHED: &[&str] = &["inbox_insert", "claim_take", "group_write", "execute"];

/// Runs `latch job cancel` or `latch job undo`, depending on `verb`, and kills the process at this crash point.
/// Returns false if the point was not reached.
fn kill_at(place: &TestEnv, verb: &str, job: &str, point: &str) -> bool {
    let mut command = latch_command(&place.dir, &["job", verb, job, "--json", "--actor", "bob"]);
    let output = command.env("LATCH_CRASH_AT", point).output().expect("latch runs");
    let signal = output.status.signal();
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(signal == Some(9) || matches!(output.status.code(), Some(0 | 3)), "{point}: {:?} {printed}", output.status);
    signal == Some(9)
}

/// Repeats the command until the job is cancelled. Resolves a call in doubt as applied if its effect exists, and
/// otherwise as not applied.
fn finish_undoing(place: &TestEnv, verb: &str, job: &str, when: &str) -> Value {
    for _ in 0..12 {
        let response = show_job(place, job);
        if response["state"] == "CANCELLED" {
            return response;
        }
        // A process that was killed early has not stored the request, so the request is made again. Repeating a stored
        // request changes nothing.
        let ran = place.latch(&["job", verb, job, "--json", "--actor", "bob"]);
        assert!(matches!(ran.code, 0 | 3), "{when}: {} {}", ran.stdout, ran.stderr);
        let response = ran.json();
        if response["state"] == "CANCELLED" {
            return response;
        }
        let blocked = &response["blocked_on"];
        assert_eq!(blocked["reason_code"], "INDETERMINATE_EFFECT", "{when}: {response:#}");
        let slot = blocked["slot"].as_str().expect("a call in doubt has a slot");
        let undone = format!("undone {}", slot.strip_suffix("~c").expect("nothing else is in doubt"));
        let happened = place.effect_counts().contains_key(&undone);
        std::fs::write(place.dir.join("result.json"), r#"{"file":"looked"}"#).expect("writable");
        let verdict: &[&str] = if happened { &["--applied", "result.json"] } else { &["--not-applied"] };
        let args = [&["job", "resolve", job, slot, "--reason", "looked", "--actor", "bob"], verdict].concat();
        let resolved = place.latch(&args);
        assert_eq!(resolved.code, 0, "{when}: {} {}", resolved.stdout, resolved.stderr);
    }
    panic!("{when}: the job does not end: {:#}", show_job(place, job));
}

fn check_each_effect_undone_once(place: &TestEnv, verb: &str, job: &str, when: &str) {
    let response = finish_undoing(place, verb, job, when);
    let views = response["compensations"].as_array().expect("a list");
    assert!(views.iter().all(|view| view["state"] == "compensated"), "{when}: {response:#}");
    let world = place.effect_counts();
    for slot in ["a", "b", "d/0"] {
        assert_eq!(world.get(slot), Some(&1), "{when}: {slot} in {world:?}");
        assert_eq!(world.get(&format!("undone {slot}")), Some(&1), "{when}: {slot} in {world:?}");
    }
    assert_eq!(world.len(), 6, "{when}: nothing else happened: {world:?}");
    verify_offline(place, job, when);
}

fn sweep_crash_points(commit: &str, verb: &str, half: Half) {
    let template = TestEnv::undo(commit);
    let mut steps = bookings();
    let code = if verb == "undo" { 0 } else { 3 };
    // `undo` needs a completed job, so the plan for it has no wait at the end.
    steps.truncate(if verb == "undo" { 3 } else { 4 });
    write_plan(&template, "keep", &steps);
    let stopped = run_plan(&template, &[]);
    assert_eq!(stopped.code, code, "{} {}", stopped.stdout, stopped.stderr);
    let job = job_id(&stopped.json());
    let mut reached = BTreeSet::new();
    let points = half_of(STATEMENTS.iter().chain(EXECUTE_POINTS), half);
    for name in points.iter().copied() {
        'passes: for nth in passes(name) {
            for side in sides_in_mode(name, nth, commit) {
                let place = template.fresh_copy();
                let point = format!("{name}:{side}:{nth}");
                if !kill_at(&place, verb, &job, &point) {
                    break 'passes;
                }
                reached.insert(*name);
                check_each_effect_undone_once(&place, verb, &job, &format!("{commit}, {verb}, killed at {point}"));
            }
        }
    }
    let staged: &[&str] = if commit == "staged" { &["effects_insert"] } else { &[] };
    let wanted = ALWAYS_REACHED.iter().chain(staged).filter(|name| points.contains(name));
    let missing: Vec<_> = wanted.filter(|name| !reached.contains(*name)).collect();
    assert!(missing.is_empty(), "not on the path of undoing: {missing:?}; reached {reached:?}");
}

/// I1, I5, I37: with atomic commit, a cancellation that is killed at any crash point undoes each effect once.
#[test]
fn cancel_killed_anywhere_with_atomic_commit_undoes_each_effect_once() {
    sweep_crash_points("atomic", "cancel", Half::First);
}

/// I1, I5, I37: with staged commit, a cancellation that is killed at any crash point undoes each effect once. In this
/// mode, a kill can also hit between the write of the events and the write of the ledger row (§5, window 4).
#[test]
#[ignore = "kills many workers; run by .ci/long"]
fn cancel_killed_anywhere_with_staged_commit_undoes_each_effect_once() {
    sweep_crash_points("staged", "cancel", Half::Second);
}

/// I1, I5, I155: with atomic commit, the undo of a completed job that is killed at any crash point undoes
/// each effect once.
#[test]
fn undo_killed_anywhere_with_atomic_commit_undoes_each_effect_once() {
    sweep_crash_points("atomic", "undo", Half::Second);
}

/// I1, I5, I155: with staged commit, the undo of a completed job that is killed at any crash point undoes
/// each effect once.
#[test]
#[ignore = "kills many workers; run by .ci/long"]
fn undo_killed_anywhere_with_staged_commit_undoes_each_effect_once() {
    sweep_crash_points("staged", "undo", Half::First);
}
