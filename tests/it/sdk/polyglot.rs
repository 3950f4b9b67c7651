//! The example `funding-polyglot`: one plan with steps in four languages.

use std::process::Command;

use serde_json::json;

use crate::sdk::{go_command, outputs_checked_by_replay};
use crate::support::checkout;
use crate::support::plugins::sdk_tools::{latch_command, run_latch, tools_dir};
use crate::support::test_env::{build_plugin, copy_tree};

/// Builds the component of an example. Languages other than Rust use the build tools in the tests' tools
/// directory.
fn example_component(name: &str) -> std::path::PathBuf {
    let dir = checkout::copy().join("example-plugins").join(name);
    if name.ends_with("-rust") {
        return build_plugin(&dir);
    }
    let options = latchwork_tooling::build::BuildOptions {
        tools_dir: tools_dir(),
        ..latchwork_tooling::build::BuildOptions::from_env().unwrap()
    };
    let mut printed = Vec::new();
    let made = latchwork_tooling::build::build(&dir, &options, &mut |line| printed.push(line.to_owned()));
    made.unwrap_or_else(|error| panic!("{name}: {error}\n{}", printed.join("\n"))).wasm
}

/// I1, I52: in the example `funding-polyglot`, the Python step reads, the Go step compares, the JavaScript step
/// writes and the C step reviews. The process is killed several times. Nevertheless one message is sent, and
/// every prefix of the log replays.
#[test]
#[ignore = "compiles a component in each language; run by .ci/long"]
fn golden_flow_in_four_languages_sends_one_message_despite_kills() {
    let examples = checkout::copy().join("example-plugins");
    let place = tempfile::tempdir().unwrap();
    copy_tree(&examples.join("funding-outreach/data"), &place.path().join("data"));
    copy_tree(&examples.join("funding-outreach/plan.json"), &place.path().join("plan.json"));
    let mut config = std::fs::read_to_string(examples.join("funding-polyglot/latch.toml")).unwrap();
    config = config.replace("../funding-outreach/data", "data");
    let plugins =
        ["funding-python", "funding-go", "funding-js", "funding-c", "files-rust", "requests-rust", "mail-maildir-rust"];
    for plugin in plugins {
        config = config.replace(&format!("\"../{plugin}\""), &format!("{:?}", example_component(plugin)));
    }
    std::fs::write(place.path().join("latch.toml"), config).unwrap();
    for name in ["outbox", "requests"] {
        std::fs::create_dir(place.path().join(name)).unwrap();
    }
    let args = ["run", "plan.json", "--json", "--actor", "ada", "--approve", "s5", "--approve", "s6"];
    // Each run resumes the job and is killed after its `nth` execution of a tool, if the run gets that far.
    for nth in [1, 2, 4] {
        let killed =
            latch_command(place.path(), &args).env("LATCH_CRASH_AT", format!("execute:after:{nth}")).output().unwrap();
        assert!(matches!(killed.status.code(), None | Some(0)), "{}", String::from_utf8_lossy(&killed.stderr));
    }
    let ran = run_latch(place.path(), &args);
    let job = ran.json();
    assert_eq!((ran.code, &job["state"]), (0, &json!("COMPLETED")), "{job:#}");
    assert_eq!(std::fs::read_dir(place.path().join("outbox/new")).unwrap().count(), 1, "one message");
    let outputs = outputs_checked_by_replay(place.path(), &job);
    assert_eq!(outputs["s1"]["name"], "Prof. Dr. Ingrid Solheim");
    assert!(outputs["s3"]["body"].as_str().unwrap().starts_with("Dear Professor Solheim,"), "{:#}", outputs["s3"]);
    assert_eq!(outputs["s4"]["verdict"], "ready", "{:#}", outputs["s4"]);
}

/// The steps of the examples in other languages pass their own tests.
#[test]
fn examples_in_other_languages_pass_their_own_tests() {
    let root = checkout::copy();
    let test = std::env::temp_dir().join(format!("latch-funding-c-{}", std::process::id()));
    let compile =
        format!("cc -I../../guest-sdk/c -o {0} test_plugin.c -lm && {0}; r=$?; rm -f {0}; exit $r", test.display());
    for (dir, program, args) in [
        ("funding-js", "node", ["--test", "test/plugin.test.js"]),
        ("funding-python", "python3", ["-Bm", "unittest"]),
        ("funding-c", "sh", ["-c", compile.as_str()]),
        ("funding-go", "go", ["test", "./..."]),
    ] {
        let mut command = if program == "go" { go_command() } else { Command::new(program) };
        command.args(args).current_dir(root.join("example-plugins").join(dir));
        let ran = command.env("PYTHONPATH", "../../guest-sdk/python").output().unwrap();
        let printed = format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
        assert!(ran.status.success(), "{dir}: {printed}");
    }
}
