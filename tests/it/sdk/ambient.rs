//! Language features beyond the SDK in step plugins: clocks and randomness, exceptions, values that JSON
//! cannot represent, and printed text.

use serde_json::{Value, json};

use crate::sdk::{LANGS, folder_with_plan, outputs_checked_by_replay, step_with_effect};
use crate::support::plugins::sdk_tools::{built_project, run_latch};

/// Returns the source files of two steps. The first step reads every clock and every random source of its language. The
/// second step fails in the way that its input requests.
fn ambient_sources(lang: &str) -> &'static [(&'static str, &'static str)] {
    match lang {
        "js" => &[("src/plugin.js", include_str!("ambient/plugin.js"))],
        "c" => &[("plugin.c", include_str!("ambient/plugin.c"))],
        "go" => &[("plugin.go", include_str!("ambient/plugin.go")), ("plugin_test.go", "package main\n")],
        _ => &[("plugin.py", include_str!("ambient/plugin.py")), ("late.py", include_str!("ambient/late.py"))],
    }
}

/// Runs a job of one step. Returns its response, its output and its exported evidence.
fn run_step_job(lang: &str, operator: &str, payload: Value) -> (Value, Option<Value>, String) {
    let plugin = built_project(lang, "step", Some(ambient_sources(lang)));
    let place = folder_with_plan(&[(&plugin, "")], &[step_with_effect("s", operator, "read_only", payload)]);
    let ran = run_latch(place.path(), &["run", "plan.json", "--json"]);
    let response = ran.json();
    let output = outputs_checked_by_replay(place.path(), &response).remove("s");
    let id = response["job_id"].as_str().unwrap();
    let exported = run_latch(place.path(), &["job", "export", id, "--out", "-"]).stdout;
    (response, output, exported)
}

/// I52: the clocks and random numbers of a language come from the clock and the random stream that the host gives to
/// the step. The values differ between two jobs, and repeat in the replay from every prefix of each job.
#[test]
#[ignore = "runs jobs in each language; run by .ci/long"]
fn ambient_time_and_randomness_of_c_and_go_follow_the_injected_sources() {
    check_sources(&["c", "go"]);
}

/// I52.
#[test]
#[ignore = "compiles large runtimes; run by .ci/long"]
fn ambient_time_and_randomness_of_javascript_and_python_follow_the_injected_sources() {
    check_sources(&["js", "python"]);
}

fn check_sources(langs: &[&str]) {
    for lang in langs.iter().copied() {
        let [first, second] = [(); 2].map(|()| {
            let (response, output, _) = run_step_job(lang, "Ambient.Look", json!({}));
            output.unwrap_or_else(|| panic!("{lang}: {response:#}"))
        });
        for kind in ["clocks", "random"] {
            for (name, value) in first[kind].as_object().unwrap() {
                assert_ne!(value, &second[kind][name], "{lang}: {name} is the same in two jobs");
            }
        }
        if let Some(draws) = first["draws"].as_array() {
            let draws: Vec<f64> = draws.iter().map(|draw| draw.as_f64().unwrap()).collect();
            let (low, high) = draws.iter().fold((1.0, 0.0), |(low, high), x| (f64::min(low, *x), f64::max(high, *x)));
            assert!((0.0..0.1).contains(&low) && (0.9..1.0).contains(&high), "{lang}: {low} to {high}");
        }
        assert_eq!(first["fixed"], second["fixed"], "{lang}: values with a fixed seed");
        let now = first["clocks"]["now"].as_f64().unwrap();
        let injected = first["injected_seconds"].as_f64().unwrap();
        assert!((now - injected).abs() < 1.0, "{lang}: {now} is not {injected}");
    }
}

/// An exception is recorded with its text and its stack.
#[test]
#[ignore = "runs jobs in each language; run by .ci/long"]
fn exception_is_recorded_with_text_and_stack() {
    // C has no exceptions.
    for lang in ["js", "python", "go"] {
        let (response, _, exported) = run_step_job(lang, "Ambient.Fail", json!({ "how": "exception" }));
        let failed = &response["failed"][0];
        assert_eq!(failed["reason_code"], "PLUGIN_EXCEPTION", "{lang}: {response:#}");
        assert!(failed["message"].as_str().unwrap().contains("the cellar is flooded"), "{lang}: {failed}");
        assert!(exported.contains("deepInside"), "{lang}: the stack names the function: {exported}");
    }
    // A text that was cut inside a surrogate pair or a UTF-8 sequence is recorded too.
    for lang in ["js", "python", "go"] {
        let (response, ..) = run_step_job(lang, "Ambient.Fail", json!({ "how": "half" }));
        let failed = &response["failed"][0];
        assert!(failed["message"].as_str().unwrap().contains("half of"), "{lang}: {failed}");
    }
    for lang in LANGS {
        let (response, ..) = run_step_job(lang, "Ambient.Fail", json!({ "how": "failure" }));
        let failed = &response["failed"][0];
        let found = (failed["reason_code"].as_str(), failed["message"].as_str());
        assert_eq!(found, (Some("AUTH_FORBIDDEN"), Some("no key")), "{lang}");
    }
}

