//! The program with tools of other languages, and projects that it creates and builds.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use crate::support::program;
use crate::support::program::CommandOutput;

/// Returns the folder where tests install the tools of other languages, outside of the user's home.
pub(crate) fn tools_dir() -> PathBuf {
    program::target_dir().join("guest-tools")
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
