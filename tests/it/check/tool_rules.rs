//! Each rule about tools with a tool that breaks it, and tools that break no rule.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::checkout;
use crate::support::program::run_latch;

/// Builds a tool of `tests/guests-effects` and returns its component file.
fn build_tool(name: &str) -> PathBuf {
    static ONE_AT_A_TIME: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let dir = checkout::copy().join("tests/guests-effects").join(name);
    let built = latchwork_tooling::build::build(
        &dir,
        &latchwork_tooling::build::BuildOptions::from_env().unwrap(),
        &mut |_| {},
    );
    built.unwrap_or_else(|error| panic!("{name}: {error}")).wasm
}

/// Checks a component with these cases. Returns the exit code and the report.
fn check_cases(wasm: &Path, cases: &[Value], entry: &str) -> (i32, Value) {
    let folder = tempfile::tempdir().unwrap();
    let lines: Vec<String> = cases.iter().map(Value::to_string).collect();
    std::fs::write(folder.path().join("cases.jsonl"), lines.join("\n")).unwrap();
    if !entry.is_empty() {
        let text = format!("[[plugin]]\nname = \"it\"\nsource = {wasm:?}\n{entry}\n");
        std::fs::write(folder.path().join("latch.toml"), text).unwrap();
    }
    let mut args = vec!["plugin", "check", wasm.to_str().unwrap(), "--cases", "cases.jsonl", "--json"];
    if !entry.is_empty() {
        args.extend(["--config", "latch.toml"]);
    }
    let ran = run_latch(folder.path(), &args);
    let again = run_latch(folder.path(), &args);
    assert_eq!(ran.stdout, again.stdout, "the same report, to the byte");
    let mut report = ran.json();
    // Most guests serve more operators than a test has cases for, so the findings about operators without
    // cases are removed.
    report["findings"].as_array_mut().unwrap().retain(|finding| finding["rule"] != "D050");
    (ran.code, report)
}

fn rule_ids_of_report(report: &Value) -> BTreeSet<&str> {
    report["findings"].as_array().unwrap().iter().map(|finding| finding["rule"].as_str().unwrap()).collect()
}

/// Returns a case with a stubbed shop that accepts orders.
fn shop_case(operator: &str) -> Value {
    json!({
        "name": operator, "operator": operator, "input": { "item": "seven" },
        "http": [
            { "match": { "method": "POST", "url": "https://shop.example/orders" }, "response": { "status": 201, "body": {} } },
            { "match": { "method": "GET", "url": "https://shop.example/orders" }, "response": { "body": {} } },
        ],
    })
}

/// Returns a case of the stubbed shop with a secret.
fn secret_case(operator: &str) -> Value {
    let mut case = shop_case(operator);
    case["secrets"] = json!({ "MAIL_TOKEN": "mail-token-5521" });
    case
}

/// Returns a case with a stubbed tag that was not there before the call.
fn tag_case(operator: &str) -> Value {
    let url = "https://shop.example/tag";
    json!({
        "name": operator, "operator": operator, "input": { "item": "seven" },
        "http": [
            { "match": { "method": "GET", "url": url, "happened": false }, "response": { "status": 404 } },
            { "match": { "method": "GET", "url": url, "happened": true }, "response": { "body": "seven" } },
            { "match": { "method": "PUT", "url": url }, "response": { "status": 204 } },
            { "match": { "method": "DELETE", "url": url }, "response": { "status": 204 } },
        ],
    })
}

/// Returns a case with a stubbed shop that lists an order once it was made.
fn list_case(operator: &str) -> Value {
    let url = "https://shop.example/orders";
    json!({
        "name": operator, "operator": operator, "input": { "item": "seven" },
        "http": [
            { "match": { "method": "POST", "url": url }, "response": { "status": 201 } },
            { "match": { "method": "GET", "url": url, "happened": false }, "response": { "body": [] } },
            { "match": { "method": "GET", "url": url, "happened": true }, "response": { "body": [1] } },
        ],
    })
}

/// Returns a case with a stubbed shop that shows the state of an order once it was made.
fn state_case(operator: &str) -> Value {
    let mut case = list_case(operator);
    case["http"][2]["response"]["body"] = json!([{ "id": "o-7", "state": "open" }]);
    case
}

