//! I64: the check repeats its cases in another process and reports the first difference between the two results. No
//! guest can cause a difference, so these tests alter the answer of the other process.

use std::collections::BTreeMap;

use latchwork_engine::capability::grants::Grants;
use latchwork_engine::capability::settings::LimitsConfig;
use latchwork_engine::{Engine, EngineOptions};
use latchwork_tooling::check::{CheckInputs, CheckReport, OtherProcess, Subject, check};
use latchwork_tooling::inspect;

use crate::support::plugins::built_guests::guest;
use crate::support::plugins::engine::settings;
use crate::support::program::{compile_cache_dir, latch_binary};

const CASES: &str = concat!(
    r#"{"name":"pure","operator":"Good.Pure","input":{"n":21}}"#,
    "\n",
    r#"{"name":"flow","operator":"Good.Flow","input":{"url":"u"},"answers":["#,
    r#"{"result":1,"determinism":"stable"},{"result":2,"determinism":"stable"},"#,
    r#"{"result":3,"determinism":"stable"},{"result":4,"determinism":"stable"}]}"#,
    "\n",
);

/// Runs the check. Edits the answer of the other process with the `sed` command `edit`. The first line of the answer
/// says that the component is loaded. One line for each case follows.
async fn report_with_edited_answer(edit: &str) -> CheckReport {
    let engine = Engine::new(EngineOptions {
        cache_dir: Some(compile_cache_dir()),
        explain: inspect::EXPLAIN,
        ..EngineOptions::default()
    })
    .unwrap();
    let bytes = std::fs::read(guest("check-step")).unwrap();
    let settings = settings("check", Grants::default(), LimitsConfig::default());
    let subject = Subject { file: "check.wasm", bytes: &bytes, settings, is_configured: false };
    // The answer of the process that runs unoptimized code stays as it is.
    let script = format!(
        r#"request=$(cat)
        answer() {{ printf %s "$request" | {} plugin check --other-process -; }}
        case $request in
            *'"host":"usual"'*) answer | /usr/bin/env sed -E '{edit}' ;;
            *) answer ;;
        esac"#,
        latch_binary().display()
    );
    let process = OtherProcess {
        program: "/bin/sh".into(),
        args: vec!["-c".into(), script],
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

/// I64.
#[tokio::test(flavor = "multi_thread")]
async fn difference_in_another_process_is_found() {
    let honest = report_with_edited_answer("").await;
    assert!(honest.passed && honest.notes.is_empty(), "{:?}", honest.notes);
    let expected = BTreeMap::from([
        (r#"2s/"ok\\":42/"ok\\":43/"#, ("pure", "output at /ok", "42", "43")),
        (r#"3s/"File.Read"/"File.Rear"/"#, ("flow", "operator of call 1", "File.Read", "File.Rear")),
        (
            r#"3s/\\"path\\":\\"b\\"/\\"path\\":\\"x\\"/"#,
            ("flow", "arguments of call 2 (File.Read) at /path", "\"b\"", "\"x\""),
        ),
        (r#"3s/\\"files\\":3/\\"files\\":4/"#, ("flow", "payload of the event \"read\" at /files", "3", "4")),
        (r#"2s/"memory_bytes":[0-9]+/"memory_bytes":1/"#, ("pure", "memory at the end, in bytes", "", "1")),
        (r#"2s/"fuel":[0-9]+/"fuel":1/"#, ("pure", "fuel", "", "1")),
        (r#"2s/\{"Output":"[^}]*\}"\}/"Stopped"/"#, ("pure", "end", "an output", "stopped at call 0")),
    ]);
    for (edit, (case, what, one, two)) in expected {
        let report = report_with_edited_answer(edit).await;
        let found: Vec<_> = report.findings_of("D066").collect();
        assert!(!report.passed && found.len() == 1, "{edit}: {found:#?}");
        let found = found[0];
        assert_eq!(found.case.as_deref(), Some(case), "{edit}: {found:#?}");
        assert!(found.message.contains("in another process") && found.message.contains(what), "{edit}: {found:#?}");
        assert!(found.expected.as_deref().unwrap().contains(one), "{edit}: {found:#?}");
        assert_eq!(found.found.as_deref(), Some(two), "{edit}");
    }
}

/// A failure of the other process is a note in the report, not a finding.
#[tokio::test(flavor = "multi_thread")]
async fn failing_other_process_is_reported() {
    let report = report_with_edited_answer("q1;nonsense").await;
    assert!(report.notes[0].contains("not run in another process"), "{:?}", report.notes);
    assert_eq!(report.findings_of("D066").count(), 0);
}
