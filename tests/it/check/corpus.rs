//! I55, I250, I255, I256, I257, I258, I259, I260, I261, I262, I264, I266, I267, I294, I295, I296, I297, I298, I299.
//! I301, I302, I304, I305, I306, I308, I309, I310, I311, I312, I314, I315, I316, I317, I318, I319, I320, I321, I322,
//! I323, I324, I325, I326, I327, I331, I333, I335, I336, I337: for each common mistake in five languages, the checker
//! reports the rule that covers the mistake. Correct code that looks similar has no finding. `tests/corpus` contains the
//! guests. A table for each language lists the rules that each guest breaks.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::checkout;
use crate::support::plugins::sdk_tools::run_latch;

const LANGS: [&str; 5] = ["python", "js", "c", "go", "rust"];

/// One guest of a `table.toml`.
struct CorpusGuest {
    plugin: String,
    /// `None` if the mistake concerns the plugin as a whole.
    operator: Option<String>,
    says: String,
    breaks: BTreeSet<String>,
    also: BTreeSet<String>,
    cases: Vec<Value>,
}

/// The guests of one language. `rebuilt` names the plugins that are built twice. The checker compares the two builds.
struct CorpusTable {
    dir: PathBuf,
    guests: Vec<CorpusGuest>,
    rebuilt: BTreeSet<String>,
}

impl CorpusTable {
    fn read(lang: &str) -> Self {
        let dir = checkout::copy().join("tests/corpus").join(lang);
        let text = std::fs::read_to_string(dir.join("table.toml")).unwrap();
        let table: toml::Table = text.parse().unwrap();
        let texts = |table: &toml::Table, key: &str| -> Vec<String> {
            let list = table.get(key).map(|list| list.as_array().unwrap().as_slice()).unwrap_or_default();
            list.iter().map(|text| text.as_str().unwrap().to_owned()).collect()
        };
        let guest = |guest: &toml::Value| {
            let guest = guest.as_table().unwrap();
            let text = |key: &str| guest.get(key).map(|text| text.as_str().unwrap().to_owned());
            let operator = text("operator");
            let case = |line: String| {
                let mut case: Value = serde_json::from_str(&line).unwrap();
                case["operator"] = json!(operator);
                case
            };
            CorpusGuest {
                plugin: text("plugin").unwrap(),
                says: text("says").unwrap(),
                breaks: texts(guest, "breaks").into_iter().collect(),
                also: texts(guest, "also").into_iter().collect(),
                cases: texts(guest, "cases").into_iter().map(case).collect(),
                operator,
            }
        };
        let guests = table["guest"].as_array().unwrap().iter().map(guest).collect();
        Self { dir, guests, rebuilt: texts(&table, "rebuilt").into_iter().collect() }
    }

    /// Builds the plugin and copies its component to `to`.
    fn build(&self, plugin: &str, to: &Path) {
        let built = run_latch(&self.dir, &["plugin", "build", plugin, "--json"]);
        assert_eq!(built.code, 0, "{plugin}: {}", built.stderr);
        let made =
            built.json()["built"][0]["component"].as_str().unwrap_or_else(|| panic!("{}", built.stdout)).to_owned();
        std::fs::copy(self.dir.join(made), to).unwrap();
    }

    /// Checks each plugin with the cases of all its guests, and reports every difference from the table.
    fn check_all(&self) {
        let mut plugins: Vec<&str> = self.guests.iter().map(|guest| guest.plugin.as_str()).collect();
        plugins.dedup();
        self.check(&plugins);
    }

    /// Checks some of the plugins as [`check_all`](Self::check_all) does.
    fn check(&self, plugins: &[&str]) {
        let place = tempfile::tempdir().unwrap();
        let (mut wrong, mut printed) = (0, String::new());
        for &plugin in plugins {
            let found = self.broken_rules(place.path(), plugin);
            let guests: Vec<&CorpusGuest> = self.guests.iter().filter(|guest| guest.plugin == plugin).collect();
            for (operator, rules) in &found {
                if !guests.iter().any(|guest| guest.operator == *operator) {
                    wrong += 1;
                    writeln!(printed, "WRONG {plugin} {operator:?} is no guest: {rules:?}").unwrap();
                }
            }
            for guest in guests {
                let found = found.get(&guest.operator).cloned().unwrap_or_default();
                let allowed: BTreeSet<String> = guest.breaks.union(&guest.also).cloned().collect();
                let is_right = guest.breaks.is_subset(&found) && found.is_subset(&allowed);
                wrong += usize::from(!is_right);
                let mark = if is_right { "right" } else { "WRONG" };
                let name = guest.operator.as_deref().unwrap_or_default();
                writeln!(printed, "{mark} {plugin} {name} {}: {found:?}, {:?}", guest.says, guest.breaks).unwrap();
            }
        }
        assert_eq!(wrong, 0, "{printed}");
    }

