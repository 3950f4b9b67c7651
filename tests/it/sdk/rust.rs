//! A new Rust project includes the SDK and therefore builds in any folder.

use std::process::Command;

use serde_json::json;

use crate::sdk::{folder_with_plan, outputs_checked_by_replay, step_with_effect};
use crate::support::plugins::sdk_tools::run_latch;
use crate::support::program;

/// I53, I63.
#[test]
#[ignore = "builds two projects with their tests; run by .ci/long"]
fn new_rust_project_builds_passes_its_tests_and_runs() {
    let parent = tempfile::tempdir().unwrap();
    for kind in ["step", "tool"] {
        let name = format!("made-{kind}");
        let new = run_latch(parent.path(), &["plugin", "new", &name, "--lang", "rust", "--kind", kind]);
        assert_eq!(new.code, 0, "{}", new.stderr);
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["test", "--quiet"]).current_dir(parent.path().join(&name));
        // The projects share their compiled dependencies with the tests of the examples.
        let tested = cargo.env("CARGO_TARGET_DIR", program::target_dir().join("example-plugins")).output().unwrap();
        assert!(tested.status.success(), "{kind}: {}", String::from_utf8_lossy(&tested.stderr));
    }
    let made = parent.path().join("made-step");
    let built = run_latch(parent.path(), &["plugin", "build", "made-step"]);
    assert_eq!(built.code, 0, "{}", built.stderr);
    let checked = run_latch(parent.path(), &["plugin", "check", "made-step", "--once", "--json"]);
    assert_eq!((checked.code, &checked.json()["findings"]), (0, &json!([])), "{}", checked.stdout);
    let place = folder_with_plan(
        &[(&made, "")],
        &[step_with_effect("s", "MadeStep.Greet", "read_only", json!({ "name": "Ada" }))],
    );
    let ran = run_latch(place.path(), &["run", "plan.json", "--json"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(outputs_checked_by_replay(place.path(), &ran.json())["s"]["greeting"], "Hello, Ada!");
}
