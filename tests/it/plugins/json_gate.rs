//! I217: a new output without a canonical form fails its step. Such an output that is already recorded stays valid.

use async_trait::async_trait;
use serde_json::{Value, json};
use tracing::Level;

use latchwork_core::model::error::{Code, Failure};
use latchwork_engine::StepOutcome;
use latchwork_engine::capability::grants::Grants;
use latchwork_engine::capability::settings::LimitsConfig;
use latchwork_engine::guest::sources::{StepContext, StepSources};
use latchwork_engine::guest::step_calls::{StepCalls, Stop, ToolCall};

use crate::support::plugins::component_builder::{ComponentSpec, VALID_STEP};
use crate::support::plugins::engine::{engine, settings};
use crate::support::program::run_latch;

/// An output in which a key appears twice.
const AMBIGUOUS: &str = r#"{"v":1,"v":2}"#;

fn component() -> Vec<u8> {
    ComponentSpec { answer: Some(AMBIGUOUS), ..VALID_STEP }.build_component()
}

/// A host for one step. `has_output` is true if the log already has the output of the step.
struct LogHost {
    own: StepSources,
    has_output: bool,
}

#[async_trait]
impl StepCalls for LogHost {
    fn output_is_recorded(&self) -> bool {
        self.has_output
    }
    fn sources(&mut self) -> &mut StepSources {
        &mut self.own
    }
    fn log(&mut self, _: Level, _: &str) {}
    async fn call(&mut self, _: String, _: String, _: Option<String>) -> Result<Result<String, Failure>, Stop> {
        Err(Stop)
    }
    async fn call_all(&mut self, _: Vec<ToolCall>) -> Result<Vec<Result<String, Failure>>, Stop> {
        Err(Stop)
    }
    async fn emit(&mut self, _: String, _: String) -> Result<(), Stop> {
        Err(Stop)
    }
}

/// I217.
#[tokio::test(flavor = "multi_thread")]
async fn recorded_output_without_canonical_form_stays_valid_and_a_new_one_is_refused() {
    let load = || engine().load(&component(), settings("made", Grants::default(), LimitsConfig::default()));
    let plugin = tokio::task::block_in_place(load).unwrap();
    let limits = plugin.limits("Made.Run");
    for has_output in [true, false] {
        let own = StepSources::new(StepContext::default(), [0; 32], 0);
        let end = plugin.run_step("Made.Run", "{}", &limits, Box::new(LogHost { own, has_output })).await;
        match end.outcome {
            StepOutcome::Output(output) => assert!(has_output && output == AMBIGUOUS),
            StepOutcome::Fault(failure) => {
                assert!(!has_output && failure.code == Code::SchemaValidationFailed, "{failure}");
                assert!(failure.message.contains("at byte 7: the key \"v\" appears twice"), "{failure}");
            }
            other => panic!("{has_output}: {other:?}"),
        }
    }
}

/// I217: the step of a job fails, and its error names the position in the output. The job replays, and the check has a
/// rule for this defect.
#[test]
fn output_without_canonical_form_fails_its_step_and_is_found_by_the_check() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
    write("made.wasm", &component());
    write("latch.toml", b"[[plugin]]\nname = \"made\"\nsource = \"made.wasm\"\n");
    write("plan.json", br#"{"steps":[{"step_id":"a","name":"Made.Run","payload":{}}]}"#);
    write("cases.jsonl", b"{\"operator\":\"Made.Run\",\"input\":{}}\n");
    let ran = run_latch(folder.path(), &["run", "plan.json", "--json"]);
    let text = format!("{} {}", ran.stdout, ran.stderr);
    assert!(text.contains("SCHEMA_VALIDATION_FAILED") && text.contains("at byte 7"), "{text}");
    let jobs = run_latch(folder.path(), &["job", "list", "--json"]).json();
    let job = jobs["jobs"][0]["job_id"].as_str().unwrap_or_else(|| panic!("{jobs:#}")).to_owned();
    let replayed = run_latch(folder.path(), &["job", "replay", &job, "--every-prefix"]);
    assert_eq!(replayed.code, 0, "{} {}", replayed.stdout, replayed.stderr);
    let checked = run_latch(folder.path(), &["plugin", "check", "made.wasm", "--cases", "cases.jsonl", "--json"]);
    let report: Value = checked.json();
    let rules: Vec<&Value> = report["findings"].as_array().unwrap().iter().map(|finding| &finding["rule"]).collect();
    assert_eq!((checked.code, rules), (1, vec![&json!("D075")]), "{report:#}");
}
