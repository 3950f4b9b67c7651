//! I214: if the engine cannot survive a component, the component ends only another process, and the check reports a
//! finding. The check itself ends with a report.

use latchwork_engine::capability::grants::Grants;
use latchwork_engine::capability::settings::LimitsConfig;
use latchwork_engine::{Engine, EngineOptions};
use latchwork_tooling::check::render::{CheckResult, ReportFormat, Reports, render};
use latchwork_tooling::check::{CheckInputs, CheckReport, OtherProcess, Subject, check};
use serde_json::{Value, json};
use wasm_encoder::{BlockType, Instruction};

use crate::support::plugins::built_guests::guest;
use crate::support::plugins::component_builder::{ComponentSpec, VALID_STEP};
use crate::support::plugins::engine::settings;
use crate::support::program::{compile_cache_dir, latch_binary, run_latch};

/// Three cases that end by themselves.
const CASES: &str = concat!(
    r#"{"name":"one","operator":"Good.Pure","input":{"n":5}}"#,
    "\n",
    r#"{"name":"two","operator":"Good.Pure","input":{"n":6}}"#,
    "\n",
    r#"{"name":"three","operator":"Good.Pure","input":{"n":7}}"#,
    "\n",
);

/// Checks the guest `check-step`. The other process runs this shell script, in which `$0` is the program.
async fn check_with_process(script: &str) -> CheckReport {
    let options = EngineOptions { cache_dir: Some(compile_cache_dir()), ..EngineOptions::default() };
    let engine = Engine::new(options).unwrap();
    let bytes = std::fs::read(guest("check-step")).unwrap();
    let settings = settings("check", Grants::default(), LimitsConfig::default());
    let subject = Subject { file: "check.wasm", bytes: &bytes, settings, is_configured: false };
    let process = OtherProcess {
        program: "/bin/sh".into(),
        args: vec!["-c".into(), script.into(), latch_binary().to_str().unwrap().into()],
        wasm: guest("check-step"),
        cache_dir: Some(compile_cache_dir()),
        cache_secret_dir: None,
    };
    let inputs = CheckInputs {
        cases: Some(("cases.jsonl", CASES.as_bytes())),
        process: Some(&process),
        ..CheckInputs::default()
    };
    check(&engine, &subject, &inputs, &|_| {}).await.unwrap()
}

/// I214: each case that ends its process is a finding about this case. The cases after it run in a new process, and
/// every format of the report stays valid.
#[tokio::test(flavor = "multi_thread")]
async fn each_case_that_ends_its_process_is_a_finding() {
    // The process without optimization gets the scripts of all cases. It answers the first script and dies at the
    // second.
    let script = r#"request=$(cat)
        answer() { printf %s "$request" | "$0" plugin check --other-process -; }
        case $request in
            *'"host":"unoptimized"'*'"input":"{\"n\":6}"'*) answer | head -n 2; kill -ABRT $$ ;;
            *) answer ;;
        esac"#;
    let report = check_with_process(script).await;
    let found: Vec<_> = report.findings.iter().filter(|finding| finding.rule != "D050").collect();
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!((found[0].rule, found[0].case.as_deref(), found[0].place.line), ("D072", Some("two"), Some(2)));
    assert!(found[0].message.contains("SIGABRT"), "{found:#?}");
    // All runs of the other cases were made. Each case has the same number of runs.
    let runs: Vec<u64> = report.cases.iter().map(|case| case.runs).collect();
    assert!(runs.iter().all(|count| *count == runs[0]) && report.notes.is_empty(), "{runs:?} {:?}", report.notes);
    let reports = Reports(vec![CheckResult::Report(Box::new(report))]);
    for format in [ReportFormat::Json, ReportFormat::Sarif] {
        let text = render(&reports, format);
        let json: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        assert!(json.to_string().contains("D072"), "{text}");
    }
    assert!(render(&reports, ReportFormat::Junit).contains("D072"));
}

/// I214: a process that dies while it loads the component causes one finding, not one for each case.
#[tokio::test(flavor = "multi_thread")]
async fn process_that_dies_at_the_load_is_one_finding() {
    let report = check_with_process("cat > /dev/null; kill -SEGV $$").await;
    let found: Vec<_> = report.findings_of("D072").collect();
    assert_eq!(found.len(), 2, "once without optimization, and once in another process: {found:#?}");
    assert!(found.iter().all(|finding| finding.message.contains("SIGSEGV")), "{found:#?}");
    assert!(found.iter().any(|finding| finding.case.is_none()), "{found:#?}");
}

/// Index of the additional function in a step without calls: it follows `describe`, `run` and `cabi_realloc`.
const UNUSED_BODY_INDEX: u32 = 3;

/// A component whose start function calls itself 300 times. The function has a small stack frame in optimized code. In
/// unoptimized code, the frame has a place for each value of the function, because each value lives across a branch.
fn deep_with_large_frames() -> Vec<u8> {
    let mut body = vec![Instruction::I32Const(1)];
    for _ in 0..2_000 {
        body.extend([Instruction::MemorySize(0), Instruction::I32Add, Instruction::MemorySize(0)]);
        body.extend([Instruction::If(BlockType::Empty), Instruction::Nop, Instruction::End]);
    }
    body.push(Instruction::Drop);
    // Each level of the recursion takes a page of memory. The page count ends the recursion.
    body.extend([Instruction::I32Const(1), Instruction::MemoryGrow(0), Instruction::I32Const(64 + 300)]);
    body.extend([Instruction::I32LtU, Instruction::If(BlockType::Empty)]);
    body.extend([Instruction::Call(UNUSED_BODY_INDEX), Instruction::End]);
    ComponentSpec { unused_body: &body, runs_on_instantiation: true, answer: Some("{}"), ..VALID_STEP }
        .build_component()
}

/// I214: a step that fits the usual stack is not refused because unoptimized code needs more stack.
#[test]
#[ignore = "compiles a large component without optimization; run by .ci/long"]
fn step_with_large_frames_in_unoptimized_code_passes() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("it.wasm"), deep_with_large_frames()).unwrap();
    std::fs::write(folder.path().join("cases.jsonl"), "{\"operator\":\"Made.Run\",\"input\":{}}\n").unwrap();
    let ran = run_latch(folder.path(), &["plugin", "check", "it.wasm", "--cases", "cases.jsonl", "--json"]);
    let report = ran.json();
    assert_eq!((ran.code, &report["findings"]), (0, &json!([])), "{report:#} {}", ran.stderr);
    assert_eq!(report["notes"], json!([]), "{report:#}");
}
