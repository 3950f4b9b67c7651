//! Records of a tool in the log of the host.

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

use latchwork_core::model::bounds;
use latchwork_engine::capability::grants::Grants;
use latchwork_engine::capability::settings::LimitsConfig;

use crate::plugins::hostile::captured_log::CapturedLog;
use crate::plugins::hostile::load;
use crate::plugins::hostile::tool::{answers_of, http_grant, minimal_grants, tool_limits};
use crate::support::plugins::built_guests::guest;
use crate::support::program::{command_output, latch_command};
use crate::support::test_env::{TestEnv, step};

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

/// I246: the library logs a warning for each failed request. The host prevents this.
#[tokio::test]
async fn failed_requests_of_a_call_write_no_warnings() {
    // The server closes each connection after the head of its answer.
    let broken = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = broken.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = broken.accept().await {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n").await;
        }
    });
    let grants = Grants { http: vec![http_grant("127.0.0.1", 1), http_grant("127.0.0.1", port)], ..minimal_grants() };
    let plugin = load("hostile-tool", grants, LimitsConfig { fuel: None, host_calls: None, ..tool_limits() }).unwrap();
    for url in ["http://127.0.0.1:1/".to_owned(), format!("http://127.0.0.1:{port}/")] {
        let requests = Value::from(vec![json!({ "http": { "url": url } }); 300]);
        let log = CapturedLog::capture();
        let answers = answers_of(&plugin, "World.Look", requests).await;
        assert!(answers.iter().all(|answer| answer["error"].is_string()), "{answers:?}");
        let text = log.text();
        assert_eq!(text.matches(" WARN ").count(), 0, "{text}");
    }
}

/// I246: the library also logs a warning for each request that the guest composes wrongly. The program hides the
/// warnings of the library, whatever filter is set for other records.
#[test]
fn failed_requests_of_a_job_write_few_lines() {
    let config = format!(
        "[[plugin]]\nname = \"world\"\nsource = {:?}\ngrants = {{ http = [\"http://127.0.0.1:1\"], \
         tcp = [\"127.0.0.1:1\"] }}\n",
        guest("hostile-tool"),
    );
    let failing = json!({ "do": [{ "pathless": 1_000 }] });
    let place = TestEnv::configured(&config, vec![]).with_plan(&[step("a", "World.Look", &[], failing)]);
    for filter in ["", "warn", "info"] {
        let mut latch = latch_command(&place.dir, &[&place.run_args()[..], &["--new"]].concat());
        let ran = command_output(latch.env("LATCH_LOG", filter).output().unwrap());
        assert_eq!((ran.code, &ran.json()["outputs"]["a"]), (0, &json!([1_000])), "{} {}", ran.stdout, ran.stderr);
        assert!(ran.stderr.lines().count() < 100, "{filter:?}: {}", ran.stderr);
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
