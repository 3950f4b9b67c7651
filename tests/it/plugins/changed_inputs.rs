//! Files from outside, changed at random: plans, requests, configurations, recipes, cases, evidence files and
//! components. A parser accepts a changed file or states the reason for its refusal, and never panics. An accepted file
//! has the properties that its parser promises.
//!
//! `PROPTEST_CASES` sets the number of changed files for each parser, 256 by default. `.ci/long fuzz` sets a large
//! number.

use std::path::Path;

use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, TestRunner};

use latchwork::config;
use latchwork::config::LoadOptions;
use latchwork_core::encoding::canon;
use latchwork_core::plan::{Catalog, OperatorInfo};
use latchwork_core::{evidence, plan};
use latchwork_tooling::build::Recipe;
use latchwork_tooling::history::History;
use latchwork_tooling::inspect::{CallGraph, ComponentInfo};

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

/// Catalog without plugins. With this catalog, the check of a plan uses the effects that the plan declares.
struct NoPlugins;

impl Catalog for NoPlugins {
    fn operator(&self, _: &str) -> Option<OperatorInfo> {
        None
    }

    fn names(&self) -> Vec<String> {
        vec![]
    }

    fn knows_operators(&self) -> bool {
        false
    }
}

#[test]
fn canonical_form_of_changed_json_is_a_fixed_point() {
    check_changed(&files(".json"), |_, text| {
        let Ok(canonical) = canon::canonicalize(text) else { return };
        assert_eq!(canon::canonicalize(&canonical).as_deref(), Ok(&*canonical));
        assert!(canon::parse_strict(&canonical).is_ok());
    });
}

#[test]
fn changed_plan_is_refused_or_has_a_normal_form() {
    check_changed(&files("plan.json"), |_, text| {
        match plan::check(text, &NoPlugins) {
            Ok(checked) => {
                let again = plan::check(&checked.to_canonical(), &NoPlugins).expect("a normal form is a valid plan");
                assert_eq!(again.hash(), checked.hash());
            }
            Err(violations) => assert!(!violations.is_empty()),
        }
        // The parser of requests must not panic on a changed plan either.
        drop(plan::check_request(text, &NoPlugins));
    });
}

#[test]
fn changed_configuration_is_read_or_its_problems_are_listed() {
    let folder = tempfile::tempdir().unwrap();
    check_changed(&files("latch.toml"), |_, text| {
        std::fs::write(folder.path().join(config::FILE_NAME), text).unwrap();
        let options = LoadOptions { cwd: folder.path(), config: None, db: None, plan_folder: None, env: &|_| None };
        if let Err(errors) = config::Config::load(&options) {
            assert!(!errors.0.is_empty());
        }
    });
}

#[test]
fn changed_recipe_is_read_or_its_problems_are_listed() {
    check_changed(&files("latch-plugin.toml"), |_, text| {
        let text = String::from_utf8_lossy(text);
        if let Err(problems) = Recipe::parse(&text, Path::new("latch-plugin.toml")) {
            assert!(!problems.is_empty());
        }
    });
}

#[test]
fn changed_cases_are_read_or_their_problems_are_listed() {
    check_changed(&files("cases.jsonl"), |_, text| {
        if let Err(problems) = latchwork_tooling::check::parse("cases.jsonl", text) {
            assert!(!problems.is_empty());
        }
    });
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
    check_changed(&files(".wasm"), |_, bytes| {
        let info = ComponentInfo::read(bytes);
        drop((info.imports(), info.exports(), info.features(), info.toolchain()));
        drop(CallGraph::link(bytes).find_paths(&[]));
    });
}
