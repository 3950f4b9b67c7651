//! The built program, as a person runs it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// `latch`, up to date. This package has no binary of its own, so cargo is asked for the one
/// of the workspace: in the profile and folder that this test was built in, nearly all is there.
pub(crate) fn path() -> &'static Path {
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
        // Build scripts of dependencies depend on these: with them, the dependencies would be built anew by this build,
        // and once more by the next one outside of a test.
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
        assert!(built.status.success(), "latch is built: {}", String::from_utf8_lossy(&built.stderr));
        folder.join("latch")
    })
}

/// `latch` in `folder`, undisturbed by the environment of whoever runs the tests.
pub(crate) fn latch(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(path());
    command.current_dir(folder).args(args).stdin(std::process::Stdio::null());
    undisturbed(&mut command);
    command
}

/// Removes the program's variables from the environment of a command that has set none yet.
pub(crate) fn undisturbed(command: &mut Command) {
    // Where the compiler for plugins is found depends on the machine. All else a test sets itself.
    const KEPT: [&str; 2] = ["LATCH_WASM_DIR", "LATCH_WASM_SKIP"];
    let is_removed = |name: &str| name.starts_with("LATCH_") && !KEPT.contains(&name);
    for (name, _) in std::env::vars_os().filter(|(name, _)| is_removed(&name.to_string_lossy())) {
        command.env_remove(name);
    }
    command.env("LATCH_CACHE_DIR", compiled());
}

/// Cargo's target folder, where tests keep what they build.
pub(crate) fn target() -> &'static Path {
    path().parent().and_then(Path::parent).expect("the program lies in a folder of the target folder")
}

/// The folder of compiled plugins of all tests, apart from the user's own.
pub(crate) fn compiled() -> PathBuf {
    target().join("tests-compiled")
}

/// What came of it.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// The one JSON document of stdout.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {:?} {}", self.stdout, self.stderr))
    }
}

/// Run to the end.
pub(crate) fn run(folder: &Path, args: &[&str]) -> Ran {
    ran(latch(folder, args).output().expect("latch runs"))
}

/// What an ended process said.
pub(crate) fn ran(output: Output) -> Ran {
    let text = |bytes| String::from_utf8(bytes).expect("latch speaks UTF-8");
    Ran { code: output.status.code().expect("no signal"), stdout: text(output.stdout), stderr: text(output.stderr) }
}
