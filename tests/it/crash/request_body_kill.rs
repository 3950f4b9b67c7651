//! Kills the process before and after each call and at selected statements, then restarts the process. The witness is a
//! server outside of the killed process. It counts the request bodies that it received. Calls in doubt are resolved
//! with this count. A printed seed selects the statements. With `LATCH_TEST_SWEEP` the process is killed at every
//! execution of every statement.

use latchwork_store::{POSTGRES_STATEMENTS, STATEMENTS};

use crate::support::database::blocking_database;
use crate::support::evidence;
use crate::support::kills::{KillPoint, STATEMENTS_OF_COMMANDS, STATEMENTS_OF_FAULTS, is_killed, run_killed};
use crate::support::program::latch_command;
use crate::support::seed::{is_sweep, run_seed, seeded_rng, shuffled};
use crate::support::servers::witness::{ReceivedBody, Witness};
use crate::support::test_env::TestEnv;

const SIDES: [&str; 2] = ["before", "after"];
/// Calls of the plan in order: slot, operator, and the note that the call posts.
const CALLS: [(&str, &str, u32); 3] = [("o", "Post.Opaque", 1), ("k", "Post.Keyed", 2), ("q", "Post.Queryable", 3)];
/// Number of statements at which one run of the suite kills the process.
const SAMPLE: usize = 4;
/// The kill happens at one of the first `PASSINGS` executions of a statement.
const PASSINGS: u32 = 4;

/// A witness, and an environment whose jobs post to it.
struct WitnessedEnv {
    witness: Witness,
    template: TestEnv,
    commit: &'static str,
    on_server: bool,
}

impl WitnessedEnv {
    /// Returns `None` if no server is available.
    fn new(commit: &'static str, on_server: bool) -> Option<WitnessedEnv> {
        if on_server {
            blocking_database()?;
        }
        let witness = Witness::start();
        let mut steps = Vec::new();
        let mut before: Vec<&str> = Vec::new();
        for (id, name, note) in CALLS {
            steps.push(witness.step(id, name, &before, note, 0));
            before = vec![id];
        }
        let template = witness.env(commit, "").with_plan(&steps);
        Some(WitnessedEnv { witness, template, commit, on_server })
    }

    fn fresh_env(&self) -> TestEnv {
        let place = self.template.fresh_copy();
        if !self.on_server {
            return place;
        }
        place.with_database(&blocking_database().expect("the server was available before"))
    }

