//! Kills the process at crash points and restarts the process. Half of the points are used with atomic commit and the
//! other half with staged commit. In a sweep, every point is used with both. `kills::passes` selects the executions of
//! a point. A call in doubt is resolved as applied if its effect exists, and otherwise as not applied. Finally the
//! effects are counted. The tests use real processes, components and databases.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::json;

use latchwork::runtime::EXECUTE_POINTS;
use latchwork_store::STATEMENTS;

use crate::support::evidence;
use crate::support::kills::{
    check_single_job, for_each_point, is_killed, is_never_reached_by_run, run_killed, sides, sides_in_mode,
};
use crate::support::log_equivalence::comparable_log;
use crate::support::program::latch_command;
use crate::support::seed::{Half, half_of, is_sweep};
use crate::support::test_env::{TestEnv, step};

fn kill_at_every_point(commit: &str, half: Half) {
    let points = half_of(STATEMENTS.iter().chain(EXECUTE_POINTS), half);
    let template = TestEnv::witness(commit);
    let alone = template.fresh_copy();
    alone.finish_with_observed_effects();
    let id = check_single_job(&alone, &format!("{commit}, undisturbed"));
    let undisturbed = comparable_log(&alone, &id).expect("no call was in doubt");
    let mut alike = 0;
    let reached = for_each_point(&template, points.iter().copied(), |place, point| {
        place.finish_with_observed_effects();
        let id = check_single_job(place, &format!("{commit}, killed at {point:?}"));
        if let Some(story) = comparable_log(place, &id) {
            assert_eq!(story, undisturbed, "{commit}, killed at {point:?}");
            alike += 1;
        }
    });
    // A run that is killed before a barrier or after a record has no call in doubt. Its log must equal the log of an
    // undisturbed run.
    assert!(alike >= if is_sweep() { 15 } else { 7 }, "{alike} logs were compared");
    // Some points are reached only when a job is resumed. To reach them, a first kill interrupts a call, and
    // a second kill ends the process that resumes the job.
    let left: Vec<_> = points
        .into_iter()
        .filter(|name| !reached.contains(**name))
        .filter(|name| !is_never_reached_by_run(name))
        // With atomic commit, the statements for effects are not used, because effects are written with their
        // events.
        .filter(|name| commit == "staged" || !name.starts_with("effects_"))
        .collect();
    for name in left {
        let mut times = 0;
        for side in ["before", "after"] {
            let place = template.fresh_copy();
            assert!(run_killed(&place, &("execute".to_owned(), "after", 4)), "the queryable call is reached");
            let mut resume = latch_command(&place.dir, &["resume"]);
            times += u32::from(is_killed(resume.env("LATCH_CRASH_AT", format!("{name}:{side}:1"))));
            place.finish_with_observed_effects();
            check_single_job(&place, &format!("{commit}, resumed and killed {side} {name}"));
        }
        assert_eq!(times, 2, "{name} is a crash point that no test reaches");
    }
}

/// I1, I2, I5, I184: with atomic commit, a job that is killed at any crash point executes each effect once. If no call
/// was in doubt, `comparable_log` returns the same for the killed job and an undisturbed job.
#[test]
fn job_killed_anywhere_with_atomic_commit_executes_each_effect_once() {
    kill_at_every_point("atomic", Half::First);
}

/// I1, I2, I5, I184: with staged commit, a job that is killed at any crash point executes each effect once. In this
/// mode, a kill can also hit between the write of the events and the write of the ledger row (§5, window 4).
#[test]
#[ignore = "kills many workers; run by .ci/long"]
fn job_killed_anywhere_with_staged_commit_executes_each_effect_once() {
    kill_at_every_point("staged", Half::Second);
}

/// Executions of a statement at which the golden flow is killed: the first, the fourth and the twelfth.
const PASSINGS: &[u32] = &[1, 4, 12];

/// I1, I5: the golden flow leaves exactly one message in the Maildir, no matter where it is killed.
#[test]
fn golden_flow_killed_anywhere_sends_one_message() {
    let mut reached = BTreeSet::new();
    for (commit, half) in [("atomic", Half::Second), ("staged", Half::First)] {
        let template = TestEnv::golden(commit);
        for name in half_of(STATEMENTS.iter().chain(EXECUTE_POINTS), half) {
            'passes: for nth in PASSINGS {
                for side in sides_in_mode(name, *nth, commit) {
                    let place = template.fresh_copy();
                    let point = ((*name).to_owned(), *side, *nth);
                    if !run_killed(&place, &point) {
                        break 'passes;
                    }
                    reached.insert((commit, *name));
                    place.finish_with_observed_effects();
                    let job = place.only_job();
                    assert_eq!(job["state"], "COMPLETED", "{commit} {point:?}: {job:#}");
                    assert_eq!(count_files(&place.dir.join("outbox/new")), 1, "{commit} {point:?}: one message");
                    assert_eq!(
                        count_files(&place.dir.join("outbox/tmp")),
                        0,
                        "{commit} {point:?}: never half a message"
                    );
                }
            }
        }
    }
    assert!(reached.len() >= if is_sweep() { 30 } else { 15 }, "few points were reached: {reached:?}");
}

