//! Each static rule with a component that breaks exactly this rule, and components that break none.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use crate::inspect::featured;
use crate::made::{Made, OPERATOR, Operator, STEP, TOOL, WALL_CLOCK};
use crate::program::run;

/// Checks these bytes and returns the findings of static rules. `entry` is the text of the plugin's
/// configuration entry, or empty.
fn checked(bytes: &[u8], entry: &str) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("it.wasm"), bytes).unwrap();
    if !entry.is_empty() {
        let text = format!("[[plugin]]\nname = \"it\"\nsource = \"it.wasm\"\n{entry}\n");
        std::fs::write(folder.path().join("latch.toml"), text).unwrap();
    }
    checked_in(folder.path(), "it.wasm")
}

fn checked_in(folder: &Path, file: &str) -> Vec<Value> {
    let ran = run(folder, &["plugin", "check", file, "--json"]);
    let report = ran.json();
    let found = report["findings"].as_array().unwrap_or_else(|| panic!("{report:#} {}", ran.stderr)).clone();
    let violated = found.iter().any(|finding| finding["severity"] == "violation");
    assert_eq!((ran.code == 1, report["passed"] == false), (violated, violated), "{report:#}");
    found.into_iter().filter(|finding| finding["rule"].as_str().unwrap() < "D050").collect()
}

fn rules(found: &[Value]) -> BTreeSet<&str> {
    found.iter().map(|finding| finding["rule"].as_str().unwrap()).collect()
}

#[track_caller]
fn only(rule: &str, bytes: &[u8], entry: &str) -> Vec<Value> {
    let found = checked(bytes, entry);
    assert_eq!(rules(&found), BTreeSet::from([rule]), "{found:#?}");
    found
}

/// I68: components that break no rule have no findings.
#[test]
fn good_components_break_no_static_rule() {
    let keyed = Operator { effects: &[4], window: 60, ..OPERATOR };
    for made in [STEP, TOOL, Made { operators: &[keyed], ..TOOL }] {
        assert_eq!(checked(&made.component(), ""), Vec::<Value>::new());
    }
}

/// I68: bytes that no host runs.
#[test]
fn forms_and_features_are_each_a_rule() {
    for bytes in [&b""[..], b"text", &STEP.module(), &STEP.component()[..1000]] {
        let found = only("D001", bytes, "");
        assert!(found[0]["hint"].is_string(), "{found:#?}");
    }
    for (word, bytes) in featured() {
        let found = only("D005", &bytes, "");
        assert!(!found[0]["hint"].as_str().unwrap().is_empty(), "{word}: {found:#?}");
    }
}

/// I68: imports and exports that belong to no world.
#[test]
fn what_is_of_no_world_is_found_with_its_path() {
    let step =
        "package test:made; world made { include latchwork:plugin/step@0.1.0; import wasi:clocks/wall-clock@0.2.6; }";
    let wit = format!("{step} {WALL_CLOCK}");
    let calls: &[(&str, &str, &str)] = &[("run", "wasi:clocks/wall-clock@0.2.6", "now")];
    let found = only("D002", &Made { wit: &wit, calls, ..STEP }.component(), "");
    assert_eq!(found[0]["message"], "it imports wasi:clocks/wall-clock@0.2.6");
    assert!(found[0]["hint"].as_str().unwrap().contains("latchwork:plugin/clock"), "{found:#?}");
    let functions = serde_json::json!(["run_of_the_plugin", "made::helper0", "wasi:clocks/wall-clock@0.2.6#now"]);
    assert_eq!(found[0]["functions"], functions);
    assert_eq!(checked(&Made { wit: &wit, calls, ..STEP }.component(), "wasi = \"virtual\""), Vec::<Value>::new());

    let found = checked(&Made { wit: &wit, calls, names: false, ..STEP }.component(), "");
    assert_eq!(rules(&found), BTreeSet::from(["D002", "D016"]), "{found:#?}");

    let only_plugin = "package test:made; world made { export latchwork:plugin/plugin@0.1.0; }";
    let found = only("D003", &Made { wit: only_plugin, ..STEP }.component(), "");
    assert!(found[0]["expected"].as_str().unwrap().contains("run: func(operator: string"), "{found:#?}");

    let other =
        "package test:made; world made { export latchwork:plugin/plugin@0.1.0; export latchwork:plugix/run@0.1.0; }
        package latchwork:plugix@0.1.0 { interface run { run: func(operator: string) -> string; } }";
    let found = only("D006", &crate::inspect::ours(&Made { wit: other, ..STEP }.component()), "");
    assert!(found[0]["found"].as_str().unwrap().contains("run: func(operator: string) -> string"), "{found:#?}");

    let old = crate::inspect::replace_all(&STEP.component(), b"@0.1.0", b"@0.2.0");
    only("D007", &old, "");

    let http = "package test:made; world made { include latchwork:plugin/tool@0.1.0; import wasi:http/outgoing-handler@0.2.6; }
        package wasi:http@0.2.6 { interface outgoing-handler { handle: func() -> u32; } }";
    let calls: &[(&str, &str, &str)] = &[("invoke", "wasi:http/outgoing-handler@0.2.6", "handle")];
    let found = only("D017", &Made { wit: http, calls, ..TOOL }.component(), "grants = { kv = \"it\" }");
    assert!(found[0]["hint"].as_str().unwrap().contains("http = "), "{found:#?}");

    only("D018", &STEP.component(), "grants = { kv = \"it\" }");
    only("D018", &TOOL.component(), "wasi = \"virtual\"");
}

