//! I55: guests whose author knew the documentation and neither the rules nor the code of the checker. Each violating
//! guest has a finding, except those in a list, and no honest guest has one.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::PathBuf;

use crate::support::checkout;
use crate::support::program::run_latch;

/// Violating guests without a finding, as corpus, language and name. A guest that is found now is removed from this list.
const MISSED: [(&str, &str, &str); 5] = [
    // The output leaves its schema only for an answer of a tool that no case has. The schema of the tool is not known.
    ("fourteenth", "rust", "compost-rating"),
    // No run shows a difference: goroutines have one order.
    ("fifteenth", "go", "moss-density"),
    // The recursion follows results of calls, and no case has a result for a long chain.
    ("fifteenth", "js", "deed-abstract"),
    // Two concurrent calls need each other. The check does not know what the called tools do.
    ("seventeenth", "js", "sculls-entry"),
    // The undo leaves out a member of the answer of a server. Other members of answers cannot be written at all.
    ("twentysecond", "rust", "lift-profile"),
];
/// Honest guests with a finding that a later sentence of the documents justifies, as corpus, language and name.
const JUSTIFIED: [(&str, &str, &str); 4] = [
    // The undo reads its typed result as a dictionary, so that it always fails.
    ("eighth", "python", "ballot-record"),
    // Of two calls at once, the second one's undo puts back the text from before both. Only a later page calls this a defect.
    ("blind", "python", "allergy-note"),
    // A case expects an error that no job passes to a step. Its author could not know this from the page of that time.
    ("twentyfourth", "c", "ferry-tickets"),
    // The step makes a host call for each element of a list without a bound. Only a later page calls this a defect.
    ("twentyeighth", "go", "quiz-envelope"),
];
/// Folders of the corpora, in the order in which they were written.
const CORPORA: [&str; 29] = [
    "unseen",
    "fresh",
    "later",
    "blind",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
    "fourteenth",
    "fifteenth",
    "sixteenth",
    "seventeenth",
    "eighteenth",
    "nineteenth",
    "twentieth",
    "twentyfirst",
    "twentysecond",
    "twentythird",
    "twentyfourth",
    "twentyfifth",
    "twentysixth",
    "twentyseventh",
    "twentyeighth",
    "twentyninth",
];

/// One guest of the `table.toml` of a corpus.
struct UnseenGuest {
    lang: String,
    name: String,
    violates: bool,
    says: String,
}

fn folder(corpus: &str) -> PathBuf {
    checkout::copy().join("tests/corpus").join(corpus)
}

fn guests(corpus: &str) -> Vec<UnseenGuest> {
    let text = std::fs::read_to_string(folder(corpus).join("table.toml")).unwrap();
    let table: toml::Table = text.parse().unwrap();
    let guest = |guest: &toml::Value| {
        let text = |key: &str| guest[key].as_str().unwrap().to_owned();
        let violates = guest["violates"].as_bool().unwrap();
        UnseenGuest { lang: text("lang"), name: text("name"), violates, says: text("says") }
    };
    table["plugin"].as_array().unwrap().iter().map(guest).collect()
}

/// Checks the folder of a guest and returns the rules of its findings, or the error of the check.
fn found_rules(corpus: &str, guest: &UnseenGuest) -> Result<Vec<String>, String> {
    let ran = run_latch(&folder(corpus).join(&guest.lang), &["plugin", "check", &guest.name, "--json"]);
    let report = ran.json();
    let Some(findings) = report["findings"].as_array() else { return Err(format!("{report:#} {}", ran.stderr)) };
    let word = |finding: &serde_json::Value| format!("{} {}", finding["rule"], finding["severity"]).replace('"', "");
    Ok(findings.iter().map(word).collect())
}

