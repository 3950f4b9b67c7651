//! JavaScript in the second engine: `engine = "starlingmonkey"`.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::sdk::{folder_with_plan, outputs_checked_by_replay, step_with_effect};
use crate::support::plugins::sdk_tools::{built_project, run_latch};

const RECIPE: &str =
    "[plugin]\nname = \"starling\"\nkind = \"step\"\nlang = \"js\"\nversion = \"1.0.0\"\nengine = \"starlingmonkey\"\n";
const CASES: &str = concat!(
    r#"{"operator":"Ambient.Look","input":{}}"#,
    "\n",
    r#"{"operator":"Ambient.Fail","input":{"how":"failure"},"error":"AUTH_FORBIDDEN"}"#,
    "\n",
);

/// I52, I53: a StarlingMonkey project uses the same SDK as a QuickJS project.
#[test]
#[ignore = "compiles a large engine; run by .ci/long"]
fn starlingmonkey_plugin_builds_and_follows_the_injected_sources() {
    let plugin = plugin();
    let job = |operator: &str, payload: Value| {
        let place = folder_with_plan(&[(&plugin, "")], &[step_with_effect("s", operator, "read_only", payload)]);
        let response = run_latch(place.path(), &["run", "plan.json", "--json"]).json();
        let output = outputs_checked_by_replay(place.path(), &response).remove("s");
        (response, output)
    };
    let [first, second] = [(); 2].map(|()| {
        let (response, output) = job("Ambient.Look", json!({}));
        output.unwrap_or_else(|| panic!("{response:#}"))
    });
    for kind in ["clocks", "random"] {
        for (name, value) in first[kind].as_object().unwrap() {
            assert_ne!(value, &second[kind][name], "{name} is the same in two jobs");
        }
    }
    assert_eq!(first["fixed"], second["fixed"]);
    for (how, code, message) in [
        ("exception", "PLUGIN_EXCEPTION", "the cellar is flooded"),
        ("failure", "AUTH_FORBIDDEN", "no key"),
        ("big", "SCHEMA_VALIDATION_FAILED", "is not JSON"),
        ("itself", "SCHEMA_VALIDATION_FAILED", "/deep/0 contains itself"),
    ] {
        let failed = job("Ambient.Fail", json!({ "how": how })).0["failed"][0].clone();
        assert_eq!(failed["reason_code"], code, "{how}: {failed}");
        assert!(failed["message"].as_str().unwrap().contains(message), "{how}: {failed}");
    }
    let inspected = run_latch(&plugin, &["plugin", "inspect", ".", "--json"]).json();
    assert_eq!(inspected["toolchain"]["language"], "javascript-starlingmonkey", "{inspected:#}");
}

/// I63.
#[test]
#[ignore = "compiles a large engine twice; run by .ci/long"]
fn starlingmonkey_plugin_passes_its_check() {
    let checked = run_latch(&plugin(), &["plugin", "check", ".", "--once", "--json"]);
    let report = checked.json();
    // The operators of this plugin have no descriptions, so the check may report D019 and nothing else.
    let mut findings = report["findings"].as_array().unwrap().iter();
    assert!(checked.code == 0 && findings.all(|finding| finding["rule"] == "D019"), "{report:#}");
}

fn plugin() -> PathBuf {
    let sources =
        [("latch-plugin.toml", RECIPE), ("src/plugin.js", include_str!("ambient/plugin.js")), ("cases.jsonl", CASES)];
    built_project("js", "step", Some(&sources))
}
