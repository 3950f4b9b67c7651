//! Virtual WASI, as seen by a component that uses all of it.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use serde_json::{Value, json};
use tracing::Level;

use latchwork::config::{Config, LoadOptions};
use latchwork::registry::Registry;
use latchwork_core::encoding::rng::StepRng;
use latchwork_core::model::error::{Code, Failure};
use latchwork_core::model::manifest::WasiMode;
use latchwork_engine::capability::grants::Grants;
use latchwork_engine::capability::settings::{LimitsConfig, PluginSettings};
use latchwork_engine::guest::sources::{StepContext, StepSources};
use latchwork_engine::guest::step_calls::{StepCalls, Stop, ToolCall};
use latchwork_engine::{LoadError, Plugin, PluginProblem, StepOutcome};

use crate::support::plugins::built_guests::guest;
use crate::support::plugins::engine::{empty_maps, engine, settings};
use crate::support::test_env::{TestEnv, step};

/// Start time of every step in these tests.
const STARTED_US: i64 = 1_700_000_000_000_000;

/// Replacement of a worker, without a store. The answer to a call arrives five seconds after the previous event of the
/// step.
pub(crate) struct InMemoryWorker {
    own: StepSources,
    pub(crate) records: Arc<Mutex<Vec<(Level, String)>>>,
}

impl InMemoryWorker {
    pub(crate) fn new(seed: u8) -> Self {
        let own = StepSources::new(StepContext::default(), [seed; 32], STARTED_US);
        Self { own, records: Arc::default() }
    }
}

#[async_trait]
impl StepCalls for InMemoryWorker {
    /// The guest returns nanoseconds as 64-bit integers, which a new output may not hold.
    fn output_is_recorded(&self) -> bool {
        true
    }
    fn sources(&mut self) -> &mut StepSources {
        &mut self.own
    }
    fn log(&mut self, level: Level, message: &str) {
        self.records.lock().unwrap().push((level, message.to_owned()));
    }
    async fn call(&mut self, _: String, args: String, _: Option<String>) -> Result<Result<String, Failure>, Stop> {
        self.own.now_us += 5_000_000;
        Ok(Ok(args))
    }
    async fn call_all(&mut self, _: Vec<ToolCall>) -> Result<Vec<Result<String, Failure>>, Stop> {
        Err(Stop)
    }
    async fn emit(&mut self, _: String, _: String) -> Result<(), Stop> {
        Err(Stop)
    }
}

fn load_guest(name: &str, wasi: WasiMode) -> Result<Arc<Plugin>, LoadError> {
    let limits = LimitsConfig { memory_bytes: Some(16 << 20), host_calls: Some(100), ..LimitsConfig::default() };
    let settings = PluginSettings { wasi, ..settings(name, Grants::default(), limits) };
    engine().load(&std::fs::read(guest(name)).unwrap(), settings)
}

/// Returns the outcome of a try and its log records.
async fn run_once(plugin: &Plugin, seed: u8, input: Value) -> (StepOutcome, Vec<(Level, String)>) {
    let operator = plugin.manifest.operators[0].name.as_str().to_owned();
    let worker = InMemoryWorker::new(seed);
    let records = worker.records.clone();
    let end = plugin.run_step(&operator, &input.to_string(), &plugin.limits(&operator), Box::new(worker)).await;
    let records = records.lock().unwrap().clone();
    (end.outcome, records)
}

async fn output_of(input: Value) -> Value {
    let plugin = load_guest("virtual-step", WasiMode::Virtual).unwrap();
    match run_once(&plugin, 7, input.clone()).await.0 {
        StepOutcome::Output(text) => serde_json::from_str(&text).unwrap(),
        other => panic!("{input}: {other:?}"),
    }
}

async fn fault_of(input: Value) -> Failure {
    let plugin = load_guest("virtual-step", WasiMode::Virtual).unwrap();
    match run_once(&plugin, 7, input.clone()).await.0 {
        StepOutcome::Fault(failure) => failure,
        other => panic!("{input}: {other:?}"),
    }
}

