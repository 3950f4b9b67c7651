//! I55: guests whose author knew the documentation and neither the rules nor the code of the checker. Each violating
//! guest has a finding, and no honest guest has one. At most one violating guest may be missed.

use std::fmt::Write as _;
use std::path::PathBuf;

use crate::support::checkout;
use crate::support::program::run_latch;

/// Maximum number of violating guests without a finding.
const MAX_MISSED: usize = 1;

/// One guest of `table.toml`.
struct UnseenGuest {
    lang: String,
    name: String,
    violates: bool,
    says: String,
}

fn folder() -> PathBuf {
    checkout::copy().join("tests/corpus/unseen")
}

fn guests() -> Vec<UnseenGuest> {
    let text = std::fs::read_to_string(folder().join("table.toml")).unwrap();
    let table: toml::Table = text.parse().unwrap();
    let guest = |guest: &toml::Value| {
        let text = |key: &str| guest[key].as_str().unwrap().to_owned();
        let violates = guest["violates"].as_bool().unwrap();
        UnseenGuest { lang: text("lang"), name: text("name"), violates, says: text("says") }
    };
    table["plugin"].as_array().unwrap().iter().map(guest).collect()
}

/// Checks the folder of a guest and returns the rules of its findings, or the error of the check.
fn found_rules(guest: &UnseenGuest) -> Result<Vec<String>, String> {
    let ran = run_latch(&folder().join(&guest.lang), &["plugin", "check", &guest.name, "--json"]);
    let report = ran.json();
    let Some(findings) = report["findings"].as_array() else { return Err(format!("{report:#} {}", ran.stderr)) };
    let word = |finding: &serde_json::Value| format!("{} {}", finding["rule"], finding["severity"]).replace('"', "");
    Ok(findings.iter().map(word).collect())
}

/// The selected language, or every language.
fn is_selected(lang: &str) -> bool {
    std::env::var("LATCH_TEST_LANG").map_or(true, |only| only == lang)
}

#[test]
#[ignore = "builds and checks sixty plugins; run by .ci/long"]
fn violating_guests_have_findings_and_honest_guests_have_none() {
    let (mut missed, mut alarms, mut broken, mut lines) = (0, 0, 0, String::new());
    for guest in guests().iter().filter(|guest| is_selected(&guest.lang)) {
        let found = found_rules(guest);
        let verdict = match &found {
            Err(_) => "BROKEN",
            Ok(rules) if rules.is_empty() == guest.violates => ["ALARM", "MISSED"][usize::from(guest.violates)],
            Ok(_) => "right",
        };
        missed += usize::from(verdict == "MISSED");
        alarms += usize::from(verdict == "ALARM");
        broken += usize::from(verdict == "BROKEN");
        writeln!(lines, "{verdict} {}/{} {}: {found:?}", guest.lang, guest.name, guest.says).unwrap();
    }
    println!("{lines}{missed} missed, {alarms} false alarms, {broken} not checked");
    assert!(missed <= MAX_MISSED && alarms == 0 && broken == 0, "{lines}");
}

#[test]
fn table_of_unseen_guests_lists_every_folder() {
    let mut listed: Vec<PathBuf> = guests().iter().map(|guest| folder().join(&guest.lang).join(&guest.name)).collect();
    let mut found = Vec::new();
    for lang in std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()) {
        found.extend(std::fs::read_dir(lang).unwrap().map(|entry| entry.unwrap().path()));
    }
    listed.sort();
    found.sort();
    assert_eq!(listed, found);
    let violating = guests().iter().filter(|guest| guest.violates).count();
    assert_eq!((violating, listed.len() - violating), (40, 20));
}
