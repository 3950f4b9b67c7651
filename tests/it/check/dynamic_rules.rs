//! I61: the check reports each dynamic rule for the guest that breaks it, and for no other guest.

use serde_json::{Value, json};

use super::Folder;

/// Returns a case for the operator `Breaks.<rule>`.
fn breaking_case(rule: &str, input: &Value, answers: &Value) -> Value {
    json!({ "name": rule, "operator": format!("Breaks.{rule}"), "input": input, "answers": answers })
}

fn good_cases() -> Vec<Value> {
    vec![
        json!({ "name": "flow", "operator": "Good.Flow", "input": { "url": "https://example.org/" }, "answers": [
            { "operator": "Web.Fetch", "args": { "url": "https://example.org/" }, "determinism": "stable", "result": { "status": 200 } },
            { "operator": "File.Read", "determinism": "pure", "result": "a" },
            { "operator": "File.Read", "args": { "path": "b" }, "determinism": "pure", "result": "b" },
            { "operator": "File.Read", "determinism": "pure", "result": [1.0, 12345678901234567890u64] },
        ] }),
        json!({ "operator": "Good.Flow", "input": {}, "answers": [{ "error": { "code": "RATE_LIMIT" } }], "error": "RATE_LIMIT" }),
        json!({ "name": "pure", "operator": "Good.Pure", "input": { "n": 21 } }),
        json!({ "name": "timed", "operator": "Good.Timed", "input": {}, "answers": [{ "result": {} }] }),
        json!({ "name": "draws", "operator": "Good.Draws", "input": {} }),
        json!({ "name": "returns nothing", "operator": "Impure.Returns", "input": {} }),
        json!({ "name": "reads nothing", "operator": "Impure.Reads", "input": {} }),
        json!({ "name": "keeps a count", "operator": "Impure.Counts", "input": { "after": 100 } }),
        json!({ "name": "versioned", "operator": "Versioned.Run", "input": { "n": 1 }, "answers": [{ "result": [] }] }),
    ]
}

fn breaking_cases() -> Vec<Value> {
    let one = json!([{ "operator": "Web.Fetch", "result": {} }]);
    let other = json!([{ "operator": "Web.Fetch", "result": {} }, { "operator": "File.Read", "args": { "x": 2 }, "result": {} }]);
    vec![
        breaking_case("D051", &json!({}), &one),
        breaking_case("D052", &json!({ "x": 1 }), &other),
        breaking_case("D053", &json!({}), &one),
        breaking_case("D054", &json!({}), &json!([])),
        breaking_case("D055", &json!({}), &json!([])),
        breaking_case("D056", &json!({}), &json!([])),
        breaking_case("D057", &json!({}), &json!([])),
        breaking_case("D058", &json!({}), &json!([])),
        breaking_case("D059", &json!({}), &json!([])),
        breaking_case("D060", &json!({}), &json!([])),
        breaking_case("D061", &json!({}), &json!([])),
        breaking_case("D062", &json!({ "depth": 10_000 }), &json!([])),
        breaking_case("D063", &json!({}), &one),
        breaking_case("D064", &json!({}), &json!([])),
        breaking_case("D065", &json!({}), &json!([])),
        breaking_case("D067", &json!({}), &one),
        breaking_case("D068", &json!({}), &json!([])),
        breaking_case("D069", &json!({}), &json!([])),
        breaking_case("D070", &json!({}), &json!([])),
        breaking_case("D071", &json!({}), &json!([])),
    ]
}

fn rules_and_operators(report: &Value) -> Vec<(String, String)> {
    let text = |finding: &Value, key: &str| finding[key].as_str().unwrap_or_default().to_owned();
    let findings = report["findings"].as_array().unwrap().iter();
    findings.map(|finding| (text(finding, "rule"), text(finding, "operator"))).collect()
}

