//! `latch plugin inspect`: the verdict on a file, with all its problems.

use serde_json::{Value, json};

use crate::support::plugins::built_guests::guest;
use crate::support::plugins::component_builder::{
    ComponentSpec, OperatorSpec, VALID_OPERATOR, VALID_STEP, VALID_TOOL, WALL_CLOCK_WIT,
};
use crate::support::plugins::component_edits::{components_with_forbidden_features, rename_to_latchwork, replace_all};
use crate::support::program::run_latch;

/// Inspects these bytes, and returns the exit code and the JSON document.
fn inspect_bytes(bytes: &[u8], more: &[&str]) -> (i32, Value) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("it.wasm"), bytes).unwrap();
    let args: Vec<&str> = ["plugin", "inspect", "it.wasm", "--json"].into_iter().chain(more.iter().copied()).collect();
    let ran = run_latch(folder.path(), &args);
    let human = run_latch(folder.path(), &args.iter().copied().filter(|arg| *arg != "--json").collect::<Vec<_>>());
    assert_eq!((human.code, human.stdout.is_empty()), (ran.code, false), "{}", human.stderr);
    (ran.code, ran.json())
}

fn difference_kinds(of: &Value) -> Vec<&str> {
    of.as_array().unwrap().iter().map(|it| it["kind"].as_str().unwrap()).collect()
}

fn with_wit(wit: &str, made: ComponentSpec<'static>) -> Vec<u8> {
    ComponentSpec { wit, ..made }.build_component()
}

fn world_wit(body: &str) -> String {
    format!("package test:made; world made {{ {body} }}")
}

/// I65: a step component has no difference from the step world, and a tool component has no difference from the tool
/// world. The difference from the other world lists everything that is missing.
#[test]
fn step_and_tool_components_get_their_own_verdict() {
    for (made, verdict, other, lacks) in [
        (VALID_STEP, "step", "tool", "latchwork:plugin/invoke@0.1.0"),
        (VALID_TOOL, "tool", "step", "latchwork:plugin/run@0.1.0"),
    ] {
        let (code, seen) = inspect_bytes(&made.build_component(), &[]);
        assert_eq!((code, &seen["verdict"], &seen["loads"]), (0, &json!(verdict), &json!(true)), "{seen:#}");
        assert_eq!(seen["difference"][verdict], json!([]));
        let there = &seen["difference"][other];
        assert_eq!(difference_kinds(there), ["missing-export"], "{there:#}");
        assert_eq!(there[0]["interface"], lacks);
        assert!(there[0]["expected"].as_str().unwrap().contains("func(operator: string"), "{there:#}");
        assert_eq!(seen["operators"][0]["name"], "Made.Run");
    }
}

