//! Specifics of Go: its runtime starts with each instance and has its own scheduler.

use serde_json::json;

use crate::sdk::{folder_with_plan, step_with_effect};
use crate::support::plugins::sdk_tools::{built_project, run_latch};

fn run_and_read_log(operator: &str, how: &str) -> String {
    let sources = [("plugin.go", include_str!("ambient/plugin.go")), ("plugin_test.go", "package main\n")];
    let plugin = built_project("go", "step", Some(&sources));
    let place =
        folder_with_plan(&[(&plugin, "")], &[step_with_effect("s", operator, "read_only", json!({ "how": how }))]);
    run_latch(place.path(), &["run", "plan.json"]).stderr
}

/// Printed text becomes log records, including lines written in parts, lines without an end, and bytes that
/// are not UTF-8.
#[test]
fn text_printed_by_a_go_plugin_becomes_log_records() {
    let printed = run_and_read_log("Ambient.Look", "");
    for line in ["looking around", "in the middle of ?? a character", "by log", "by slog ways=3", "without an end"] {
        assert!(printed.contains(&format!("| {line}\n")), "{line}: {printed}");
    }
}

/// An error that Go cannot recover from ends the try, and its text is recorded.
#[test]
fn fatal_error_of_a_go_plugin_is_logged() {
    for (how, line) in [
        ("exit", "os.Exit(3): a plugin answers, it does not exit"),
        ("fatal", "panic: nobody catches this"),
        ("deadlock", "fatal error: all goroutines are asleep - deadlock!"),
    ] {
        let printed = run_and_read_log("Ambient.Fail", how);
        assert!(printed.contains(&format!("| {line}\n")), "{how}: {printed}");
        assert!(printed.contains("PLUGIN_TRAP"), "{how}: {printed}");
    }
}

/// A step that calls a function for tools only is refused at build time.
#[test]
fn go_step_with_a_tool_import_is_refused() {
    let text = "package main\n\nimport \"latchwork\"\n\nfunc main() {\n\tlatchwork.Step(\"A.B\", latchwork.Spec{}, func(_ \
                latchwork.Context, key string) ([]byte, error) {\n\t\tvalue, _, err := latchwork.KVGet(key)\n\t\treturn \
                value, err\n\t})\n}\n";
    let error =
        crate::sdk::build_refusals::build_error("go", &[("plugin.go", text), ("plugin_test.go", "package main\n")]);
    assert!(error["message"].as_str().unwrap().contains("latchwork:plugin/kv@0.1.0"), "{error}");
}
