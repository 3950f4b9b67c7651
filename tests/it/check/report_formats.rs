//! Report formats and exit codes of `latch plugin check` for files that the host cannot load.

use crate::support::plugins::built_guests::guest;
use crate::support::program::run_latch;

#[test]
fn component_refused_by_the_host_is_reported_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let wasi = guest("wasi-step");
    let file = wasi.to_str().unwrap();
    let text = run_latch(folder.path(), &["plugin", "check", file]);
    assert_eq!(text.code, 1, "{}", text.stderr);
    for part in ["violation D002: ", "wasi:", "do: ", "failed: "] {
        assert!(text.stdout.contains(part), "{part}: {}", text.stdout);
    }
    let json = run_latch(folder.path(), &["plugin", "check", file, "--json"]);
    assert_eq!(json.stdout, run_latch(folder.path(), &["plugin", "check", file, "--format", "json"]).stdout);
    let report = json.json();
    assert_eq!((json.code, &report["passed"], &report["schema"]), (1, &false.into(), &"latchwork.check/1".into()));
    let found = report["findings"].as_array().unwrap().len();
    assert!(found > 1 && report["findings"][0]["rule"] == "D002", "every import by itself: {report:#}");

    let junit = run_latch(folder.path(), &["plugin", "check", file, "--format", "junit"]).stdout;
    assert_eq!(junit.matches("<failure type=\"D002\"").count(), found, "{junit}");
    assert_eq!(junit.matches("<testcase ").count(), junit.matches("</testcase>").count());

    let sarif = run_latch(folder.path(), &["plugin", "check", file, "--format", "sarif"]).json();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    assert_eq!((sarif["version"].as_str(), results.len()), (Some("2.1.0"), found));
    for result in results {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(sarif["runs"][0]["tool"]["driver"]["rules"][index]["id"], result["ruleId"]);
        assert_eq!(result["locations"][0]["physicalLocation"]["region"]["startLine"], 1);
    }
}

#[test]
fn non_component_is_a_violation_and_missing_file_is_an_input_error() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("no.wasm"), b"\0asm\x01\0\0\0").unwrap();
    let core = run_latch(folder.path(), &["plugin", "check", "no.wasm"]);
    assert_eq!(core.code, 1, "{}", core.stderr);
    assert!(core.stdout.contains("violation D001"), "{}", core.stdout);
    let missing = run_latch(folder.path(), &["plugin", "check", "missing.wasm", "--json"]);
    assert_eq!((missing.code, &missing.json()["error"]["code"]), (2, &"L0011".into()));
    let empty = run_latch(folder.path(), &["plugin", "check", "."]);
    assert_eq!(empty.code, 2);
    assert!(empty.stderr.contains("latch-plugin.toml"), "{}", empty.stderr);
}

#[test]
fn explain_prints_checker_rules_and_suggests_similar_ones() {
    let folder = tempfile::tempdir().unwrap();
    let page = run_latch(folder.path(), &["explain", "d002"]);
    assert_eq!(page.code, 0);
    assert!(page.stdout.contains("What is wrong") && page.stdout.contains("tools.call"), "{}", page.stdout);
    let near = run_latch(folder.path(), &["explain", "D02"]);
    assert!(near.code == 2 && near.stderr.contains("D002"), "{}", near.stderr);
}