/// I65: a missing export and an export with the wrong signature are each named with the expected and the
/// actual type.
#[test]
fn every_difference_in_exports_is_named() {
    // The code must call the import, because the component encoder drops imports that no code calls.
    let wit = world_wit("import latchwork:plugin/clock@0.1.0; export run: func();");
    let calls: &[(&str, &str, &str)] = &[("run", "latchwork:plugin/clock@0.1.0", "now")];
    let (code, seen) = inspect_bytes(&ComponentSpec { wit: &wit, calls, ..VALID_STEP }.build_component(), &[]);
    assert_eq!(
        (code, &seen["verdict"], &seen["nearest"], &seen["loads"]),
        (1, &json!("neither"), &json!("step"), &Value::Null)
    );
    let found = &seen["difference"]["step"];
    assert_eq!(difference_kinds(found), ["missing-export", "missing-export"], "{found:#}");
    assert!(
        found[1]["instead"].as_str().unwrap().contains("exports function run outside of that interface"),
        "{found:#}"
    );
    assert!(seen["hints"][0].as_str().unwrap().contains("latch plugin new"), "{seen:#}");

    // Exports an interface with the name that Latchwork uses, but with types that the author declared. The
    // WIT contains `plugix`, and `rename_to_latchwork` changes the name in the built bytes.
    let own =
        "package test:made; world made { export latchwork:plugin/plugin@0.1.0; export latchwork:plugin/run@0.1.0; }";
    let other = own.replace("export latchwork:plugin/run@0.1.0;", "export latchwork:plugix/run@0.1.0;")
        + "package latchwork:plugix@0.1.0 { interface run { type json = string; enum code { network-timeout, rate-limit, mine }
             record error { code: code, message: string, retry-after-ms: option<u64>, detail: option<json> }
             run: func(operator: string, input: list<u8>, more: u32) -> result<json, error>; } }";
    let bytes = rename_to_latchwork(&with_wit(&other, VALID_STEP));
    let (code, seen) = inspect_bytes(&bytes, &[]);
    assert_eq!((code, &seen["verdict"]), (1, &json!("neither")), "{seen:#}");
    let found = &seen["difference"]["step"];
    assert_eq!(difference_kinds(found), ["export-signature"], "{found:#}");
    let at: Vec<(&str, &str, &str)> = found[0]["mismatches"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["at"].as_str().unwrap(), it["expected"].as_str().unwrap(), it["found"].as_str().unwrap()))
        .collect();
    for wanted in [
        ("parameters", "2", "3"),
        ("parameter input", "string", "list<u8>"),
        ("result, its error", "field applied", "no such field"),
        ("result, its error, field retry-after-ms, its value", "u32", "u64"),
        ("result, its error, field code", "case temporary-provider-error", "no such case"),
        ("result, its error, field code", "no other case", "case mine"),
    ] {
        assert!(at.contains(&wanted), "{wanted:?} in {at:#?}");
    }
    assert_eq!(at.len(), 5 + 8, "eight cases of ours are missing: {at:#?}");
    assert!(found[0]["found"].as_str().unwrap().contains("run: func(operator: string, input: list<u8>, more: u32)"));
}

/// I65: for each refused import, the report names the import, the alternative to use, and the call path that reaches
/// the import.
#[test]
fn every_import_outside_the_world_is_named_with_its_path() {
    let wit = world_wit(
        "include latchwork:plugin/step@0.1.0; import latchwork:plugin/kv@0.1.0; import wasi:clocks/wall-clock@0.2.6; \
                     import test:other/thing;",
    ) + WALL_CLOCK_WIT
        + "package test:other { interface thing { do-it: func(x: u32) -> u32; } }";
    let calls: &[(&str, &str, &str)] = &[
        ("run", "wasi:clocks/wall-clock@0.2.6", "now"),
        ("run", "latchwork:plugin/kv@0.1.0", "get"),
        ("run", "test:other/thing", "do-it"),
        ("run", "latchwork:plugin/clock@0.1.0", "now"),
    ];
    let bytes = ComponentSpec { wit: &wit, calls, ..VALID_STEP }.build_component();
    let (code, seen) = inspect_bytes(&bytes, &[]);
    assert_eq!((code, &seen["verdict"]), (1, &json!("neither")), "{seen:#}");
    let found = seen["difference"]["step"].as_array().unwrap();
    let named: Vec<&str> = found.iter().map(|it| it["interface"].as_str().unwrap()).collect();
    assert_eq!(named, ["latchwork:plugin/kv@0.1.0", "test:other/thing"], "WASI can be had: {found:#?}");
    assert!(found[0]["instead"].as_str().unwrap().contains("pass the data in its input"), "{found:#?}");
    let path = &found[0]["reached"];
    assert_eq!(path["export"], "latchwork:plugin/run@0.1.0#run");
    let frames: Vec<&str> =
        path["frames"].as_array().unwrap().iter().map(|it| it["function"].as_str().unwrap()).collect();
    assert_eq!(frames, ["run_of_the_plugin", "made::helper1", "latchwork:plugin/kv@0.1.0#get"], "demangled");

    // The error of loading the component names the same imports and call paths. If the component has no function names,
    // the paths contain function numbers.
    let bytes = ComponentSpec { wit: &wit, calls, names: false, ..VALID_STEP }.build_component();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("it.wasm"), bytes).unwrap();
    std::fs::write(folder.path().join("latch.toml"), "[[plugin]]\nname = \"it\"\nsource = \"it.wasm\"\n").unwrap();
    let refused = run_latch(folder.path(), &["plugin", "list"]);
    assert_eq!(refused.code, 2, "{}", refused.stdout);
    for part in [
        "wasi:clocks/wall-clock@0.2.6: use latchwork:plugin/clock",
        "reached from latchwork:plugin/run@0.1.0#run > function ",
    ] {
        assert!(refused.stderr.contains(part), "{part}: {}", refused.stderr);
    }
    // A file that `latch.toml` configures is judged with the settings of its entry.
    let seen = run_latch(folder.path(), &["plugin", "inspect", "it.wasm", "--json"]).json();
    assert_eq!(seen["configured_as"], "it");
    assert_eq!(seen["difference"]["here"].as_array().unwrap().len(), 3, "{seen:#}");
}

