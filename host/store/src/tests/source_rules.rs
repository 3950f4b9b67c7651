//! Rules of this crate that are checked on its source text.

use std::fs;
use std::path::{Path, PathBuf};

/// All sqlx functions that send SQL.
const QUERIES: [&str; 14] = [
    "sqlx::query",
    "raw_sql",
    "query_as",
    "query_scalar",
    ".fetch(",
    ".fetch_all(",
    ".fetch_many(",
    ".fetch_one(",
    ".fetch_optional(",
    ".execute(",
    ".execute_many(",
    ".begin(",
    "QueryBuilder",
    ".run_direct(",
];

/// Returns the source files under a folder, without this folder of tests.
fn source_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if !path.is_dir() {
            files.push(path);
        } else if !path.ends_with("tests") {
            files.extend(source_files(&path));
        }
    }
    files
}

/// I5.
#[test]
fn no_statement_bypasses_the_crash_points() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    let mut files = 0;
    for path in source_files(&src) {
        // `sql/statement.rs` is the place where SQL is sent. `measure.rs` writes only to a scratch file without
        // job data, so its statements need no crash points.
        let exempt = ["sql/statement.rs", "measure.rs"].map(|file| src.join(file));
        if exempt.contains(&path) {
            continue;
        }
        files += 1;
        let text = fs::read_to_string(&path).unwrap();
        for (number, line) in text.lines().enumerate() {
            if QUERIES.iter().any(|query| line.contains(query)) {
                found.push(format!("{}:{}: {line}", path.display(), number + 1));
            }
        }
    }
    assert!(files > 50, "the sources were found");
    assert!(found.is_empty(), "send statements only through `sql/statement.rs`:\n{}", found.join("\n"));
}

#[test]
fn statement_names_are_unique() {
    let mut names = crate::STATEMENTS.to_vec();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), crate::STATEMENTS.len());
}