/// Returns true if a guest is checked. `LATCH_TEST_LANG` selects a language. A check of a guest in JavaScript or Python
/// takes much longer than in other languages. `LATCH_TEST_SAMPLE=n` therefore selects one in n of the guests in these
/// two languages. `LATCH_TEST_SEED` determines the selection.
fn is_selected(corpus: &str, guest: &UnseenGuest) -> bool {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().expect("a number"));
    let is_of_language = std::env::var("LATCH_TEST_LANG").map_or(true, |only| only == guest.lang);
    let Some(one_in) = number("LATCH_TEST_SAMPLE").filter(|_| ["js", "python"].contains(&guest.lang.as_str())) else {
        return is_of_language;
    };
    let mut draw = DefaultHasher::new();
    (number("LATCH_TEST_SEED").unwrap_or(0), corpus, &guest.lang, &guest.name).hash(&mut draw);
    is_of_language && draw.finish().is_multiple_of(one_in)
}

/// Returns the verdict on a guest with these findings. `is_listed` is true if the guest is in the list of those missed, or
/// of those with a justified finding. A listed guest that is found, or has no finding any more, is `FOUND`.
fn verdict(found: &Result<Vec<String>, String>, violates: bool, is_listed: bool) -> &'static str {
    match found {
        Err(_) => "BROKEN",
        Ok(rules) if rules.is_empty() != violates => ["right", "FOUND"][usize::from(is_listed)],
        Ok(_) if is_listed => "known",
        Ok(_) => ["ALARM", "MISSED"][usize::from(violates)],
    }
}

/// Checks the guests of a corpus and returns a line for each, with the findings. Fails if there are wrong verdicts. Those
/// are in capitals.
fn check_corpus(corpus: &str) -> Result<String, String> {
    let (mut counts, mut lines) = (BTreeMap::<&str, usize>::new(), String::new());
    for guest in guests(corpus).iter().filter(|guest| is_selected(corpus, guest)) {
        let found = found_rules(corpus, guest);
        let named = (corpus, guest.lang.as_str(), guest.name.as_str());
        let is_listed = MISSED.contains(&named) || JUSTIFIED.contains(&named);
        let verdict = verdict(&found, guest.violates, is_listed);
        *counts.entry(verdict).or_default() += 1;
        writeln!(lines, "{verdict} {}/{} {}: {found:?}", guest.lang, guest.name, guest.says).unwrap();
    }
    writeln!(lines, "{counts:?}").unwrap();
    if counts.keys().all(|verdict| ["right", "known"].contains(verdict)) { Ok(lines) } else { Err(lines) }
}

#[test]
#[ignore = "builds and checks sixty plugins; run by .ci/long"]
fn guests_of_the_first_corpus_have_findings_if_they_violate_a_promise() {
    println!("{}", check_corpus("unseen").unwrap_or_else(|lines| panic!("{lines}")));
}

#[test]
#[ignore = "builds and checks sixty plugins; run by .ci/long"]
fn guests_of_the_second_corpus_have_findings_if_they_violate_a_promise() {
    println!("{}", check_corpus("fresh").unwrap_or_else(|lines| panic!("{lines}")));
}

#[test]
#[ignore = "builds and checks sixty plugins; run by .ci/long"]
fn guests_of_the_third_corpus_have_findings_if_they_violate_a_promise() {
    println!("{}", check_corpus("later").unwrap_or_else(|lines| panic!("{lines}")));
}

#[test]
#[ignore = "builds and checks sixty plugins; run by .ci/long"]
fn guests_of_the_fourth_corpus_have_findings_if_they_violate_a_promise() {
    println!("{}", check_corpus("blind").unwrap_or_else(|lines| panic!("{lines}")));
}

#[test]
#[ignore = "builds and checks sixty plugins; run by .ci/long"]
fn guests_of_the_fifth_corpus_have_findings_if_they_violate_a_promise() {
    println!("{}", check_corpus("fifth").unwrap_or_else(|lines| panic!("{lines}")));
}

#[test]
#[ignore = "builds and checks sixty plugins; run by .ci/long"]
fn guests_of_the_sixth_corpus_have_findings_if_they_violate_a_promise() {
    println!("{}", check_corpus("sixth").unwrap_or_else(|lines| panic!("{lines}")));
}

#[test]
#[ignore = "builds and checks sixty plugins; run by .ci/long"]
fn guests_of_the_seventh_corpus_have_findings_if_they_violate_a_promise() {
    println!("{}", check_corpus("seventh").unwrap_or_else(|lines| panic!("{lines}")));
}