/// I65: if an imported interface of `latchwork:plugin` has an unknown function or another signature, the
/// difference lists it.
#[test]
fn latchwork_imports_are_compared_by_signature() {
    let wit =
        "package test:made; world made { include latchwork:plugin/step@0.1.0; import latchwork:plugix/rng@0.1.0; }"
            .to_owned()
            + "package latchwork:plugix@0.1.0 { interface rng { next-u23: func() -> u32; below: func(bound: u64) -> u32; } }";
    let calls: &[(&str, &str, &str)] =
        &[("run", "latchwork:plugix/rng@0.1.0", "next-u23"), ("run", "latchwork:plugix/rng@0.1.0", "below")];
    let bytes = ComponentSpec { wit: &wit, calls, ..VALID_STEP }.build_component();
    let (code, seen) = inspect_bytes(&rename_to_latchwork(&bytes), &[]);
    let found = &seen["difference"]["step"];
    assert_eq!((code, difference_kinds(found)), (1, vec!["foreign-import", "import-signature"]), "{found:#}");
    assert!(found[0]["instead"].as_str().unwrap().contains("next-u32"), "{found:#}");
    assert_eq!(found[1]["mismatches"][0], json!({ "at": "parameter bound", "expected": "u32", "found": "u64" }));
}

/// I65: an interface of another version is reported differently from a missing interface.
#[test]
fn other_package_version_is_named() {
    let bytes = VALID_STEP.build_component();
    let old = replace_all(&bytes, b"@0.1.0", b"@0.2.0");
    let (code, seen) = inspect_bytes(&old, &[]);
    assert_eq!((code, &seen["verdict"]), (1, &json!("neither")), "{seen:#}");
    let found = difference_kinds(&seen["difference"]["step"]);
    assert_eq!(found, ["export-version", "export-version", "import-version"], "{:#}", seen["difference"]);
    assert!(seen["hints"].to_string().contains("latch plugin new"), "{:#}", seen["hints"]);
}

/// I66: a file that is not a component gets a verdict instead of a chain of error causes.
#[test]
fn file_that_is_not_a_component_gets_a_verdict_and_a_form() {
    let whole = VALID_STEP.build_component();
    let module = VALID_STEP.build_module();
    let truncated = &whole[..whole.len() / 2];
    let mut damaged = whole.clone();
    damaged[8] = 0x70;
    for (bytes, form, hint) in [
        (&b""[..], "empty", "run it again"),
        (b"def run(): pass\n", "text", "latch plugin build"),
        (b"(component)", "text", "latch plugin build"),
        (b"\x7fELF\x02\x01", "other", "latch plugin build"),
        (&module, "core-module", "wasm-tools component new"),
        (truncated, "truncated", "again"),
        (&damaged, "damaged", "again"),
    ] {
        let (code, seen) = inspect_bytes(bytes, &[]);
        assert_eq!((code, &seen["verdict"], &seen["form"]), (1, &json!("neither"), &json!(form)), "{seen:#}");
        assert!(seen["hints"].to_string().contains(hint), "{form}: {:#}", seen["hints"]);
        assert_eq!((seen["imports"].clone(), seen["operators"].clone()), (json!([]), Value::Null));
    }
    // A component that is cut off or has a changed byte is read without a panic. The test tries every 97th
    // position.
    for at in (0..whole.len()).step_by(97) {
        let mut flipped = whole.clone();
        flipped[at] ^= 0x55;
        for bytes in [&whole[..at], &flipped] {
            let anatomy = latchwork_tooling::inspect::ComponentInfo::read(bytes);
            latchwork_tooling::inspect::CallGraph::link(bytes).find_paths(&[("wasi:clocks/wall-clock@0.2.6", None)]);
            anatomy.unresolvable_differences(anatomy.nearest_world());
        }
    }
}

