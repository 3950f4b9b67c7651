//! Checks of source folders, which are built twice and may contain cases.

use serde_json::{Value, json};

use crate::support::checkout;
use crate::support::plugins::sdk_tools;
use crate::support::program::run_latch;

/// Checks a folder from its parent directory. The folder belongs to a copy of the checkout, because the check leaves
/// compiled code in the folder.
fn check_folder(above: &str, dir: &str) -> (i32, Value) {
    let above = checkout::copy().join(above);
    let ran = run_latch(&above, &["plugin", "check", dir, "--json"]);
    (ran.code, ran.json())
}

/// I63.
#[test]
#[ignore = "builds each folder twice; run by .ci/long"]
fn example_rust_steps_pass_the_check_without_findings() {
    for (dir, cases) in [("funding-rust", 7), ("bench-rust", 2)] {
        let (code, report) = check_folder("example-plugins", dir);
        assert_eq!((code, &report["findings"]), (0, &json!([])), "{dir}: {report:#}");
        assert_eq!(report["cases"].as_array().unwrap().len(), cases);
        let not_run = report["rules"].as_array().unwrap().iter().filter(|rule| rule["not_run"].is_string());
        assert!(not_run.clone().all(|rule| rule["kind"] != "static" && rule["kind"] != "dynamic"), "{report:#}");
        assert_eq!(report["notes"], json!([]));
    }
}

/// I303: the sources show a code of the host that a step looks for and never gets. A step that asks for a retry is found. An
/// operator that passes failures on is no finding if another one reads the code from the detail, and a code in data is none. I332: a second build in C
/// shows a variable without a value, which the usual build leaves out.
#[test]
fn codes_and_retries_that_a_step_never_gets_are_found() {
    let bad = [(json!("D082"), json!("Bad.Budget")), (json!("D083"), json!("Bad.Retry"))];
    let unset = [(json!("D065"), json!("Bad.Bill"))];
    for (folder, expected) in [("codes", &bad[..]), ("details", &[]), ("words", &[]), ("unset", &unset)] {
        let ran =
            sdk_tools::run_latch(&checkout::copy().join("tests/corpus/c"), &["plugin", "check", folder, "--json"]);
        let report = ran.json();
        let findings = report["findings"].as_array().unwrap_or_else(|| panic!("{report:#} {}", ran.stderr)).iter();
        let found: Vec<_> = findings.map(|found| (found["rule"].clone(), found["operator"].clone())).collect();
        assert_eq!(found, expected, "{report:#}");
    }
}

/// I61: a value that a build takes from its machine is found by building twice.
#[test]
#[ignore = "builds a folder several times; run by .ci/long"]
fn build_time_in_a_component_is_found_by_building_twice() {
    let (code, report) = check_folder("tests/guests-effects", "baked-step");
    let found = report["findings"].as_array().unwrap();
    assert_eq!((code, found.len()), (1, 1), "{report:#}");
    let found = &found[0];
    assert_eq!((&found["rule"], &found["operator"]), (&json!("D065"), &json!("Baked.Session")));
    assert!(found["message"].as_str().unwrap().contains("output at /session"), "{found:#}");
    assert_ne!(found["expected"], found["found"]);
    assert_eq!(found["place"], json!({ "file": "baked-step/cases.jsonl", "line": 1 }));

    // I228: an exception of the recipe accepts the finding, and its reason is in the reports.
    let recipe = checkout::copy().join("tests/guests-effects/baked-step/latch-plugin.toml");
    let text = std::fs::read_to_string(&recipe).unwrap();
    let exception = |rule: &str| {
        let reason = "reason = \"the session names the build\"";
        format!("{text}\n[[exception]]\nrule = \"{rule}\"\noperator = \"Baked.Session\"\n{reason}\n")
    };
    std::fs::write(&recipe, exception("D065") + &exception("D066")[text.len()..]).unwrap();
    let folder = recipe.parent().unwrap().parent().unwrap();
    let sarif = folder.join("excepted.sarif");
    let args = ["plugin", "check", "baked-step", "--json", "--output", &format!("sarif={}", sarif.display())];
    let excepted = run_latch(folder, &args);
    std::fs::write(&recipe, text).unwrap();
    let report = excepted.json();
    assert_eq!((excepted.code, &report["passed"]), (0, &json!(true)), "{report:#}");
    let reason = json!({ "by": "exception", "reason": "the session names the build" });
    assert_eq!(report["findings"][0]["accepted"], reason);
    let note = "no finding needs the exception for D066 of Baked.Session: remove it from latch-plugin.toml";
    assert_eq!(report["notes"], json!([note]));
    let sarif: Value = serde_json::from_slice(&std::fs::read(sarif).unwrap()).unwrap();
    let suppression = &sarif["runs"][0]["results"][0]["suppressions"][0];
    assert_eq!(suppression["justification"], "the session names the build");
}