/// I69: correct tools have no findings, even in the runs in which the check loses the record of a call.
#[test]
fn good_tools_break_no_rule() {
    for example in ["mail-maildir-rust", "requests-rust", "web-fetch-rust", "files-rust", "llm-openai-rust"] {
        let dir = checkout::copy().join("example-plugins").join(example);
        let built = latchwork_tooling::build::build(
            &dir,
            &latchwork_tooling::build::BuildOptions::from_env().unwrap(),
            &mut |_| {},
        )
        .unwrap();
        let folder = tempfile::tempdir().unwrap();
        let cases = dir.join("cases.jsonl");
        let args = ["plugin", "check", built.wasm.to_str().unwrap(), "--cases", cases.to_str().unwrap(), "--json"];
        let ran = run_latch(folder.path(), &args);
        let report = ran.json();
        assert_eq!((ran.code, &report["findings"]), (0, &json!([])), "{example}: {report:#}");
        let rule = report["rules"].as_array().unwrap().iter().find(|rule| rule["id"] == "D102").unwrap();
        assert_eq!(rule.get("not_run"), None, "{example}: {report:#}");
    }
    // Faults of the servers do not affect a call that the tool refuses before it sends a request.
    let mut refused = shop_case("Good.Order");
    (refused["name"], refused["input"], refused["error"]) =
        (json!("refused"), json!({ "item": "" }), json!("INVALID_INPUT"));
    let good = [
        shop_case("Good.Order"),
        shop_case("Good.Page"),
        secret_case("Good.Secret"),
        shop_case("Good.Second"),
        tag_case("Good.Tag"),
        json!({ "operator": "Good.Sign", "input": { "item": "x" }, "dirs": { "/out": { "sign": "open" } } }),
        refused,
    ];
    let (code, report) = check_cases(&build_tool("misbehaved"), &good, "");
    assert_eq!((code, &report["findings"]), (0, &json!([])), "{report:#}");
    let place = json!({ "operator": "Good.Place", "input": { "item": "x" }, "dirs": { "/out": {} } });
    let good = [place, list_case("Good.Order"), state_case("Good.Once")];
    let (code, report) = check_cases(&build_tool("misbehaved-queryable"), &good, "");
    assert_eq!((code, &report["findings"]), (0, &json!([])), "{report:#}");
}

/// I69: an operator without a case is a warning, and the summary counts the runs.
#[test]
fn operator_without_a_case_is_a_warning_and_runs_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let wasm = build_tool("misbehaved-queryable");
    let place = json!({ "operator": "Good.Place", "input": { "item": "x" }, "dirs": { "/out": {} } });
    std::fs::write(folder.path().join("cases.jsonl"), place.to_string()).unwrap();
    let args = ["plugin", "check", wasm.to_str().unwrap(), "--cases", "cases.jsonl"];
    let report = run_latch(folder.path(), &[&args[..], &["--json"]].concat()).json();
    let without: Vec<_> = report["findings"].as_array().unwrap().iter().map(|f| (&f["rule"], &f["severity"])).collect();
    assert!(!without.is_empty() && without.iter().all(|f| *f == (&json!("D050"), &json!("warning"))), "{report:#}");
    let cases = report["cases"].as_array().unwrap();
    assert_eq!(
        (cases.len(), &cases[0]["operator"], &cases[0]["ended"]),
        (1, &json!("Good.Place"), &json!("succeeded"))
    );
    let runs = cases[0]["runs"].as_u64().unwrap();
    assert!(runs > 1 && cases[0]["fuel"].as_u64() > Some(0), "{report:#}");
    let checked = run_latch(folder.path(), &args);
    assert!(checked.code == 0 && checked.stdout.contains(&format!("1 case run {runs} times")), "{}", checked.stdout);
    let none = run_latch(folder.path(), &["plugin", "check", wasm.to_str().unwrap()]);
    assert!(
        none.code == 0 && none.stdout.contains("D050") && none.stdout.contains("0 cases run 0 times"),
        "{}",
        none.stdout
    );
}

/// I69: a case whose stubs cannot be created was not run, so the check must not pass.
#[test]
fn case_that_cannot_be_run_is_an_input_error() {
    let folder = tempfile::tempdir().unwrap();
    let wasm = build_tool("misbehaved-queryable");
    let name = "x".repeat(300);
    let case =
        json!({ "name": "long", "operator": "Good.Place", "input": { "item": "x" }, "dirs": { "/out": { name: "" } } });
    std::fs::write(folder.path().join("cases.jsonl"), case.to_string()).unwrap();
    let ran =
        run_latch(folder.path(), &["plugin", "check", wasm.to_str().unwrap(), "--cases", "cases.jsonl", "--json"]);
    assert_eq!(ran.code, 2, "{}", ran.stdout);
    let problem = &ran.json()["error"]["problems"][0];
    assert!(problem.to_string().contains("case long could not be run"), "{}", ran.stdout);
}

