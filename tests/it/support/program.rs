//! The built program, run as a user runs it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use serde_json::json;

/// Returns the path of an up-to-date `latch`. This package has no binary, so cargo builds the binary of the workspace.
/// The build uses the profile and the target folder of the test. Nearly everything is already built there.
pub(crate) fn latch_binary() -> &'static Path {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| {
        let test = std::env::current_exe().expect("a test knows its file");
        let folder = test.parent().and_then(Path::parent).expect("tests lie in deps");
        let profile = match folder.file_name().and_then(|name| name.to_str()) {
            Some("debug") | None => "dev",
            Some(profile) => profile,
        };
        let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml");
        let mut cargo = Command::new(env!("CARGO"));
        // Build scripts of dependencies depend on these variables. Leaving them set would rebuild the
        // dependencies here, and again in the next build outside of a test.
        for (name, _) in std::env::vars_os() {
            let is_of_package = |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
            if name.to_str().is_some_and(is_of_package) {
                cargo.env_remove(name);
            }
        }
        let built = cargo
            .args(["build", "--quiet", "--workspace", "--bin", "latch", "--manifest-path", manifest])
            .args(["--profile", profile])
            .output()
            .expect("cargo runs");
        assert!(built.status.success(), "latch cannot be built: {}", String::from_utf8_lossy(&built.stderr));
        folder.join("latch")
    })
}

/// Returns the command `latch` in `folder`, independent of the caller's environment.
pub(crate) fn latch_command(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(latch_binary());
    command.current_dir(folder).args(args).stdin(std::process::Stdio::null());
    clear_environment(&mut command);
    command
}

/// Removes the variables of `latch` from the environment of a command. Tests set their own variables
/// afterwards.
pub(crate) fn clear_environment(command: &mut Command) {
    // Variables that name the compiler for plugins. They are kept, because each machine has this compiler elsewhere.
    const KEPT_VARIABLES: [&str; 3] = ["LATCH_WASM_DIR", "LATCH_WASM_INSTALLER", "LATCH_WASM_SKIP"];
    let is_removed = |name: &str| name.starts_with("LATCH_") && !KEPT_VARIABLES.contains(&name);
    for (name, _) in std::env::vars_os().filter(|(name, _)| is_removed(&name.to_string_lossy())) {
        command.env_remove(name);
    }
    command.env("LATCH_CACHE_DIR", compile_cache_dir());
}

/// Returns a search path for shells. A shell with this path finds the built program before any installed one.
pub(crate) fn search_path() -> OsString {
    let programs = latch_binary().parent().expect("the program lies in a folder").to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(std::iter::once(programs).chain(std::env::split_paths(&path)))
        .expect("folders have plain names")
}

/// Returns Cargo's target folder. Tests store their builds there.
pub(crate) fn target_dir() -> &'static Path {
    latch_binary().parent().and_then(Path::parent).expect("the program lies in a folder of the target folder")
}

/// Returns the folder of compiled plugins. All tests share it, and it is separate from the user's folder.
pub(crate) fn compile_cache_dir() -> PathBuf {
    target_dir().join("tests-compiled")
}

/// Exit code and output of a finished command.
pub(crate) struct CommandOutput {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl CommandOutput {
    /// Parses stdout as one JSON document.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {:?} {}", self.stdout, self.stderr))
    }
}

/// Runs `latch` to its end.
pub(crate) fn run_latch(folder: &Path, args: &[&str]) -> CommandOutput {
    command_output(latch_command(folder, args).output().expect("latch runs"))
}

/// Converts the output of a finished process. Panics if the process was killed.
pub(crate) fn command_output(output: Output) -> CommandOutput {
    let text = |bytes| String::from_utf8(bytes).expect("latch prints UTF-8");
    CommandOutput {
        code: output.status.code().expect("latch exits without a signal"),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

pub(crate) fn assert_completed(ran: &CommandOutput) {
    assert_eq!((ran.code, &ran.json()["state"]), (0, &json!("COMPLETED")), "{} {}", ran.stdout, ran.stderr);
}
