//! Exports evidence and verifies it in a folder that contains nothing else.

use std::path::Path;

use serde_json::{Value, json};

use latchwork_core::encoding::canon;
use latchwork_core::model::ids::Hash;

use crate::support::program::{CommandOutput, run_latch};
use crate::support::test_env::TestEnv;

/// Exports the job, verifies the file in an empty folder, and returns the report.
pub(crate) fn verify_offline(place: &TestEnv, id: &str, when: &str) -> Value {
    let exported = place.latch(&["job", "export", id, "--out", "evidence.jsonl", "--force", "--json"]);
    assert_eq!(exported.code, 0, "{when}: {} {}", exported.stdout, exported.stderr);
    let verified = verify_in_empty_folder(&place.dir.join("evidence.jsonl"), &[]);
    assert_eq!(verified.code, 0, "{when}: {} {}", verified.stdout, verified.stderr);
    verified.json()
}

/// Runs `latch verify` in an empty folder, without configuration or database.
pub(crate) fn verify_in_empty_folder(file: &Path, more: &[&str]) -> CommandOutput {
    let empty = tempfile::tempdir().unwrap();
    run_latch(empty.path(), &[&["verify", "--json", file.to_str().unwrap()], more].concat())
}

/// Parses an evidence file, changes its records, and recomputes every number, checksum and hash.
pub(crate) fn forge_evidence(file: &str, change: impl FnOnce(&mut Vec<Value>)) -> Vec<u8> {
    let mut records: Vec<Value> = file.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    change(&mut records);
    let mut head = Hash::default();
    for record in records.iter_mut().filter(|record| record["record"] == "event") {
        record["prev_hash"] = json!(head);
        head = Hash::of(&[&head.0, &canon::value_to_canonical(&record["event"])]);
        record["hash"] = json!(head);
    }
    records[0]["job"]["head"] = json!(head);
    let mut file = Vec::new();
    for mut record in records {
        if record["record"] == "trailer" {
            record["sha256"] = json!(Hash::of(&[&file]));
        }
        record.as_object_mut().unwrap().remove("sum");
        record["sum"] = json!(Hash::of(&[&canon::value_to_canonical(&record)]));
        file.extend(canon::value_to_canonical(&record));
        file.push(b'\n');
    }
    file
}