/// I1, I3, I5: when the retry of a keyed call begins, the host records the beginning. This record is never used as the
/// tool's answer. The process is killed at each write of the retry, in both commit modes.
#[test]
fn keyed_call_killed_during_its_retry_is_applied_once() {
    for commit in ["atomic", "staged"] {
        // The next step needs the tool's answer, and must not get the record of the retry in its place.
        let next = step("r", "Effect.Read", &["k"], json!({ "note": { "$ref": "k#/note" } }));
        let template =
            TestEnv::witness(commit).with_plan(&[step("k", "Effect.Keyed", &[], json!({ "note": 2 })), next]);
        let template = template.with_approved(vec!["k"]);
        let mut reached = BTreeSet::new();
        for name in ["group_write", "effects_insert", "commit", "execute"] {
            'passes: for nth in 1.. {
                for side in sides(name, nth) {
                    let (place, point) = (template.fresh_copy(), format!("{name}:{side}:{nth}"));
                    assert!(run_killed(&place, &("execute".to_owned(), "after", 1)), "the keyed call is reached");
                    if !is_killed(latch_command(&place.dir, &["resume"]).env("LATCH_CRASH_AT", &point)) {
                        break 'passes;
                    }
                    reached.insert(name);
                    place.finish_with_observed_effects();
                    let world = place.effect_counts();
                    assert!(world["k"] >= 1 && world["applied k"] == 1, "{commit} {point}: {world:?}");
                    let job = place.only_job();
                    let id = job["job_id"].as_str().expect("an id");
                    evidence::verify_offline(&place, id, &point);
                }
            }
        }
        assert!(reached.contains("group_write") && reached.contains("execute"), "{commit}: {reached:?}");
        assert_eq!(reached.contains("effects_insert"), commit == "staged", "{commit}: {reached:?}");
    }
}

/// I3: an opaque call in doubt is never repeated. The job parks with `INDETERMINATE_EFFECT`.
#[test]
fn opaque_call_in_doubt_parks_the_job_until_it_is_resolved() {
    let place = TestEnv::witness("atomic").fresh_copy();
    assert!(run_killed(&place, &("execute".to_owned(), "after", 2)), "the first world-changing call is reached");
    for _ in 0..2 {
        let resumed = place.latch(&["resume", "--json"]);
        assert_eq!(resumed.code, 3, "{}", resumed.stderr);
        let job = &resumed.json()["jobs"][0];
        assert_eq!((&job["state"], &job["status"]), (&json!("PARKED"), &json!("partial")));
        let (id, blocked) = (job["job_id"].as_str().unwrap(), &job["blocked_on"]);
        assert_eq!(blocked["reason_code"], "INDETERMINATE_EFFECT");
        // The response contains the operator, the arguments, and the key that the tool received. With these values, a
        // person can look up the call in the outside system.
        let call = json!({
            "operator": "Effect.Opaque", "args": { "note": 1 }, "external_key": format!("latch:{id}:o:1"),
        });
        assert_eq!(blocked["call"], call);
        let displayed = place.latch(&["job", "show", id]);
        for line in [format!("external key: latch:{id}:o:1"), "note: 1".to_owned()] {
            assert!(displayed.stdout.contains(&line), "{line} in {}", displayed.stdout);
        }
        assert_eq!(place.effect_counts().get("o"), Some(&1), "resuming executes nothing that is in doubt");
        evidence::verify_offline(&place, job["job_id"].as_str().unwrap(), "parked");
    }
    let id = place.only_job()["job_id"].as_str().unwrap().to_owned();
    let refused = place.latch(&["job", "resolve", &id, "k", "--not-applied"]);
    assert_eq!(refused.code, 2, "a call that is not in doubt cannot be resolved");
}

fn count_files(dir: &Path) -> usize {
    std::fs::read_dir(dir).map_or(0, |entries| {
        entries.filter_map(Result::ok).filter(|entry| !entry.file_name().to_string_lossy().starts_with('.')).count()
    })
}
