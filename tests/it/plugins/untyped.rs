//! Tests of untyped components as tools, with real components and real calls. An untyped component knows
//! nothing of Latchwork.

use std::sync::{Arc, OnceLock};

use serde_json::{Value, json};

use latchwork::runtime::EXECUTE_POINTS;
use latchwork_core::model::effect::Answer;
use latchwork_core::model::error::{Code, Failure};
use latchwork_engine::Plugin;
use latchwork_engine::capability::grants::Grants;
use latchwork_engine::capability::settings::LimitsConfig;
use latchwork_engine::guest::sources::StepContext;
use latchwork_engine::guest::tool_call::ToolCallContext;
use latchwork_engine::os::clock;
use latchwork_store::STATEMENTS;

use crate::plugins::stock_guests::untyped_script_guest;
use crate::support::kills::for_each_point;
use crate::support::plugins::built_guests::guest;
use crate::support::plugins::engine::{engine, settings};
use crate::support::seed::is_sweep;
use crate::support::test_env::{TestEnv, step};

const LIMITS: LimitsConfig = LimitsConfig {
    memory_bytes: Some(16 << 20),
    fuel: Some(400_000_000),
    timeout_ms: None,
    output_bytes: Some(64 << 10),
    host_calls: None,
    component_bytes: None,
};

async fn call_shapes(operator: &str, args: Value) -> Answer {
    static SHAPES: OnceLock<Arc<Plugin>> = OnceLock::new();
    let load = || {
        let bytes = std::fs::read(guest("plain-shapes")).unwrap();
        engine().load(&bytes, settings("plain", Grants::default(), LIMITS)).unwrap()
    };
    call_operator(SHAPES.get_or_init(load), operator, args).await
}

async fn call_operator(plugin: &Plugin, operator: &str, args: Value) -> Answer {
    let call = ToolCallContext {
        step: StepContext { job_id: "job_1".into(), ..StepContext::default() },
        slot: "s1".into(),
        timeout_ms: 20_000,
        started_boot_us: clock::boot_us(),
        ..ToolCallContext::default()
    };
    plugin.invoke(operator, &args.to_string(), call, &plugin.limits(operator)).await.answer
}

async fn result_of(operator: &str, args: Value) -> Value {
    match call_shapes(operator, args).await {
        Answer::Ok(output) => serde_json::from_str(&output.result).unwrap(),
        other => panic!("{operator}: {other:?}"),
    }
}

async fn failure_of(operator: &str, args: Value) -> Failure {
    match call_shapes(operator, args).await {
        Answer::NotApplied(failure) => failure,
        other => panic!("{operator}: {other:?}"),
    }
}

fn value_of_every_type() -> Value {
    json!({
        "truth": true, "tiny": -128, "byte": 255, "small": -32768, "word": 65535, "int": -2147483648i64,
        "nat": 4294967295u32, "long": "-9223372036854775808", "big": "18446744073709551615", "single": 0.1,
        "double": 1e300, "letter": "ß", "text": "a\n\"b\"", "bytes": "AP8=", "items": [0, "9007199254740993"],
        "pair": [7, "x"], "shape": {"path": [{"x": 1, "y": -1, "label": null}, {"x": 0, "y": 0, "label": "o"}]},
        "color": "dark-green", "style": ["bold", "dashed"], "maybe": {"some": null}, "either": {"err": "no"},
        "neither": {"ok": null},
    })
}

/// I73: values of every WIT type are passed into a component and returned.
#[tokio::test]
async fn every_wit_type_round_trips_through_a_component() {
    assert_eq!(result_of("shapes.echo", json!({ "all": value_of_every_type() })).await, value_of_every_type());
    for (field, value) in [
        ("maybe", json!(null)),
        ("maybe", json!({"some": 3})),
        ("shape", json!("dot")),
        ("shape", json!({"circle": 0.5})),
        ("either", json!({"ok": 1})),
        ("neither", json!({"err": null})),
        ("style", json!([])),
        ("bytes", json!("")),
        ("big", json!(9_007_199_254_740_991u64)),
    ] {
        let mut all = value_of_every_type();
        all[field] = value;
        assert_eq!(result_of("shapes.echo", json!({ "all": all })).await, all, "{field}");
    }
}