/// I265: the check of a folder tries the texts and numbers of its sources as inputs.
#[test]
#[ignore = "builds a folder several times; run by .ci/long"]
fn texts_and_numbers_of_the_sources_are_inputs() {
    let parent = tempfile::tempdir().unwrap();
    let new = run_latch(parent.path(), &["plugin", "new", "bells", "--lang", "c", "--kind", "step"]);
    assert_eq!(new.code, 0, "{}", new.stderr);
    let folder = parent.path().join("bells");
    let check = |source: &str| {
        std::fs::write(folder.join("plugin.c"), source).unwrap();
        let case = r#"{"operator":"Bells.Ring","input":{"at":"dawn","hour":6}}"#;
        std::fs::write(folder.join("cases.jsonl"), case).unwrap();
        let report = run_latch(parent.path(), &["plugin", "check", "bells", "--once", "--json"]).json();
        let messages = report["findings"].as_array().unwrap_or_else(|| panic!("{report:#}")).iter();
        messages.map(|finding| finding["message"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    for (condition, input) in [
        ("strcmp(at, \"noon\") == 0", "with another input, the text \"noon\" at \"/at\": "),
        ("hour == 37", "with another input, the number 37 at \"/hour\": "),
    ] {
        let source = format!(
            r#"#include "latchwork.h"
#include <time.h>

static bool ring(latch_json input, latch_answer *answer) {{
  char *at = latch_json_string(latch_json_member(input, "at"));
  int64_t hour = 0;
  if (!at) return latch_fail(answer, LATCH_INVALID_INPUT, "at is missing");
  latch_json_integer(latch_json_member(input, "hour"), &hour);
  long long bells = {condition} ? (long long)time(NULL) : 1;
  latch_putf(&answer->result, "{{\"bells\":%lld}}", bells);
  return true;
}}

LATCH_PLUGIN({{ .name = "Bells.Ring", .description = "Counts bells.", .handler = ring }});
"#
        );
        let found = check(&source);
        assert!(found.iter().any(|message| message.starts_with(input)), "{found:?}");
        assert_eq!(check(&source.replace("(long long)time(NULL)", "2")), Vec::<String>::new());
    }
}

/// I289: the check of a folder gives the plugin a configuration with values of other types. Its names are texts of the
/// sources.
#[test]
#[ignore = "builds a folder several times; run by .ci/long"]
fn values_of_the_configuration_have_other_types() {
    let parent = tempfile::tempdir().unwrap();
    let new = run_latch(parent.path(), &["plugin", "new", "rail", "--lang", "c", "--kind", "tool"]);
    assert_eq!(new.code, 0, "{}", new.stderr);
    let folder = parent.path().join("rail");
    let check = |first: &str, second: &str| {
        let source = format!(
            r#"#include "latchwork.h"

static bool is_known(latch_answer *answer) {{
  char *rail = latch_config("rail");
  if (!rail || latch_json_string(latch_json_of(rail))) return true;
  return latch_fail(answer, LATCH_MISSING_REQUIRED_CONTEXT, "config.rail is no text");
}}
static bool write_entry(latch_json args, latch_answer *answer) {{
  return latch_kv_set(answer, latch_get_invocation().external_key, latch_json_text(args));
}}
static bool hang(latch_json args, latch_answer *answer) {{
  if (strlen(latch_json_text(args)) > 60000) return latch_fail(answer, LATCH_INVALID_INPUT, "too long");
  if (!{first} || !{second}) return false;
  latch_put(&answer->result, "{{}}");
  return true;
}}

LATCH_PLUGIN({{ .name = "Rail.Hang", .description = "Hangs a text.", .handler = hang, .effects = LATCH_INTERNAL_WRITE }});
"#
        );
        std::fs::write(folder.join("plugin.c"), source).unwrap();
        std::fs::write(folder.join("cases.jsonl"), r#"{"operator":"Rail.Hang","input":{"text":"closed"},"kv":{}}"#)
            .unwrap();
        let report = run_latch(parent.path(), &["plugin", "check", "rail", "--once", "--json"]).json();
        let findings = report["findings"].as_array().unwrap_or_else(|| panic!("{report:#}")).iter();
        findings.map(|finding| format!("{} {}", finding["rule"], finding["message"])).collect::<Vec<_>>()
    };
    let (write, read) = ("write_entry(args, answer)", "is_known(answer)");
    let found = check(write, read);
    let expected = "\"D109\" \"with the number 4 for each value of its configuration, ";
    assert!(found.len() == 1 && found[0].starts_with(expected), "{found:?}");
    assert_eq!(check(read, write), Vec::<String>::new());
}