    /// Resumes the job after the last kill and checks all bodies. Resolves each call in doubt as applied if
    /// the witness received its body, and otherwise as not applied.
    fn resume_and_check_bodies(&self, place: &TestEnv, point: &KillPoint) {
        let when = format!("{}, on a server: {}, killed at {point:?}", self.commit, self.on_server);
        place.finish_resolving(|job, slot| {
            let note = CALLS.iter().find(|(id, ..)| *id == slot).expect("a call of the plan").2;
            let came = !self.witness.bodies_of_slot(job, slot).is_empty();
            place.resolve(job, slot, came.then_some(format!(r#"{{"note":{note}}}"#).as_str()))
        });
        let job = place.only_job();
        assert_eq!(job["state"], "COMPLETED", "{when}: {job:#}");
        let id = job["job_id"].as_str().expect("an id");
        let all = self.witness.bodies_of_job(id);
        let mut known = 0;
        for (slot, name, note) in CALLS {
            let bodies = self.witness.bodies_of_slot(id, slot);
            let keyed = name == "Post.Keyed";
            assert!(bodies.len() == 1 || keyed && bodies.len() > 1, "{when}: bodies of {slot} in {all:?}");
            let first = ReceivedBody { key: bodies[0].key.clone(), text: note.to_string() };
            assert!(bodies.iter().all(|body| *body == first), "{when}: one key and one body: {bodies:?}");
            assert_eq!(self.witness.applied_count(id, slot), 1, "{when}: {bodies:?}");
            known += bodies.len();
        }
        assert_eq!(all.len(), known, "{when}: no other body was received: {all:?}");
        evidence::verify_offline(place, id, &when);
    }

    /// Kills the first run at this crash point, then finishes the job. Returns false if the point was not
    /// reached.
    fn kill_and_finish(&self, point: &KillPoint) -> bool {
        let place = self.fresh_env();
        let reached = run_killed(&place, point);
        self.resume_and_check_bodies(&place, point);
        reached
    }

    /// Returns pairs of a statement that this job may execute and a side, `before` or `after`. Statements that only
    /// commands execute are left out. Statements that only faults cause are included only in a sweep.
    fn statements_to_kill_at(&self) -> Vec<(&'static str, &'static str)> {
        let own: &[&str] = if self.on_server { POSTGRES_STATEMENTS } else { &[] };
        let all = STATEMENTS.iter().chain(own).copied();
        all.filter(|name| {
            !STATEMENTS_OF_COMMANDS.contains(name) && (is_sweep() || !STATEMENTS_OF_FAULTS.contains(name))
        })
        .flat_map(|name| SIDES.map(|side| (name, side)))
        .collect()
    }
}

fn kill_everywhere(commit: &'static str, on_server: bool) {
    let Some(world) = WitnessedEnv::new(commit, on_server) else { return };
    let mut dice = seeded_rng(run_seed());
    for side in SIDES {
        for nth in 1..=CALLS.len() as u32 {
            assert!(world.kill_and_finish(&("execute".to_owned(), side, nth)), "every call is reached: {side} {nth}");
        }
        // After the first kill, the process that resumes the job asks the tool to reconcile the call. The
        // second kill ends that process at this crash point.
        let (place, asked) = (world.fresh_env(), format!("reconcile:{side}:1"));
        assert!(run_killed(&place, &("execute".to_owned(), "after", 3)), "the queryable call is reached");
        assert!(is_killed(latch_command(&place.dir, &["resume"]).env("LATCH_CRASH_AT", &asked)), "{asked} is reached");
        world.resume_and_check_bodies(&place, &("reconcile".to_owned(), side, 1));
    }
    let mut reached = 0;
    for (name, side) in shuffled(world.statements_to_kill_at(), &mut dice) {
        if is_sweep() {
            reached += (1..).take_while(|nth| world.kill_and_finish(&(name.to_owned(), side, *nth))).count();
        } else if reached < SAMPLE {
            reached += usize::from(world.kill_and_finish(&(name.to_owned(), side, 1 + dice.below(PASSINGS))));
        }
    }
    assert!(reached >= SAMPLE, "few statements were reached: {reached}");
}

/// I1, I3, I5: on SQLite with atomic commit, a killed and resumed job sends each body once. Only a keyed
/// body may be sent again, under the same key.
#[test]
fn killed_job_on_sqlite_sends_each_body_once() {
    kill_everywhere("atomic", false);
}

/// I1, I3, I5: on SQLite with staged commit, a killed and resumed job sends each body once. Only a keyed
/// body may be sent again, under the same key.
#[test]
fn killed_job_on_sqlite_with_staged_commit_sends_each_body_once() {
    kill_everywhere("staged", false);
}

/// I1, I3, I5: on PostgreSQL with atomic commit, a killed and resumed job sends each body once. Only a keyed
/// body may be sent again, under the same key.
#[test]
fn killed_job_on_postgres_sends_each_body_once() {
    kill_everywhere("atomic", true);
}

/// I1, I3, I5: on PostgreSQL with staged commit, a killed and resumed job sends each body once. Only a keyed
/// body may be sent again, under the same key.
#[test]
#[ignore = "kills many workers; run by .ci/long"]
fn killed_job_on_postgres_with_staged_commit_sends_each_body_once() {
    kill_everywhere("staged", true);
}