/// I61, I64.
#[test]
fn each_dynamic_rule_is_found_in_the_guest_that_breaks_it_and_in_no_other() {
    let folder = Folder::new();
    let other = folder.write_build(7);
    folder.write_cases(&[good_cases(), breaking_cases()].concat());
    let report = folder.check(&["--cases", "cases.jsonl", "--rebuilt", &other]);
    assert_eq!(report.code, 1, "{}", report.stderr);
    let report = report.json();
    let found = rules_and_operators(&report);
    for (rule, operator) in &found {
        assert_eq!(operator, &format!("Breaks.{rule}"), "{:#}", report["findings"]);
    }
    let rules: Vec<&str> = found.iter().map(|(rule, _)| rule.as_str()).collect();
    let dynamic = (50..=71).filter(|n| *n != 66 && *n <= 71).map(|n| format!("D0{n}"));
    for rule in dynamic {
        assert_eq!(rules.iter().filter(|found| **found == rule).count(), 1, "{rule}: {:#}", report["findings"]);
    }
    let of = |rule: &str| report["findings"].as_array().unwrap().iter().find(|f| f["rule"] == rule).unwrap().clone();
    // A finding names the position, the function, and the expected and the found value.
    assert_eq!(of("D056")["place"], json!({ "file": "cases.jsonl", "line": 15 }));
    assert!(of("D056")["functions"].to_string().contains("first_of_none"), "{:#}", of("D056"));
    // The message ends with the reason of the trap and then the last texts that the step wrote (I218).
    let message = of("D056")["message"].as_str().unwrap().to_owned();
    assert!(message.ends_with("; its last words: panicked at breaks.rs:31: the list has no items"), "{message}");
    assert!(of("D061")["functions"].to_string().contains("deep"), "{:#}", of("D061"));
    assert!(of("D063")["functions"].to_string().contains("must"), "{:#}", of("D063"));
    assert!(of("D062")["functions"].to_string().contains("deep"), "{:#}", of("D062"));
    let values = |rule: &str| (of(rule)["expected"].clone(), of(rule)["found"].clone());
    assert_eq!(values("D052"), (json!(r#"{"x":2}"#), json!(r#"{"x":1}"#)));
    assert_eq!(values("D065"), (json!("0"), json!("7")));
    assert_eq!(values("D067"), (json!("Web.Fetch"), json!("Web.Fetch, Cache.Warm")));
    assert!(of("D051")["hint"].as_str().unwrap().contains("\"File.Read\""), "{:#}", of("D051"));
    assert!(of("D065")["message"].as_str().unwrap().contains("/ok"), "{:#}", of("D065"));
    let runs = |name: &str| {
        let cases = report["cases"].as_array().unwrap();
        cases.iter().find(|case| case["name"] == name).map(|case| case["runs"].as_u64().unwrap())
    };
    // The case `flow` runs six times in one build: unchanged, repeated, alone, unoptimized, with less memory, and in
    // reverse order. Then it runs in four layouts of its memory and once with a longer input. For a crash at each of its
    // four calls it runs twice: until the crash, and after the resume. It runs once as another job, and once with slower
    // tools. For each of its four calls and each of ten codes, it runs once while only this call fails. The last three
    // calls are concurrent, so the step makes all of them even if the first or the second of them fails. For each of
    // these two calls and each code, the case also runs once while this call and all later calls fail. The case runs
    // once in another build and once in another process.
    //
    // For each other input, and for each other result of a call, the case runs in the usual host, in four layouts and
    // in another build.
    let of_hosts = 6 + 4 + 1 + 8 + 1 + 1 + 4 * 10 + 2 * 10 + 1 + 1;
    let of_inputs = runs("flow").unwrap() - of_hosts;
    assert!(of_inputs >= 40 * (1 + 4 + 1), "{of_inputs} {report:#}");
    assert_eq!((runs("D056"), runs("D054")), (Some(1), None));
}

/// I60: the same component, cases and histories yield the same report, byte for byte.
#[test]
fn same_inputs_yield_byte_identical_reports() {
    let folder = Folder::new();
    let other = folder.write_build(7);
    folder.write_cases(&[good_cases(), breaking_cases()].concat());
    for format in ["text", "sarif"] {
        let args = ["--cases", "cases.jsonl", "--rebuilt", &other, "--format", format];
        let (one, two) = (folder.check(&args), folder.check(&args));
        assert_eq!((one.code, one.stdout.len()), (1, two.stdout.len()), "{format}");
        assert_eq!(one.stdout, two.stdout, "{format}");
    }
}

/// I61, I64: good steps have no findings, and their check passes.
#[test]
fn good_steps_pass_the_check() {
    let folder = Folder::new();
    let other = folder.write_build(7);
    folder.write_cases(&good_cases());
    let report = folder.check(&["--cases", "cases.jsonl", "--rebuilt", &other]);
    let found = rules_and_operators(&report.json());
    assert_eq!(report.code, 0, "{}", report.stdout);
    assert!(found.iter().all(|(rule, operator)| rule == "D050" && operator.starts_with("Breaks.")), "{found:?}");
    let text = folder.check(&["--cases", "cases.jsonl"]).stdout;
    assert!(text.contains("rules not checked: D065: there is no other build"), "{text}");
    assert!(text.contains("passed: 0 violations"), "{text}");
}

/// Wrong case files stop the check. Every problem is reported with its position.
#[test]
fn wrong_case_file_is_an_input_error_listing_all_problems() {
    let folder = Folder::new();
    folder.write("cases.jsonl", "{\"operator\":\"Good.Pure\",\"inputs\":{}}\n\n{\"operator\"\n");
    let wrong = folder.check(&["--cases", "cases.jsonl", "--json"]);
    assert_eq!(wrong.code, 2, "{}", wrong.stdout);
    let error = &wrong.json()["error"];
    assert_eq!((&error["code"], error["problems"].as_array().unwrap().len()), (&json!("L0060"), 3));
    let plain = folder.check(&["--cases", "cases.jsonl"]).stderr;
    for part in ["cases.jsonl:1 /inputs: ", "did you mean `input`?", "cases.jsonl:3:11", "[L0060]"] {
        assert!(plain.contains(part), "{part}: {plain}");
    }
    folder.write("cases.jsonl", "{\"operator\":\"Good.Pur\",\"input\":{}}\n");
    let unserved = folder.check(&["--cases", "cases.jsonl"]);
    assert_eq!(unserved.code, 2);
    assert!(unserved.stderr.contains("did you mean `Good.Pure`?"), "{}", unserved.stderr);
}
