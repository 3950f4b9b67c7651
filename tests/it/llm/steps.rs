//! LLM steps: the built program runs a real component against a real HTTP server.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::checkout;
use crate::support::servers::llm_provider::{
    API_KEY_CANARY, LlmProject, Provider, ScriptedAnswer, events_of_type, llm_step,
};
use crate::support::test_env::{build_plugin, copy_tree};
use crate::support::waiting::wait_until;

/// I32: request, parameters and answer are recorded. Submitting the same request again and replaying the job
/// send nothing to the provider.
#[test]
fn llm_call_is_made_once_and_its_answer_is_recorded() {
    let provider = Provider::start(vec![]);
    let desk = LlmProject::new(&provider);
    let mut second = llm_step("b", &["a"]);
    let messages =
        json!([{ "role": "system", "content": "Be brief." }, { "role": "user", "content": { "$ref": "a#/text" } }]);
    second["payload"] = json!({ "model": "small", "messages": messages, "params": { "max_tokens": 50 } });
    second["cache_policy"] = json!("use_if_safe");
    desk.plan(&[llm_step("a", &[]), second]);
    let ran = desk.run();
    assert_eq!(ran.code, 0, "{} {}", ran.stdout, ran.stderr);
    let response = ran.json();
    let id = response["job_id"].as_str().unwrap();

    let asked = provider.requests();
    assert_eq!(asked.len(), 2);
    assert!(asked[0].line.starts_with("POST /v1/chat/completions "), "{}", asked[0].line);
    assert_eq!(
        asked[0].header("authorization"),
        Some(&*format!("Bearer {API_KEY_CANARY}")),
        "the host inserts the key"
    );
    assert_eq!(asked[0].body["messages"], json!([{ "role": "user", "content": "Why a?" }]));
    assert_eq!(asked[1].body["messages"][1]["content"], "Because.", "the message contains the first answer");
    assert_eq!((&asked[1].body["max_tokens"], &asked[1].body["model"]), (&json!(50), &json!("small")));

    assert_eq!(response["steps"][0]["nondeterministic"], true, "{response:#}");
    let note = response["steps"][0]["notes"][0].as_str().unwrap();
    assert!(note.contains("small-2026-01") && note.contains("req_42"), "{note}");
    // Each call costs 200 micro-USD: 100 input tokens at 1.00 USD and 10 output tokens at 10.00 USD per
    // million.
    let cost = &response["cost"];
    assert_eq!(
        (&cost["cost_micro_usd"], &cost["tokens_in"], &cost["tokens_out"]),
        (&json!(400), &json!(200), &json!(20))
    );
    assert!(cost["fuel"].as_u64() > Some(0) && cost["calls"] == 2, "{cost:#}");

    let events = desk.events(id);
    let finished = events_of_type(&events, "tool_invocation_finished");
    assert_eq!(finished[0]["usage"]["provider_trace_id"], "req_42");
    assert_eq!(finished[0]["nondeterministic"], true);
    let ours = &events[0]["trace_id"];
    assert_eq!(asked[0].header("x-client-request-id"), ours.as_str(), "the provider knows our trace");

    let replay = desk.latch(&["job", "replay", id, "--every-prefix", "--json"]);
    assert_eq!((replay.code, &replay.json()["divergence"]), (0, &Value::Null), "{}", replay.stdout);
    assert_eq!(desk.run().json()["cost"], response["cost"], "the same request is the same job");
    assert_eq!(provider.requests().len(), 2, "no request was repeated");
}

/// I13: the API key reaches the provider and appears nowhere else.
#[test]
fn api_key_appears_in_no_file_log_or_event() {
    let provider = Provider::start(vec![ScriptedAnswer::status(500), ScriptedAnswer::status(401)]);
    let desk = LlmProject::new(&provider).with("auth = \"basic\"\nuser = \"me\"");
    desk.plan(&[llm_step("a", &[])]);
    let printed = run_verbosely(&desk);
    let asked = provider.requests();
    assert_eq!(asked.len(), 2, "{printed}");
    // Base64 text of `me:` and the key, as sent by the host. The plugin itself saw only a placeholder for the
    // key.
    let sent = "Basic bWU6c2stY2FuYXJ5LTVmMGMyZDcxZTk=";
    assert!(asked.iter().all(|asked| asked.header("authorization") == Some(sent)), "{asked:?}");
    let coded = sent.trim_start_matches("Basic ");
    assert!(!printed.contains(API_KEY_CANARY) && !printed.contains(coded), "{printed}");
    let mut folders = vec![desk.dir.clone()];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            files += 1;
            let bytes = std::fs::read(&path).unwrap();
            for secret in [API_KEY_CANARY.as_bytes(), coded.as_bytes()] {
                assert!(!bytes.windows(secret.len()).any(|window| window == secret), "{}", path.display());
            }
        }
    }
    assert!(files > 3, "the database, its log and the components were searched");
}