/// I69, I255, I261, I263, I278, I282, I300, I307, I313, I318: each rule is found in a tool that breaks this rule only.
#[test]
fn each_tool_rule_is_found_in_a_tool_that_breaks_it_alone() {
    let wasm = build_tool("misbehaved");
    let plain = |operator: &str| json!({ "operator": operator, "input": { "item": "seven" } });
    let with = |operator: &str, key: &str, value: Value| {
        let mut case = plain(operator);
        case[key] = value;
        case
    };
    let mut leaks = with("Bad.Leaks", "secrets", json!({ "TOKEN": "hunter2-hunter2" }));
    leaks["secrets_clear"] = json!(true);
    for (rule, case) in [
        ("D100", plain("Bad.Ends")),
        ("D100", with("Bad.Ends", "error", json!("INVALID_INPUT"))),
        ("D101", shop_case("Bad.Keyless")),
        ("D102", with("Bad.Twice", "dirs", json!({ "/out": {} }))),
        ("D102", shop_case("Bad.Other")),
        ("D105", with("Bad.Writes", "kv", json!({}))),
        ("D106", shop_case("Bad.Traps")),
        ("D107", shop_case("Bad.Code")),
        ("D108", shop_case("Bad.Claims")),
        ("D109", shop_case("Bad.Denies")),
        ("D109", shop_case("Bad.Conflict")),
        ("D109", shop_case("Bad.Timeout")),
        ("D109", shop_case("Bad.Page")),
        ("D109", secret_case("Bad.Secret")),
        ("D109", shop_case("Bad.Second")),
        ("D106", shop_case("Bad.Panics")),
        ("D110", plain("Bad.Schema")),
        ("D111", leaks.clone()),
        ("D112", plain("Bad.Reaches")),
        ("D118", shop_case("Bad.Cancels")),
        ("D118", shop_case("Bad.Stuck")),
        ("D118", tag_case("Bad.Tag")),
        ("D118", with("Bad.Sign", "dirs", json!({ "/out": { "sign": "open" } }))),
    ] {
        let (code, report) = check_cases(&wasm, std::slice::from_ref(&case), "");
        assert_eq!(rule_ids_of_report(&report), BTreeSet::from([rule]), "{case}: {report:#}");
        assert_eq!(code, i32::from(rule != "D107"), "a warning does not fail the check: {report:#}");
        let finding = &report["findings"][0];
        assert_eq!((&finding["operator"], &finding["place"]["line"]), (&case["operator"], &json!(1)), "{finding:#}");
    }
    // Without `secrets_clear` the tool sees only a placeholder, so nothing is leaked.
    leaks["secrets_clear"] = json!(false);
    let (_, report) = check_cases(&wasm, &[leaks], "");
    assert_eq!(report["findings"], json!([]), "{report:#}");

    let wasm = build_tool("misbehaved-queryable");
    for (rule, operator) in
        [("D103", "Bad.Forgets"), ("D104", "Bad.Invents"), ("D123", "Bad.Dash"), ("D123", "Bad.Slash")]
    {
        let case = json!({ "operator": operator, "input": { "item": "x" }, "dirs": { "/out": {} } });
        let (code, report) = check_cases(&wasm, &[case], "");
        assert_eq!((code, rule_ids_of_report(&report)), (1, BTreeSet::from([rule])), "{report:#}");
    }
    for (rule, operator) in
        [("D103", "Bad.Refused"), ("D103", "Bad.NoList"), ("D104", "Bad.Any"), ("D121", "Bad.Transit")]
    {
        let (code, report) = check_cases(&wasm, &[list_case(operator)], "");
        assert_eq!(rule_ids_of_report(&report), BTreeSet::from([rule]), "{operator}: {report:#}");
        assert_eq!(code, i32::from(rule != "D121"), "{report:#}");
    }
    let (code, report) = check_cases(&wasm, &[state_case("Bad.Open")], "");
    assert_eq!((code, rule_ids_of_report(&report)), (1, BTreeSet::from(["D103"])), "{report:#}");
    assert!(report["findings"][0]["message"].to_string().contains("withdrawn"), "{report:#}");
}

/// Returns a canned response of a server.
fn canned(method: &str, url: &str, status: u16, body: &Value) -> Value {
    json!({ "match": { "method": method, "url": url }, "response": { "status": status, "body": body } })
}

