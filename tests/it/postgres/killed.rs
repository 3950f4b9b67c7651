//! A job on a server whose process is killed at every statement, in both commit modes. For a statement that
//! is executed often, a printed seed selects the execution. `LATCH_TEST_SWEEP` takes every execution.

use std::collections::BTreeSet;

use latchwork::worker::EXECUTE_POINTS;
use latchwork_core::rng::StepRng;
use latchwork_store::{POSTGRES_STATEMENTS, STATEMENTS};

use super::live::a_database;
use crate::crash::{check_world, is_beside, killed, run_killed};
use crate::place::Place;
use crate::seed::{dice, seed, sweeps};
use crate::workers::worker;

/// Minimum number of executions of each of these statements by the job.
const OFTEN: [(&str, u32); 6] =
    [("begin", 12), ("commit", 12), ("group_read", 10), ("group_write", 10), ("effects_insert", 5), ("execute", 7)];
/// Crash point that is reached only after a commit whose answer was lost.
const ASKED_BY_LOST_COMMITS: &str = "outcome";

fn all() -> impl Iterator<Item = &'static str> {
    STATEMENTS.iter().chain(POSTGRES_STATEMENTS).chain(EXECUTE_POINTS).copied()
}

/// Executions of the statement at which the process is killed.
fn times(name: &str, dice: &mut StepRng) -> Vec<u32> {
    match OFTEN.iter().find(|(often, _)| *often == name) {
        _ if sweeps() => (1..1_000).collect(),
        Some((_, most)) => vec![1 + dice.below(*most)],
        None => vec![1],
    }
}

fn suite(commit: &str) {
    let template = Place::witness(commit);
    let mut dice = dice(seed());
    let mut reached = BTreeSet::new();
    for name in all() {
        for side in ["before", "after"] {
            for nth in times(name, &mut dice) {
                let Some(url) = a_database() else { return };
                let place = template.again().on_server(&url);
                let point = (name.to_owned(), side, nth);
                if !run_killed(&place, &point) {
                    break;
                }
                reached.insert(name);
                place.finish_with_the_truth();
                check_world(&place, &format!("{commit}, on a server, killed at {point:?}"));
            }
        }
    }
    // Points that a first run never reaches. A worker that takes over the job may reach them.
    let left = all()
        .filter(|name| !reached.contains(name) && *name != ASKED_BY_LOST_COMMITS)
        .filter(|name| !is_beside(name))
        // An atomic commit writes effects together with the events that mention them.
        .filter(|name| commit == "staged" || !name.starts_with("effects_"));
    for name in left {
        for side in ["before", "after"] {
            let Some(url) = a_database() else { return };
            let place = template.again().on_server(&url);
            assert!(run_killed(&place, &("execute".to_owned(), "after", 4)), "the queryable call is reached");
            let mut next = worker(&place, &["--until-idle"]);
            let it_was = killed(next.env("LATCH_CRASH_AT", format!("{name}:{side}:1")));
            assert!(it_was, "{commit}: {name} is a crash point that no test reaches");
            place.finish_with_the_truth();
            check_world(&place, &format!("{commit}, on a server, taken over and killed {side} {name}"));
        }
    }
}

/// I1, I5, I87.
#[test]
fn killed_at_any_statement_on_a_server_each_effect_happens_once() {
    suite("atomic");
}

/// I1, I5, I87: with staged commit, effects, events and ledger rows become durable one after the other.
#[test]
fn killed_at_any_statement_of_a_staged_commit_on_a_server_each_effect_happens_once() {
    suite("staged");
}
