//! `latch init`, and the files that `latch plugin new` creates next to a plugin.

use crate::support::plugins::sdk_tools;
use crate::support::program::run_latch;

/// I153.
#[test]
fn init_refuses_to_overwrite_existing_files() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("latch.toml"), "# mine\n").unwrap();
    let refused = run_latch(dir.path(), &["init", ".", "--lang", "c"]);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("[L0086]") && refused.stderr.contains("latch.toml"), "{}", refused.stderr);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    assert_eq!(std::fs::read_to_string(dir.path().join("latch.toml")).unwrap(), "# mine\n");
}

/// The folder created by `latch plugin new` runs unchanged and passes its own check.
#[test]
fn new_plugin_runs_in_its_own_folder() {
    for kind in ["step", "tool"] {
        let dir = sdk_tools::built_project("c", kind, None);
        let ran = sdk_tools::run_latch(&dir, &["run", "plan.json", "--build", "--json"]);
        assert_eq!(ran.code, 0, "{kind}: {} {}", ran.stdout, ran.stderr);
        assert_eq!(ran.json()["state"], "COMPLETED", "{kind}");
        let checked = sdk_tools::run_latch(&dir, &["plugin", "check", ".", "--once", "--json"]);
        assert_eq!(checked.code, 0, "{kind}: {} {}", checked.stdout, checked.stderr);
        assert!(!checked.json()["cases"].as_array().unwrap().is_empty(), "{kind}");
    }
}
