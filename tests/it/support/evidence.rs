//! Exports evidence and verifies it in a folder that contains nothing else.

use std::path::Path;

use serde_json::Value;

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
