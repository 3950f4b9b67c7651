//! The protocol holds in every reachable state. I80, I81, I82, I83.

use std::num::NonZeroUsize;

use latchwork_model::{Class, Config, Protocol, walk};
use stateright::{Checker, Model};

fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

/// Searches the whole configured world. Panics at the first property that does not hold.
#[expect(clippy::print_stderr, reason = "how much was searched is the result")]
fn holds(config: Config) {
    let told = format!("{config:?}");
    let checker = Protocol(config).checker().threads(threads()).spawn_bfs().join();
    let (states, depth) = (checker.unique_state_count(), checker.max_depth());
    eprintln!("{states} states, {depth} deep: {told}");
    checker.assert_properties();
    assert!(states > 1_000, "only {states} states were searched");
}

/// Searches an atomic commit with one fault of each kind, and a staged commit with a crash and a pause.
fn both(class: Class) {
    holds(Config::of(class));
    holds(Config { lost_commits: 0, shrugs: true, ..Config::of(class).staged() });
}

#[test]
fn opaque_calls() {
    both(Class::Opaque);
}

#[test]
fn queryable_calls() {
    both(Class::Queryable);
}

#[test]
fn keyed_calls() {
    both(Class::Keyed);
}

#[test]
fn reads() {
    holds(Config { lost_commits: 0, ..Config::of(Class::Read) });
    holds(Config { lost_commits: 0, ..Config::of(Class::Read).staged() });
}

/// At any moment the tool may not know, the window of the key may be over, or the job may be cancelled.
#[test]
fn shrugs_and_cancellation() {
    for class in [Class::Keyed, Class::Queryable, Class::Opaque] {
        let few = Config { pauses: 0, lost_commits: 0, ..Config::of(class) };
        holds(Config { shrugs: true, ..few.clone() });
        holds(Config { cancel: true, ..few.clone() });
        holds(Config { cancel: true, ..few.staged() });
    }
}

#[test]
fn one_call_after_another() {
    let calls = vec![Class::Queryable, Class::Opaque];
    holds(Config { calls, pauses: 0, lost_commits: 0, ..Config::of(Class::Opaque) });
}

/// In a staged commit, the answer of every write may be lost.
#[test]
fn lost_commits_of_a_staged_commit() {
    for class in [Class::Keyed, Class::Queryable, Class::Opaque] {
        holds(Config { pauses: 0, ..Config::of(class).staged() });
    }
}

#[test]
fn three_workers_and_three_tries() {
    for class in [Class::Keyed, Class::Queryable, Class::Opaque] {
        holds(Config { workers: 3, tries: 3, lost_commits: 0, crashes: 0, ..Config::of(class) });
    }
}

/// Run with `cargo test -p latchwork-model --release --test search -- --ignored --nocapture`. Takes minutes
/// and gigabytes of memory.
#[test]
#[ignore = "takes minutes"]
fn larger_worlds() {
    for class in [Class::Opaque, Class::Queryable, Class::Keyed, Class::Read] {
        let more = Config { shrugs: true, cancel: true, ..Config::of(class) };
        holds(Config { crashes: 2, lost_commits: 0, tries: 3, ..more.clone() });
        holds(Config { pauses: 2, lost_commits: 0, crashes: 0, workers: 3, ..more.clone() });
        holds(Config::of(class).staged());
        holds(Config { lost_commits: 0, ..more.staged() });
        if class != Class::Read {
            holds(Config { free: true, crashes: 0, lost_commits: 0, ..Config::of(class).staged() });
        }
    }
    let calls = vec![Class::Queryable, Class::Opaque];
    holds(Config { calls, lost_commits: 0, ..Config::of(Class::Opaque) });
}

/// The configuration that traces are followed in. Workers reload, read the inbox, release the job and let it
/// wait at any time, and people ask twice. I115.
#[test]
fn workers_at_their_own_pace() {
    // Reads are left out: a read whose answer is not kept can be repeated without end, so the search would
    // not finish.
    for class in [Class::Opaque, Class::Queryable, Class::Keyed] {
        let free = Config { free: true, lost_commits: 0, ..Config::of(class) };
        holds(Config { pauses: 0, rests: 1, shrugs: true, asks: 2, ..free.clone() });
        holds(Config { pauses: 0, rests: 1, cancel: true, ..free.clone().staged() });
        // Putting the inbox row of a late answer twice also uses up a suspension.
        holds(Config { crashes: 0, rests: 1, ..free });
    }
}

/// Every path ends, and the job is finished at its end. I83.
#[test]
fn no_path_comes_back_and_none_ends_early() {
    for class in [Class::Opaque, Class::Queryable, Class::Keyed] {
        let few = Config { pauses: 0, lost_commits: 0, shrugs: true, cancel: true, ..Config::of(class) };
        ends(few.staged());
        ends(Config { crashes: 0, lost_commits: 0, tries: 3, ..Config::of(class) });
        ends(Config { crashes: 0, pauses: 0, ..Config::of(class) });
    }
}

fn ends(config: Config) {
    let states = walk(&Protocol(config)).unwrap_or_else(|circle| panic!("{circle:#?}"));
    assert!(states > 100, "only {states} states were searched");
}
