//! Keys on `docs/reference/json.md` against the documents that commands write, and against the types of the response.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{assert_none, code_spans, differences, read, rows};
use crate::support::test_env::{TestEnv, step};

const PAGE: &str = "docs/reference/json.md";

/// Rows of the page, each with commands whose documents have the row's keys. `JOB` is the id of a finished job.
const COMMANDS: [(&str, &[&str]); 13] = [
    ("latch run --detach", &["run plan.json --detach"]),
    ("latch worker", &["worker --until-idle"]),
    ("latch job list", &["job list"]),
    ("latch job output", &["job output JOB"]),
    ("latch job events", &["job events JOB"]),
    ("latch job costs", &["job costs", "job costs JOB"]),
    ("latch job replay", &["job replay JOB", "job replay --all"]),
    ("latch job export", &["job export JOB --out job.jsonl"]),
    ("latch plan check", &["plan check plan.json"]),
    ("latch plugin list", &["plugin list"]),
    ("latch plugin prune", &["plugin prune"]),
    ("latch key new", &["key new signing.key", "key show signing.key"]),
    ("latch explain", &["explain L0003", "explain"]),
];

/// Keys of rows that the documents of the test do not have, with the reason.
const ABSENT: [(&str, &str, &str); 6] = [
    ("latch job list", "duration_us", "the listed job has not ended"),
    ("latch job list", "wake_at_us", "no job waits for a time"),
    ("latch job replay", "not_checked", "no limit ended a step"),
    ("latch job events", "prev_hash", "first event of a chain"),
    ("latch plugin list", "error", "every plugin is loaded"),
    ("latch explain", "codes", "a document without a code"),
];

/// Adds the keys of all objects in a value.
fn add_keys(value: &Value, keys: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            keys.extend(fields.keys().cloned());
            fields.values().for_each(|field| add_keys(field, keys));
        }
        Value::Array(items) => items.iter().for_each(|item| add_keys(item, keys)),
        _ => {}
    }
}

/// Returns the keys that a text names between backquotes.
fn named_keys(text: &str) -> BTreeSet<String> {
    let is_key = |span: &&str| span.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    code_spans(text).into_iter().filter(is_key).map(str::to_owned).collect()
}

#[test]
fn documents_have_the_keys_of_the_page() {
    let place = TestEnv::witness("atomic").with_plan(&[step("read", "Effect.Read", &[], json!({ "note": 1 }))]);
    assert_eq!(place.latch(&["run", "plan.json"]).code, 0);
    let job = place.only_job()["job_id"].as_str().unwrap().to_owned();
    let page = read(PAGE);
    let mut found = Vec::new();
    for (row, commands) in COMMANDS {
        let mark = format!("`{row}`");
        let cells = rows(&page).into_iter().find(|cells| cells[0].starts_with(&mark));
        let named = named_keys(cells.unwrap_or_else(|| panic!("{PAGE} has no row {row}"))[1]);
        let (mut outer, mut all) = (BTreeSet::new(), BTreeSet::new());
        for command in commands {
            let args = command.replace("JOB", &job);
            let args: Vec<&str> = args.split(' ').chain(["--json"]).collect();
            let ran = place.latch(&args);
            assert_eq!(ran.code, 0, "{command}: {} {}", ran.stdout, ran.stderr);
            outer.extend(ran.json().as_object().expect("a document is an object").keys().cloned());
            add_keys(&ran.json(), &mut all);
        }
        all.extend(ABSENT.iter().filter(|(of, _, _)| *of == row).map(|(_, key, _)| (*key).to_owned()));
        found.extend(outer.difference(&named).map(|key| format!("{row}: {key} is not on the page")));
        found.extend(named.difference(&all).map(|key| format!("{row}: the document has no {key}")));
    }
    assert_none(PAGE, &found);
}

/// Returns the names and the fields of the structures in a source, as they are written in JSON.
fn structures(source: &str) -> Vec<(&str, BTreeSet<String>)> {
    let parts = source.split("\npub struct ").skip(1).filter_map(|part| part.split_once(" {\n"));
    let read = |(name, rest)| -> (&str, BTreeSet<String>) {
        let body: &str = rest;
        let (mut fields, mut renamed, mut flat) = (BTreeSet::new(), None, false);
        for line in body.lines().take_while(|line| *line != "}").map(str::trim) {
            if let Some(rest) = line.strip_prefix("#[serde(rename = \"") {
                renamed = rest.split('"').next();
            } else if line.starts_with("#[serde(flatten") {
                flat = true;
            } else if let Some((field, _)) = line.strip_prefix("pub ").and_then(|rest| rest.split_once(": ")) {
                fields.extend((!flat).then(|| renamed.unwrap_or(field).to_owned()));
                (renamed, flat) = (None, false);
            }
        }
        (name, fields)
    };
    parts.map(read).collect()
}

/// Every key of the response is on the page, and the table of the response has no other row.
#[test]
fn page_lists_the_keys_of_the_response() {
    let source = read("host/core/src/response/views.rs");
    let structures = structures(&source);
    let page = read(PAGE);
    let (_, response) = page.split_once("\n## The response of a job\n").expect("the page has the response");
    let (response, _) = response.split_once("\n## ").expect("other documents follow");
    let (outer, inner): (Vec<_>, Vec<_>) = structures.iter().partition(|(name, _)| *name == "Response");
    let keys = rows(response).iter().flat_map(|cells| named_keys(cells[0])).collect();
    let mut found = differences(&outer[0].1, &keys, "the response");
    let named = named_keys(response);
    for (name, fields) in &inner {
        found.extend(fields.difference(&named).map(|field| format!("{name}: {field} is not on the page")));
    }
    assert!(inner.len() > 8, "the views are there");
    assert_none(PAGE, &found);
}

#[test]
fn fields_of_a_structure_are_read_as_in_json() {
    let source = "\npub struct A {\n    /// Text.\n    #[serde(rename = \"b\")]\n    pub a: u32,\n    #[serde(flatten)]\n    \
                  pub c: D,\n    pub e: Vec<u8>,\n}\n";
    assert_eq!(structures(source), [("A", BTreeSet::from(["b".to_owned(), "e".to_owned()]))]);
}
