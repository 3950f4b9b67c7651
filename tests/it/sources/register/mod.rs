//! Register of guarantees: its rows, and the tests that cite them.

mod citations;
mod page;
mod security_page;

use std::collections::{BTreeMap, BTreeSet};

use super::text_files::{assert_none, rust_files};
use crate::support::checkout::root;
use citations::{SourceTest, mentioned_numbers, numbers_in, source_tests, tests_of_file};
use page::{Fence, Guarantee, REGISTER, Register};

/// Command that writes the column of tests.
const BLESS: &str = "LATCH_BLESS=1 cargo test -p latchwork-tests column_of_tests";

/// Returns, for each guarantee, the files with tests that cite the guarantee.
fn citing_files(tests: &[SourceTest]) -> BTreeMap<u32, BTreeSet<&str>> {
    let mut files: BTreeMap<u32, BTreeSet<&str>> = BTreeMap::new();
    for test in tests {
        for number in &test.cited {
            files.entry(*number).or_default().insert(&test.path);
        }
    }
    files
}

/// The column of tests lists the files with citing tests. With `LATCH_BLESS=1` the test writes the column instead of
/// comparing it.
#[test]
fn column_of_tests_follows_the_citations() {
    let (register, tests) = (Register::read(), source_tests());
    let current = register.with_tests(&citing_files(&tests));
    if std::env::var_os("LATCH_BLESS").is_some() {
        std::fs::write(root().join(REGISTER), current).unwrap();
        return;
    }
    let changed = register.text.lines().zip(current.lines()).filter(|(kept, current)| kept != current);
    let rows = changed.map(|(_, row)| row.split('|').nth(1).unwrap_or_default().trim().to_owned());
    assert_none(&format!("these rows of {REGISTER} are out of date; write them with: {BLESS}"), rows.collect());
}

#[test]
fn every_guarantee_is_cited_by_a_test() {
    let tests = source_tests();
    let cited = citing_files(&tests);
    let rows = Register::read().groups.into_iter().flatten();
    let uncited = rows.filter(|row| !cited.contains_key(&row.number)).map(|row| format!("I{}", row.number));
    assert_none("no test cites these guarantees", uncited.collect());
    // Sum over all guarantees of the files that cite them. A smaller sum would mean that the scanner misses citations.
    assert!(cited.values().map(BTreeSet::len).sum::<usize>() >= 400, "{cited:?}");
}

/// The numbers of the register ascend in each group, and each number occurs once. The page and the tests mention only
/// numbers of the register.
#[test]
fn every_mentioned_guarantee_is_in_the_register() {
    let register = Register::read();
    let mut stated = BTreeSet::new();
    for group in &register.groups {
        let numbers: Vec<u32> = group.iter().map(|guarantee| guarantee.number).collect();
        // Gaps are allowed, because the number of a removed guarantee is never used again.
        assert!(numbers.is_sorted_by(|a, b| a < b), "in order, each once: {numbers:?}");
        for number in numbers {
            assert!(stated.insert(number), "I{number} has two rows in {REGISTER}");
        }
    }
    assert!(register.groups.len() >= 10 && stated.len() >= 140, "{} numbers", stated.len());

    let mut mentioned: BTreeMap<u32, String> = BTreeMap::new();
    for number in numbers_in(&register.text) {
        mentioned.entry(number).or_insert_with(|| REGISTER.to_owned());
    }
    for file in rust_files("") {
        for number in mentioned_numbers(&file) {
            mentioned.entry(number).or_insert_with(|| file.path.clone());
        }
    }
    let unknown = mentioned.iter().filter(|(n, _)| !stated.contains(n)).map(|(n, path)| format!("I{n} in {path}"));
    assert_none("these guarantees are not in the register", unknown.collect());
}

/// Each row has a short statement and names files that exist.
#[test]
fn every_guarantee_names_files_that_exist() {
    for Guarantee { number, statement, files } in Register::read().groups.into_iter().flatten() {
        let words = statement.split_whitespace().count();
        assert!((3..=20).contains(&words), "I{number} has {words} words, at most 20 are allowed: {statement}");
        assert!(!files.is_empty(), "I{number} names no file that enforces it");
        for file in files {
            assert!(root().join(&file).is_file(), "I{number} names {file}, which does not exist");
        }
    }
}

/// Each fence has a condition and tests, and each of its tests exists.
#[test]
fn every_fence_names_tests_that_exist() {
    let (tests, mut named) = (source_tests(), 0);
    for Fence { name, condition, tests: names } in Register::read().fences {
        assert!(!condition.is_empty(), "a fence without a condition: {name}");
        assert!(!names.is_empty(), "a fence without a test: {name}");
        for test in names {
            assert!(tests.iter().any(|of| of.is_named(&test)), "the fence `{name}` names {test}, which does not exist");
            named += 1;
        }
    }
    assert!(named >= 130, "{named}");
}

/// A citation in the documentation of a test counts for this test alone. A citation at the head of a file or module
/// counts for the tests without a citation of their own. A function that is not a test cites nothing.
#[test]
fn citations_are_found_in_every_form() {
    let text = "//! I1: head.\n\
        /// I2, I3: own.\n#[test]\nfn own() { /* I9 */ }\n\
        #[tokio::test(flavor = \"multi_thread\")]\nasync fn of_head() {}\n\
        /// I4: a helper.\nfn helper() {}\n\
        /// I5: listed in `suite!`.\npub(super) async fn case() {}\n\
        mod inner {\n//! I6.\n#[test]\nfn of_module() {}\n}\n\
        proptest! {\n/// I7: in a macro.\n#[test]\nfn property(x in 0..9) {}\n}\n\
        #[cfg(test)]\nfn only_in_tests() {}\n";
    let found = tests_of_file("a/b.rs", text, &BTreeSet::from([("a/b.rs".to_owned(), "case".to_owned())]));
    let found: Vec<(&str, Vec<u32>)> =
        found.iter().map(|test| (test.name.as_str(), test.cited.iter().copied().collect())).collect();
    assert_eq!(
        found,
        [("own", vec![2, 3]), ("of_head", vec![1]), ("case", vec![5]), ("of_module", vec![6]), ("property", vec![7]),]
    );
}
