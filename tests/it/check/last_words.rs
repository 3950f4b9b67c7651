//! Findings about tools that end with a trap or an exception. A finding shows the functions, the place in the source,
//! and the last texts that the tool wrote.

use serde_json::{Value, json};

use crate::support::plugins::sdk_tools::{built_project, run_latch};

/// Builds a tool from this source, runs one case in which the tool fails, and returns the finding.
fn finding(lang: &str, (file, source): (&str, &str)) -> Value {
    let recipe = format!("[plugin]\nname = \"it\"\nkind = \"tool\"\nversion = \"0.1.0\"\nlang = {lang:?}\n");
    let folder = built_project(lang, "tool", Some(&[(file, source), ("latch-plugin.toml", &recipe)]));
    let case = json!({
        "name": "wrong", "operator": "Text.Check", "input": { "text": "wrong\u{1b}[31m" },
        "secrets": { "TOKEN": "hunter2-hunter2" },
    });
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("cases.jsonl"), case.to_string()).unwrap();
    std::fs::copy(folder.join("build/it.wasm"), place.path().join("it.wasm")).unwrap();
    let report = run_latch(place.path(), &["plugin", "check", "it.wasm", "--cases", "cases.jsonl", "--json"]).json();
    let findings = report["findings"].as_array().unwrap_or_else(|| panic!("{report:#}"));
    assert_eq!((findings.len(), &findings[0]["rule"]), (1, &json!("D100")), "{findings:#?}");
    findings[0].clone()
}

/// I242, I243: the finding about a trap of a tool in C shows the text that the tool wrote last, without its secret, and
/// the names of the functions.
#[test]
fn trap_in_c_shows_functions_and_last_words() {
    let found = finding("c", ("plugin.c", include_str!("last_words/plugin.c")));
    let message = found["message"].as_str().unwrap();
    assert!(message.contains("called from __assert_fail, broken_answer"), "{message}");
    let (_, words) = message.split_once("its last words: ").unwrap_or_else(|| panic!("{message}"));
    assert!(words.starts_with("wrong [31m with <secret TOKEN> / Assertion failed:"), "{words}");
    assert!(words.contains("plugin.c") && !words.contains("latch-secret"), "{words}");
}

/// I244: the finding about an exception of a tool in JavaScript shows file and line of the source, in the message and
/// in the frames.
#[test]
fn exception_in_javascript_shows_file_and_line() {
    let found = finding("js", ("src/plugin.js", include_str!("last_words/plugin.js")));
    let value = found["found"].as_str().unwrap();
    assert!(value.contains("of undefined (at src/plugin.js:6)"), "{value}");
    let functions: Vec<&str> = found["functions"].as_array().unwrap().iter().map(|f| f.as_str().unwrap()).collect();
    assert_eq!(functions[..2], ["brokenAnswer (src/plugin.js:6)", "<anonymous> (src/plugin.js:12)"], "{functions:?}");
    assert!(functions[2].contains("latchwork/operators.js:"), "{functions:?}");
}
