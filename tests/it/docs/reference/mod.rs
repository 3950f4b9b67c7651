//! Pages of `docs/reference` against the program: commands and flags, documents in JSON, keys of the recipe, interfaces.

mod commands;
mod documents;
mod interfaces;
mod recipe;

use std::collections::BTreeSet;

use crate::support::checkout::root;

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn assert_none(rule: &str, found: &[String]) {
    assert!(found.is_empty(), "{rule}:\n  {}", found.join("\n  "));
}

/// Returns the texts between backquotes.
fn code_spans(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// Returns the cells of each line of a page that is a row of a table.
fn rows<'a>(page: &'a str) -> Vec<Vec<&'a str>> {
    let cells = |line: &'a str| line[1..].trim_end().trim_end_matches('|').split(" | ").map(str::trim).collect();
    page.lines().filter(|line| line.starts_with("| ")).map(cells).collect()
}

/// Returns the entries that only one of the two sets has, with the name of this set.
fn differences(program: &BTreeSet<String>, page: &BTreeSet<String>, of: &str) -> Vec<String> {
    let undocumented = program.difference(page).map(|name| format!("{of}: {name} is not on the page"));
    let unknown = page.difference(program).map(|name| format!("{of}: the program has no {name}"));
    undocumented.chain(unknown).collect()
}