fn ns_after_start(us: i64) -> i64 {
    (STARTED_US + us) * 1_000
}

/// I50, I181: a step has its own time. Reading a clock advances the time of the step by a microsecond. An answer
/// advances the time of the step to the time of the answer.
#[tokio::test]
async fn wasi_clocks_follow_the_time_of_the_step() {
    let both = |from: i64| {
        let clock = |at: i64| json!([ns_after_start(from + at), ns_after_start(from + at + 1)]);
        json!({ "wall": clock(0), "monotonic": clock(2), "resolution": [0, 1_000, 1_000] })
    };
    let quiet = output_of(json!({"do": "clocks"})).await;
    // Reading `latchwork:plugin/clock` does not advance the time. Reading a WASI clock advances the time, and the next
    // reading of `latchwork:plugin/clock` shows the advance.
    let injected = json!([STARTED_US / 1_000_000, 8_000]);
    assert_eq!(quiet, json!({ "began": both(0), "answered": null, "then": both(4), "injected": injected }));
    let heard = output_of(json!({"do": "clocks", "call": "Some.Tool"})).await;
    assert_eq!((&heard["began"], &heard["then"]), (&both(0), &both(5_000_000)));
}

/// I50: sleeping takes no real time and advances the clock. If the sleep were real, the try could exceed its time limit
/// of half a minute.
#[tokio::test]
async fn sleep_takes_no_real_time_and_advances_the_clock() {
    let day_us = 24 * 3600 * 1_000_000;
    let slept = output_of(json!({"do": "sleep", "n": day_us * 1_000})).await;
    assert_eq!(slept["before"]["monotonic"][1], ns_after_start(3));
    assert_eq!(slept["after"]["wall"][0], ns_after_start(4 + day_us));
    // An endless sleep ends at the clock's maximum, and the clock stays there.
    let end = output_of(json!({"do": "sleep", "n": u64::MAX})).await;
    assert_eq!(end["after"]["wall"], json!([i64::MAX, i64::MAX]));

    let polled = output_of(json!({"do": "poll", "n": 10_000_000})).await;
    let wanted = json!({
        // The stream is ready immediately. The time still advances, because a poll with timers reads the clock.
        "stream first": [[1], 2_000],
        "past": [[1], 4_000],
        // Only `twin`, with index 2, is ready. The guest reads `began` and then creates the timers. `twin` is due 10 ms
        // after `began`. `early` is due a microsecond later than `twin`, because reading `began` advanced the clock by
        // a microsecond.
        "earliest": [[2], 10_000_000],
        "again": [[1, 2], 10_002_000],
        "ready": [true, false],
        "latest": [[0], 30_001_000],
        "then": [true, 30_002_000],
    });
    assert_eq!(polled, wanted);
}

/// I50: a loop that only reads the clock ends, and always after the same number of iterations.
#[tokio::test]
async fn loops_on_the_clock_end() {
    let loops = output_of(json!({"do": "spin", "n": 1_000_000})).await;
    assert_eq!(loops, json!([999, 1_000, 1_000]));
}

/// I17 and I50: random bytes come from the step's own random stream, in the order of the calls.
/// `latchwork:plugin/rng` draws from the same stream.
#[tokio::test]
async fn random_bytes_come_from_the_stream_of_the_step() {
    let mut stream = StepRng::new([7; 32]);
    let hex = |stream: &mut StepRng, len| hex::encode(stream.bytes(len));
    let number = |stream: &mut StepRng| u64::from_le_bytes(stream.bytes(8).try_into().unwrap());
    let rng = hex(&mut stream, 4);
    let (secure, secure_number) = (hex(&mut stream, 5), number(&mut stream));
    let (insecure, insecure_number) = (hex(&mut stream, 5), number(&mut stream));
    let seed = (number(&mut stream), number(&mut stream));
    let numbers = [secure_number, insecure_number].map(|number| format!("{number:016x}"));
    let wanted = json!({
        "rng": rng,
        "wasi": [secure, numbers[0], insecure, numbers[1], format!("{seed:016x?}")],
        "then": hex(&mut stream, 4),
    });
    assert_eq!(output_of(json!({"do": "random", "n": 5})).await, wanted);
    let plugin = load_guest("virtual-step", WasiMode::Virtual).unwrap();
    let of_seed = async |seed| run_once(&plugin, seed, json!({"do": "random", "n": 16})).await.0;
    assert_eq!(of_seed(1).await, of_seed(1).await);
    assert_ne!(of_seed(1).await, of_seed(2).await);
}