/// I70, I73: if an untyped function returns a WIT `result`, its value becomes the result of the call, and its error
/// becomes the error of the call. Numbers above 2^53 are exact, and each call has its own instance.
#[tokio::test]
async fn untyped_functions_answer_like_tools() {
    assert_eq!(result_of("plain.divide", json!({"a": 7, "b": 2})).await, 3);
    let failure = failure_of("plain.divide", json!({"a": 7, "b": 0})).await;
    assert_eq!((failure.code, failure.detail.as_deref()), (Code::InvalidInput, Some("\"7 cannot be divided by 0\"")));
    assert!(failure.message.ends_with("its error: 7 cannot be divided by 0"), "{failure}");
    assert_eq!(
        failure_of("plain.pick", json!({"wanted": "dark-green"})).await.detail.as_deref(),
        Some("\"dark-green\"")
    );
    assert_eq!(result_of("plain.add", json!({"a": "9007199254740993", "b": 1})).await, "9007199254740994");
    assert_eq!(result_of("plain.add", json!({"a": 1, "b": 1})).await, 2);
    assert_eq!(result_of("plain.note", json!({})).await, Value::Null);
    assert_eq!(result_of("plain.note", json!({"text": "x"})).await, Value::Null);
    let corners = json!([{"x": 1, "y": 1}, {"x": 2, "y": 5, "label": "far"}]);
    assert_eq!(result_of("shapes.far-corner", json!({ "of": corners })).await["label"], "far");
    for _ in 0..2 {
        assert_eq!(result_of("plain.count", json!({})).await, 1);
    }
    let unfit = failure_of("plain.add", json!({"a": -1, "c": true})).await;
    assert_eq!(unfit.code, Code::InvalidInput);
    for part in ["/a is not between 0", "/b is missing: u64", "/c is not known"] {
        assert!(unfit.message.contains(part), "{unfit}");
    }
}

/// I70: the functions of a component that was built by ordinary JavaScript tools are usable as tools.
#[tokio::test]
#[ignore = "compiles a large engine; run by .ci/long"]
async fn javascript_functions_are_tools() {
    let Some(file) = untyped_script_guest() else { return };
    let limits = LimitsConfig { memory_bytes: None, fuel: None, ..LIMITS };
    let plugin = engine().load(&std::fs::read(file).unwrap(), settings("text", Grants::default(), limits)).unwrap();
    assert_eq!(plugin.manifest.version, "2.0.0");
    let count = call_operator(&plugin, "words.count", json!({"text": "a bee a ü", "longer-than": 0})).await;
    let Answer::Ok(output) = count else { panic!("{count:?}") };
    let tallies = json!([{"word": "a", "times": 2}, {"word": "bee", "times": 1}, {"word": "ü", "times": 1}]);
    assert_eq!(serde_json::from_str::<Value>(&output.result).unwrap(), tallies);
    let failed = call_operator(&plugin, "words.number", json!({"text": "many"})).await;
    let Answer::NotApplied(failure) = failed else { panic!("{failed:?}") };
    assert_eq!((failure.code, failure.detail.as_deref()), (Code::InvalidInput, Some("\"many is no number\"")));
}

/// I11: a misbehaving untyped component fails its own call, and the host continues.
#[tokio::test]
async fn misbehaving_component_fails_only_its_own_call() {
    for (operator, args, code) in [
        ("plain.nothing-number", json!({}), Code::SchemaValidationFailed),
        ("plain.panic", json!({}), Code::PluginTrap),
        ("plain.spin", json!({}), Code::OutOfFuel),
        ("plain.grow", json!({}), Code::MemoryLimit),
        // These outputs fit into the guest's memory. The host refuses them, because their conversion would need forty
        // times as much memory in the host.
        ("plain.raw", json!({"n": 8_000_000}), Code::OutputLimit),
        ("plain.numbers", json!({"n": 3_000_000}), Code::OutputLimit),
        ("plain.numbers", json!({"n": 60_000}), Code::OutputLimit),
        ("plain.numbers", json!({"n": 500_000_000}), Code::MemoryLimit),
    ] {
        assert_eq!(failure_of(operator, args.clone()).await.code, code, "{operator} {args}");
    }
    let whole = failure_of("plain.raw", json!({"n": 8_000_000})).await;
    assert!(whole.message.contains("handed over"), "the call is stopped before its values are converted: {whole}");
    assert_eq!(result_of("plain.raw", json!({"n": 3})).await, "BwcH");
    assert_eq!(result_of("plain.numbers", json!({"n": 30_000})).await.as_array().map(Vec::len), Some(30_000));
}

