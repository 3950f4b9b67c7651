//! Table of the limits of plugins: its page, its command, and the tests of its edges.

use serde_json::{Value, json};

use latchwork_core::model::bounds::{BOUNDS, Bound};

use super::text_files::{assert_none, rust_files};
use crate::support::checkout::root;
use crate::support::test_env::TestEnv;

const TABLE: &str = "host/core/src/model/bounds.rs";
const PAGE: &str = "docs/reference/limits.md";
/// Maximum number of lines that are read of the comment of a test.
const COMMENT_LINES: usize = 8;

/// I225: the page has the rows of the table. With `LATCH_BLESS=1` the test writes them.
#[test]
fn page_of_limits_has_the_rows_of_the_table() {
    let text = std::fs::read_to_string(root().join(PAGE)).unwrap();
    let (head, rest) = text.split_once("|---|---|---|---|---|\n").expect("a table");
    let after: Vec<&str> = rest.lines().skip_while(|line| line.starts_with('|')).collect();
    let row = |bound: &Bound| {
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

/// I225: for each row, the comment of a test contains "bound" and the name of the row in backquotes. The test itself
/// uses the constant of the row.
#[test]
fn each_limit_is_tested_at_its_edge() {
    let files = rust_files("");
    let tests: Vec<(String, String)> = files.iter().flat_map(|file| cited_tests(file.tests())).collect();
    let is_tested = |name: &str| {
        let cited = format!("`{name}`");
        tests.iter().any(|(comment, body)| comment.contains(&cited) && has_word(body, &constant(name)))
    };
    let untested = BOUNDS.iter().filter(|bound| !is_tested(bound.name)).map(|bound| bound.name.to_owned());
    assert_none("no test cites these limits and uses their constants", untested.collect());
}

/// Returns the comment about limits and the text of each test that has such a comment.
fn cited_tests(text: &str) -> Vec<(String, String)> {
    let lines: Vec<&str> = text.lines().collect();
    let is_citation =
        |line: &str| line.trim().starts_with("///") && (line.contains("bound `") || line.contains("bounds `"));
    let test = |at: usize| {
        let comment = lines[at..].iter().take_while(|line| line.trim().starts_with("///"));
        let comment: Vec<&str> = comment.take(COMMENT_LINES).copied().collect();
        let attribute = lines.get(at + comment.len())?;
        let is_test = attribute.trim() == "#[test]" || attribute.trim().starts_with("#[tokio::test");
        let end = attribute.replace(attribute.trim(), "}");
        let body = lines[at..].iter().skip(comment.len()).take_while(|line| **line != end);
        is_test.then(|| (comment.concat(), body.copied().collect::<Vec<_>>().join("\n")))
    };
    (0..lines.len()).filter(|at| is_citation(lines[*at])).filter_map(test).collect()
}

/// Name of the constant of a row.
fn constant(name: &str) -> String {
    name.to_uppercase()
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).any(|found| found == word)
}

/// I251: the code that enforces a limit uses the constant of its row. The table therefore shows the enforced value.
#[test]
fn each_limit_is_enforced_with_the_constant_of_its_row() {
    let mut lines = Vec::new();
    for file in rust_files("host/") {
        if file.path != TABLE {
            lines.extend(file.product_lines().map(|(_, line)| line.to_owned()));
        }
    }
    let product = lines.join("\n");
    let unused = BOUNDS.iter().filter(|bound| !has_word(&product, &constant(bound.name)));
    assert_none("no code uses the constants of these limits", unused.map(|bound| bound.name.to_owned()).collect());
}

/// I251: the page of the configuration has the defaults of the table.
#[test]
fn page_of_the_configuration_has_the_defaults_of_the_table() {
    let page = std::fs::read_to_string(root().join("docs/reference/configuration.md")).unwrap();
    let wrong = BOUNDS.iter().filter_map(|bound| {
        let key = bound.setting?.strip_prefix("limits.")?;
        let row = format!("| `{key}` | `{}` |", written(bound));
        (!page.contains(&row)).then_some(row)
    });
    assert_none("these rows are not in the page of the configuration", wrong.collect());
}

/// Formats a value as `latch.toml` has it.
fn written(bound: &Bound) -> String {
    match bound.unit {
        "bytes" => format!("\"{}MiB\"", bound.value >> 20),
        "milliseconds" => format!("\"{}s\"", bound.value / 1_000),
        _ => {
            let digits = bound.value.to_string();
            let groups = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy);
            groups.collect::<Vec<_>>().join("_")
        }
    }
}

/// I225: the program shows every row.
#[test]
fn doctor_shows_every_limit() {
    let place = TestEnv::configured("", vec![]);
    let listed = place.latch(&["doctor", "--limits", "--json"]);
    let rows = listed.json()["limits"].as_array().cloned().unwrap_or_default();
    let names: Vec<&Value> = rows.iter().map(|row| &row["name"]).collect();
    assert_eq!(names, BOUNDS.iter().map(|bound| json!(bound.name)).collect::<Vec<_>>().iter().collect::<Vec<_>>());
    assert!(rows.iter().zip(BOUNDS).all(|(row, bound)| row["value"] == json!(bound.value)), "{rows:?}");
    let text = place.latch(&["doctor", "--limits"]);
    let is_listed = |bound: &Bound| text.stdout.contains(bound.name) && text.stdout.contains(&bound.value.to_string());
    assert!(text.code == 0 && BOUNDS.iter().all(is_listed), "{}", text.stdout);
    assert!(!place.dir.join(".latch").exists());
}
