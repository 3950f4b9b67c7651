//! Misbehaving steps.

use async_trait::async_trait;
use serde_json::{Value, json};
use tracing::Level;

use latchwork_core::model::bounds;
use latchwork_core::model::error::{Code, Failure};
use latchwork_core::model::manifest::{EffectKind, PluginKind, RecoveryClass};
use latchwork_engine::capability::grants::Grants;
use latchwork_engine::capability::settings::LimitsConfig;
use latchwork_engine::guest::sources::{StepContext, StepSources};
use latchwork_engine::guest::step_calls::{StepCalls, Stop, ToolCall};
use latchwork_engine::{Plugin, PluginProblem, StepEnd, StepOutcome};

use crate::plugins::hostile::load;
use crate::support::plugins::engine::{engine, settings};

/// Host side of a step: every call returns its own operator and arguments, fails as configured, or stops the
/// step.
struct EchoCalls {
    own: StepSources,
    fails: Option<Failure>,
    stops: bool,
}

impl Default for EchoCalls {
    fn default() -> Self {
        let context = StepContext { step_id: "s3".into(), ..StepContext::default() };
        Self { own: StepSources::new(context, [0; 32], 0), fails: None, stops: false }
    }
}

#[async_trait]
impl StepCalls for EchoCalls {
    fn sources(&mut self) -> &mut StepSources {
        &mut self.own
    }
    fn now_us(&mut self) -> i64 {
        1_700_000_000_250_001
    }
    fn random(&mut self, buf: &mut [u8]) {
        buf.fill(7);
    }
    fn next_u32(&mut self) -> u32 {
        11
    }
    fn below(&mut self, bound: u32) -> u32 {
        bound - 1
    }
    fn log(&mut self, _level: Level, _message: &str) {}
    async fn call(
        &mut self,
        operator: String,
        args: String,
        action_key: Option<String>,
    ) -> Result<Result<String, Failure>, Stop> {
        match (&self.fails, self.stops) {
            (_, true) => Err(Stop),
            (Some(failure), _) => Ok(Err(failure.clone())),
            (None, _) => Ok(Ok(format!("{operator} {args} {action_key:?}"))),
        }
    }
    async fn call_all(&mut self, calls: Vec<ToolCall>) -> Result<Vec<Result<String, Failure>>, Stop> {
        Ok(calls.into_iter().map(|call| Ok(call.args)).collect())
    }
    async fn emit(&mut self, _name: String, _payload: String) -> Result<(), Stop> {
        if self.stops { Err(Stop) } else { Ok(()) }
    }
}

fn limits() -> LimitsConfig {
    LimitsConfig {
        memory_bytes: Some(16 << 20),
        fuel: Some(200_000_000),
        timeout_ms: Some(10_000),
        output_bytes: Some(64 << 10),
        host_calls: Some(1_000),
        component_bytes: None,
    }
}

async fn run_step(plugin: &Plugin, input: Value, calls: EchoCalls) -> StepEnd {
    plugin.run_step("Hostile.Do", &input.to_string(), &plugin.limits("Hostile.Do"), Box::new(calls)).await
}

fn output_of(end: StepEnd) -> Value {
    match end.outcome {
        StepOutcome::Output(text) => serde_json::from_str(&text).unwrap(),
        other => panic!("{other:?}"),
    }
}

fn fault_of(end: StepEnd) -> Failure {
    match end.outcome {
        StepOutcome::Fault(failure) => failure,
        other => panic!("{other:?}"),
    }
}

async fn assert_good_run(plugin: &Plugin) {
    let end = run_step(plugin, json!({"do": "good"}), EchoCalls::default()).await;
    assert!(end.fuel > 1_000, "{}", end.fuel);
    let wanted = json!({
        "operator": "Hostile.Do", "step": "s3", "runs": 1,
        "now": [1_700_000_000, 250_001_000], "rng": [11, 5, 2],
    });
    assert_eq!(output_of(end), wanted);
}