/// I328, I329, I330: each tool takes an answer of a server for something else. Correct tools that look similar have no finding.
#[test]
fn wrong_uses_of_answers_of_servers_are_found() {
    let wasm = build_tool("misbehaved-answers");
    let (shop, mirror, pay) =
        ("https://shop.example/orders", "https://mirror.example/orders", "https://pay.example/payments");
    let order = || canned("POST", shop, 201, &Value::Null);
    let case =
        |operator: &str, http: Vec<Value>| json!({ "operator": operator, "input": { "item": "seven" }, "http": http });
    let failing = |operator: &str, code: &str, http: Vec<Value>| {
        let mut case = case(operator, http);
        case["error"] = json!(code);
        case
    };
    let accepted = || vec![canned("POST", shop, 202, &Value::Null)];
    let mirrored = || vec![canned("POST", shop, 504, &Value::Null), canned("POST", mirror, 201, &Value::Null)];
    let unpaid = || vec![order(), canned("POST", pay, 503, &Value::Null), canned("GET", pay, 200, &json!([]))];
    let missing = || vec![order(), canned("GET", shop, 404, &Value::Null)];
    let present = || vec![order(), canned("GET", shop, 200, &json!("seven"))];
    let failing_later = || {
        let mut question = canned("GET", shop, 503, &Value::Null);
        question["match"]["happened"] = json!(true);
        vec![order(), question, canned("GET", shop, 404, &Value::Null)]
    };
    let listed = || {
        let (mut before, mut after) =
            (canned("GET", shop, 200, &json!([])), canned("GET", shop, 200, &json!(["{external-key}"])));
        before["match"]["happened"] = json!(false);
        after["match"]["happened"] = json!(true);
        vec![order(), before, after]
    };
    let named = || vec![canned("PUT", shop, 201, &Value::Null)];
    let provider = "TEMPORARY_PROVIDER_ERROR";
    for (rule, case) in [
        ("D109", failing("Bad.Accept", "POLICY_DENIED", accepted())),
        ("D108", case("Bad.Present", present())),
        ("D108", case("Bad.Mirror", mirrored())),
        ("D123", case("Bad.Name", named())),
        ("D108", case("Bad.LookUp", missing())),
        ("D107", case("Bad.Wait", vec![order()])),
        ("D101", case("Bad.Nonce", vec![order()])),
        ("D118", case("Bad.Refund", vec![order()])),
        ("D117", case("Bad.Lines", present())),
        ("D103", failing("Bad.Paid", provider, unpaid())),
    ] {
        let (_, report) = check_cases(&wasm, std::slice::from_ref(&case), "");
        assert_eq!(rule_ids_of_report(&report), BTreeSet::from([rule]), "{case}: {report:#}");
    }
    let good = [
        failing("Good.Accept", provider, accepted()),
        // Status 202 says that the server can still make the order. After the settling time, 404 says that it has not.
        failing("Good.Queued", provider, vec![accepted().remove(0), canned("GET", shop, 404, &Value::Null)]),
        case("Good.Present", present()),
        // The servers answer as after an earlier try.
        case("Good.Found", vec![canned("POST", shop, 409, &Value::Null), canned("GET", shop, 200, &json!("seven"))]),
        // The server fails after the call, so reconcile cannot find out.
        case("Good.Found", failing_later()),
        failing("Good.Mirror", provider, mirrored()),
        case("Good.Name", named()),
        case("Good.LookUp", missing()),
        // The host repeats the call after each code of its question.
        case("Good.Ask", missing()),
        // A POST for a token changes nothing, and another request of the case does.
        case("Good.Token", vec![canned("POST", "https://shop.example/oauth/token", 200, &json!({})), order()]),
        // The shop gets a number that follows from the key.
        case("Good.Derived", vec![order()]),
        case("Good.Form", vec![order()]),
        // The answer contains the key of the call.
        case("Good.Listed", listed()),
        case("Good.Wait", vec![order()]),
        case("Good.Refund", vec![order()]),
        case("Good.Lines", present()),
        failing("Good.Paid", provider, unpaid()),
        // The case has no response for the question of reconcile.
        failing("Bad.Paid", provider, unpaid()[..2].to_vec()),
    ];
    let (_, report) = check_cases(&wasm, &good, "");
    let found: Vec<&Value> =
        report["findings"].as_array().unwrap().iter().filter(|one| one["rule"] != "D050").collect();
    assert!(found.is_empty(), "{found:#?}");
}

