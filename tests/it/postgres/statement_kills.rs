//! Kills the process of a job at a quarter of the statements. The process is killed before the statement in one commit
//! mode, and after the statement in the other mode. The database is on a server. A seed selects the statements, and the
//! test prints the seed. For a statement that is executed often, the seed also selects the execution. With
//! `LATCH_TEST_SWEEP`, the process is killed before and after every execution of every statement, in both modes.

use std::collections::BTreeSet;

use latchwork::runtime::EXECUTE_POINTS;
use latchwork_core::encoding::rng::StepRng;
use latchwork_store::{POSTGRES_STATEMENTS, STATEMENTS};

use crate::support::database::blocking_database;
use crate::support::kills::{check_single_job, is_killed, is_never_reached_by_run, run_killed, sides_in_mode};
use crate::support::running_worker::worker_command;
use crate::support::seed::{is_sweep, run_seed, seeded_rng, shuffled};
use crate::support::test_env::TestEnv;

/// Statements that the job executes often. Each number is the minimum number of executions in one run.
const FREQUENT_STATEMENTS: [(&str, u32); 6] =
    [("begin", 12), ("commit", 12), ("group_read", 10), ("group_write", 10), ("effects_insert", 5), ("execute", 7)];
/// Crash point that is reached only after a commit whose answer was lost.
const LOST_COMMIT_POINT: &str = "outcome";

fn all_points() -> impl Iterator<Item = &'static str> {
    STATEMENTS.iter().chain(POSTGRES_STATEMENTS).chain(EXECUTE_POINTS).copied()
}

/// Chooses the executions of a statement at which a process is killed. Executions are numbered from 1.
fn executions_to_kill(name: &str, dice: &mut StepRng) -> Vec<u32> {
    match FREQUENT_STATEMENTS.iter().find(|(often, _)| *often == name) {
        _ if is_sweep() => (1..1_000).collect(),
        Some((_, most)) => vec![1 + dice.below(*most)],
        None => vec![1],
    }
}

fn kill_at_every_statement(commit: &str) {
    let template = TestEnv::witness(commit);
    let mut dice = seeded_rng(run_seed());
    let mut reached = BTreeSet::new();
    let mut points: Vec<_> = all_points().collect();
    if !is_sweep() {
        points = shuffled(points, &mut dice);
        points.truncate(points.len().div_ceil(4));
    }
    for name in points.iter().copied() {
        // Uses the sides of the first execution for every execution, because a seed selects only one execution.
        for side in sides_in_mode(name, 1, commit) {
            for nth in executions_to_kill(name, &mut dice) {
                let Some(url) = blocking_database() else { return };
                let place = template.fresh_copy().with_database(&url);
                let point = (name.to_owned(), *side, nth);
                if !run_killed(&place, &point) {
                    break;
                }
                reached.insert(name);
                place.finish_with_observed_effects();
                check_single_job(&place, &format!("{commit}, on a server, killed at {point:?}"));
            }
        }
    }
    // A first run never reaches the remaining points. A worker that takes over the job may reach them.
    let left = points
        .iter()
        .copied()
        .filter(|name| !reached.contains(name) && *name != LOST_COMMIT_POINT)
        .filter(|name| !is_never_reached_by_run(name))
        // An atomic commit writes effects together with the events that mention them.
        .filter(|name| commit == "staged" || !name.starts_with("effects_"));
    for name in left {
        for side in sides_in_mode(name, 1, commit) {
            let Some(url) = blocking_database() else { return };
            let place = template.fresh_copy().with_database(&url);
            assert!(run_killed(&place, &("execute".to_owned(), "after", 4)), "the queryable call is reached");
            let mut next = worker_command(&place, &["--until-idle"]);
            let it_was = is_killed(next.env("LATCH_CRASH_AT", format!("{name}:{side}:1")));
            assert!(it_was, "{commit}: {name} is a crash point that no test reaches");
            place.finish_with_observed_effects();
            check_single_job(&place, &format!("{commit}, on a server, taken over and killed {side} {name}"));
        }
    }
}

/// I1, I5, I87.
#[test]
fn each_effect_happens_once_if_killed_at_any_statement_on_a_server() {
    kill_at_every_statement("atomic");
}

/// I1, I5, I87: with staged commit, effects, events and ledger rows become durable one after the other.
#[test]
#[ignore = "kills many workers; run by .ci/long"]
fn each_effect_happens_once_if_killed_at_any_statement_of_a_staged_commit_on_a_server() {
    kill_at_every_statement("staged");
}