#[test]
#[ignore = "builds and checks sixty plugins; run by .ci/long"]
fn guests_of_the_eighth_corpus_have_findings_if_they_violate_a_promise() {
    println!("{}", check_corpus("eighth").unwrap_or_else(|lines| panic!("{lines}")));
}

#[test]
#[ignore = "builds and checks sixty plugins; run by .ci/long"]
fn guests_of_the_ninth_corpus_have_findings_if_they_violate_a_promise() {
    println!("{}", check_corpus("ninth").unwrap_or_else(|lines| panic!("{lines}")));
}

#[test]
#[ignore = "builds and checks sixty plugins; run by .ci/long"]
fn guests_of_the_tenth_corpus_have_findings_if_they_violate_a_promise() {
    println!("{}", check_corpus("tenth").unwrap_or_else(|lines| panic!("{lines}")));
}

#[test]
#[ignore = "builds and checks sixty plugins; run by .ci/long"]
fn guests_of_the_eleventh_corpus_have_findings_if_they_violate_a_promise() {
    println!("{}", check_corpus("eleventh").unwrap_or_else(|lines| panic!("{lines}")));
}

#[test]
#[ignore = "builds and checks sixty plugins; run by .ci/long"]
fn guests_of_the_twelfth_corpus_have_findings_if_they_violate_a_promise() {
    println!("{}", check_corpus("twelfth").unwrap_or_else(|lines| panic!("{lines}")));
}

/// A guest that is missed and not listed is a wrong verdict, and so is a listed guest that is found.
#[test]
fn verdicts_agree_with_the_list_of_missed_guests() {
    let (none, some) = (Ok(vec![]), Ok(vec!["D064 violation".to_owned()]));
    let verdicts = [true, false].map(|is_listed| (verdict(&none, true, is_listed), verdict(&some, true, is_listed)));
    assert_eq!(verdicts, [("known", "FOUND"), ("MISSED", "right")]);
    assert_eq!((verdict(&none, false, false), verdict(&some, false, false)), ("right", "ALARM"));
    assert_eq!((verdict(&none, false, true), verdict(&some, false, true)), ("FOUND", "known"));
    assert_eq!(verdict(&Err("no build".to_owned()), true, true), "BROKEN");
    for (corpus, lang, name) in MISSED.into_iter().chain(JUSTIFIED) {
        let listed = guests(corpus).into_iter().any(|guest| (guest.lang.as_str(), guest.name.as_str()) == (lang, name));
        assert!(listed, "{corpus}/{lang}/{name} is in no table");
    }
}

#[test]
#[ignore = "builds and checks sixty plugins; run by .ci/long"]
fn guests_of_the_thirteenth_corpus_have_findings_if_they_violate_a_promise() {
    println!("{}", check_corpus("thirteenth").unwrap_or_else(|lines| panic!("{lines}")));
}

#[test]
#[ignore = "builds and checks sixty plugins; run by .ci/long"]
fn guests_of_the_fourteenth_corpus_have_findings_if_they_violate_a_promise() {
    println!("{}", check_corpus("fourteenth").unwrap_or_else(|lines| panic!("{lines}")));
}

#[test]
#[ignore = "builds and checks sixty plugins; run by .ci/long"]
fn guests_of_the_fifteenth_corpus_have_findings_if_they_violate_a_promise() {
    println!("{}", check_corpus("fifteenth").unwrap_or_else(|lines| panic!("{lines}")));
}

#[test]
#[ignore = "builds and checks sixty plugins; run by .ci/long"]
fn guests_of_the_sixteenth_corpus_have_findings_if_they_violate_a_promise() {
    println!("{}", check_corpus("sixteenth").unwrap_or_else(|lines| panic!("{lines}")));
}

#[test]
#[ignore = "builds and checks sixty plugins; run by .ci/long"]
fn guests_of_the_seventeenth_corpus_have_findings_if_they_violate_a_promise() {
    println!("{}", check_corpus("seventeenth").unwrap_or_else(|lines| panic!("{lines}")));
}

#[test]
#[ignore = "builds and checks sixty plugins; run by .ci/long"]
fn guests_of_the_eighteenth_corpus_have_findings_if_they_violate_a_promise() {
    println!("{}", check_corpus("eighteenth").unwrap_or_else(|lines| panic!("{lines}")));
}