/// Creates an environment with the components `plain-shapes` and `plain-notes` as tools, and a plan of two calls. The
/// second call writes the result of the first call to a file.
fn env_with_untyped_tools(commit: &str, more: &str) -> TestEnv {
    let config = format!(
        "commit = {commit:?}\n[[plugin]]\nname = \"shapes\"\nsource = {:?}\n\
         [[plugin]]\nname = \"notes\"\nsource = {:?}\n\
         grants = {{ dirs = [{{ host = \"notes\", guest = \"/notes\", write = true }}] }}\n{more}\n",
        guest("plain-shapes"),
        guest("plain-notes"),
    );
    let place = TestEnv::configured(&config, vec!["write"]);
    std::fs::create_dir(place.dir.join("notes")).unwrap();
    let corners = json!([{"x": 1, "y": 1, "label": "near"}, {"x": 2, "y": 5, "label": "far"}]);
    let mut look = step("look", "shapes.far-corner", &[], json!({ "of": corners }));
    look["effects"] = json!(["read_only"]);
    let line = json!({ "file": "a.txt", "line": {"$ref": "look#/label"} });
    place.with_plan(&[look, step("write", "notes.append", &["look"], line)])
}

fn line_count(place: &TestEnv) -> usize {
    std::fs::read_to_string(place.dir.join("notes/a.txt")).map_or(0, |text| text.lines().count())
}

/// I71, I19: a plan calls untyped functions like any other tool. The call is gated, runs once, and replays
/// without being executed.
#[test]
fn plan_calls_untyped_functions() {
    let place = env_with_untyped_tools("atomic", "");
    let first = place.latch(&["run", "plan.json", "--json", "--actor", "ada"]);
    assert_eq!(
        (first.code, line_count(&place)),
        (3, 0),
        "the function may write, so its call is gated: {}",
        first.stderr
    );
    let id = first.json()["job_id"].as_str().unwrap().to_owned();
    assert_eq!(place.latch(&["job", "approve", &id, "write", "--actor", "bob"]).code, 0);
    let done = place.latch(&["resume", &id, "--json"]);
    assert_eq!((done.code, line_count(&place)), (0, 1), "{} {}", done.stdout, done.stderr);
    assert_eq!(std::fs::read_to_string(place.dir.join("notes/a.txt")).unwrap(), "far\n");
    let replay = place.latch(&["job", "replay", &id, "--every-prefix", "--json"]);
    assert_eq!(
        (replay.code, &replay.json()["divergence"], line_count(&place)),
        (0, &json!(null), 1),
        "{}",
        replay.stdout
    );
    assert_eq!(place.latch(&["job", "export", &id, "--out", "e.jsonl"]).code, 0);
    let verified = place.latch(&["verify", "e.jsonl"]);
    assert_eq!(verified.code, 0, "{} {}", verified.stdout, verified.stderr);
}

/// I72: an open job continues with the operators that it pinned, even if the configuration describes the
/// component differently.
#[test]
fn open_job_keeps_its_pinned_manifest() {
    let place = env_with_untyped_tools("atomic", "");
    let first = place.latch(&["run", "plan.json", "--json", "--actor", "ada"]);
    let id = first.json()["job_id"].as_str().unwrap().to_owned();
    let place =
        place.configure("operators = { \"notes.append\" = { name = \"Note.Add\", effects = [\"read_only\"] } }");
    let listed = place.latch(&["plugin", "list", "--json"]);
    assert!(listed.stdout.contains("Note.Add") && !listed.stdout.contains("\"notes.append\""), "{}", listed.stdout);
    assert_eq!(place.latch(&["job", "approve", &id, "write", "--actor", "bob"]).code, 0);
    let done = place.latch(&["resume", &id, "--json"]);
    assert_eq!((done.code, line_count(&place)), (0, 1), "{} {}", done.stdout, done.stderr);
}

