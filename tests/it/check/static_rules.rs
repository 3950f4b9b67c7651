//! Each static rule with a component that breaks exactly this rule, and components that break no rule.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use crate::support::plugins::component_builder::{
    ComponentSpec, OperatorSpec, VALID_OPERATOR, VALID_STEP, VALID_TOOL, WALL_CLOCK_WIT,
};
use crate::support::plugins::component_edits;
use crate::support::plugins::component_edits::components_with_forbidden_features;
use crate::support::program::run_latch;

/// Checks these bytes and returns the findings of static rules. `entry` is the text of the plugin's
/// configuration entry, or empty.
fn static_findings(bytes: &[u8], entry: &str) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("it.wasm"), bytes).unwrap();
    if !entry.is_empty() {
        let text = format!("[[plugin]]\nname = \"it\"\nsource = \"it.wasm\"\n{entry}\n");
        std::fs::write(folder.path().join("latch.toml"), text).unwrap();
    }
    static_findings_in(folder.path(), "it.wasm")
}

fn static_findings_in(folder: &Path, file: &str) -> Vec<Value> {
    let ran = run_latch(folder, &["plugin", "check", file, "--json"]);
    let report = ran.json();
    let found = report["findings"].as_array().unwrap_or_else(|| panic!("{report:#} {}", ran.stderr)).clone();
    let violated = found.iter().any(|finding| finding["severity"] == "violation");
    assert_eq!((ran.code == 1, report["passed"] == false), (violated, violated), "{report:#}");
    found.into_iter().filter(|finding| finding["rule"].as_str().unwrap() < "D050").collect()
}

fn rule_ids(found: &[Value]) -> BTreeSet<&str> {
    found.iter().map(|finding| finding["rule"].as_str().unwrap()).collect()
}

#[track_caller]
fn assert_only_rule(rule: &str, bytes: &[u8], entry: &str) -> Vec<Value> {
    let found = static_findings(bytes, entry);
    assert_eq!(rule_ids(&found), BTreeSet::from([rule]), "{found:#?}");
    found
}

/// I68: components that break no rule have no findings.
#[test]
fn good_components_break_no_static_rule() {
    let keyed = OperatorSpec { effects: &[4], window: 60, ..VALID_OPERATOR };
    for made in [VALID_STEP, VALID_TOOL, ComponentSpec { operators: &[keyed], ..VALID_TOOL }] {
        assert_eq!(static_findings(&made.build_component(), ""), Vec::<Value>::new());
    }
}

/// I68: bytes that are not a component, and components with unsupported features, break the rules D001 and D005.
#[test]
fn invalid_forms_and_unsupported_features_break_their_rules() {
    for bytes in [&b""[..], b"text", &VALID_STEP.build_module(), &VALID_STEP.build_component()[..1000]] {
        let found = assert_only_rule("D001", bytes, "");
        assert!(found[0]["hint"].is_string(), "{found:#?}");
    }
    for (word, bytes) in components_with_forbidden_features() {
        let found = assert_only_rule("D005", &bytes, "");
        assert!(!found[0]["hint"].as_str().unwrap().is_empty(), "{word}: {found:#?}");
    }
}

/// I68: an import or export that belongs to no world is a finding. For an import, the finding names the functions on
/// the call path to the import.
#[test]
fn imports_and_exports_of_no_world_are_found_with_their_call_path() {
    let step =
        "package test:made; world made { include latchwork:plugin/step@0.1.0; import wasi:clocks/wall-clock@0.2.6; }";
    let wit = format!("{step} {WALL_CLOCK_WIT}");
    let calls: &[(&str, &str, &str)] = &[("run", "wasi:clocks/wall-clock@0.2.6", "now")];
    let found = assert_only_rule("D002", &ComponentSpec { wit: &wit, calls, ..VALID_STEP }.build_component(), "");
    assert_eq!(found[0]["message"], "it imports wasi:clocks/wall-clock@0.2.6");
    assert!(found[0]["hint"].as_str().unwrap().contains("latchwork:plugin/clock"), "{found:#?}");
    let functions = serde_json::json!(["run_of_the_plugin", "made::helper0", "wasi:clocks/wall-clock@0.2.6#now"]);
    assert_eq!(found[0]["functions"], functions);
    assert_eq!(
        static_findings(&ComponentSpec { wit: &wit, calls, ..VALID_STEP }.build_component(), "wasi = \"virtual\""),
        Vec::<Value>::new()
    );

    let found = static_findings(&ComponentSpec { wit: &wit, calls, names: false, ..VALID_STEP }.build_component(), "");
    assert_eq!(rule_ids(&found), BTreeSet::from(["D002", "D016"]), "{found:#?}");

    let only_plugin = "package test:made; world made { export latchwork:plugin/plugin@0.1.0; }";
    let found = assert_only_rule("D003", &ComponentSpec { wit: only_plugin, ..VALID_STEP }.build_component(), "");
    assert!(found[0]["expected"].as_str().unwrap().contains("run: func(operator: string"), "{found:#?}");

    let other =
        "package test:made; world made { export latchwork:plugin/plugin@0.1.0; export latchwork:plugix/run@0.1.0; }
        package latchwork:plugix@0.1.0 { interface run { run: func(operator: string) -> string; } }";
    let found = assert_only_rule(
        "D006",
        &component_edits::rename_to_latchwork(&ComponentSpec { wit: other, ..VALID_STEP }.build_component()),
        "",
    );
    assert!(found[0]["found"].as_str().unwrap().contains("run: func(operator: string) -> string"), "{found:#?}");

    let old = component_edits::replace_all(&VALID_STEP.build_component(), b"@0.1.0", b"@0.2.0");
    assert_only_rule("D007", &old, "");

    let http = "package test:made; world made { include latchwork:plugin/tool@0.1.0; import wasi:http/outgoing-handler@0.2.6; }
        package wasi:http@0.2.6 { interface outgoing-handler { handle: func() -> u32; } }";
    let calls: &[(&str, &str, &str)] = &[("invoke", "wasi:http/outgoing-handler@0.2.6", "handle")];
    let found = assert_only_rule(
        "D017",
        &ComponentSpec { wit: http, calls, ..VALID_TOOL }.build_component(),
        "grants = { kv = \"it\" }",
    );
    assert!(found[0]["hint"].as_str().unwrap().contains("http = "), "{found:#?}");

    assert_only_rule("D018", &VALID_STEP.build_component(), "grants = { kv = \"it\" }");
    assert_only_rule("D018", &VALID_TOOL.build_component(), "wasi = \"virtual\"");
}

