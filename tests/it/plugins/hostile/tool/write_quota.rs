//! Quota of the bytes that a call writes to its folders.

use std::path::Path;
use std::sync::Arc;

use serde_json::json;

use latchwork_core::model::bounds;
use latchwork_engine::Plugin;
use latchwork_engine::capability::grants::{DirGrant, Grants};

use crate::plugins::hostile::load;
use crate::plugins::hostile::tool::{answers_of, minimal_grants, tool_limits};

const PIECE: u64 = 4_096;
const PIECES: u64 = 10;

/// Loads the scripted tool with two folders, `/d` and `/e`, and this quota.
fn load_with_quota(dir: &Path, dir_bytes: u64) -> Arc<Plugin> {
    let grant = |name: &str| {
        let host = dir.join(name);
        std::fs::create_dir_all(&host).unwrap();
        DirGrant { host, guest: format!("/{name}"), write: true }
    };
    let grants = Grants { dirs: vec![grant("d"), grant("e")], dir_bytes: Some(dir_bytes), ..minimal_grants() };
    load("hostile-tool", grants, tool_limits()).unwrap()
}

fn entry() -> u64 {
    bounds::DIR_ENTRY_BYTES as u64
}

/// I269: every way to make files longer ends at the quota, and the guest gets the error of a full disk. A new file
/// counts as an entry. Each call has the whole quota.
#[tokio::test]
async fn writes_of_a_call_end_at_the_quota() {
    let dir = tempfile::tempdir().unwrap();
    let plugin = load_with_quota(dir.path(), PIECES * PIECE + entry());
    for how in ["write", "again", "stream", "append", "size", "gap"] {
        let fill = |path: &str| json!({ "fill": { "path": path, "how": how, "bytes": PIECE } });
        for operator in ["World.Keep", "World.Change"] {
            let path = format!("/d/{how}-{operator}");
            let answers = answers_of(&plugin, operator, json!([fill(&path), fill("/e/other")])).await;
            let error = answers[0]["error"].as_str().unwrap_or_default().to_lowercase().replace('_', "-");
            assert_eq!(answers[0]["made"], PIECES, "{how} {operator}: {answers:?}");
            assert!(error.contains("insufficient-space"), "{how} {operator}: {answers:?}");
            // The second folder shares the quota. Not even an entry is left.
            assert!(answers[1]["error"].as_str().is_some() && answers[1]["made"].is_null(), "{how}: {answers:?}");
            assert!(!dir.path().join("e/other").exists());
            let size = dir.path().join(format!("d/{how}-{operator}")).metadata().unwrap().len();
            assert_eq!(size, if how == "again" { PIECE } else { PIECES * PIECE }, "{how} {operator}");
        }
    }
}

/// I269: a call makes as many entries as the quota has room for. A read takes nothing, and an existing file is no new
/// entry.
#[tokio::test]
async fn entries_of_a_call_end_at_the_quota() {
    let dir = tempfile::tempdir().unwrap();
    let plugin = load_with_quota(dir.path(), PIECES * entry());
    let answers =
        answers_of(&plugin, "World.Keep", json!([{ "entries": { "path": "/d/n", "count": PIECES + 5 } }])).await;
    assert_eq!(answers[0]["made"], PIECES, "{answers:?}");
    std::fs::write(dir.path().join("e/old"), "x".repeat(100)).unwrap();
    let again = json!({ "write": { "path": "/e/old", "text": "new" } });
    let reads = vec![json!({ "read": { "path": "/e/old" } }); 50];
    let script = [reads, vec![again; 50]].concat();
    let answers = answers_of(&plugin, "World.Keep", json!(script)).await;
    assert!(answers[..50].iter().all(|answer| answer.as_str().is_some()), "{answers:?}");
    assert!(answers[50..].iter().all(|answer| *answer == 3), "{answers:?}");
}
