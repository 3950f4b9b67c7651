//! Records of a tool in the log of the host.

use serde_json::{Value, json};

use latchwork_core::model::bounds;

use crate::plugins::hostile::captured_log::CapturedLog;
use crate::plugins::hostile::load;
use crate::plugins::hostile::tool::{answers_of, minimal_grants, tool_limits};

/// I207: output and records of one call are logged in bounded number and length.
#[tokio::test]
async fn output_and_records_of_a_call_are_bounded() {
    let plugin = load("hostile-tool", minimal_grants(), tool_limits()).unwrap();
    let line = "x".repeat(1_000);
    let lines = [line.as_str(); 3].join("\n");
    let prints: Vec<Value> = (0..450).map(|_| json!({ "print": { "text": lines } })).collect();
    let log = CapturedLog::capture();
    answers_of(&plugin, "World.Look", Value::from(prints)).await;
    let text = log.text();
    // The log contains at most 1 MiB of output and 1 MiB of records, plus the fields of each record.
    let records = text.lines().filter(|line| line.contains(" plugin: "));
    let bytes: usize = records.map(str::len).sum();
    assert!((1_800_000..2_600_000).contains(&bytes), "{bytes} bytes");
    for last in ["wrote more than 1048576 bytes", "logged more than 1 MiB in this try"] {
        assert_eq!(text.matches(last).count(), 1, "{last}");
    }
}

/// I207: bound `denials_logged`. The record after the last logged refusal says that further refusals are not logged.
#[tokio::test]
async fn refusals_of_a_call_are_bounded() {
    let plugin = load("hostile-tool", minimal_grants(), tool_limits()).unwrap();
    let most = bounds::DENIALS_LOGGED as usize;
    for (count, logged) in [(most, most), (most + 1, most + 1), (most + 2, most + 1)] {
        let denied: Vec<Value> = (0..count).map(|n| json!({ "secret": format!("S{n}") })).collect();
        let log = CapturedLog::capture();
        answers_of(&plugin, "World.Look", Value::from(denied)).await;
        let text = log.text();
        assert_eq!(text.matches("denied: plugin").count(), logged, "{text}");
        assert_eq!(text.contains("which are not logged"), count > most, "{text}");
    }

    let name = "n".repeat(100_000);
    let mut denied: Vec<Value> = (0..100).map(|n| json!({ "secret": format!("S{n}") })).collect();
    denied.insert(0, json!({ "secret": name }));
    let log = CapturedLog::capture();
    answers_of(&plugin, "World.Look", Value::from(denied)).await;
    let text = log.text();
    assert_eq!(text.matches("denied: plugin").count(), most + 1, "{text}");
    assert!(text.contains("which are not logged") && text.len() < 20_000, "{} bytes", text.len());
}