/// I68: each rule about manifests, with a manifest that breaks it.
#[test]
fn manifests_are_each_held_against_a_rule() {
    let of = |operators: &'static [Operator], made: Made<'static>| Made { operators, ..made }.component();
    const NAMED: Operator = Operator { name: "a / b", ..OPERATOR };
    only("D004", &of(&[NAMED], STEP), "");
    const DONE: Operator = Operator { outcome_status: Some("done"), ..OPERATOR };
    only("D004", &of(&[DONE], STEP), "");
    only("D004", &of(&[], STEP), "");
    let trap: &[(&str, &str, &str)] = &[("describe", "latchwork:plugin/rng@0.1.0", "next-u32")];
    let found = only("D009", &Made { calls: trap, ..STEP }.component(), "");
    assert!(found[0]["message"].as_str().unwrap().contains("latchwork:plugin/rng"), "{found:#?}");
    // The version string of this manifest is outside of the memory.
    let huge = Made { version: "1.0.0", ..STEP }.component();
    let version = [&1024u32.to_le_bytes()[..], &5u32.to_le_bytes()].concat();
    let lie = [&1024u32.to_le_bytes()[..], &u32::MAX.to_le_bytes()].concat();
    only("D008", &crate::inspect::replace_all(&huge, &version, &lie), "");
    only("D010", &of(&[OPERATOR, OPERATOR], STEP), "");
    const NO_EFFECT: Operator = Operator { effects: &[], ..OPERATOR };
    only("D011", &of(&[NO_EFFECT], STEP), "");
    const PURE: Operator = Operator { effects: &[4], determinism: 0, ..OPERATOR };
    only("D011", &of(&[PURE], TOOL), "");
    const SCHEMA: Operator = Operator { input: "{\"type\": \"objekt\"}", ..OPERATOR };
    only("D012", &of(&[SCHEMA], STEP), "");
    only("D013", &Made { version: "one", ..STEP }.component(), "");
    const WINDOW: Operator = Operator { window: 60, ..OPERATOR };
    only("D014", &of(&[WINDOW], TOOL), "");
    const SETTLES: Operator = Operator { effects: &[3], settling: 500, ..OPERATOR };
    only("D014", &of(&[SETTLES], TOOL), "");
    const KEYED: Operator = Operator { effects: &[3], window: 60, ..OPERATOR };
    only("D014", &of(&[KEYED], STEP), "");
    let accountable = "package test:made; world made { include latchwork:plugin/tool-accountable@0.1.0; }";
    let found = only("D014", &Made { wit: accountable, ..TOOL }.component(), "");
    assert!(found[0]["message"].as_str().unwrap().contains("reconcile, verify, compensate"), "{found:#?}");
    let found = only("D015", &Made { ballast: 33 << 20, ..STEP }.component(), "");
    assert_eq!(found[0]["severity"], "warning");
    const SILENT: Operator = Operator { description: " ", ..OPERATOR };
    only("D019", &of(&[SILENT], STEP), "");
}
