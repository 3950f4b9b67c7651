//! Checks of several plugins, reports in several formats, and the contents of each finding.

use serde_json::Value;

use crate::support::plugins::built_guests::guest;
use crate::support::program;
use crate::support::program::run_latch;

/// Creates a folder with two steps: one that passes the check and one that is refused. Also returns the name of
/// a third file, which does not exist.
fn folder_with_components() -> (tempfile::TempDir, [&'static str; 3]) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(guest("swayed-step"), folder.path().join("good.wasm")).unwrap();
    std::fs::copy(guest("wasi-step"), folder.path().join("bad.wasm")).unwrap();
    (folder, ["good.wasm", "gone.wasm", "bad.wasm"])
}

fn check_plugins(folder: &tempfile::TempDir, args: &[&str]) -> program::CommandOutput {
    run_latch(folder.path(), &[&["plugin", "check"][..], args].concat())
}

/// I167: the check reports every plugin in the given order, even if another plugin fails or cannot be checked.
#[test]
fn one_unreadable_plugin_does_not_hide_the_reports_of_others() {
    let (folder, files) = folder_with_components();
    let text = check_plugins(&folder, &files);
    assert_eq!(text.code, 1, "{} {}", text.stdout, text.stderr);
    for part in [
        "good.wasm (step",
        "gone.wasm\nnot checked: ",
        "violation D002",
        "3 plugins: 1 passed, 1 failed, 1 not checked",
    ] {
        assert!(text.stdout.contains(part), "{part}: {}", text.stdout);
    }
    let json = check_plugins(&folder, &[&files[..], &["--json"]].concat());
    let report = json.json();
    assert_eq!((json.code, &report["schema"], &report["passed"]), (1, &"latchwork.checks/1".into(), &false.into()));
    let names: Vec<_> =
        report["reports"].as_array().unwrap().iter().map(|one| one["component"]["file"].as_str()).collect();
    assert_eq!(names, [Some("good.wasm"), Some("bad.wasm")]);
    assert_eq!(report["not_checked"][0]["code"], "L0011", "{report:#}");
    // If no plugin violates a rule but one cannot be checked, the exit code is that of an input error.
    assert_eq!(check_plugins(&folder, &["good.wasm", "gone.wasm"]).code, 2);
    assert_eq!(check_plugins(&folder, &["good.wasm", "good.wasm"]).code, 0);
    let cases = check_plugins(&folder, &["good.wasm", "bad.wasm", "--cases", "cases.jsonl", "--json"]);
    assert_eq!((cases.code, &cases.json()["error"]["code"]), (2, &"L0010".into()));
}

/// I167: one check writes every format. Repeated checks write the same bytes. Each format contains the remedy for each
/// finding.
#[test]
fn one_check_writes_reports_in_several_formats() {
    let (folder, files) = folder_with_components();
    let outputs =
        ["--output", "json=r.json", "--output", "junit=r.xml", "--output", "sarif=r.sarif", "--output", "text=r.txt"];
    let ran = check_plugins(&folder, &[&files[..], &outputs].concat());
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(read("r.txt"), ran.stdout, "the report is still printed on stdout");
    let first: Vec<String> = ["r.json", "r.xml", "r.sarif", "r.txt"].map(read).to_vec();
    let json: Value = serde_json::from_str(&first[0]).unwrap();
    let findings: Vec<&Value> =
        json["reports"].as_array().unwrap().iter().flat_map(|one| one["findings"].as_array().unwrap()).collect();
    assert!(findings.len() > 2, "{json:#}");
    for finding in &findings {
        assert!(finding["hint"].as_str().is_some_and(|hint| hint.len() > 10), "{finding:#}");
    }
    let dos = findings.len() + 1;
    assert_eq!(first[3].matches("\n  do: ").count(), dos, "{}", first[3]);
    assert_eq!(first[1].matches("&#10;do: ").count(), dos, "{}", first[1]);
    assert_eq!(first[1].matches("<error type=\"L0011\"").count(), 1);
    let sarif: Value = serde_json::from_str(&first[2]).unwrap();
    let runs = sarif["runs"].as_array().unwrap();
    let success: Vec<_> = runs.iter().map(|run| run["invocations"][0]["executionSuccessful"].as_bool()).collect();
    assert_eq!(success, [Some(true), Some(false), Some(true)]);
    for result in runs.iter().flat_map(|run| run["results"].as_array().unwrap()) {
        assert!(result["message"]["text"].as_str().unwrap().contains("\ndo: "), "{result:#}");
    }
    check_plugins(&folder, &[&files[..], &outputs].concat());
    assert_eq!(first, ["r.json", "r.xml", "r.sarif", "r.txt"].map(read), "the same report each time");

    let stdout = check_plugins(&folder, &["bad.wasm", "--output", "sarif=-", "--output", "text=one.txt"]);
    assert_eq!((stdout.code, &stdout.json()["version"]), (1, &"2.1.0".into()), "{}", stdout.stderr);
    assert!(read("one.txt").contains("violation D002"));
    // The report file is written even if the input cannot be checked.
    assert_eq!(check_plugins(&folder, &["gone.wasm", "--output", "sarif=gone.sarif"]).code, 2);
    assert!(read("gone.sarif").contains("\"executionSuccessful\": false"));
}

#[test]
fn report_outputs_are_validated_before_the_check() {
    let (folder, _) = folder_with_components();
    for (args, code) in [
        (&["--output", "sarif"][..], "L0010"),
        (&["--output", "yaml=x"], "L0010"),
        (&["--output", "sarif=x", "--output", "json=x"], "L0010"),
        (&["--output", "sarif=-", "--output", "junit=-"], "L0010"),
        (&["--output", "sarif=-", "--format", "junit"], "L0010"),
        (&["--output", "sarif=no/such/x"], "L0040"),
    ] {
        let ran = check_plugins(&folder, &[&["good.wasm", "--json"], args].concat());
        assert_eq!((ran.code, &ran.json()["error"]["code"]), (2, &code.into()), "{args:?} {}", ran.stdout);
    }
}

/// I167: a trap in the run for D070 is not a finding. In this run, memory that was never written is filled with nonzero
/// bytes, so `swayed-step` traps while it is loaded. The report only states that D070 was not checked, and contains no
/// text of the trap.
#[test]
fn report_without_findings_contains_no_trap_text() {
    let (folder, _) = folder_with_components();
    let case = r#"{"operator": "Swayed.Echo", "input": 1}"#;
    std::fs::write(folder.path().join("cases.jsonl"), case).unwrap();
    for format in ["text", "json", "junit", "sarif"] {
        let ran = check_plugins(&folder, &["good.wasm", "--cases", "cases.jsonl", "--format", format]);
        assert_eq!(ran.code, 0, "{} {}", ran.stdout, ran.stderr);
        let report = ran.stdout.split("\"rules\": [").next().unwrap();
        for word in ["trapped", "L0025", "unreachable", "called from", "panicked"] {
            assert!(!report.contains(word) && !ran.stderr.contains(word), "{word}: {report} {}", ran.stderr);
        }
        if format == "text" {
            assert!(
                ran.stdout.contains("D070: its stack and heap cannot be moved"),
                "the reason is stated: {}",
                ran.stdout
            );
        }
    }
}