/// I51: a step finds no arguments, no environment, no terminal and no input.
#[tokio::test]
async fn program_finds_no_arguments_environment_or_files() {
    let wanted = json!({
        "environment": [], "arguments": [], "directory": null, "terminals": [false, false, false],
        "stdin at its end": [true, true, true, true, true, true], "stdin is ready": true,
    });
    assert_eq!(output_of(json!({"do": "program"})).await, wanted);
    assert_eq!(output_of(json!({"do": "files"})).await, json!({ "directories": 0, "seen": [] }));
}

/// I51: access to the network is refused, and the log or the error names the reason.
#[tokio::test]
async fn sockets_and_http_are_refused() {
    let plugin = load_guest("virtual-step", WasiMode::Virtual).unwrap();
    let (outcome, records) = run_once(&plugin, 7, json!({"do": "sockets"})).await;
    let StepOutcome::Output(text) = outcome else { panic!("{outcome:?}") };
    let denied = "access-denied";
    let wanted = json!({ "tcp": denied, "udp": denied, "name": denied, "address": denied });
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), wanted);
    let names = ["tcp-create-socket", "udp-create-socket", "ip-name-lookup", "ip-name-lookup"];
    assert_eq!(records.len(), names.len(), "{records:?}");
    for ((level, text), name) in records.iter().zip(names) {
        assert_eq!(*level, Level::WARN);
        assert!(text.contains(&format!("wasi:sockets/{name}@0.2.")) && text.contains("tcp grant"), "{text}");
    }
    let failure = fault_of(json!({"do": "http"})).await;
    assert_eq!(failure.code, Code::PluginTrap);
    for word in ["wasi:http/types@0.2.", "[constructor]fields", "http grant"] {
        assert!(failure.message.contains(word), "{failure}");
    }
}

#[tokio::test]
async fn output_becomes_log_records_line_by_line() {
    let plugin = load_guest("virtual-step", WasiMode::Virtual).unwrap();
    let (outcome, records) = run_once(&plugin, 7, json!({"do": "print"})).await;
    assert_eq!(outcome, StepOutcome::Output("65536".into()));
    let wanted = [
        (Level::WARN, "first"),
        (Level::INFO, "one line"),
        // These lines have no line end, so they are logged when the step ends.
        (Level::INFO, "two\0\0"),
        (Level::WARN, "second"),
    ];
    assert_eq!(records, wanted.map(|(level, text)| (level, text.to_owned())));
    // Lines are also logged if the step fails.
    let (_, records) = run_once(&plugin, 7, json!({"do": "write", "n": 65_536})).await;
    assert_eq!(records.len(), 8, "a line longer than a record is several");

    let (outcome, records) = run_once(&plugin, 7, json!({"do": "flood", "n": 2_000})).await;
    assert_eq!(outcome, StepOutcome::Output("2000".into()), "the step does not notice the limit");
    let kept: usize = records.iter().map(|(_, text)| text.len()).sum();
    assert!((1_000_000..1_100_000).contains(&kept), "{kept}");
    assert!(records.last().unwrap().1.contains("1048576 bytes"), "{:?}", records.last());
}

