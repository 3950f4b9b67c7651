//! Known findings and exceptions, which do not fail a check, in all report formats.

use serde_json::{Value, json};

use crate::support::plugins::built_guests::guest;
use crate::support::program::run_latch;

/// I228.
#[test]
fn known_findings_pass_new_ones_fail_and_old_ones_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let wasi = guest("wasi-step");
    let file = wasi.to_str().unwrap();
    let check = |more: &[&str]| run_latch(folder.path(), &[&["plugin", "check", file], more].concat());
    let baseline = folder.path().join("known.json");
    let missing = check(&["--baseline", "known.json", "--json"]);
    assert_eq!((missing.code, &missing.json()["error"]["code"]), (2, &json!("L0011")));
    assert_eq!(check(&["--write-baseline"]).code, 2);

    let written = check(&["--baseline", "known.json", "--write-baseline"]);
    assert_eq!(written.code, 0, "{} {}", written.stdout, written.stderr);
    assert!(written.stdout.contains("known violation D002: "), "{}", written.stdout);
    let text = std::fs::read_to_string(&baseline).unwrap();
    let known: Value = serde_json::from_str(&text).unwrap();
    let total = known["findings"].as_array().unwrap().len();
    assert!(total > 1 && text.lines().count() > total, "one entry on its own lines: {text}");

    let passed = check(&["--baseline", "known.json", "--json"]);
    let report = passed.json();
    assert_eq!((passed.code, &report["passed"], &report["notes"]), (0, &json!(true), &json!([])));
    assert_eq!(report["findings"][0]["accepted"], json!({ "by": "baseline" }));
    let again = check(&["--baseline", "known.json", "--write-baseline"]);
    assert_eq!((again.code, std::fs::read_to_string(&baseline).unwrap()), (0, text));

    // The changed baseline lacks one finding, and lists another finding that the check does not report.
    let mut changed = known.clone();
    let gone = json!({ "plugin": known["findings"][0]["plugin"], "rule": "D002", "message": "imports nothing" });
    let removed = std::mem::replace(&mut changed["findings"][0], gone);
    std::fs::write(&baseline, changed.to_string()).unwrap();
    let failed = check(&["--baseline", "known.json"]);
    assert_eq!(failed.code, 1, "{}", failed.stdout);
    let last = failed.stdout.lines().last().unwrap();
    assert!(last.starts_with("failed: 1 violation, ") && last.contains(&format!(", {} known; ", total - 1)), "{last}");
    assert!(failed.stdout.contains("note: no longer found: D002: imports nothing; "), "{}", failed.stdout);

    let sarif = check(&["--baseline", "known.json", "--format", "sarif"]).json();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    let (new, unchanged): (Vec<_>, Vec<_>) = results.iter().partition(|result| result["baselineState"] == "new");
    assert_eq!((new.len(), unchanged.len()), (1, total - 1));
    assert!(new[0]["message"]["text"].as_str().unwrap().starts_with(removed["message"].as_str().unwrap()));
    assert!(new[0].get("suppressions").is_none());
    let suppression = json!({ "kind": "external", "status": "accepted", "justification": "known in the baseline" });
    assert!(unchanged.iter().all(|result| result["suppressions"] == json!([suppression])));

    std::fs::write(&baseline, "{\nours\n").unwrap();
    let damaged = check(&["--baseline", "known.json", "--json"]);
    assert_eq!((damaged.code, &damaged.json()["error"]["code"]), (2, &json!("L0037")));
    assert!(damaged.json()["error"]["message"].as_str().unwrap().starts_with("known.json:2: "), "{}", damaged.stdout);
}

/// I228: a rule whose violations are all known is a skipped test.
#[test]
fn known_findings_are_skipped_tests() {
    let folder = tempfile::tempdir().unwrap();
    let wasi = guest("wasi-step");
    let args = ["plugin", "check", wasi.to_str().unwrap(), "--baseline", "k.json", "--write-baseline"];
    let junit = run_latch(folder.path(), &[&args[..], &["--format", "junit"]].concat()).stdout;
    assert!(junit.contains("<skipped message=\"accepted: known in the baseline\"/>"), "{junit}");
    assert!(!junit.contains("<failure") && junit.contains("failures=\"0\""), "{junit}");
}