/// I66: each forbidden feature is named with the function that uses it and with a hint for the author.
#[test]
fn forbidden_features_are_named() {
    for (word, bytes) in components_with_forbidden_features() {
        let (code, seen) = inspect_bytes(&bytes, &[]);
        assert_eq!((code, &seen["verdict"]), (1, &json!("neither")), "{word}: {seen:#}");
        let words: Vec<&str> =
            seen["features"].as_array().unwrap().iter().map(|it| it["feature"].as_str().unwrap()).collect();
        assert!(words.contains(&word), "{word}: {:#}", seen["features"]);
        let in_code = !["memory64", "component-model-async"].contains(&word);
        if in_code && seen["features"][0]["function"] != Value::Null {
            assert_eq!(seen["features"][0]["function"], "uses_a_feature", "{word}");
        }
        assert!(!seen["hints"].as_array().unwrap().is_empty());
    }
}

/// I67: `--static` runs no code of the component, so its operators are unknown.
#[test]
fn static_inspection_runs_no_code() {
    // The component traps in `describe`.
    let trap = ComponentSpec { calls: &[("describe", "latchwork:plugin/rng@0.1.0", "next-u32")], ..VALID_STEP }
        .build_component();
    let (code, seen) = inspect_bytes(&trap, &["--static"]);
    assert_eq!((code, &seen["verdict"], &seen["loads"]), (0, &json!("step"), &Value::Null), "{seen:#}");
    assert_eq!(seen["operators"], Value::Null);
    let (code, seen) = inspect_bytes(&trap, &[]);
    assert_eq!((code, &seen["verdict"], &seen["loads"]), (1, &json!("step"), &json!(false)), "{seen:#}");
    assert!(seen["problems"][0]["message"].as_str().unwrap().contains("latchwork:plugin/rng"), "{seen:#}");
}

/// Each grant is listed with the imports that it serves. The list also states whether code reaches these
/// imports.
#[test]
fn grants_are_compared_with_imports() {
    let seen = run_latch(
        tempfile::tempdir().unwrap().path(),
        &["plugin", "inspect", guest("hostile-tool").to_str().unwrap(), "--json"],
    );
    let seen = seen.json();
    let grants = seen["grants"].as_array().unwrap();
    let serves = |key: &str| grants.iter().find(|it| it["key"] == key).unwrap()["serves"].as_array().unwrap().len();
    assert!(serves("http") == 2 && serves("tcp") > 2 && serves("dirs") > 0 && serves("kv") == 1, "{grants:#?}");
    assert!(grants.iter().all(|it| it["granted"] == false && it["used"] == true), "{grants:#?}");
    assert_eq!(seen["needs"].as_array().unwrap().len(), 2, "{seen:#}");
    assert_eq!((&seen["toolchain"]["language"], &seen["reconcile"]), (&json!("rust"), &json!(true)));

    let calls: &[(&str, &str, &str)] = &[("invoke", "latchwork:plugin/kv@0.1.0", "get")];
    let (_, seen) = inspect_bytes(&ComponentSpec { calls, ..VALID_TOOL }.build_component(), &[]);
    let opens: Vec<&str> = seen["grants"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|it| it["used"] == true)
        .map(|it| it["key"].as_str().unwrap())
        .collect();
    assert_eq!(opens, ["kv"], "{seen:#}");
    assert_eq!(seen["toolchain"]["language"], "unknown");
    let operator = OperatorSpec { window: 60, effects: &[4], ..VALID_OPERATOR };
    let (_, seen) = inspect_bytes(&ComponentSpec { operators: &[operator], ..VALID_TOOL }.build_component(), &[]);
    assert_eq!(seen["operators"][0]["class"], "keyed", "{seen:#}");
}

#[test]
fn valid_built_components_load() {
    let folder = tempfile::tempdir().unwrap();
    for (name, made) in [("step.wasm", &VALID_STEP), ("tool.wasm", &VALID_TOOL)] {
        std::fs::write(folder.path().join(name), made.build_component()).unwrap();
        let ran = run_latch(folder.path(), &["plugin", "inspect", name]);
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
        assert!(ran.stdout.contains("Made.Run: Does nothing."), "{}", ran.stdout);
    }
}