#[tokio::test]
async fn step_describes_itself() {
    let plugin = load("hostile-step", Grants::default(), limits()).unwrap();
    assert_eq!((plugin.kind, plugin.manifest.version.as_str()), (PluginKind::Step, "1.2.3"));
    let operator = plugin.operator("Hostile.Do").unwrap();
    assert_eq!(operator.effects, [EffectKind::ProduceOutcome]);
    assert_eq!(operator.outcome_type.as_deref(), Some("Draft.Mischief"));
    assert_eq!(plugin.class("Hostile.Do"), RecoveryClass::Read);
    assert!(plugin.imports.iter().all(|import| import.starts_with("latchwork:plugin/")), "{:?}", plugin.imports);
    plugin.check_input("Hostile.Do", &json!({"do": 1})).unwrap();
    assert_eq!(plugin.check_input("Hostile.Do", &json!({})).unwrap_err().code, Code::InvalidInput);
    assert_eq!(plugin.check_output("Hostile.Do", &json!(1)).unwrap_err().code, Code::SchemaValidationFailed);
}

/// I11: each fault has its own code and a location. A good run follows each fault on the same engine.
#[tokio::test]
async fn each_fault_has_its_code_and_the_engine_stays_usable() {
    let plugin = load("hostile-step", Grants::default(), limits()).unwrap();
    let faults = [
        (json!({"do": "spin"}), Code::OutOfFuel, "limits.fuel"),
        (json!({"do": "allocate"}), Code::MemoryLimit, "16777216 are allowed"),
        (json!({"do": "recurse"}), Code::StackOverflow, "recurse_without_end"),
        (json!({"do": "trap"}), Code::PluginTrap, "hostile_step::trap_here"),
        (json!({"do": "nonsense"}), Code::PluginTrap, "panic"),
        (json!({"do": "giant", "n": 65_537}), Code::OutputLimit, "65537 bytes"),
        (json!({"do": "giant", "n": 4_000_000}), Code::OutputLimit, "limits.output"),
        (json!({"do": "lie"}), Code::PluginTrap, "out of bounds"),
        (json!({"do": "malformed"}), Code::SchemaValidationFailed, "not JSON"),
        (json!({"do": "not-utf8"}), Code::SchemaValidationFailed, "UTF-8"),
        (json!({"do": "schema"}), Code::SchemaValidationFailed, "schema"),
        (json!({"do": "flood", "n": 1_001}), Code::PluginTrap, "1000 host calls"),
        (json!({"do": "call-all", "n": 1_001}), Code::PluginTrap, "1000 host calls"),
        (json!({"do": "random", "n": 65_537}), Code::PluginTrap, "65537 random bytes"),
        (json!({"do": "emit", "payload": "{"}), Code::SchemaValidationFailed, "not JSON"),
        (json!({"do": "emit", "name": "a\nb"}), Code::SchemaValidationFailed, "control characters"),
        (
            json!({"do": "emit", "n": 900, "payload": format!("{:?}", "x".repeat(100))}),
            Code::OutputLimit,
            "65536 bytes",
        ),
    ];
    for (input, code, text) in faults {
        let failure = fault_of(run_step(&plugin, input.clone(), EchoCalls::default()).await);
        assert_eq!(failure.code, code, "{input}: {failure}");
        assert!(failure.message.contains(text), "{input}: {failure}");
        assert_good_run(&plugin).await;
    }
    assert_eq!(
        output_of(run_step(&plugin, json!({"do": "flood", "n": 1_000}), EchoCalls::default()).await),
        json!({"wrote": 1000})
    );
    assert_eq!(
        output_of(run_step(&plugin, json!({"do": "emit", "n": 1_000}), EchoCalls::default()).await),
        json!({"emitted": 1000})
    );
}