    /// Returns the rules that each operator of a plugin breaks. The key `None` holds the findings about the
    /// plugin as a whole.
    fn broken_rules(&self, place: &Path, plugin: &str) -> BTreeMap<Option<String>, BTreeSet<String>> {
        let (wasm, again) = (format!("{plugin}.wasm"), "again.wasm");
        self.build(plugin, &place.join(&wasm));
        let cases = self.guests.iter().filter(|guest| guest.plugin == plugin).flat_map(|guest| &guest.cases);
        let lines: Vec<String> = cases.map(Value::to_string).collect();
        std::fs::write(place.join("cases.jsonl"), lines.join("\n")).unwrap();
        let mut args = vec!["plugin", "check", &wasm, "--cases", "cases.jsonl", "--json"];
        if self.rebuilt.contains(plugin) {
            self.build(plugin, &place.join(again));
            args.extend(["--rebuilt", again]);
        }
        let ran = run_latch(place, &args);
        let report = ran.json();
        let findings = report["findings"].as_array().unwrap_or_else(|| panic!("{plugin}: {report:#} {}", ran.stderr));
        let violated = findings.iter().any(|finding| finding["severity"] == "violation");
        assert_eq!(ran.code, i32::from(violated), "{plugin}: {report:#}");
        let mut found = BTreeMap::<Option<String>, BTreeSet<String>>::new();
        for finding in findings {
            let word = |key: &str| finding[key].as_str().map(str::to_owned);
            found.entry(word("operator")).or_default().insert(word("rule").unwrap());
        }
        found
    }
}

/// I55: the checker finds exactly the rules that the table lists for each Python guest.
#[test]
#[ignore = "builds and compiles several large components; run by .ci/long"]
fn python_guests_break_exactly_the_listed_rules() {
    CorpusTable::read("python").check_all();
}

/// I55: the checker finds exactly the rules that the table lists for each JavaScript guest.
#[test]
#[ignore = "builds and compiles several large components; run by .ci/long"]
fn javascript_guests_break_exactly_the_listed_rules() {
    CorpusTable::read("js").check_all();
}

/// I55: the checker finds exactly the rules that the table lists for each tool in C. Some rules for tools have guests in C
/// alone.
#[test]
fn c_tools_break_exactly_the_listed_rules() {
    CorpusTable::read("c").check(&["tools"]);
}

/// I272: the checker finds results that become too deep for a larger input, and an order by addresses among equal
/// elements. I320: the addresses usually rise. I273: it finds a class that is narrower than that of a called tool.
/// I283: it finds a recursion along a chain from a named element, and a step that waits for a time of its input. I284:
/// answers that a step remembers are no finding. I285: it finds a read for each element, and an event without escapes.
/// I286: it finds a pure step that follows an external answer. I302: it finds a number above 2^53 that only the most
/// elements give which the step accepts.
#[test]
fn c_steps_of_larger_inputs_break_exactly_the_listed_rules() {
    CorpusTable::read("c").check(&["growth"]);
}

/// I274: the checker finds a repetition that changes its entry after a call of another operator.
#[test]
fn c_tools_of_shared_entries_break_exactly_the_listed_rules() {
    CorpusTable::read("c").check(&["quotes"]);
}

/// I275: the checker finds steps that break if one member changes in all elements, a number within a text changes, or an
/// array continues. I279: it finds a call whose arguments have no canonical form.
#[test]
fn c_steps_of_changed_columns_break_exactly_the_listed_rules() {
    CorpusTable::read("c").check(&["columns"]);
}

/// I276: the checker finds a call that traps for a long list, or whose answer its schema does not allow for another
/// input. I277: it finds an undone call whose only mark is under the key of the compensation.
#[test]
fn c_tools_of_lists_and_marks_break_exactly_the_listed_rules() {
    CorpusTable::read("c").check(&["marks"]);
}

/// I280: the checker finds a repetition after another call has replaced or removed an entry. I281: it finds a stable
/// tool that answers from its map. I282: it finds an undone call that had replaced an entry which it could not read.
/// I276: it finds a call that fails for a long text of letters of two bytes, after it has written an entry. I284: a
/// random name of an entry is no finding. I290: it finds an undo that puts a part of the earlier contents back. I291:
/// it finds a repetition on the next day.
#[test]
fn c_tools_of_earlier_entries_break_exactly_the_listed_rules() {
    CorpusTable::read("c").check(&["states"]);
}

/// I287: the checker finds tools that break a promise after a call of another operator. I288: it finds a tool that cuts a
/// long key. I304: it finds a tool that asks for too long a wait, and one that denies a changed entry. I305: it finds a
/// tool that returns a time more exactly than it stores it. I306: it finds a named compensation that undoes nothing.
#[test]
fn c_tools_with_related_operators_break_exactly_the_listed_rules() {
    CorpusTable::read("c").check(&["links"]);
}

/// I292: the checker finds tools that compare a time of their input before they look for the call. I287: it checks an
/// operator whose cases have no entries after the call of another operator. I337: it finds a repetition that reports another
/// version than the call.
#[test]
fn c_tools_of_times_and_removed_entries_break_exactly_the_listed_rules() {
    CorpusTable::read("c").check(&["shelf"]);
}

