//! Evidence of real jobs, exported by the program, and verified in a folder that contains only the evidence
//! file.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use latchwork_core::evidence;
use latchwork_core::model::ids::Hash;
use latchwork_core::model::keys;

use crate::support::evidence::{forge_evidence, verify_in_empty_folder, verify_offline};
use crate::support::plugins::built_guests::guest;
use crate::support::program::{latch_command, run_latch};
use crate::support::test_env::TestEnv;
use crate::support::{program, test_env};

/// I166: an export leaves an existing file unchanged. With `--force` it replaces the whole file.
#[test]
fn export_replaces_a_file_only_with_force() {
    let payload = json!({ "wait_kind": "signal", "correlation_key": "go" });
    let place = TestEnv::configured("", vec![]).with_plan(&[test_env::wait("w", payload)]);
    let ran = place.latch(&["run", "plan.json", "--json"]);
    let id = ran.json()["job_id"].as_str().unwrap().to_owned();
    let file = place.dir.join("e.jsonl");
    std::fs::write(&file, "precious").unwrap();
    let refused = place.latch(&["job", "export", &id, "--out", "e.jsonl", "--json"]);
    assert_eq!((refused.code, &refused.json()["error"]["code"]), (2, &json!("L0111")), "{}", refused.stdout);
    let message = refused.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("e.jsonl") && message.contains("--force"), "{message}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "precious");
    // A failed export leaves the existing file unchanged, too.
    let gone = "job_01ARZ3NDEKTSV4RRFFQ69G5FAV";
    assert_eq!(place.latch(&["job", "export", gone, "--out", "e.jsonl", "--force"]).code, 2);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "precious");
    let forced = place.latch(&["job", "export", &id, "--out", "e.jsonl", "--force"]);
    assert_eq!(forced.code, 0, "{}", forced.stderr);
    assert_eq!(verify_in_empty_folder(&file, &[]).code, 0);
    // Without `--force`, an export replaces no file that has the default name. It also writes through no symbolic link
    // to an existing file.
    assert_eq!(place.latch(&["job", "export", &id]).code, 0);
    assert_eq!(place.latch(&["job", "export", &id]).code, 2);
    std::os::unix::fs::symlink("e.jsonl", place.dir.join("link")).unwrap();
    assert_eq!(place.latch(&["job", "export", &id, "--out", "link"]).code, 2);
    assert_eq!(place.latch(&["job", "export", &id, "--out", "link", "--force"]).code, 0);
    assert!(place.dir.join("link").is_symlink());
    assert_eq!(
        place.latch(&["job", "export", &id, "--out", "/dev/null"]).code,
        0,
        "a device has no content that could be lost"
    );
    let left = std::fs::read_dir(&place.dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert!(!left.into_iter().any(|name| name.starts_with(".new-")), "nothing half-written is left");
}

/// Exports and verifies the job, then verifies the file again with `--plugins`, which executes the steps
/// again.
fn verify_with_reexecution(place: &TestEnv, id: &str, when: &str) -> Value {
    verify_offline(place, id, when);
    let verified = verify_in_empty_folder(
        &place.dir.join("evidence.jsonl"),
        &["--plugins", components_dir(place).to_str().unwrap()],
    );
    assert_eq!(verified.code, 0, "{when}: {} {}", verified.stdout, verified.stderr);
    verified.json()
}

fn components_dir(place: &TestEnv) -> PathBuf {
    place.dir.join(".latch/components")
}

fn note_codes(report: &Value) -> Vec<&str> {
    report["not_checked"].as_array().unwrap().iter().map(|note| note["code"].as_str().unwrap()).collect()
}

fn problem_kinds(report: &Value) -> Vec<&str> {
    report["problems"].as_array().unwrap().iter().map(|problem| problem["kind"].as_str().unwrap()).collect()
}

fn finished_golden_flow() -> (TestEnv, String) {
    let place = TestEnv::golden("atomic").fresh_copy();
    let done = place.latch(&place.run_args());
    assert_eq!(done.code, 0, "{}", done.stderr);
    let id = done.json()["job_id"].as_str().unwrap().to_owned();
    (place, id)
}