/// I11: a program that exits fails its step, even with exit status 0. The error of each fault names the
/// fault.
#[tokio::test]
async fn each_fault_is_named() {
    let faults = [
        (json!({"do": "exit", "n": 0}), "exit(0)"),
        (json!({"do": "exit", "n": 1}), "exit(1)"),
        (json!({"do": "exit", "n": 42}), "exit(42)"),
        (json!({"do": "handles", "n": 1_001}), "1000 streams and pollables"),
        (json!({"do": "poll-nothing"}), "polled nothing"),
        (json!({"do": "write", "n": 65_537}), "65537 bytes to a stream"),
        (json!({"do": "zeroes", "n": u64::MAX}), "to a stream at once"),
        (json!({"do": "random", "n": 65_537}), "65537 random bytes"),
        (json!({"do": "spin", "n": 20_000_000_000u64}), "10000 calls of WASI"),
    ];
    for (input, text) in faults {
        let failure = fault_of(input.clone()).await;
        assert_eq!(failure.code, Code::PluginTrap, "{input}: {failure}");
        assert!(failure.message.contains(text), "{input}: {failure}");
    }
    assert_eq!(output_of(json!({"do": "handles", "n": 1_000})).await, json!(1_000));
}

/// I50: two runs in fresh instances give the same result.
#[tokio::test]
async fn every_result_repeats() {
    let plugin = load_guest("virtual-step", WasiMode::Virtual).unwrap();
    for input in [
        json!({"do": "clocks", "call": "Some.Tool"}),
        json!({"do": "sleep", "n": 12_345}),
        json!({"do": "random", "n": 333}),
        json!({"do": "poll", "n": 77}),
        json!({"do": "program"}),
        json!({"do": "print"}),
        json!({"do": "sockets"}),
        json!({"do": "http"}),
        json!({"do": "exit", "n": 3}),
    ] {
        assert_eq!(run_once(&plugin, 9, input.clone()).await, run_once(&plugin, 9, input.clone()).await, "{input}");
    }
    // `describe` runs outside of any step, so its result is always the same.
    let text = &plugin.operator("Virtual.Do").unwrap().description;
    let mut zero = StepRng::new([0; 32]);
    let number = u64::from_le_bytes(zero.bytes(8).try_into().unwrap());
    assert_eq!(*text, format!("Described at 0 with {number:016x}."));
}

/// I10: WASI is linked only for steps that are configured with WASI. Other imports are still refused.
#[test]
fn wasi_is_linked_only_if_configured() {
    let error = load_guest("virtual-step", WasiMode::None).unwrap_err();
    let imports = |error: &LoadError| {
        let named = |problem: &PluginProblem| match problem {
            PluginProblem::Import { import, instead } => (import.clone(), instead.clone()),
            other => panic!("{other}"),
        };
        error.problems.iter().map(named).collect::<Vec<_>>()
    };
    let refused = imports(&error);
    assert!(refused.len() > 20, "every import is named: {refused:?}");
    assert!(
        refused.iter().all(|(import, instead)| import.starts_with("wasi:") && instead.contains("wasi = \"virtual\""))
    );
    // The import `invocation` of `wasi-step` is still refused. It is not part of WASI, and a step that reads it could
    // behave differently in each attempt.
    let left = imports(&load_guest("wasi-step", WasiMode::Virtual).unwrap_err());
    assert_eq!(
        left.iter().map(|(import, _)| import.as_str()).collect::<Vec<_>>(),
        ["latchwork:plugin/invocation@0.1.0"]
    );
    let tool = load_guest("hostile-tool", WasiMode::Virtual).unwrap_err().to_string();
    assert!(tool.contains("remove `wasi`") || tool.contains("grants"), "{tool}");
}