#[tokio::test]
async fn output_of_one_gibibyte_is_refused_even_if_memory_allows_it() {
    let roomy = LimitsConfig { memory_bytes: Some(3 << 30), fuel: Some(100_000_000_000), ..limits() };
    let plugin = load("hostile-step", Grants::default(), roomy).unwrap();
    let failure = fault_of(run_step(&plugin, json!({"do": "giant", "n": 1u64 << 30}), EchoCalls::default()).await);
    assert_eq!(failure.code, Code::OutputLimit, "{failure}");
    assert_good_run(&plugin).await;
}

/// I225: bounds `random_bytes` and `host_call_slack_bytes`.
#[tokio::test]
async fn bytes_of_one_host_call_are_limited() {
    let plugin = load("hostile-step", Grants::default(), limits()).unwrap();
    let random = |bytes: u32| json!({"do": "random", "n": bytes});
    let got = output_of(run_step(&plugin, random(bounds::RANDOM_BYTES), EchoCalls::default()).await);
    assert_eq!(got, json!({ "got": bounds::RANDOM_BYTES }));
    let beyond = fault_of(run_step(&plugin, random(bounds::RANDOM_BYTES + 1), EchoCalls::default()).await);
    assert_eq!(beyond.code, Code::PluginTrap, "{beyond}");
    // The host reads an answer of at most `most` bytes and then compares the size with the limit. The host does not
    // read a larger answer at all.
    let most = plugin.limits("Hostile.Do").output_bytes as usize + bounds::HOST_CALL_SLACK_BYTES;
    let giant = |bytes: usize| json!({"do": "giant", "n": bytes});
    let within = fault_of(run_step(&plugin, giant(most), EchoCalls::default()).await);
    assert!(within.message.contains(&format!("answered with {most} bytes")), "{within}");
    let beyond = fault_of(run_step(&plugin, giant(most + 1), EchoCalls::default()).await);
    assert!(beyond.message.contains("handed over more bytes"), "{beyond}");
    assert_eq!((within.code, beyond.code), (Code::OutputLimit, Code::OutputLimit));
}

#[tokio::test]
async fn fuel_use_and_fuel_exhaustion_are_reproducible() {
    let plugin = load("hostile-step", Grants::default(), limits()).unwrap();
    let once = run_step(&plugin, json!({"do": "good"}), EchoCalls::default()).await;
    assert_eq!(once, run_step(&plugin, json!({"do": "good"}), EchoCalls::default()).await);
    let mut limits = plugin.limits("Hostile.Do");
    let input = json!({"do": "good"}).to_string();
    limits.fuel = once.fuel;
    let exact = plugin.run_step("Hostile.Do", &input, &limits, Box::new(EchoCalls::default())).await;
    assert_eq!(exact.outcome, once.outcome);
    // Half of the fuel that the step used is certainly too little. A limit of one unit less than the used fuel would
    // not do. The step could still succeed, because the engine compares fuel with the limit only where functions and
    // loops begin.
    limits.fuel = once.fuel / 2;
    let end = plugin.run_step("Hostile.Do", &input, &limits, Box::new(EchoCalls::default())).await;
    assert_eq!(fault_of(end).code, Code::OutOfFuel);
}

#[tokio::test]
async fn endless_step_yields_and_is_stopped_by_its_timeout() {
    let slow = LimitsConfig { fuel: Some(u64::MAX / 2), timeout_ms: Some(3_000), ..limits() };
    let plugin = load("hostile-step", Grants::default(), slow).unwrap();
    // A task on the same single thread completes while the step spins.
    let other = tokio::spawn(async { tokio::time::sleep(std::time::Duration::from_millis(50)).await });
    let failure = fault_of(run_step(&plugin, json!({"do": "spin"}), EchoCalls::default()).await);
    assert_eq!(failure.code, Code::WallClockLimit, "{failure}");
    assert!(other.is_finished());
    assert_good_run(&plugin).await;
}