/// I19, I29: the evidence of the golden flow (see `TestEnv::golden`) verifies without a database. When its steps are
/// executed again, they give the same bytes.
#[test]
fn golden_flow_verifies_offline_and_reexecutes() {
    let (place, id) = finished_golden_flow();
    let report = verify_with_reexecution(&place, &id, "the golden flow");
    assert_eq!((&report["intact"], &report["state"]), (&json!(true), &json!("COMPLETED")));
    assert!(report["steps_reexecuted"].as_u64() >= Some(4), "{report:#}");
    assert!(
        note_codes(&report).contains(&"unsigned") && note_codes(&report).contains(&"effects_not_asked_about"),
        "{report:#}"
    );
    assert!(!note_codes(&report).contains(&"not_reexecuted"), "{report:#}");
    let file = place.dir.join("evidence.jsonl");
    let plain = verify_in_empty_folder(&file, &[]).json();
    assert!(note_codes(&plain).contains(&"not_reexecuted"), "the report lists what was not checked: {plain:#}");

    // With `--config`, `latch verify` uses the components that the host has stored.
    let config = place.dir.join("latch.toml");
    let kept = verify_in_empty_folder(&file, &["--config", config.to_str().unwrap()]).json();
    assert_eq!(kept["steps_reexecuted"], report["steps_reexecuted"]);
    assert!(!place.dir.join(".latch/cache").exists(), "compiled code stays outside of the project");

    // The evidence can also be written to standard output and read from standard input.
    let streamed = place.latch(&["job", "export", &id, "--out", "-"]);
    let mut child = latch_command(&place.dir, &["verify", "-", "--json"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(streamed.stdout.as_bytes()).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// I29: a changed byte is reported with its line, and the exit code is 1.
#[test]
fn changed_byte_is_reported_with_its_line() {
    let (place, id) = finished_golden_flow();
    verify_with_reexecution(&place, &id, "before");
    let path = place.dir.join("evidence.jsonl");
    let good = std::fs::read(&path).unwrap();
    let changed = place.dir.join("changed.jsonl");
    for share in [1, 250, 500, 750, 999] {
        let at = good.len() * share / 1_000;
        let mut bytes = good.clone();
        bytes[at] ^= 1;
        let line = good[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
        std::fs::write(&changed, &bytes).unwrap();
        let ran = verify_in_empty_folder(&changed, &[]);
        assert_eq!((ran.code, &ran.json()["problems"][0]["line"]), (1, &json!(line)), "{}", ran.stdout);
    }
    // The check of further byte positions runs within the test process, because starting `latch` for each position
    // would be slow.
    let step = (good.len() / 400).max(1);
    let mut line = 1;
    for (at, byte) in good.iter().enumerate() {
        if at % step == 0 {
            let mut bytes = good.clone();
            bytes[at] ^= 1;
            let report = evidence::verify(&bytes, None, &|_, _, _| true).unwrap().report;
            assert_eq!(report.problems.first().map(|problem| problem.line), Some(line), "byte {at}");
        }
        line += u64::from(*byte == b'\n');
    }
    for bytes in [&b"hello\n"[..], b""] {
        std::fs::write(&changed, bytes).unwrap();
        let ran = verify_in_empty_folder(&changed, &[]);
        assert_eq!((ran.code, &ran.json()["error"]["code"]), (2, &json!("L0050")), "{}", ran.stdout);
    }
    assert_eq!(verify_in_empty_folder(&place.dir.join("nothing"), &[]).code, 2);
}

/// I30: if an output in the evidence file is replaced and every hash is recomputed, executing the step again
/// finds the forgery.
#[test]
fn replaced_output_is_found_by_reexecution() {
    let (place, id) = finished_golden_flow();
    verify_with_reexecution(&place, &id, "before");
    let good = std::fs::read_to_string(place.dir.join("evidence.jsonl")).unwrap();
    let forged = place.dir.join("forged.jsonl");
    let mut step = String::new();
    let bytes = forge_evidence(&good, |records| {
        // Selects the last output with a payload record of its own. No later step has this output in its input, so the
        // forged file is consistent. Only executing the step again reveals the forgery.
        let output = records
            .iter_mut()
            .rev()
            .find(|record| {
                record["label"].as_str().is_some_and(|l| l.starts_with("output/"))
                    && record["content"]["text"].is_string()
            })
            .unwrap();
        let text = output["content"]["text"].as_str().unwrap().replacen('a', "e", 1);
        let salt = Hash::from_hex(output["salt"].as_str().unwrap()).unwrap();
        let reference = keys::payload_ref_from_salt(&salt, text.as_bytes()).unwrap();
        output["content"]["text"] = text.into();
        output["hash"] = json!(reference.hash);
        step = output["label"].as_str().unwrap().strip_prefix("output/").unwrap().to_owned();
        let event = records
            .iter_mut()
            .find(|r| r["event"]["type"] == "state_checkpointed" && r["event"]["step_id"] == step.as_str())
            .unwrap();
        event["event"]["output"]["hash"] = json!(reference.hash);
    });
    std::fs::write(&forged, bytes).unwrap();
    let plain = verify_in_empty_folder(&forged, &[]);
    assert_eq!(plain.code, 0, "the file agrees with itself: {}", plain.stdout);
    let again = verify_in_empty_folder(&forged, &["--plugins", components_dir(&place).to_str().unwrap()]);
    assert_eq!((again.code, problem_kinds(&again.json())), (1, vec!["reexecution"]), "{}", again.stdout);
    assert!(again.json()["problems"][0]["message"].as_str().unwrap().contains(&step), "{}", again.stdout);
}

/// A component with another digest is never used in place of a pinned component.
#[test]
fn changed_component_is_refused() {
    let (place, id) = finished_golden_flow();
    verify_with_reexecution(&place, &id, "before");
    let other = place.dir.join("other");
    std::fs::create_dir(&other).unwrap();
    for entry in std::fs::read_dir(components_dir(&place)).unwrap().map(Result::unwrap) {
        if entry.path().extension().is_some_and(|extension| extension == "wasm") {
            let mut bytes = std::fs::read(entry.path()).unwrap();
            // Adds an empty custom section. The same code then has another digest.
            bytes.extend([0, 2, 1, b'x']);
            std::fs::write(other.join(entry.file_name()), bytes).unwrap();
        }
    }
    let ran = verify_in_empty_folder(&place.dir.join("evidence.jsonl"), &["--plugins", other.to_str().unwrap()]);
    let error = ran.json()["error"].clone();
    assert_eq!((ran.code, &error["code"]), (2, &json!("L0052")), "{}", ran.stdout);
    assert!(error["problems"][0]["digest"].as_str().is_some_and(|digest| digest.len() == 64), "{error:#}");
}

/// I31: a redacted file verifies and contains no answer of a tool.
#[test]
fn redacted_file_verifies_and_contains_no_answers() {
    let (place, id) = finished_golden_flow();
    let written = std::fs::read_to_string(place.dir.join("data/cv.md")).unwrap();
    // The canary is a word from a tool's answer, so a redacted file must not contain it. The word must not
    // occur in the plan, because events contain the plan in clear text.
    let plan = std::fs::read_to_string(place.dir.join("plan.json")).unwrap();
    let canary = written
        .split_whitespace()
        .find(|word| word.len() > 9 && word.chars().all(char::is_alphabetic) && !plan.contains(*word))
        .unwrap();
    let whole = place.latch(&["job", "export", &id, "--out", "-"]).stdout;
    assert!(whole.contains(canary), "the canary {canary} is in the open file");

    let exported = place.latch(&["job", "export", &id, "--withhold-all", "--out", "redacted.jsonl"]);
    assert_eq!(exported.code, 0, "{}", exported.stderr);
    let redacted = std::fs::read_to_string(place.dir.join("redacted.jsonl")).unwrap();
    assert!(!redacted.contains(canary) && !redacted.contains("\"salt\""), "{canary}");
    let ran = verify_in_empty_folder(
        &place.dir.join("redacted.jsonl"),
        &["--plugins", components_dir(&place).to_str().unwrap()],
    );
    let report = ran.json();
    assert_eq!(ran.code, 0, "{report:#}");
    assert_eq!(report["steps_reexecuted"], 0);
    assert!(note_codes(&report).contains(&"withheld") && note_codes(&report).contains(&"not_reexecuted"), "{report:#}");

    let some = place.latch(&["job", "export", &id, "--withhold", "answer/s5,output/s1", "--out", "some.jsonl"]);
    assert_eq!(some.code, 0, "{}", some.stderr);
    let ran =
        verify_in_empty_folder(&place.dir.join("some.jsonl"), &["--plugins", components_dir(&place).to_str().unwrap()]);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    assert!(
        ran.json()["steps_reexecuted"].as_u64() > Some(0),
        "steps that are not withheld are executed: {}",
        ran.stdout
    );
    let wrong = place.latch(&["job", "export", &id, "--withhold", "answer/s99", "--json"]);
    assert_eq!((wrong.code, &wrong.json()["error"]["code"]), (2, &json!("L0053")));
    assert!(wrong.stdout.contains("answer/s5"), "the error lists the existing labels: {}", wrong.stdout);
}

/// I29: a signed file is trusted if the trust file contains its key, and is not trusted if the trust file
/// contains another key.
#[test]
fn signed_file_is_trusted_only_by_its_key() {
    let (place, id) = finished_golden_flow();
    let mut lines = Vec::new();
    for name in ["ada.pem", "eve.pem"] {
        let made = place.latch(&["key", "new", name, "--json"]);
        assert_eq!(made.code, 0, "{}", made.stderr);
        lines.push(made.json()["trust_line"].as_str().unwrap().to_owned());
    }
    let private = std::fs::metadata(place.dir.join("ada.pem")).unwrap();
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&private.permissions()) & 0o777, 0o600);
    assert_eq!(place.latch(&["key", "new", "ada.pem"]).code, 2, "a key is never replaced");
    assert_eq!(place.latch(&["key", "show", "ada.pem"]).stdout.trim(), lines[0]);
    let signed = place.latch(&["job", "export", &id, "--sign", "ada.pem", "--out", "signed.jsonl"]);
    assert_eq!(signed.code, 0, "{}", signed.stderr);
    let file = place.dir.join("signed.jsonl");
    for (name, trusted, code) in [("ada", &lines[0], 0), ("eve", &lines[1], 1)] {
        let trust = place.dir.join(format!("{name}.trust"));
        std::fs::write(&trust, format!("# who may sign\n{trusted}\n")).unwrap();
        let ran = verify_in_empty_folder(&file, &["--trust", trust.to_str().unwrap()]);
        assert_eq!(ran.code, code, "{name}: {}", ran.stdout);
        assert_eq!(ran.json()["signature"]["trusted"], json!(code == 0));
    }
    let unknown = verify_in_empty_folder(&file, &[]);
    assert_eq!(unknown.code, 0);
    assert!(note_codes(&unknown.json()).contains(&"untrusted_key"), "{}", unknown.stdout);

    let text = std::fs::read_to_string(&file).unwrap();
    let unsigned: String =
        text.split_inclusive('\n').filter(|line| !line.contains("\"record\":\"signature\"")).collect();
    std::fs::write(place.dir.join("cut.jsonl"), unsigned).unwrap();
    let ran = verify_in_empty_folder(&place.dir.join("cut.jsonl"), &[]);
    assert_eq!((ran.code, problem_kinds(&ran.json())), (1, vec!["signature"]), "{}", ran.stdout);
    let refused = place.latch(&["job", "export", &id, "--sign", "plan.json", "--json"]);
    assert_eq!((refused.code, &refused.json()["error"]["code"]), (2, &json!("L0051")));
}

/// I29: parked, rejected and cancelled jobs give valid evidence as well.
#[test]
fn partial_and_cancelled_jobs_verify() {
    let place = TestEnv::golden("staged").fresh_copy();
    let stopped = place.latch(&["run", "plan.json", "--json", "--actor", "ada", "--approve", "s5"]);
    let id = stopped.json()["job_id"].as_str().unwrap().to_owned();
    assert_eq!(verify_with_reexecution(&place, &id, "at its gate")["state"], "PARKED");
    place.latch(&["job", "reject", &id, "s6", "--reason", "not today"]);
    verify_with_reexecution(&place, &id, "refused, and not resumed yet");
    place.latch(&["resume", &id]);
    assert_eq!(verify_with_reexecution(&place, &id, "refused")["state"], "PARTIAL");

    let second = place.latch(&["run", "plan.json", "--json", "--actor", "ada", "--approve", "s5", "--new"]);
    let id = second.json()["job_id"].as_str().unwrap().to_owned();
    place.latch(&["job", "cancel", &id, "--reason", "enough"]);
    place.latch(&["resume", &id]);
    assert_eq!(verify_with_reexecution(&place, &id, "cancelled")["state"], "CANCELLED");
}

/// I13, I31: a secret reaches the granted host and appears in no evidence.
#[test]
fn secret_never_appears_in_evidence() {
    const CANARY: &str = "canary-7c1f";
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (tell, arrived) = std::sync::mpsc::channel();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut heard = Vec::new();
        let mut buffer = [0; 4096];
        while !String::from_utf8_lossy(&heard).contains(CANARY) {
            let read = stream.read(&mut buffer).unwrap();
            assert!(read > 0, "the secret was not received: {}", String::from_utf8_lossy(&heard));
            heard.extend_from_slice(&buffer[..read]);
        }
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok").unwrap();
        tell.send(()).unwrap();
    });
    let temp = tempfile::tempdir().unwrap();
    let url = format!("http://127.0.0.1:{port}");
    let config = format!(
        "[[plugin]]\nname = \"hostile\"\nsource = {:?}\n\
         grants = {{ http = [{{ url = \"{url}\", methods = [\"POST\"], secrets = [\"TOKEN\"] }}], tcp = [\"127.0.0.1:1\"] }}\n",
        guest("hostile-tool")
    );
    let script = json!([
        { "secret": "TOKEN" },
        { "http": { "method": "POST", "url": url, "headers": { "authorization": "Bearer $TOKEN" }, "body": ["x"] } },
    ]);
    let plan = json!({ "plan_id": "secret", "schema_version": "1.0", "steps": [{
        "step_id": "s", "kind": "operator", "name": "World.Change", "payload": { "do": script }, "depends_on": [],
        "effects": ["external_send"], "policy_tags": [], "gate": "none", "cache_policy": "never", "idempotency_template": "s",
    }] });
    std::fs::write(temp.path().join("latch.toml"), config).unwrap();
    std::fs::write(temp.path().join("plan.json"), plan.to_string()).unwrap();
    let mut command = latch_command(temp.path(), &["run", "plan.json", "--json", "--approve", "s"]);
    let ran = program::command_output(command.env("LATCH_SECRET_TOKEN", CANARY).output().unwrap());
    assert_eq!(ran.code, 0, "{} {}", ran.stdout, ran.stderr);
    assert!(arrived.recv_timeout(Duration::from_secs(60)).is_ok(), "the secret did not arrive: {}", ran.stdout);
    server.join().unwrap();
    let id = ran.json()["job_id"].as_str().unwrap().to_owned();
    let exported = run_latch(temp.path(), &["job", "export", &id, "--out", "-"]);
    assert_eq!(exported.code, 0, "{}", exported.stderr);
    assert!(exported.stdout.contains("latch-secret-"), "the tool's answer contains the placeholder");
    assert!(!exported.stdout.contains(CANARY), "the placeholder is not the secret");
}