/// A number that JSON or a double cannot represent exactly is refused, never rounded.
#[test]
#[ignore = "runs jobs in each language; run by .ci/long"]
fn number_that_would_be_rounded_is_refused() {
    for (lang, hows) in [
        ("js", &["big", "bigint", "nan"][..]),
        ("python", &["big", "nan"]),
        ("c", &["big", "nan"]),
        ("go", &["big", "nan"]),
    ] {
        for how in hows {
            let (response, ..) = run_step_job(lang, "Ambient.Fail", json!({ "how": how }));
            let failed = &response["failed"][0];
            assert_eq!(failed["reason_code"], "SCHEMA_VALIDATION_FAILED", "{lang} {how}: {response:#}");
            assert!(failed["message"].as_str().unwrap().contains("is not JSON"), "{lang} {how}: {failed}");
        }
    }
}

/// The SDK refuses a result that it cannot represent, and reports every failure. The message of a refusal contains the
/// location in the result. The message of a failure contains its cause. Without the SDK, these results and failures
/// would be lost silently or end in a trap without a message.
#[test]
#[ignore = "runs jobs in each language; run by .ci/long"]
fn unrepresentable_result_is_refused_with_its_location() {
    for (lang, how, code, message) in [
        ("js", "several", "PLUGIN_EXCEPTION", "both (Error: the first; TypeError: the second)"),
        ("js", "itself", "SCHEMA_VALIDATION_FAILED", "/deep/0 contains itself"),
        ("js", "half result", "SCHEMA_VALIDATION_FAILED", "/n/0 contains half of a surrogate pair"),
        ("js", "half key", "SCHEMA_VALIDATION_FAILED", "/n has the key \"\\ud83d\", which contains half of"),
        ("js", "map", "SCHEMA_VALIDATION_FAILED", "/n/0 is a Map"),
        ("js", "nested promise", "SCHEMA_VALIDATION_FAILED", "/n is a promise"),
        ("js", "error", "SCHEMA_VALIDATION_FAILED", "/n is an Error"),
        ("python", "several", "PLUGIN_EXCEPTION", "ValueError: the first; KeyError: 'the second'"),
        ("python", "exit", "PLUGIN_EXCEPTION", "os._exit(3): a plugin answers"),
        ("python", "network", "CAPABILITY_DENIED", "socket.gethostbyname: a plugin has no network"),
        ("python", "wrapped network", "CAPABILITY_DENIED", "the library could not connect"),
        ("python", "half result", "SCHEMA_VALIDATION_FAILED", "half of a surrogate pair"),
        ("python", "itself", "SCHEMA_VALIDATION_FAILED", "it contains itself"),
        ("c", "code", "PLUGIN_EXCEPTION", "invalid failure code 77: half of ??"),
        ("c", "half result", "SCHEMA_VALIDATION_FAILED", "byte 6 is not valid UTF-8"),
        ("c", "fails and answers", "RATE_LIMIT", "not now"),
    ] {
        let (response, ..) = run_step_job(lang, "Ambient.Fail", json!({ "how": how }));
        let failed = &response["failed"][0];
        assert_eq!(failed["reason_code"], code, "{lang} {how}: {response:#}");
        assert!(failed["message"].as_str().unwrap().contains(message), "{lang} {how}: {failed}");
    }
}

/// All printed text reaches the log, including incomplete characters, circular values, and lines without an
/// end.
#[test]
#[ignore = "runs jobs in each language; run by .ci/long"]
fn printed_text_reaches_the_log() {
    for (lang, lines) in [
        (
            "js",
            &[
                "half \u{fffd} of it {\"deep\":[[circular]]} Set{1n}",
                "  0  1  2",
                "Assertion failed: not so",
                "default: 1",
                "Trace: here",
            ][..],
        ),
        ("python", &["half ? of it"]),
        ("c", &["half ? of it", "slept 3611"]),
    ] {
        let plugin = built_project(lang, "step", Some(ambient_sources(lang)));
        let payload = json!({ "how": "half print" });
        let place = folder_with_plan(&[(&plugin, "")], &[step_with_effect("s", "Ambient.Fail", "read_only", payload)]);
        let ran = run_latch(place.path(), &["run", "plan.json"]);
        assert_eq!(ran.code, 0, "{lang}: {}", ran.stderr);
        for line in lines {
            assert!(ran.stderr.contains(&format!("| {line}\n")), "{lang}: {line}: {}", ran.stderr);
        }
    }
}