/// I294: the checker finds steps that give different effects one action key. I295: it finds a step whose effects or class do
/// not cover those of a called tool. I296: it finds a step that repeats a call without end, and one that uses up a limit
/// for an input of the greatest length. I297: it finds a call with a number that a double does not hold. I301: it finds a
/// step that uses one action key for two different elements of a list, or for two months. I315: the elements are different
/// if the case has two results for them. I316: the month can be that of the clock. I321: the year can be beside it. I317: it finds a pure step that compares
/// the length of an answer alone. I331: it finds equal calls of one key, a late refusal, and a key and arguments of two days.
/// I333: it finds a message in an event without escapes. I335: it finds the place of an element in a key.
#[test]
fn c_steps_with_calls_break_exactly_the_listed_rules() {
    CorpusTable::read("c").check(&["calls"]);
}

/// I298: the checker finds a tool that can undo none of its calls, and one that puts back a part of an entry. I299: it
/// finds a repetition that has its effect again after another operator has removed it. I314: it finds an undo that takes
/// back the price of a later call.
#[test]
fn c_tools_with_undone_calls_break_exactly_the_listed_rules() {
    CorpusTable::read("c").check(&["undo"]);
}

/// I55, I311: steps break with inputs as large as their schema allows, or with numbers in no order.
#[test]
fn c_steps_at_the_limits_of_their_schemas_break_exactly_the_listed_rules() {
    CorpusTable::read("c").check(&["limits"]);
}

/// I55, I312: a call changes the entry of another operator, and gets one member of its result.
#[test]
fn c_tools_of_changed_loans_break_exactly_the_listed_rules() {
    CorpusTable::read("c").check(&["loans"]);
}

/// I308: the checker finds a step that breaks for a drawn input alone. I275: it finds one that breaks for two names
/// that differ in case only. I327: it finds a step that breaks for some random numbers. A generator whose result has few
/// possible values is no finding, and neither is a global that belongs to one run.
#[test]
fn c_steps_of_drawn_inputs_break_exactly_the_listed_rules() {
    CorpusTable::read("c").check(&["draws"]);
}

/// I309: the checker finds a tool that traps after a drawn series of calls. I310: it finds an undo that adds a revision with
/// a value of the undone call.
#[test]
fn c_tools_of_drawn_calls_break_exactly_the_listed_rules() {
    CorpusTable::read("c").check(&["stock"]);
}

/// I322: the checker finds an undo that leaves a part of the earlier text, or an entry that another operator still shows. I323:
/// it finds a repetition that returns its own value as the earlier one. I324: it finds tools that ignore a failed read or
/// write. I325: it finds tools that forget a call after some time, or for another tenant. I326: it finds tools that mistake a
/// change of another operator. I336: it finds an entry of a killed try that its repetition leaves.
#[test]
fn c_tools_of_faults_break_exactly_the_listed_rules() {
    CorpusTable::read("c").check(&["faults"]);
}

/// I318: the checker finds an undo that leaves an empty text.
#[test]
fn c_tools_of_boards_break_exactly_the_listed_rules() {
    CorpusTable::read("c").check(&["boards"]);
}

/// I55: the checker finds exactly the rules that the table lists for each C guest.
#[test]
#[ignore = "builds and checks plugins for minutes; run by .ci/long"]
fn c_guests_break_exactly_the_listed_rules() {
    CorpusTable::read("c").check_all();
}

/// I55, I319: the checker finds exactly the rules that the table lists for each Go guest.
#[test]
#[ignore = "builds and compiles several large components; run by .ci/long"]
fn go_guests_break_exactly_the_listed_rules() {
    CorpusTable::read("go").check_all();
}

/// I55: the checker finds exactly the rules that the table lists for each Rust guest. I293: it finds copied members with
/// names of the output, and a recursion along the edges of a graph.
#[test]
fn rust_guests_break_exactly_the_listed_rules() {
    CorpusTable::read("rust").check_all();
}

/// The corpus has at least the number of guests and rules that its README states.
#[test]
fn corpus_has_the_documented_number_of_guests() {
    let (mut bad, mut good, mut rules) = (0, 0, BTreeMap::<String, usize>::new());
    let mut names = BTreeSet::new();
    for lang in LANGS {
        let table = CorpusTable::read(lang);
        let of_lang = table.guests.iter().filter(|guest| !guest.breaks.is_empty()).count();
        assert!(of_lang >= 10, "{lang} has {of_lang} guests that break a rule");
        bad += of_lang;
        good += table.guests.len() - of_lang;
        for guest in &table.guests {
            let name = (lang, guest.plugin.clone(), guest.operator.clone());
            assert!(names.insert(name.clone()), "{name:?} is listed twice");
            for rule in &guest.breaks {
                assert!(latchwork_tooling::check::find_rule(rule).is_some(), "{rule}");
                *rules.entry(rule.clone()).or_default() += 1;
            }
        }
    }
    assert!(bad >= 80 && good >= 60, "{bad} bad and {good} good guests");
    assert!(rules.len() >= 20, "{rules:?}");
}