#[test]
#[ignore = "builds and checks sixty plugins; run by .ci/long"]
fn guests_of_the_nineteenth_corpus_have_findings_if_they_violate_a_promise() {
    println!("{}", check_corpus("nineteenth").unwrap_or_else(|lines| panic!("{lines}")));
}

#[test]
#[ignore = "builds and checks sixty plugins; run by .ci/long"]
fn guests_of_the_twentieth_corpus_have_findings_if_they_violate_a_promise() {
    println!("{}", check_corpus("twentieth").unwrap_or_else(|lines| panic!("{lines}")));
}

#[test]
#[ignore = "builds and checks sixty plugins; run by .ci/long"]
fn guests_of_the_twenty_first_corpus_have_findings_if_they_violate_a_promise() {
    println!("{}", check_corpus("twentyfirst").unwrap_or_else(|lines| panic!("{lines}")));
}

#[test]
#[ignore = "builds and checks sixty plugins; run by .ci/long"]
fn guests_of_the_twenty_second_corpus_have_findings_if_they_violate_a_promise() {
    println!("{}", check_corpus("twentysecond").unwrap_or_else(|lines| panic!("{lines}")));
}

#[test]
#[ignore = "builds and checks sixty plugins; run by .ci/long"]
fn guests_of_the_twenty_third_corpus_have_findings_if_they_violate_a_promise() {
    println!("{}", check_corpus("twentythird").unwrap_or_else(|lines| panic!("{lines}")));
}

#[test]
#[ignore = "builds and checks sixty plugins; run by .ci/long"]
fn guests_of_the_twenty_fourth_corpus_have_findings_if_they_violate_a_promise() {
    println!("{}", check_corpus("twentyfourth").unwrap_or_else(|lines| panic!("{lines}")));
}

#[test]
#[ignore = "builds and checks sixty plugins; run by .ci/long"]
fn guests_of_the_twenty_fifth_corpus_have_findings_if_they_violate_a_promise() {
    println!("{}", check_corpus("twentyfifth").unwrap_or_else(|lines| panic!("{lines}")));
}

#[test]
#[ignore = "builds and checks sixty plugins; run by .ci/long"]
fn guests_of_the_twenty_sixth_corpus_have_findings_if_they_violate_a_promise() {
    println!("{}", check_corpus("twentysixth").unwrap_or_else(|lines| panic!("{lines}")));
}

#[test]
#[ignore = "builds and checks sixty plugins; run by .ci/long"]
fn guests_of_the_twenty_seventh_corpus_have_findings_if_they_violate_a_promise() {
    println!("{}", check_corpus("twentyseventh").unwrap_or_else(|lines| panic!("{lines}")));
}

#[test]
#[ignore = "builds and checks sixty plugins; run by .ci/long"]
fn guests_of_the_twenty_eighth_corpus_have_findings_if_they_violate_a_promise() {
    println!("{}", check_corpus("twentyeighth").unwrap_or_else(|lines| panic!("{lines}")));
}

#[test]
#[ignore = "builds and checks sixty plugins; run by .ci/long"]
fn guests_of_the_twenty_ninth_corpus_have_findings_if_they_violate_a_promise() {
    println!("{}", check_corpus("twentyninth").unwrap_or_else(|lines| panic!("{lines}")));
}

#[test]
fn tables_of_unseen_guests_list_every_folder() {
    for corpus in CORPORA {
        let listed = guests(corpus);
        let path = |guest: &UnseenGuest| folder(corpus).join(&guest.lang).join(&guest.name);
        let mut paths: Vec<PathBuf> = listed.iter().map(path).collect();
        let languages = std::fs::read_dir(folder(corpus)).unwrap().map(|entry| entry.unwrap().path());
        let mut found: Vec<PathBuf> = languages
            .filter(|path| path.is_dir())
            .flat_map(|lang| std::fs::read_dir(lang).unwrap().map(|entry| entry.unwrap().path()))
            .collect();
        paths.sort();
        found.sort();
        assert_eq!(paths, found);
        let violating = listed.iter().filter(|guest| guest.violates).count();
        assert_eq!((violating, listed.len() - violating), (40, 20), "{corpus}");
    }
}
