//! I57: malicious components, names and files.
#![expect(clippy::disallowed_methods, reason = "how long the program takes is measured here")]

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use wasm_encoder::{BlockType, Instruction};

use crate::support::plugins::built_guests::guest;
use crate::support::plugins::component_builder::{ComponentSpec, OperatorSpec, VALID_OPERATOR, VALID_STEP};
use crate::support::program;
use crate::support::program::{CommandOutput, latch_command, run_latch};

/// Duration after which a check counts as endless. Any check that ends takes less time, even on a slow machine.
const MAX_DURATION: Duration = Duration::from_secs(1_200);

/// Runs `plugin check` and `plugin inspect` on these bytes, and returns both reports.
fn check_and_inspect(bytes: &[u8], cases: &str) -> [(i32, Value, CommandOutput); 2] {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("odd.wasm"), bytes).unwrap();
    std::fs::write(folder.path().join("cases.jsonl"), cases).unwrap();
    [&["check", "odd.wasm", "--cases", "cases.jsonl"][..], &["inspect", "odd.wasm"]].map(|args| {
        let ran = run_latch(folder.path(), &[&["plugin"], args].concat());
        let json = run_latch(folder.path(), &[&["plugin"], args, &["--json"]].concat());
        (ran.code, json.json(), ran)
    })
}

/// I11, I57: a component whose start code traps, loops without end or allocates without end is a finding.
#[test]
fn component_that_misbehaves_at_instantiation_is_a_finding() {
    let forever = [Instruction::Loop(BlockType::Empty), Instruction::Br(0), Instruction::End];
    let grows = [
        Instruction::Loop(BlockType::Empty),
        Instruction::I32Const(1_000),
        Instruction::MemoryGrow(0),
        Instruction::Drop,
        Instruction::Br(0),
        Instruction::End,
    ];
    for (what, body) in [("traps", &[Instruction::Unreachable][..]), ("loops", &forever), ("grows", &grows)] {
        let began = Instant::now();
        let [check, inspect] = check_and_inspect(
            &ComponentSpec { unused_body: body, runs_on_instantiation: true, ..VALID_STEP }.build_component(),
            "",
        );
        let rules: Vec<&str> =
            check.1["findings"].as_array().unwrap().iter().map(|finding| finding["rule"].as_str().unwrap()).collect();
        assert_eq!((check.0, rules), (1, vec!["D008"]), "{what}: {:#}", check.1);
        assert_eq!((inspect.0, &inspect.1["loads"]), (1, &json!(false)), "{what}: {:#}", inspect.1);
        assert!(began.elapsed() < MAX_DURATION, "{what}: took {:?}", began.elapsed());
    }
}

/// I57: control characters in texts of a component or a case are escaped before they reach a terminal.
#[test]
fn control_characters_in_names_are_escaped() {
    const NAMED: OperatorSpec = OperatorSpec { name: "a\u{1b}[31m\n.b", ..VALID_OPERATOR };
    const DESCRIBED: OperatorSpec =
        OperatorSpec { description: "all\u{1b}[2J is \u{202e}well\nviolation D999: forged", ..VALID_OPERATOR };
    let case = r#"{"operator":"Made.Run","name":"c\u001b[31m\nviolation D999: forged","input":{}}"#;
    for (operators, cases) in [(&[NAMED][..], ""), (&[DESCRIBED], case)] {
        for (_, report, ran) in check_and_inspect(&ComponentSpec { operators, ..VALID_STEP }.build_component(), cases) {
            let text = format!("{}{}", ran.stdout, ran.stderr);
            assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text:?}");
            assert!(!text.lines().any(|line| line.trim_start().starts_with("violation D999")), "{text}");
            assert!(report.is_object());
        }
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("s.wasm"),
        ComponentSpec { operators: &[DESCRIBED], ..VALID_STEP }.build_component(),
    )
    .unwrap();
    std::fs::write(folder.path().join("cases.jsonl"), case).unwrap();
    for format in ["junit", "sarif"] {
        let ran =
            run_latch(folder.path(), &["plugin", "check", "s.wasm", "--cases", "cases.jsonl", "--format", format]);
        assert!(!ran.stdout.contains(['\u{1b}', '\0']), "{format}: {:?}", ran.stdout);
    }
}

