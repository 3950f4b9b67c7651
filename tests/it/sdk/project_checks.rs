//! I63: created projects and examples pass their own check.

use serde_json::json;

use crate::support::checkout;
use crate::support::plugins::sdk_tools::{built_project, run_latch};

/// I63: a new project passes its own check. The check builds a folder twice, and both builds behave the same.
#[test]
#[ignore = "builds projects twice; run by .ci/long"]
fn new_project_passes_its_own_check() {
    check_new_projects(&["c"]);
}

/// I63. A Python project is built once, because a build takes long.
#[test]
#[ignore = "compiles large runtimes; run by .ci/long"]
fn new_project_with_a_large_runtime_passes_its_own_check() {
    check_new_projects(&["js", "python", "go"]);
}

fn check_new_projects(langs: &[&str]) {
    for lang in langs.iter().copied() {
        for kind in ["step", "tool"] {
            let dir = built_project(lang, kind, None);
            let mut args = vec!["plugin", "check", ".", "--json"];
            if lang == "python" {
                args.push("--once");
            }
            let ran = run_latch(&dir, &args);
            let report = ran.json();
            assert_eq!(ran.code, 0, "{lang} {kind}: {report:#}");
            if kind == "step" {
                assert_eq!((&report["findings"], &report["notes"]), (&json!([]), &json!([])), "{lang}: {report:#}");
                assert_eq!(report["cases"].as_array().unwrap().len(), 2, "{lang}");
            }
        }
    }
}

/// I63.
#[test]
#[ignore = "builds and compiles several large components; run by .ci/long"]
fn examples_in_c_go_and_javascript_pass_their_own_check() {
    for (example, cases) in [("funding-c", 1), ("funding-go", 2), ("funding-js", 1)] {
        check_example(example, cases);
    }
}

/// I63.
#[test]
#[ignore = "compiles Python twice; run by .ci/long"]
fn example_in_python_passes_its_own_check() {
    check_example("funding-python", 3);
}

fn check_example(dir: &str, cases: usize) {
    let examples = checkout::copy().join("example-plugins");
    let ran = run_latch(&examples, &["plugin", "check", dir, "--once", "--json"]);
    let report = ran.json();
    assert_eq!((ran.code, &report["findings"]), (0, &json!([])), "{dir}: {report:#}");
    assert_eq!(report["cases"].as_array().unwrap().len(), cases, "{dir}");
}
