//! Kills the process around each call and at statements, then restarts it. Parked calls are resolved with
//! what a witness in another process received, and the request bodies that the witness received are counted.
//! A printed seed selects the statements. With `LATCH_TEST_SWEEP` every pass of every statement is used.

use latchwork_store::{POSTGRES_STATEMENTS, STATEMENTS};

use crate::crash::{ASKED_BY_COMMANDS, ASKED_BY_FAULTS, Point, killed, run_killed};
use crate::evidence;
use crate::place::Place;
use crate::postgres::live::a_database;
use crate::program::latch;
use crate::seed::{dice, seed, shuffled, sweeps};
use crate::witness::{Body, Witness};

const SIDES: [&str; 2] = ["before", "after"];
/// Calls of the plan in order: slot, operator and the note that the call posts.
const CALLS: [(&str, &str, u32); 3] = [("o", "Post.Opaque", 1), ("k", "Post.Keyed", 2), ("q", "Post.Queryable", 3)];
/// Number of statements at which one run of the suite kills the process.
const SAMPLE: usize = 4;
/// Passes of one statement from which one is drawn.
const PASSINGS: u32 = 4;

/// A witness, and an environment whose jobs post to it.
struct World {
    witness: Witness,
    template: Place,
    commit: &'static str,
    on_server: bool,
}

impl World {
    /// Returns `None` if no server is available.
    fn new(commit: &'static str, on_server: bool) -> Option<World> {
        if on_server {
            a_database()?;
        }
        let witness = Witness::start();
        let mut steps = Vec::new();
        let mut before: Vec<&str> = Vec::new();
        for (id, name, note) in CALLS {
            steps.push(witness.step(id, name, &before, note, 0));
            before = vec![id];
        }
        let template = witness.place(commit, "").plan(&steps);
        Some(World { witness, template, commit, on_server })
    }

    fn fresh(&self) -> Place {
        let place = self.template.again();
        if !self.on_server {
            return place;
        }
        place.on_server(&a_database().expect("the server was available before"))
    }

    /// Resumes the job after the last kill, resolves calls in doubt with the witness, and checks all bodies.
    fn finish(&self, place: &Place, point: &Point) {
        let when = format!("{}, on a server: {}, killed at {point:?}", self.commit, self.on_server);
        place.finish(|job, slot| {
            let note = CALLS.iter().find(|(id, ..)| *id == slot).expect("a call of the plan").2;
            let came = !self.witness.of_slot(job, slot).is_empty();
            place.resolve(job, slot, came.then_some(format!(r#"{{"note":{note}}}"#).as_str()))
        });
        let job = place.the_job();
        assert_eq!(job["state"], "COMPLETED", "{when}: {job:#}");
        let id = job["job_id"].as_str().expect("an id");
        let all = self.witness.whole(id);
        let mut known = 0;
        for (slot, name, note) in CALLS {
            let bodies = self.witness.of_slot(id, slot);
            let keyed = name == "Post.Keyed";
            assert!(bodies.len() == 1 || keyed && bodies.len() > 1, "{when}: bodies of {slot} in {all:?}");
            let first = Body { key: bodies[0].key.clone(), text: note.to_string() };
            assert!(bodies.iter().all(|body| *body == first), "{when}: one key and one body: {bodies:?}");
            assert_eq!(self.witness.applied(id, slot), 1, "{when}: {bodies:?}");
            known += bodies.len();
        }
        assert_eq!(all.len(), known, "{when}: no other body was received: {all:?}");
        evidence::holds(place, id, &when);
    }

    /// Kills the first run at this crash point, then finishes the job. Returns false if the point was not
    /// reached.
    fn killed_at(&self, point: &Point) -> bool {
        let place = self.fresh();
        let reached = run_killed(&place, point);
        self.finish(&place, point);
        reached
    }

    /// Statements that this job executes, each with both sides. Statements that only commands or faults cause
    /// are left out.
    fn statements(&self) -> Vec<(&'static str, &'static str)> {
        let own: &[&str] = if self.on_server { POSTGRES_STATEMENTS } else { &[] };
        let all = STATEMENTS.iter().chain(own).copied();
        all.filter(|name| !ASKED_BY_COMMANDS.contains(name) && (sweeps() || !ASKED_BY_FAULTS.contains(name)))
            .flat_map(|name| SIDES.map(|side| (name, side)))
            .collect()
    }
}

fn suite(commit: &'static str, on_server: bool) {
    let Some(world) = World::new(commit, on_server) else { return };
    let mut dice = dice(seed());
    for side in SIDES {
        for nth in 1..=CALLS.len() as u32 {
            assert!(world.killed_at(&("execute".to_owned(), side, nth)), "every call is reached: {side} {nth}");
        }
        // The tool is asked to reconcile the call by the process that resumes after the first kill.
        let (place, asked) = (world.fresh(), format!("reconcile:{side}:1"));
        assert!(run_killed(&place, &("execute".to_owned(), "after", 3)), "the queryable call is reached");
        assert!(killed(latch(&place.dir, &["resume"]).env("LATCH_CRASH_AT", &asked)), "{asked} is reached");
        world.finish(&place, &("reconcile".to_owned(), side, 1));
    }
    let mut reached = 0;
    for (name, side) in shuffled(world.statements(), &mut dice) {
        if sweeps() {
            reached += (1..).take_while(|nth| world.killed_at(&(name.to_owned(), side, *nth))).count();
        } else if reached < SAMPLE {
            reached += usize::from(world.killed_at(&(name.to_owned(), side, 1 + dice.below(PASSINGS))));
        }
    }
    assert!(reached >= SAMPLE, "few statements were reached: {reached}");
}

/// I1, I3, I5: atomic commit, SQLite.
#[test]
fn killed_anywhere_over_a_file_each_body_comes_once() {
    suite("atomic", false);
}

/// I1, I3, I5: staged commit, SQLite.
#[test]
fn killed_anywhere_over_a_file_with_a_staged_commit_each_body_comes_once() {
    suite("staged", false);
}

/// I1, I3, I5: atomic commit, PostgreSQL.
#[test]
fn killed_anywhere_over_a_server_each_body_comes_once() {
    suite("atomic", true);
}

/// I1, I3, I5: staged commit, PostgreSQL.
#[test]
fn killed_anywhere_over_a_server_with_a_staged_commit_each_body_comes_once() {
    suite("staged", true);
}