/// I12, I71: a function configured as read-only cannot write, even with a grant. If a function that may write
/// fails after it began to write, its call is in doubt.
#[test]
fn configured_effects_of_a_function_are_enforced() {
    let place = env_with_untyped_tools("atomic", "operators = { \"notes.append\" = { effects = [\"read_only\"] } }");
    let looked = place.latch(&place.run_args());
    let failed = &looked.json()["failed"][0];
    assert_eq!(
        (looked.code, &failed["reason_code"], line_count(&place)),
        (3, &json!("INVALID_INPUT"), 0),
        "{failed:#}"
    );
    assert!(failed["message"].as_str().unwrap().contains("broken"), "{failed:#}");

    let line = json!({ "file": "a.txt", "line": "x" });
    let place = place.fresh_copy().configure("").with_plan(&[step("write", "notes.append-then-fail", &[], line)]);
    let ran = place.latch(&place.run_args());
    assert_eq!((ran.code, line_count(&place)), (3, 1), "{}", ran.stderr);
    assert_eq!(ran.json()["blocked_on"]["reason_code"], "INDETERMINATE_EFFECT", "{}", ran.stdout);
}

/// Statements that write a call and its answer.
const WRITE_POINTS: &[&str] = &["group_write", "effects_insert", "commit"];

/// I1, I2, I5: a call of an untyped function appends one line to a file. The process is killed before or after the
/// call, or at one of the writes of the call. The file then has this line once. A sweep kills at every statement. The
/// test resolves a call in doubt as applied if the file has the line, and otherwise as not applied.
#[test]
fn killed_untyped_call_writes_its_line_once() {
    for commit in ["atomic", "staged"] {
        let template = env_with_untyped_tools(commit, "");
        assert_eq!(template.latch(&["plugin", "list", "--json"]).code, 0);
        let statements = if is_sweep() { STATEMENTS } else { WRITE_POINTS };
        let points = EXECUTE_POINTS.iter().chain(statements);
        let reached = for_each_point(&template, points, |place, point| {
            finish_with_observed_lines(place);
            assert_eq!(line_count(place), 1, "{commit}, killed at {point:?}");
        });
        assert!(reached.contains("execute") && reached.contains("group_write"), "{reached:?}");
        assert_eq!(reached.contains("effects_insert"), commit == "staged", "{reached:?}");
    }
}

/// Runs the job until it is completed. Resolves the call in doubt as applied if the file has its line, and otherwise as
/// not applied.
fn finish_with_observed_lines(place: &TestEnv) {
    for _ in 0..6 {
        let ran = place.latch(&place.run_args());
        let response = ran.json();
        if response["state"] == "COMPLETED" {
            return;
        }
        assert_eq!(response["blocked_on"]["reason_code"], "INDETERMINATE_EFFECT", "{response:#}");
        std::fs::write(place.dir.join("result.json"), r#"{"file":"a.txt","lines":1}"#).unwrap();
        let verdict: &[&str] = if line_count(place) > 0 { &["--applied", "result.json"] } else { &["--not-applied"] };
        let id = response["job_id"].as_str().unwrap();
        let args = [&["job", "resolve", id, "write", "--reason", "looked", "--actor", "bob"], verdict].concat();
        let resolved = place.latch(&args);
        assert_eq!(resolved.code, 0, "{} {}", resolved.stdout, resolved.stderr);
    }
    panic!("the job does not end: {:#}", place.only_job());
}

/// `latch plugin inspect` recognizes an untyped component and derives the component's operators from the
/// types of its functions.
#[test]
fn inspect_describes_an_untyped_component() {
    let place = env_with_untyped_tools("atomic", "");
    let file = guest("plain-shapes");
    let inspected = place.latch(&["plugin", "inspect", file.to_str().unwrap()]);
    assert_eq!(inspected.code, 0, "{} {}", inspected.stdout, inspected.stderr);
    assert!(inspected.stdout.contains("tool (plain component)"), "{}", inspected.stdout);
    assert!(
        inspected.stdout.contains("shapes.divide: divide: func(a: s32, b: s32) -> result<s32, string>"),
        "{}",
        inspected.stdout
    );
    let document = place.latch(&["plugin", "inspect", file.to_str().unwrap(), "--json"]).json();
    assert_eq!((&document["plain"], &document["configured_as"]), (&json!(true), &json!("shapes")));
    // An import that a component needs only for its types needs no provider.
    assert_eq!((&document["verdict"], &document["difference"]["tool"]), (&json!("tool"), &json!([])), "{document:#}");
}