/// I334: each tool ignores an error of a file. Correct tools that look similar have no finding.
#[test]
fn ignored_errors_of_files_are_found() {
    let wasm = build_tool("misbehaved-files");
    let case = |operator: &str| json!({ "operator": operator, "input": { "item": "seven" }, "dirs": { "/out": {} } });
    for (rule, operator, message) in [
        ("D108", "Bad.Note", "of the call to its folders fails, and the tool reports success"),
        ("D103", "Bad.Find", "the folders cannot be read, and reconcile denies"),
        ("D117", "Bad.See", "the folders cannot be read, and verify reports a mismatch"),
        ("D118", "Bad.TakeBack", "of compensate to its folders fails"),
    ] {
        let (code, report) = check_cases(&wasm, &[case(operator)], "");
        assert_eq!((code, rule_ids_of_report(&report)), (1, BTreeSet::from([rule])), "{report:#}");
        assert!(report["findings"][0]["message"].as_str().unwrap().contains(message), "{report:#}");
    }
    let good = ["Good.Note", "Good.Find", "Good.See", "Good.TakeBack"].map(case);
    let (code, report) = check_cases(&wasm, &good, "");
    assert_eq!((code, &report["findings"]), (0, &json!([])), "{report:#}");
}

/// I69: if there is a configuration entry, the tool gets the grants of that entry and not the grants that the
/// case needs.
#[test]
fn grants_come_from_the_configuration_entry() {
    let wasm = build_tool("misbehaved");
    let elsewhere = "grants = { http = [\"https://other.example:443\"] }";
    let (code, report) = check_cases(&wasm, &[shop_case("Bad.Code")], elsewhere);
    assert_eq!(code, 1, "{report:#}");
    assert!(rule_ids_of_report(&report).contains("D112"), "{report:#}");
}

/// All mistakes in a case file are reported together, before any case runs.
#[test]
fn malformed_tool_cases_are_input_errors() {
    let wasm = build_tool("misbehaved");
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("c.jsonl"), "{\"operator\":\"Bad.Kyless\",\"input\":{}}\n").unwrap();
    let args = ["plugin", "check", wasm.to_str().unwrap(), "--cases", "c.jsonl"];
    let ran = run_latch(folder.path(), &args);
    assert_eq!(ran.code, 2, "{}", ran.stdout);
    assert!(ran.stderr.contains("Bad.Keyless"), "{}", ran.stderr);
    std::fs::write(folder.path().join("c.jsonl"), "{\"operator\":\"Bad.Keyless\"}\nx\n").unwrap();
    let ran = run_latch(folder.path(), &args);
    assert_eq!((ran.code, ran.stderr.matches("not a case of a tool").count()), (2, 2), "{}", ran.stderr);
}

/// I218, I241: the answer of a pure tool depends on its input alone. The finding names the cause.
#[test]
fn pure_tool_that_depends_on_its_job_is_found_with_the_cause() {
    let causes = [
        ("clock", "D114", "read the time (wasi:clocks/wall-clock#now)"),
        ("random", "D114", "read random numbers (wasi:random/random#get-random-bytes)"),
        ("secret", "D114", "the secret \"TOKEN\""),
        ("actor", "D113", "on the actor of its job"),
        ("length of the job id", "D113", "on the id of its job"),
        ("address", "D113", "on addresses"),
        ("set", "", ""),
        ("the input", "", ""),
    ];
    let case = |(item, ..): &(&str, &str, &str)| json!({ "name": item, "operator": "Bad.Pure", "input": { "item": item }, "secrets": { "TOKEN": "abcdefgh" } });
    let cases: Vec<Value> = causes.iter().map(case).collect();
    let (code, report) = check_cases(&build_tool("misbehaved"), &cases, "");
    assert_eq!(code, 1, "{report:#}");
    let findings = report["findings"].as_array().unwrap();
    for (item, rule, cause) in causes {
        let found: Vec<_> = findings.iter().filter(|finding| finding["case"] == item).collect();
        assert_eq!(found.len(), usize::from(!cause.is_empty()), "{item}: {findings:#?}");
        let Some(finding) = found.first() else { continue };
        assert_eq!(finding["rule"], rule, "{item}: {finding:#}");
        let message = finding["message"].as_str().unwrap();
        assert!(message.contains(cause), "{item}: {message}");
    }
    // The component also has operators that are not pure. The code of the component therefore proves nothing about the
    // operator `Bad.Pure`.
    assert!(report["notes"].to_string().contains("the code of Bad.Pure is not looked at"), "{report:#}");
}