/// I68: the check reports each rule about manifests for a manifest that breaks it.
#[test]
fn each_manifest_rule_is_found_in_a_manifest_that_breaks_it() {
    let of = |operators: &'static [OperatorSpec], made: ComponentSpec<'static>| {
        ComponentSpec { operators, ..made }.build_component()
    };
    const NAMED: OperatorSpec = OperatorSpec { name: "a / b", ..VALID_OPERATOR };
    assert_only_rule("D004", &of(&[NAMED], VALID_STEP), "");
    const DONE: OperatorSpec = OperatorSpec { outcome_status: Some("done"), ..VALID_OPERATOR };
    assert_only_rule("D004", &of(&[DONE], VALID_STEP), "");
    assert_only_rule("D004", &of(&[], VALID_STEP), "");
    let trap: &[(&str, &str, &str)] = &[("describe", "latchwork:plugin/rng@0.1.0", "next-u32")];
    let found = assert_only_rule("D009", &ComponentSpec { calls: trap, ..VALID_STEP }.build_component(), "");
    assert!(found[0]["message"].as_str().unwrap().contains("latchwork:plugin/rng"), "{found:#?}");
    // The version string in this manifest points outside of the memory.
    let huge = ComponentSpec { version: "1.0.0", ..VALID_STEP }.build_component();
    let version = [&1024u32.to_le_bytes()[..], &5u32.to_le_bytes()].concat();
    let lie = [&1024u32.to_le_bytes()[..], &u32::MAX.to_le_bytes()].concat();
    assert_only_rule("D008", &component_edits::replace_all(&huge, &version, &lie), "");
    assert_only_rule("D010", &of(&[VALID_OPERATOR, VALID_OPERATOR], VALID_STEP), "");
    const NO_EFFECT: OperatorSpec = OperatorSpec { effects: &[], ..VALID_OPERATOR };
    assert_only_rule("D011", &of(&[NO_EFFECT], VALID_STEP), "");
    const PURE: OperatorSpec = OperatorSpec { effects: &[4], determinism: 0, ..VALID_OPERATOR };
    assert_only_rule("D011", &of(&[PURE], VALID_TOOL), "");
    const SCHEMA: OperatorSpec = OperatorSpec { input: "{\"type\": \"objekt\"}", ..VALID_OPERATOR };
    assert_only_rule("D012", &of(&[SCHEMA], VALID_STEP), "");
    assert_only_rule("D013", &ComponentSpec { version: "one", ..VALID_STEP }.build_component(), "");
    const WINDOW: OperatorSpec = OperatorSpec { window: 60, ..VALID_OPERATOR };
    assert_only_rule("D014", &of(&[WINDOW], VALID_TOOL), "");
    const SETTLES: OperatorSpec = OperatorSpec { effects: &[3], settling: 500, ..VALID_OPERATOR };
    assert_only_rule("D014", &of(&[SETTLES], VALID_TOOL), "");
    const KEYED: OperatorSpec = OperatorSpec { effects: &[3], window: 60, ..VALID_OPERATOR };
    assert_only_rule("D014", &of(&[KEYED], VALID_STEP), "");
    let accountable = "package test:made; world made { include latchwork:plugin/tool-accountable@0.1.0; }";
    let found = assert_only_rule("D014", &ComponentSpec { wit: accountable, ..VALID_TOOL }.build_component(), "");
    assert!(found[0]["message"].as_str().unwrap().contains("reconcile, verify, compensate"), "{found:#?}");
    let found = assert_only_rule("D015", &ComponentSpec { ballast: 33 << 20, ..VALID_STEP }.build_component(), "");
    assert_eq!(found[0]["severity"], "warning");
    const SILENT: OperatorSpec = OperatorSpec { description: " ", ..VALID_OPERATOR };
    assert_only_rule("D019", &of(&[SILENT], VALID_STEP), "");
}
