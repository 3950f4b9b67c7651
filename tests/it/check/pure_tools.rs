//! Tools that declare `pure`, in every language. The host refuses clocks, random numbers and secrets during a call, and
//! the checker finds the reads.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::plugins::built_guests::guest;
use crate::support::plugins::sdk_tools::{built_project, run_latch};

const RECIPE: &str = "[plugin]\nname = \"pure\"\nkind = \"tool\"\nversion = \"0.1.0\"\nlang = ";

/// Builds a tool with one pure operator, `Pure.Reads`. The input names what the operator reads, such as `clock`,
/// `secret` or `nothing`.
fn reading_tool(lang: &str) -> PathBuf {
    let (file, source) = match lang {
        "c" => ("plugin.c", include_str!("pure_tools/reads.c")),
        "go" => ("plugin.go", include_str!("pure_tools/plugin.go")),
        "js" => ("src/plugin.js", include_str!("pure_tools/plugin.js")),
        _ => ("plugin.py", include_str!("pure_tools/plugin.py")),
    };
    let recipe = format!("{RECIPE}{lang:?}\n");
    built_project(lang, "tool", Some(&[(file, source), ("latch-plugin.toml", &recipe)])).join("build/pure.wasm")
}

/// Checks a component with a case for each input, and returns the report.
fn check(wasm: &Path, operator: &str, inputs: &[(&str, Value)]) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let case = |(name, input): &(&str, Value)| {
        let secrets = json!({ "TOKEN": "hunter2-hunter2" });
        json!({ "name": name, "operator": operator, "input": input, "secrets": secrets }).to_string()
    };
    let lines: Vec<String> = inputs.iter().map(case).collect();
    std::fs::write(folder.path().join("cases.jsonl"), lines.join("\n")).unwrap();
    std::fs::copy(wasm, folder.path().join("pure.wasm")).unwrap();
    run_latch(folder.path(), &["plugin", "check", "pure.wasm", "--cases", "cases.jsonl", "--json"]).json()
}

fn inputs() -> Vec<(&'static str, Value)> {
    ["clock", "random", "secret", "nothing"].map(|reads| (reads, json!({ "reads": reads }))).into()
}

/// I240, I241: each read is a finding of its case, and the finding names the import. The case that reads nothing
/// passes, although the runtime of its language reads clocks.
#[test]
fn read_of_a_pure_tool_in_c_is_found() {
    check_reads(&["c"]);
}

/// I240, I241.
#[test]
#[ignore = "compiles large runtimes; run by .ci/long"]
fn read_of_a_pure_tool_in_another_language_is_found() {
    check_reads(&["go", "js", "python"]);
}

fn check_reads(langs: &[&str]) {
    for lang in langs.iter().copied() {
        let report = check(&reading_tool(lang), "Pure.Reads", &inputs());
        let findings = report["findings"].as_array().unwrap_or_else(|| panic!("{lang}: {report:#}"));
        assert!(findings.iter().all(|finding| finding["rule"] == "D114"), "{lang}: {findings:#?}");
        let of_cases: BTreeSet<&str> = findings.iter().filter_map(|finding| finding["case"].as_str()).collect();
        assert_eq!(of_cases, BTreeSet::from(["clock", "random", "secret"]), "{lang}: {findings:#?}");
        let message = |case: &str| {
            let finding = findings.iter().find(|finding| finding["case"] == case).unwrap();
            format!("{} {}", finding["message"], finding["functions"])
        };
        assert!(message("clock").contains("wasi:clocks/wall-clock#now"), "{lang}: {}", message("clock"));
        assert!(message("secret").contains("the secret"), "{lang}: {}", message("secret"));
        let random = message("random");
        // The random numbers of Go's package crypto/rand also depend on the clock.
        assert!(random.contains("wasi:random/random") || lang == "go" && random.contains("crypto"), "{lang}: {random}");
        let noted = report["notes"].to_string().contains("is not looked at for reads");
        assert_eq!(noted, lang != "c", "{lang}: {}", report["notes"]);
    }
}

/// I240, I241: a wait is a clock. The finding names the import.
#[test]
fn wait_of_a_pure_tool_is_found() {
    let inputs = [("wait", json!({ "do": [{ "sleep": 1 }] })), ("nothing", json!({ "do": [] }))];
    let report = check(&guest("hostile-tool"), "World.Pure", &inputs);
    let findings = report["findings"].as_array().unwrap_or_else(|| panic!("{report:#}"));
    let reads: Vec<&Value> = findings.iter().filter(|finding| finding["rule"] == "D114").collect();
    assert!(!reads.is_empty() && reads.iter().all(|finding| finding["case"] == "wait"), "{report:#}");
    let message = reads[0]["message"].as_str().unwrap();
    assert!(message.contains("wait for the time (wasi:clocks/monotonic-clock#subscribe-duration)"), "{message}");
}

