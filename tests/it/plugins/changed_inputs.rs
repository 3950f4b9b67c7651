//! Files from outside, changed at random: plans, requests, configurations, recipes, cases, evidence files and
//! components. `tests/fuzz/src/targets.rs` has the parsers and what they promise.
//!
//! `PROPTEST_CASES` sets the number of changed files for each parser, 256 by default. `.ci/long fuzz` sets a large
//! number.

use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, TestRunner};

use latchwork_core::evidence;
use latchwork_tooling::history::History;

use crate::plugins::fuzz_targets;
use crate::support::checkout::{root, tracked_files};

/// Pieces of text that have a meaning in one of the formats.
const PIECES: [&str; 20] = [
    "{",
    "}",
    "[",
    "]",
    "[[",
    "\"",
    "\\",
    "\\u0000",
    "\\ud800",
    "\0",
    ":",
    ",",
    "\n",
    "null",
    "-0",
    "1e400",
    "0.1e-1",
    "9007199254740993",
    "{$ref}",
    "\u{feff}",
];

/// One change of a file.
#[derive(Clone, Debug)]
enum Change {
    Replace { at: Index, byte: u8 },
    Insert { at: Index, piece: &'static str },
    Remove { at: Index, len: usize },
    Repeat { at: Index, len: usize, times: usize },
    Copy { from: Index, len: usize, to: Index },
}

impl Change {
    fn apply(&self, bytes: &mut Vec<u8>) {
        let end = |at: usize, len: usize, bytes: &[u8]| (at + len).min(bytes.len());
        match self {
            _ if bytes.is_empty() => {}
            Change::Replace { at, byte } => {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
            Change::Insert { at, piece } => {
                let at = at.index(bytes.len() + 1);
                bytes.splice(at..at, piece.bytes());
            }
            Change::Remove { at, len } => {
                let at = at.index(bytes.len());
                bytes.drain(at..end(at, *len, bytes));
            }
            Change::Repeat { at, len, times } => {
                let at = at.index(bytes.len());
                let piece = bytes[at..end(at, *len, bytes)].repeat(*times);
                bytes.splice(at..at, piece);
            }
            Change::Copy { from, len, to } => {
                let from = from.index(bytes.len());
                let piece = bytes[from..end(from, *len, bytes)].to_vec();
                let to = to.index(bytes.len());
                bytes.splice(to..end(to, *len, bytes), piece);
            }
        }
    }
}

fn any_change() -> impl Strategy<Value = Change> {
    let at = any::<Index>;
    prop_oneof![
        (at(), any::<u8>()).prop_map(|(at, byte)| Change::Replace { at, byte }),
        (at(), prop::sample::select(&PIECES[..])).prop_map(|(at, piece)| Change::Insert { at, piece }),
        (at(), 1..64_usize).prop_map(|(at, len)| Change::Remove { at, len }),
        (at(), 1..8_usize, 1..2_000_usize).prop_map(|(at, len, times)| Change::Repeat { at, len, times }),
        (at(), 1..64_usize, at()).prop_map(|(from, len, to)| Change::Copy { from, len, to }),
    ]
}

/// Returns the tracked files whose path ends with `end`.
fn files(end: &str) -> Vec<Vec<u8>> {
    let names = tracked_files().into_iter().filter(|name| name.ends_with(end));
    let files: Vec<_> = names.map(|name| std::fs::read(root().join(name)).unwrap()).collect();
    assert!(!files.is_empty(), "there are files named {end}");
    files
}

/// Changes the files at random and calls `check` with each original and its changed file.
fn check_changed(files: &[Vec<u8>], check: impl Fn(&[u8], &[u8])) {
    let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::default() });
    let change = (any::<Index>(), prop::collection::vec(any_change(), 1..5));
    let ran = runner.run(&change, |(file, changes)| {
        let original = file.get(files);
        let mut changed = original.clone();
        changes.iter().for_each(|change| change.apply(&mut changed));
        check(original, &changed);
        Ok(())
    });
    if let Err(error) = ran {
        panic!("{error}");
    }
}

#[test]
fn canonical_form_of_changed_json_is_a_fixed_point() {
    check_changed(&files(".json"), |_, text| fuzz_targets::json(text));
}

#[test]
fn changed_plan_is_refused_or_has_a_normal_form() {
    check_changed(&files("plan.json"), |_, text| {
        fuzz_targets::plan(text);
        // The parser of requests must not panic on a changed plan either.
        fuzz_targets::request(text);
    });
}

#[test]
fn changed_configuration_is_read_or_its_problems_are_listed() {
    check_changed(&files("latch.toml"), |_, text| fuzz_targets::config(text));
}

#[test]
fn changed_recipe_is_read_or_its_problems_are_listed() {
    check_changed(&files("latch-plugin.toml"), |_, text| fuzz_targets::recipe(text));
}

#[test]
fn changed_cases_are_read_or_their_problems_are_listed() {
    check_changed(&files("cases.jsonl"), |_, text| fuzz_targets::cases(text));
}

/// I29: no changed evidence file verifies.
#[test]
fn changed_evidence_is_never_intact() {
    check_changed(&files(".evidence.jsonl"), |original, changed| {
        if let Ok(verified) = evidence::verify(changed, None, &|_, _, _| false) {
            assert_eq!(verified.report.intact, original == changed);
        }
        assert!(History::read(changed).is_err() || original == changed);
    });
}

#[test]
fn changed_component_can_be_inspected() {
    check_changed(&files(".wasm"), |_, bytes| fuzz_targets::component(bytes));
}

/// I231: the repository keeps a corpus for each parser. Each corpus also has the inputs of corrected defects, and every
/// input of a corpus is parsed.
#[test]
fn kept_corpora_have_inputs_for_each_parser() {
    let corpora = root().join("tests/fuzz/corpus");
    let mut folders: Vec<_> = std::fs::read_dir(&corpora).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    folders.sort();
    assert_eq!(folders, fuzz_targets::TARGETS.map(|target| target.name), "a folder for each target, in order");
    for target in fuzz_targets::TARGETS {
        let inputs: Vec<_> =
            std::fs::read_dir(corpora.join(target.name)).unwrap().map(|entry| entry.unwrap()).collect();
        assert!(inputs.len() >= 2, "{}", target.name);
        for input in inputs {
            (target.run)(&std::fs::read(input.path()).unwrap());
        }
    }
}
