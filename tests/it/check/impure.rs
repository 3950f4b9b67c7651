//! I215: if a pure operator uses or reads a value that differs from job to job, the finding names the cause.

use serde_json::{Value, json};

use super::Folder;

/// Checks one case for each input, and returns the findings by the name of the case.
fn findings_by_case(operator: &str, inputs: &[(&str, Value)]) -> Vec<(String, Value)> {
    let folder = Folder::new();
    let case = |(name, input): &(&str, Value)| json!({ "name": name, "operator": operator, "input": input });
    folder.write_cases(&inputs.iter().map(case).collect::<Vec<_>>());
    let report = folder.check(&["--cases", "cases.jsonl", "--json"]).json();
    let findings = report["findings"].as_array().unwrap_or_else(|| panic!("{report:#}"));
    let found = findings.iter().filter(|finding| finding["rule"] != "D050");
    found.map(|finding| (finding["case"].as_str().unwrap().to_owned(), finding.clone())).collect()
}

/// I215: the check varies each id of the job, several clocks and several seeds, one at a time.
#[test]
fn pure_operator_that_uses_a_value_of_its_job_is_found_with_the_cause() {
    let causes = [
        ("actor", "the actor of its job"),
        ("tenant", "the tenant of its job"),
        ("plan id", "the id of its plan"),
        ("step id", "the id of its step"),
        ("job id", "the id of its job"),
        ("correlation id", "the correlation id of its job"),
        ("length of the actor", "the actor of its job"),
        ("fifth second", "its clock"),
        ("first half of the year", "its clock"),
        ("this century", "its clock"),
        ("one of two", "its random numbers"),
        ("actor and second", "the actor of its job and its clock"),
    ];
    let inputs: Vec<_> = causes.iter().map(|(name, _)| (*name, json!({ "returns": name }))).collect();
    let found = findings_by_case("Impure.Returns", &inputs);
    assert_eq!(found.len(), causes.len(), "{found:#?}");
    for (name, cause) in causes {
        let (_, finding) = found.iter().find(|(case, _)| case == name).unwrap_or_else(|| panic!("{name}: {found:#?}"));
        assert_eq!(finding["rule"], "D064", "{finding:#}");
        let message = finding["message"].as_str().unwrap();
        assert!(message.contains(&format!("depends on {cause}: ")), "{name}: {message}");
    }
}

/// I215: a read without a visible difference is a warning that names the function. A case without a read has no
/// finding.
#[test]
fn pure_operator_that_only_reads_is_a_warning_with_the_function() {
    let inputs = ["clock", "random", "context", "nothing"].map(|name| (name, json!({ "reads": name })));
    let found = findings_by_case("Impure.Reads", &inputs);
    let rules: Vec<_> =
        found.iter().map(|(case, finding)| (case.as_str(), finding["rule"].as_str().unwrap())).collect();
    assert_eq!(rules, [("clock", "D073"), ("context", "D073"), ("random", "D073")], "{found:#?}");
    assert!(found[0].1["functions"].to_string().contains("reads_the_clock"), "{found:#?}");
    assert_eq!(found[0].1["severity"], "warning");
    // A read counts even if it causes a difference so rare that no tried seed shows it.
    let rare = findings_by_case("Impure.Returns", &[("rare", json!({ "returns": "one of twenty" }))]);
    assert_eq!(rare.len(), 1, "{rare:#?}");
}

/// I216: the check runs a case four times in one instance. It finds state of an earlier run that the second, third or
/// fourth run uses, with and without random numbers. The state of a random generator does not count.
#[test]
fn state_for_a_later_run_is_found() {
    let inputs = [
        ("second run", json!({ "after": 1 })),
        ("third run", json!({ "after": 2 })),
        ("second run after a random number", json!({ "after": 1, "draws": true })),
        ("no use of the state", json!({ "after": 100, "draws": true })),
        ("generator", json!({ "generator": true })),
    ];
    let found = findings_by_case("Impure.Counts", &inputs);
    let cases: Vec<_> =
        found.iter().map(|(case, finding)| (case.as_str(), finding["rule"].as_str().unwrap())).collect();
    let expected = ["second run", "second run after a random number", "third run"].map(|case| (case, "D071"));
    assert_eq!(cases, expected, "{found:#?}");
}