/// I43: a job keeps the WASI mode that it pinned, whatever is configured for its plugin later.
#[test]
fn wasi_mode_is_pinned_with_the_component() {
    let dir = tempfile::tempdir().unwrap();
    let registry = |component: &str, wasi: &str| {
        let text = format!("[[plugin]]\nname = \"v\"\nsource = {:?}\nwasi = {wasi:?}\n", guest(component));
        std::fs::write(dir.path().join("latch.toml"), text).unwrap();
        let config =
            Config::load(&LoadOptions { config: None, db: None, cwd: dir.path(), plan_folder: None, env: &|_| None });
        Registry::load(engine().clone(), &config.unwrap(), empty_maps())
    };
    let first = registry("virtual-step", "virtual").unwrap();
    let pinned = first.pinned_operators().values().next().unwrap().clone();
    assert_eq!(pinned.wasi, WasiMode::Virtual);
    assert_eq!(serde_json::to_value(&pinned).unwrap()["wasi"], "virtual");
    assert_eq!(registry("virtual-step", "none").err().unwrap()[0].page(), "L0022");
    let now = registry("hostile-step", "none").unwrap();
    assert_eq!(now.component(pinned.digest, pinned.wasi).unwrap().wasi(), WasiMode::Virtual);
    assert!(
        serde_json::to_value(now.pinned_operators().values().next().unwrap()).unwrap().get("wasi").is_none(),
        "the default mode is not serialized"
    );
    let again = registry("hostile-step", "none").unwrap();
    assert!(again.component(pinned.digest, WasiMode::None).unwrap_err().to_string().contains("wasi = \"virtual\""));
}

/// I50, I181: a whole job replays from every prefix of its log and from its evidence. In the job, the first answer
/// advances the clock, and the second step draws random bytes.
#[test]
fn job_with_virtual_wasi_replays() {
    let place = TestEnv::witness("atomic");
    let component = guest("virtual-step");
    let place = place.configure(&format!("[[plugin]]\nname = \"v\"\nsource = {component:?}\nwasi = \"virtual\"\n"));
    let heard = step("s", "Virtual.Do", &[], json!({ "do": "clocks", "call": "Effect.Read" }));
    let drawn = step("t", "Virtual.Do", &["s"], json!({ "do": "random", "n": 100 }));
    let place = place.with_plan(&[heard, drawn]);
    let mut outputs = Vec::new();
    for _ in 0..2 {
        let ran = place.latch(&["run", "plan.json", "--new", "--json", "--actor", "ada"]);
        assert_eq!(ran.code, 0, "{} {}", ran.stdout, ran.stderr);
        let id = ran.json()["job_id"].as_str().unwrap().to_owned();
        let replay = place.latch(&["job", "replay", &id, "--every-prefix", "--json"]);
        assert_eq!((replay.code, &replay.json()["divergence"]), (0, &Value::Null), "{}", replay.stdout);
        assert_eq!(place.latch(&["job", "export", &id, "--out", "job.jsonl", "--force"]).code, 0);
        let verified = place.latch(&["verify", "job.jsonl", "--plugins", ".latch/components", "--json"]);
        assert_eq!((verified.code, &verified.json()["steps_reexecuted"]), (0, &json!(2)), "{}", verified.stdout);
        let evidence = std::fs::read_to_string(place.dir.join("job.jsonl")).unwrap();
        let lines = evidence.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let output = |label: &str| {
            let found = lines.clone().find(|line| line["label"] == label).unwrap();
            serde_json::from_str::<Value>(found["content"]["text"].as_str().unwrap()).unwrap()
        };
        let (clocks, random) = (output("output/s"), output("output/t"));
        let at = |when: &str| clocks[when]["wall"][0].as_i64().unwrap();
        assert!(at("then") > at("began") + 4_000, "the answer arrived after the step's start: {clocks:#}");
        outputs.push((clocks, random));
    }
    assert_ne!(outputs[0].0, outputs[1].0);
    assert_ne!(outputs[0].1, outputs[1].1);
    let inspected = place.latch(&["plugin", "inspect", component.to_str().unwrap(), "--json"]).json();
    assert_eq!((&inspected["verdict"], &inspected["wasi"]), (&json!("step"), &json!("virtual")), "{inspected:#}");
    assert!(inspected["may_reach"].to_string().contains("WASI"), "{inspected:#}");
}

#[test]
fn describe_may_call_no_host_function_with_virtual_wasi() {
    let error = load_guest("chatty-step", WasiMode::Virtual).unwrap_err();
    assert!(error.to_string().contains("latchwork:plugin/clock@0.1.0"), "{error}");
    assert!(matches!(error.problems[..], [PluginProblem::Describe(_)]), "{error}");
}