fn run_verbosely(desk: &LlmProject) -> String {
    let ran = desk.latch(&["run", "plan.json", "--json", "-vvv"]);
    assert_eq!(ran.code, 1, "{} {}", ran.stdout, ran.stderr);
    assert_eq!(ran.json()["failed"][0]["reason_code"], "AUTH_FORBIDDEN");
    let id = ran.json()["job_id"].as_str().unwrap().to_owned();
    let events = desk.latch(&["job", "events", &id, "--json"]).stdout;
    let costs = desk.latch(&["job", "costs", &id, "--json"]).stdout;
    [ran.stdout, ran.stderr, events, costs].concat()
}

/// Each kind of refusal by the provider gets its own error code and the number of tries that this code
/// allows.
#[test]
fn provider_refusals_have_their_codes_and_retries() {
    let late = || ScriptedAnswer::tokens(1, 1).delayed(Duration::from_secs(6));
    let cases: Vec<(Vec<ScriptedAnswer>, &str, usize)> = vec![
        (vec![ScriptedAnswer::status(500), ScriptedAnswer::status(503), ScriptedAnswer::tokens(1, 1)], "", 3),
        ((0..9).map(|_| ScriptedAnswer::status(502)).collect(), "TEMPORARY_PROVIDER_ERROR", 4),
        ((0..9).map(|_| ScriptedAnswer::status(429)).collect(), "RATE_LIMIT", 6),
        (vec![ScriptedAnswer::status(400)], "INVALID_INPUT", 1),
        (vec![ScriptedAnswer::status(403)], "AUTH_FORBIDDEN", 1),
        (vec![ScriptedAnswer::body("<html>")], "SCHEMA_VALIDATION_FAILED", 1),
        (vec![ScriptedAnswer::body(r#"{"choices":[]}"#)], "SCHEMA_VALIDATION_FAILED", 1),
        (vec![late(), late(), late(), late()], "NETWORK_TIMEOUT", 4),
    ];
    for (script, code, times) in cases {
        let provider = Provider::start(script);
        let desk = LlmProject::new(&provider);
        desk.plan(&[llm_step("a", &[])]);
        let ran = desk.run();
        let found = ran.json()["failed"][0]["reason_code"].as_str().unwrap_or_default().to_owned();
        assert_eq!((found.as_str(), provider.requests().len()), (code, times), "{} {}", ran.stdout, ran.stderr);
    }
}

/// A provider may state a time to wait before a retry. An event records this time, so the retry comes no earlier if the
/// worker is restarted.
#[test]
fn retry_after_survives_a_restart() {
    let provider = Provider::start(vec![ScriptedAnswer::status(429).header("Retry-After", "12")]);
    let desk = LlmProject::new(&provider);
    desk.plan(&[llm_step("a", &[])]);
    let mut child = desk.command(&["run", "plan.json", "--json", "--actor", "ada"]).spawn().unwrap();
    provider.wait_for(1);
    let jobs = desk.latch(&["job", "list", "--json"]).json();
    let id = jobs["jobs"][0]["job_id"].as_str().unwrap();
    // The event of the retry is a deferred write, so it becomes durable a moment later.
    wait_until("a retry is scheduled", || events_of_type(&desk.events(id), "step_retry_scheduled").len() == 1);
    child.kill().unwrap();
    child.wait().unwrap();
    let ran = desk.run();
    assert_eq!(ran.code, 0, "{} {}", ran.stdout, ran.stderr);
    let asked = provider.requests();
    assert_eq!(asked.len(), 2);
    let waited = asked[1].at - asked[0].at;
    assert!(waited >= Duration::from_millis(11_900), "{waited:?}");
}

/// I19, I32: the answer to an LLM call costs money, so the host makes the answer durable before any other action. If
/// the process is killed afterwards, the request is not sent again and its cost is counted once.
#[test]
fn recorded_llm_answer_is_never_requested_again() {
    for commit in ["atomic", "staged"] {
        let mut recorded = 0;
        for (name, side) in [("execute", "after"), ("group_write", "before"), ("group_write", "after")] {
            for nth in 1.. {
                let provider = Provider::start(vec![]);
                let desk = LlmProject::new(&provider);
                desk.configure(&format!("commit = {commit:?}"));
                desk.plan(&[llm_step("a", &[]), llm_step("b", &["a"])]);
                let mut run = desk.command(&["run", "plan.json", "--json", "--actor", "ada"]);
                let killed = run.env("LATCH_CRASH_AT", format!("{name}:{side}:{nth}")).output().unwrap();
                if killed.status.code().is_some() {
                    assert!(nth > 1, "{name} is reached");
                    break;
                }
                let when = format!("{commit}, killed {side} {name} for the {nth}th time");
                let before = provider.requests_of_ended_processes().len();
                let job = desk.latch(&["job", "list", "--json"]).json()["jobs"][0]["job_id"].clone();
                let id = job.as_str().unwrap();
                let kept = desk.latch(&["job", "costs", id, "--json"]).json();
                let answered = kept["tries"].as_array().unwrap().len();
                let ran = desk.run();
                assert_eq!(ran.code, 0, "{when}: {} {}", ran.stdout, ran.stderr);
                assert_eq!(provider.requests().len(), before + 2 - answered, "{when}");
                let rows = desk.latch(&["job", "costs", "--json"]).json();
                assert_eq!(rows["total"]["cost_micro_usd"], 400, "{when}: {rows:#}");
                assert_eq!(ran.json()["cost"]["cost_micro_usd"], 400, "{when}");
                recorded += usize::from(answered > 0);
            }
        }
        assert!(recorded > 0, "at least one kill comes after the first answer");
    }
}

/// I18: mistakes in an LLM step are reported with their position before anything is started.
#[test]
fn invalid_llm_step_is_refused_with_its_position() {
    let provider = Provider::start(vec![]);
    let desk = LlmProject::new(&provider);
    let mut step = llm_step("a", &[]);
    step["payload"] = json!({ "prompt": "?", "messages": [], "params": { "max_tokens": 0 } });
    let mut other = llm_step("b", &[]);
    other["name"] = json!("Driver.Noop");
    other["effects"] = json!(["read_only"]);
    desk.plan(&[step, other]);
    let checked = desk.latch(&["plan", "check", "plan.json", "--json"]);
    assert_eq!(checked.code, 2);
    let found: Vec<(String, String)> = checked.json()["error"]["problems"]
        .as_array()
        .unwrap()
        .iter()
        .map(|problem| [&problem["code"], &problem["pointer"]].map(|text| text.as_str().unwrap().to_owned()).into())
        .collect();
    for wanted in [
        ("P004", "/steps/0/payload"),
        ("P028", "/steps/0/payload"),
        ("P003", "/steps/0/payload/messages"),
        ("P003", "/steps/0/payload/params/max_tokens"),
        ("P029", "/steps/1/name"),
    ] {
        assert!(found.iter().any(|(code, at)| (code.as_str(), at.as_str()) == wanted), "{wanted:?} in {found:?}");
    }
    assert_eq!(desk.run().code, 2);
    assert!(provider.requests().is_empty());
}

/// The shipped LLM example runs against any server with a compatible protocol. The test replaces the server's address
/// in the example by that of a test server.
#[test]
fn llm_example_runs_against_a_compatible_server() {
    let provider = Provider::start(vec![]);
    let desk = LlmProject::new(&provider);
    let examples = checkout::copy().join("example-plugins");
    let shipped = examples.join("llm-summary");
    let mut config = std::fs::read_to_string(shipped.join("latch.toml")).unwrap();
    let here = format!("http://127.0.0.1:{}", provider.port);
    config = config.replace("https://api.openai.com:443", &here).replace("https://api.openai.com", &here);
    for plugin in ["files-rust", "llm-openai-rust"] {
        config = config.replace(&format!("\"../{plugin}\""), &format!("{:?}", build_plugin(&examples.join(plugin))));
    }
    std::fs::write(desk.dir.join("latch.toml"), config).unwrap();
    for name in ["data", "plan.json"] {
        copy_tree(&shipped.join(name), &desk.dir.join(name));
    }
    let ran = desk.run();
    assert_eq!(ran.code, 0, "{} {}", ran.stdout, ran.stderr);
    let outcomes = ran.json()["outcomes"].clone();
    assert_eq!((&outcomes[0]["type"], &outcomes[1]["type"]), (&json!("Summary"), &json!("Title")), "{outcomes:#}");
    let asked = provider.requests();
    assert!(asked[0].body["messages"][1]["content"].as_str().unwrap().contains("reading group"));
    // Each call costs 21 micro-USD: 100 input tokens at 0.15 USD and 10 output tokens at 0.60 USD per
    // million.
    assert_eq!(ran.json()["cost"]["cost_micro_usd"], 42);
}