/// I240, I241: the adapter of the C library reads the clock before it waits. The finding names the import, with a case
/// and without one.
#[test]
fn wait_of_a_pure_tool_in_c_is_found() {
    let recipe = format!("{RECIPE}\"c\"\n");
    let sources = [("plugin.c", include_str!("pure_tools/waits.c")), ("latch-plugin.toml", recipe.as_str())];
    let wasm = built_project("c", "tool", Some(&sources)).join("build/pure.wasm");
    let report =
        check(&wasm, "Pure.Waits", &[("wait", json!({ "wait": true })), ("nothing", json!({ "wait": false }))]);
    let findings = report["findings"].as_array().unwrap();
    assert!(findings.iter().all(|finding| finding["rule"] == "D114"), "{findings:#?}");
    let in_case = |case: &str| findings.iter().any(|finding| finding["case"] == case);
    assert!(in_case("wait") && !in_case("nothing"), "{findings:#?}");
    let named = findings.iter().filter(|finding| finding["message"].as_str().unwrap().contains("wasi:clocks/"));
    assert!(named.clone().any(|finding| finding["case"] == "wait"), "{findings:#?}");
    assert_eq!(report["notes"], json!([]), "{report:#}");
    let unasked = check(&wasm, "Pure.Waits", &[("nothing", json!({ "wait": false }))]);
    let found = unasked["findings"].to_string();
    assert!(found.contains("wasi:clocks/") && found.contains("pause"), "{unasked:#}");
}

/// I241: without a case, the finding names the import and the calls that lead to it.
#[test]
fn reachable_read_is_found_without_a_case() {
    let report = check(&reading_tool("c"), "Pure.Reads", &[("nothing", json!({ "reads": "nothing" }))]);
    let findings = report["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 3, "{findings:#?}");
    for (import, function) in [
        ("wasi:clocks/wall-clock@0.2.6#now", "\"stamp_time\""),
        ("wasi:random/random@0.2.6#get-random-bytes", "\"draw_byte\""),
        ("latchwork:plugin/secrets@0.1.0#get", "\"latchwork_plugin_secrets_get\""),
    ] {
        let found = findings.iter().find(|finding| finding["message"].as_str().unwrap().contains(import));
        let found = found.unwrap_or_else(|| panic!("{import}: {findings:#?}"));
        assert_eq!((&found["rule"], &found["severity"]), (&json!("D114"), &json!("violation")));
        assert!(found["functions"].to_string().contains(function), "{found:#}");
    }
}

/// I240, I241: a program that computes with floats, memory and text passes without a finding.
#[test]
fn honest_pure_tool_has_no_finding() {
    let recipe = format!("{RECIPE}\"c\"\n");
    let sources = [("plugin.c", include_str!("pure_tools/honest.c")), ("latch-plugin.toml", recipe.as_str())];
    let wasm = built_project("c", "tool", Some(&sources)).join("build/pure.wasm");
    let report = check(&wasm, "Pure.Sum", &[("sum", json!({ "text": "1 2 3" }))]);
    assert_eq!((&report["findings"], &report["notes"]), (&json!([]), &json!([])), "{report:#}");
}

fn write_config(folder: &Path, wasm: &Path) {
    let config = format!("[[plugin]]\nname = \"pure\"\nsource = {wasm:?}\n");
    std::fs::write(folder.join("latch.toml"), config).unwrap();
}

/// Runs a new job with one call and returns it, with its events as text.
fn run_job(folder: &Path, reads: &str, cache_policy: &str) -> (Value, String) {
    let plan = json!({ "plan_id": reads, "schema_version": "1.0", "steps": [{
        "step_id": "a", "kind": "operator", "name": "Pure.Reads", "payload": { "reads": reads },
        "effects": ["read_only"], "policy_tags": [], "cache_policy": cache_policy, "idempotency_template": "cached",
    }]});
    std::fs::write(folder.join("plan.json"), plan.to_string()).unwrap();
    let job = run_latch(folder, &["run", "plan.json", "--new", "--json"]).json();
    let events = run_latch(folder, &["job", "events", job["job_id"].as_str().unwrap(), "--json"]);
    (job, events.stdout)
}

/// I240: the time and the random numbers that a plugin reads while its runtime starts are fixed, so they are the same
/// in all jobs.
#[test]
#[ignore = "compiles a large runtime; run by .ci/long"]
fn start_of_a_pure_tool_is_the_same_in_all_jobs() {
    let folder = tempfile::tempdir().unwrap();
    write_config(folder.path(), &reading_tool("go"));
    let output = || {
        let (job, events) = run_job(folder.path(), "start", "never");
        assert_eq!(job["state"], "COMPLETED", "{job:#} {events}");
        let displayed = run_latch(folder.path(), &["job", "show", job["job_id"].as_str().unwrap(), "--json"]).json();
        displayed["outputs"]["a"].as_str().unwrap_or_else(|| panic!("{displayed:#}")).to_owned()
    };
    let first = output();
    // The fixed time is 2026-01-05 09:00:00 UTC. Each reading advances it by a millisecond.
    assert!(first.starts_with("17676036"), "{first}");
    assert_eq!(first, output());
}

/// I240: a result that depends on the input alone is given to another job. A result that depends on the clock is never
/// given to another job. If a pure tool reads the clock, its call fails, and the error names the import and the
/// function.
#[test]
fn result_of_a_clock_is_never_reused() {
    let folder = tempfile::tempdir().unwrap();
    write_config(folder.path(), &reading_tool("c"));
    let run = |reads: &str| run_job(folder.path(), reads, "use_if_safe");
    for reads in ["clock", "random", "clock"] {
        let (job, events) = run(reads);
        assert_eq!(job["state"], "FAILED", "{job:#}");
        assert!(events.contains("CAPABILITY_DENIED") && events.contains("declares that it is pure"), "{events}");
        assert!(events.contains("called from") && !events.contains("reuse_decided"), "{events}");
    }
    let (first, _) = run("nothing");
    let (second, events) = run("nothing");
    assert_eq!((&first["state"], &second["state"]), (&json!("COMPLETED"), &json!("COMPLETED")));
    assert!(events.contains("reuse_decided"), "{events}");
}
