//! Table of the limits of plugins: its page, its command, and the tests of its edges.

use serde_json::{Value, json};

use latchwork_core::model::bounds::BOUNDS;

use super::text_files::{assert_none, rust_files};
use crate::support::checkout::root;
use crate::support::test_env::TestEnv;

const PAGE: &str = "docs/reference/limits.md";
/// Lines between a comment and the attribute of its test, at most.
const COMMENT_LINES: usize = 8;

/// I225: the page has the rows of the table. With `LATCH_BLESS=1` the test writes them.
#[test]
fn page_of_limits_has_the_rows_of_the_table() {
    let text = std::fs::read_to_string(root().join(PAGE)).unwrap();
    let (head, rest) = text.split_once("|---|---|---|---|---|\n").expect("a table");
    let after: Vec<&str> = rest.lines().skip_while(|line| line.starts_with('|')).collect();
    let row = |bound: &latchwork_core::model::bounds::Bound| {
        let setting = bound.setting.map_or("–".to_owned(), |setting| format!("`{setting}`"));
        format!("| `{}` | {} | {} | {setting} | {} |\n", bound.name, bound.value, bound.unit, bound.bounds.trim())
    };
    let rows: String = BOUNDS.iter().map(row).collect();
    let current = format!("{head}|---|---|---|---|---|\n{rows}{}\n", after.join("\n"));
    if std::env::var_os("LATCH_BLESS").is_some() {
        std::fs::write(root().join(PAGE), current).unwrap();
        return;
    }
    assert_eq!(text, current, "write the rows with: LATCH_BLESS=1 cargo test -p latchwork-tests page_of_limits");
}

/// I225: the comment of a test cites each row, as in: bound `name`.
#[test]
fn each_limit_is_tested_at_its_edge() {
    let files = rust_files("");
    let is_tested = |name: &str| {
        let cited = format!("`{name}`");
        files.iter().any(|file| {
            let lines: Vec<&str> = file.tests().lines().map(str::trim).collect();
            let cites = |at: usize| {
                let is_citation =
                    lines[at].starts_with("///") && lines[at].contains("bound") && lines[at].contains(&cited);
                let mut next = lines[at..].iter().take(COMMENT_LINES);
                is_citation && next.any(|line| *line == "#[test]" || *line == "#[tokio::test]")
            };
            (0..lines.len()).any(cites)
        })
    };
    let untested = BOUNDS.iter().filter(|bound| !is_tested(bound.name)).map(|bound| bound.name.to_owned());
    assert_none("no test cites these limits", untested.collect());
}

/// I225: the program shows every row.
#[test]
fn doctor_shows_every_limit() {
    let place = TestEnv::configured("", vec![]);
    let shown = place.latch(&["doctor", "--limits", "--json"]);
    let rows = shown.json()["limits"].as_array().cloned().unwrap_or_default();
    let names: Vec<&Value> = rows.iter().map(|row| &row["name"]).collect();
    assert_eq!(names, BOUNDS.iter().map(|bound| json!(bound.name)).collect::<Vec<_>>().iter().collect::<Vec<_>>());
    assert!(rows.iter().zip(BOUNDS).all(|(row, bound)| row["value"] == json!(bound.value)), "{rows:?}");
    let text = place.latch(&["doctor", "--limits"]);
    let is_shown = |bound: &latchwork_core::model::bounds::Bound| {
        text.stdout.contains(bound.name) && text.stdout.contains(&bound.value.to_string())
    };
    assert!(text.code == 0 && BOUNDS.iter().all(is_shown), "{}", text.stdout);
    assert!(!place.dir.join(".latch").exists());
}
