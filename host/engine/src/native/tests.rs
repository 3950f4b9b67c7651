//! Tests of native tools: limits, panics and checks of values.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Value, json};

use latchwork_core::memory::ManualClock;
use latchwork_core::model::effect::{Answer, Output};
use latchwork_core::model::error::{Code, Failure};
use latchwork_core::model::ids::Operator;
use latchwork_core::model::manifest::{EffectKind, Limits, Manifest, OperatorSpec};

use crate::engine::Runnable;
use crate::guest::tool_call::ToolCallContext;
use crate::native::{CommittedCall, NativePlugin, NativeTool};
use crate::os::{Machine, SystemEntropy};

/// A tool whose arguments select its behaviour. `Test.Write` changes the world, and `Test.Read` does not.
struct Scripted {
    version: &'static str,
}

#[async_trait]
impl NativeTool for Scripted {
    fn name(&self) -> &str {
        "scripted"
    }

    fn manifest(&self) -> Manifest {
        let read = OperatorSpec::new(Operator::new("Test.Read"), EffectKind::ReadOnly);
        let schema = r#"{"type":"object"}"#.to_owned();
        let read = OperatorSpec { input_schema: schema.clone(), output_schema: schema, ..read };
        let write =
            OperatorSpec { name: Operator::new("Test.Write"), effects: vec![EffectKind::ExternalSend], ..read.clone() };
        Manifest { version: self.version.to_owned(), operators: vec![read, write] }
    }

    async fn invoke(&self, _: &str, args: &Value, _: &ToolCallContext) -> Answer {
        match args["do"].as_str() {
            Some("panic") => panic!("as told"),
            Some("wait") => std::future::pending().await,
            Some("refuse") => Answer::NotApplied(Failure::new(Code::InvalidInput, "refused")),
            _ => Answer::Ok(Output {
                result: args["result"].to_string(),
                receipt: None,
                state_changes: vec![],
                usage: None,
            }),
        }
    }

    async fn compensate(&self, _: &str, of: CommittedCall<'_>, _: &ToolCallContext) -> Answer {
        let result = json!([of.external_key, of.args, of.result]).to_string();
        Answer::Ok(Output { result, receipt: None, state_changes: vec![], usage: None })
    }
}

fn plugin() -> NativePlugin {
    NativePlugin::load(Arc::new(Scripted { version: "1.0.0" }), Machine::system()).unwrap()
}

fn call(timeout_ms: u32) -> ToolCallContext {
    ToolCallContext { timeout_ms, started_boot_us: Machine::system().boot_us(), ..ToolCallContext::default() }
}

async fn invoke(operator: &str, args: Value, limits: Limits) -> Answer {
    plugin().invoke(operator, &args.to_string(), call(200), &limits).await.answer
}

fn failure(answer: Answer) -> (bool, Code) {
    match answer {
        Answer::Ok(output) => panic!("{output:?}"),
        Answer::NotApplied(failure) => (false, failure.code),
        Answer::Unknown { failure, .. } => (true, failure.code),
    }
}

/// I194: a native tool may panic, run without end, or return an unusable answer. The process then continues. The call
/// is in doubt only if it may have changed the world.
#[tokio::test]
async fn unexpected_ends_are_failures_of_the_call() {
    let small = Limits { output_bytes: 10, ..Limits::default() };
    let cases = [
        (json!({ "do": "panic" }), Limits::default(), Code::PluginTrap),
        (json!({ "do": "wait" }), Limits::default(), Code::WallClockLimit),
        (json!({ "result": "no object" }), Limits::default(), Code::SchemaValidationFailed),
        (json!({ "result": { "key": "a long value" } }), small, Code::OutputLimit),
    ];
    for (args, limits, code) in cases {
        assert_eq!(failure(invoke("Test.Read", args.clone(), limits).await), (false, code), "{args}");
        assert_eq!(failure(invoke("Test.Write", args.clone(), limits).await), (true, code), "{args}");
    }
    assert!(!failure(invoke("Test.Write", json!({ "do": "refuse" }), Limits::default()).await).0);
    let answer = invoke("Test.Write", json!({ "result": { "a": 1 } }), Limits::default()).await;
    assert!(matches!(answer, Answer::Ok(output) if output.result == "{\"a\":1}"));
}

/// I194: jobs pin name and manifest of a native tool.
#[test]
fn digest_covers_the_manifest() {
    let other = NativePlugin::load(Arc::new(Scripted { version: "1.0.1" }), Machine::system()).unwrap();
    assert_ne!(plugin().digest(), other.digest());
    assert_eq!(plugin().digest(), plugin().digest());
    let invalid = NativePlugin::load(Arc::new(Scripted { version: "one" }), Machine::system());
    assert!(invalid.unwrap_err().to_string().contains("version"));
}

#[tokio::test]
async fn inputs_are_checked_and_compensation_receives_the_call() {
    let plugin = plugin();
    assert_eq!(plugin.check_input("Test.Read", &json!(1)).unwrap_err().code, Code::InvalidInput);
    assert_eq!(plugin.check_input("Test.None", &json!({})).unwrap_err().code, Code::InvalidInput);
    let end = plugin.compensate("Test.Write", ("key", "{\"a\":1}", "{\"b\":2}"), call(200), &Limits::default()).await;
    assert!(matches!(end.answer, Answer::Ok(output) if output.result == "[\"key\",{\"a\":1},{\"b\":2}]"));
}

/// A tool whose calls each take 30 ms of the host's clock, or do not end.
struct Slow(Arc<ManualClock>);

#[async_trait]
impl NativeTool for Slow {
    fn name(&self) -> &str {
        "slow"
    }
    fn manifest(&self) -> Manifest {
        Scripted { version: "1.0.0" }.manifest()
    }
    async fn invoke(&self, operator: &str, args: &Value, call: &ToolCallContext) -> Answer {
        self.0.advance_ms(30);
        Scripted { version: "1.0.0" }.invoke(operator, args, call).await
    }
}

/// I9: the clock of the host decides about durations and deadlines of calls, and not the clock of the process.
#[tokio::test]
async fn durations_and_deadlines_are_times_of_the_hosts_clock() {
    let clock = Arc::new(ManualClock::default());
    let machine = Machine::new(clock.clone(), Arc::new(SystemEntropy));
    let plugin = NativePlugin::load(Arc::new(Slow(clock)), machine.clone()).unwrap();
    let call = |started_boot_us| ToolCallContext { timeout_ms: 60_000, started_boot_us, ..ToolCallContext::default() };
    let args = json!({ "result": { "a": 1 } }).to_string();
    let end = plugin.invoke("Test.Read", &args, call(machine.boot_us()), &Limits::default()).await;
    assert!(matches!(end.answer, Answer::Ok(_)), "{:?}", end.answer);
    assert_eq!(end.wall_us, 30_000);
    // The minute of the call is over on the clock of the host, so the tool is not called.
    let before_us = machine.boot_us();
    let late = call(before_us - 60_000_000);
    let end = plugin.invoke("Test.Write", &args, late.clone(), &Limits::default()).await;
    assert_eq!(failure(end.answer), (false, Code::WallClockLimit));
    let end = plugin.compensate("Test.Write", ("key", "{}", "{}"), late.clone(), &Limits::default()).await;
    assert_eq!(failure(end.answer), (false, Code::WallClockLimit));
    assert_eq!(
        plugin.reconcile("Test.Write", "{}", late, &Limits::default()).await.unwrap_err().code,
        Code::WallClockLimit
    );
    assert_eq!(machine.boot_us(), before_us, "a call of the tool takes 30 ms on this clock");
}
