//! I80, I81, I82, I83: the protocol holds in every reachable state.

use std::num::NonZeroUsize;

use latchwork_model::{Config, ModelClass, Protocol, walk};
use stateright::{Checker, Model};

fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

/// Searches the whole configured world. Panics at the first property that does not hold.
#[expect(clippy::print_stderr, reason = "how much was searched is the result")]
fn check_all_states(config: Config) {
    let description = format!("{config:?}");
    let checker = Protocol(config).checker().threads(threads()).spawn_bfs().join();
    let (states, depth) = (checker.unique_state_count(), checker.max_depth());
    eprintln!("{states} states, {depth} deep: {description}");
    checker.assert_properties();
    assert!(states > 1_000, "only {states} states were searched");
}

/// Searches two worlds: a world with atomic commit and one fault of each kind, and a world with staged commit, a crash,
/// a pause and inconclusive answers.
fn check_both_commit_modes(class: ModelClass) {
    check_all_states(Config::for_class(class));
    check_all_states(Config { lost_commits: 0, inconclusive_answers: true, ..Config::for_class(class).staged() });
}

/// I1, I80, I81, I82, I83.
#[test]
fn protocol_holds_for_opaque_calls() {
    check_both_commit_modes(ModelClass::Opaque);
}

/// I1, I80, I81, I82, I83.
#[test]
fn protocol_holds_for_queryable_calls() {
    check_both_commit_modes(ModelClass::Queryable);
}

/// I1, I80, I81, I82, I83, I171.
#[test]
fn protocol_holds_for_keyed_calls() {
    check_both_commit_modes(ModelClass::Keyed);
}

#[test]
fn protocol_holds_for_reads() {
    check_all_states(Config { lost_commits: 0, ..Config::for_class(ModelClass::Read) });
    check_all_states(Config { lost_commits: 0, ..Config::for_class(ModelClass::Read).staged() });
}

/// The protocol also holds with each of three disturbances at any moment. The tool does not know the outcome, the tool
/// no longer recognizes the key, or the job is cancelled.
#[test]
fn protocol_holds_with_inconclusive_answers_and_cancellation() {
    for class in [ModelClass::Keyed, ModelClass::Queryable, ModelClass::Opaque] {
        let few = Config { pauses: 0, lost_commits: 0, ..Config::for_class(class) };
        check_all_states(Config { inconclusive_answers: true, ..few.clone() });
        check_all_states(Config { cancel: true, ..few.clone() });
        check_all_states(Config { cancel: true, ..few.staged() });
    }
}

#[test]
fn protocol_holds_for_consecutive_calls() {
    let calls = vec![ModelClass::Queryable, ModelClass::Opaque];
    check_all_states(Config { calls, pauses: 0, lost_commits: 0, ..Config::for_class(ModelClass::Opaque) });
}

/// The protocol holds if the answer of any write of a staged commit is lost.
#[test]
fn protocol_holds_if_staged_commit_answers_are_lost() {
    for class in [ModelClass::Keyed, ModelClass::Queryable, ModelClass::Opaque] {
        check_all_states(Config { pauses: 0, ..Config::for_class(class).staged() });
    }
}

#[test]
fn protocol_holds_for_three_workers_and_three_tries() {
    for class in [ModelClass::Keyed, ModelClass::Queryable, ModelClass::Opaque] {
        check_all_states(Config { workers: 3, tries: 3, lost_commits: 0, crashes: 0, ..Config::for_class(class) });
    }
}

/// Searches larger worlds. The search takes minutes and gigabytes of memory. Run with `cargo test -p latchwork-model
/// --release --test search -- --ignored --nocapture`.
#[test]
#[ignore = "takes minutes; run by .ci/long"]
fn protocol_holds_in_larger_worlds() {
    for class in [ModelClass::Opaque, ModelClass::Queryable, ModelClass::Keyed, ModelClass::Read] {
        let more = Config { inconclusive_answers: true, cancel: true, ..Config::for_class(class) };
        check_all_states(Config { crashes: 2, lost_commits: 0, tries: 3, ..more.clone() });
        check_all_states(Config { pauses: 2, lost_commits: 0, crashes: 0, workers: 3, ..more.clone() });
        check_all_states(Config::for_class(class).staged());
        check_all_states(Config { lost_commits: 0, ..more.staged() });
        if class != ModelClass::Read {
            let free = Config { own_pace: true, crashes: 0, lost_commits: 0, ..Config::for_class(class) };
            check_all_states(Config { suspensions: 1, ..free.clone() });
            check_all_states(free.staged());
        }
    }
    let calls = vec![ModelClass::Queryable, ModelClass::Opaque];
    check_all_states(Config { calls, lost_commits: 0, ..Config::for_class(ModelClass::Opaque) });
}

/// I115: the protocol also holds with `own_pace`, the configuration with which traces of simulated workers are
/// checked. Workers may at any time reload the job, read the inbox, release the job or make it wait. People may
/// repeat their requests.
#[test]
fn protocol_holds_for_workers_at_their_own_pace() {
    let check = |class: ModelClass| {
        let free = Config { own_pace: true, lost_commits: 0, ..Config::for_class(class) };
        check_all_states(Config {
            pauses: 0,
            suspensions: 1,
            inconclusive_answers: true,
            max_repeated_requests: 2,
            ..free.clone()
        });
        check_all_states(Config { pauses: 0, suspensions: 1, cancel: true, ..free.clone().staged() });
        // The world with a pause is the largest. This test searches that world for one class only. The test of larger
        // worlds searches it for all classes.
        if class == ModelClass::Queryable {
            // `suspensions` also limits the number of times that a worker adds the inbox row of a late answer again.
            check_all_states(Config { crashes: 0, suspensions: 1, ..free });
        }
    };
    // Reads are left out. A read whose answer is not kept can be repeated without end, so the search would not finish.
    std::thread::scope(|scope| {
        scope.spawn(|| check(ModelClass::Queryable));
        [ModelClass::Opaque, ModelClass::Keyed].into_iter().for_each(check);
    });
}

/// I83, I192: every path ends, and the job is finished at the end of the path.
#[test]
fn every_path_ends_with_a_finished_job() {
    for class in [ModelClass::Opaque, ModelClass::Queryable, ModelClass::Keyed] {
        let few =
            Config { pauses: 0, lost_commits: 0, inconclusive_answers: true, cancel: true, ..Config::for_class(class) };
        check_paths_end(few.staged());
        check_paths_end(Config { crashes: 0, lost_commits: 0, tries: 3, ..Config::for_class(class) });
        check_paths_end(Config { crashes: 0, pauses: 0, ..Config::for_class(class) });
    }
}

fn check_paths_end(config: Config) {
    let states = walk(&Protocol(config)).unwrap_or_else(|circle| panic!("{circle:#?}"));
    assert!(states > 100, "only {states} states were searched");
}