#[tokio::test]
async fn step_receives_answers_and_errors_of_calls_and_can_be_stopped() {
    let plugin = load("hostile-step", Grants::default(), limits()).unwrap();
    let call = json!({"do": "call"});
    let answer = output_of(run_step(&plugin, call.clone(), EchoCalls::default()).await);
    assert_eq!(answer, json!({"ok": "Some.Tool {\"x\":1} Some(\"key\")"}));

    let lost = Failure::new(Code::BudgetExceeded, "no money");
    let answer =
        output_of(run_step(&plugin, call.clone(), EchoCalls { fails: Some(lost), ..EchoCalls::default() }).await);
    assert_eq!(answer["err"], "ErrorCode::PolicyDenied");
    assert!(answer["detail"].as_str().unwrap().contains("BUDGET_EXCEEDED"));

    let all = output_of(run_step(&plugin, json!({"do": "call-all", "n": 3}), EchoCalls::default()).await);
    assert_eq!(all, json!({"answers": ["0", "1", "2"]}));

    for stopped in [call, json!({"do": "emit"})] {
        let end = run_step(&plugin, stopped, EchoCalls { stops: true, ..EchoCalls::default() }).await;
        assert_eq!(end.outcome, StepOutcome::Stopped);
    }
    let end = run_step(&plugin, json!({"do": "error"}), EchoCalls::default()).await;
    let StepOutcome::Failed(failure) = end.outcome else { panic!("{end:?}") };
    assert_eq!((failure.code, failure.retry_after_ms), (Code::InvalidInput, Some(5)));
    assert_eq!(failure.detail.as_deref(), Some("\"not JSON\""));
}

/// I10.
#[test]
fn step_with_forbidden_imports_is_refused_listing_each() {
    let error = load("wasi-step", Grants::default(), limits()).unwrap_err();
    let text = error.to_string();
    for (import, instead) in [
        ("wasi:clocks/wall-clock@0.2", "latchwork:plugin/clock"),
        ("wasi:random/random@0.2", "latchwork:plugin/rng"),
        ("wasi:sockets/instance-network@0.2", "tcp grant"),
        ("wasi:filesystem/preopens@0.2", "directory grant"),
        ("latchwork:plugin/invocation@0.1.0", "attempts"),
    ] {
        let line = text.lines().find(|line| line.contains(import)).unwrap_or_else(|| panic!("{import} in {text}"));
        assert!(line.contains(instead), "{line}");
    }
    assert!(error.problems.iter().all(|problem| matches!(problem, PluginProblem::Import { .. })), "{text}");
    // A grant does not make the forbidden imports acceptable.
    let grants = Grants { kv: Some("x".into()), ..Grants::default() };
    assert_eq!(load("wasi-step", grants, limits()).unwrap_err(), error);
}

/// I54.
#[test]
fn describe_must_not_call_the_host() {
    let error = load("chatty-step", Grants::default(), limits()).unwrap_err();
    assert!(error.to_string().contains("latchwork:plugin/clock@0.1.0"), "{error}");
    assert!(matches!(error.problems[..], [PluginProblem::Describe(_)]), "{error}");
}

#[test]
fn non_component_is_refused() {
    let bytes: [&[u8]; 3] = [b"", b"\0asm\x01\0\0\0", b"\x7fELF"];
    for bytes in bytes {
        let error = engine().load(bytes, settings("x", Grants::default(), limits())).unwrap_err();
        assert!(matches!(error.problems[..], [PluginProblem::NotAComponent(_)]), "{error}");
    }
    // An empty component: the error lists everything that is missing.
    let empty = b"\0asm\x0d\0\x01\0";
    let error = engine().load(empty, settings("x", Grants::default(), limits())).unwrap_err();
    let text = error.to_string();
    for export in ["plugin/run@0.1.0", "plugin/invoke@0.1.0", "plugin/plugin@0.1.0"] {
        assert!(text.contains(export), "{text}");
    }
}

#[test]
fn step_with_grants_is_refused() {
    let grants = Grants { kv: Some("x".into()), ..Grants::default() };
    let error = load("hostile-step", grants, limits()).unwrap_err();
    assert!(error.to_string().contains("remove `grants`"), "{error}");
}