/// I57.
#[test]
fn component_with_a_thousand_operators_is_checked() {
    let names: Vec<&'static str> = (0..1000).map(|n| &*format!("Made.Run{n}").leak()).collect();
    let operators: Vec<OperatorSpec> = names.iter().map(|name| OperatorSpec { name, ..VALID_OPERATOR }).collect();
    let began = Instant::now();
    let [check, inspect] =
        check_and_inspect(&ComponentSpec { operators: &operators, ..VALID_STEP }.build_component(), "");
    assert_eq!(check.0, 0, "{}", check.2.stderr);
    assert_eq!(check.1["findings"].as_array().unwrap().len(), 1000, "each operator has no case");
    assert_eq!(inspect.1["operators"].as_array().unwrap().len(), 1000);
    assert!(began.elapsed() < MAX_DURATION, "took {:?}", began.elapsed());
}

/// I57: a file name that is not valid UTF-8 is accepted. A path that does not lead to a regular file is
/// refused.
#[test]
fn non_utf8_file_names_work_and_paths_without_a_regular_file_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &[u8]| folder.path().join(OsStr::from_bytes(name));
    std::fs::copy(guest("check-step"), at(b"n\xff.wasm")).unwrap();
    std::fs::write(at(b"cases.jsonl"), "{\"operator\":\"Good.Pure\",\"input\":{}}\n").unwrap();
    let mut printed = vec![];
    for command in ["check", "inspect"] {
        for json in [false, true] {
            let mut asked = latch_command(folder.path(), &["plugin", command]);
            asked.arg(OsStr::from_bytes(b"n\xff.wasm")).args(json.then_some("--json"));
            if command == "check" {
                asked.args(["--cases", "cases.jsonl"]);
            }
            let ran = program::command_output(asked.output().unwrap());
            assert_eq!(ran.code, 0, "{command}: {} {}", ran.stdout, ran.stderr);
            printed.push(ran.stdout);
        }
    }
    assert!(printed.iter().all(|printed| printed.contains("n\u{fffd}.wasm")));

    std::fs::create_dir(at(b"dir")).unwrap();
    std::os::unix::fs::symlink("loop", at(b"loop")).unwrap();
    std::fs::copy(guest("check-step"), at(b"it.wasm")).unwrap();
    for args in [
        &["check", "dir"][..],
        &["check", "loop"],
        &["check", "none"],
        &["inspect", "dir"],
        &["inspect", "loop"],
        &["check", "/dev/zero"],
        &["inspect", "/dev/zero"],
        &["check", "it.wasm", "--cases", "dir"],
        &["check", "it.wasm", "--cases", "loop"],
        &["check", "it.wasm", "--rebuilt", "none"],
        &["check", "it.wasm", "--history", "it.wasm"],
        &["check", "it.wasm", "--history", "cases.jsonl"],
    ] {
        let ran = run_latch(folder.path(), &[&["plugin"], args].concat());
        assert_eq!(ran.code, 2, "{args:?}: {} {}", ran.stdout, ran.stderr);
        let named = args.last().unwrap();
        assert!(ran.stderr.contains(named) && ran.stderr.contains("[L0"), "{args:?}: {}", ran.stderr);
    }
    // If the second build is not a component, the check reports a finding and not an input error.
    let ran =
        run_latch(folder.path(), &["plugin", "check", "it.wasm", "--cases", "cases.jsonl", "--rebuilt", "cases.jsonl"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(ran.stdout.contains("violation D065"), "{}", ran.stdout);
}
