//! Rust plugins: built by cargo into a component.

use std::path::{Component, Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use crate::build::error::BuildError;
use crate::build::install_advice::RUST;
use crate::build::layout;
use crate::build::options::BuildOptions;
use crate::build::run::{command, output_of, run};
use crate::build::wasm_target::{TARGET, Toolchain};

/// The fields of a cargo message that identify an artifact.
#[derive(Deserialize)]
struct CargoMessage {
    reason: String,
    manifest_path: Option<PathBuf>,
    target: Option<CargoTarget>,
    #[serde(default)]
    filenames: Vec<PathBuf>,
}

#[derive(Deserialize)]
struct CargoTarget {
    kind: Vec<String>,
}

/// Target folder that cargo uses for compiled files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TargetFolder {
    /// Cargo's default target folder.
    Default,
    /// A separate target folder. The build then reuses nothing from the default folder.
    Separate,
}

/// Builds the package in `dir` and returns the path of the file that cargo produced.
pub(super) fn build(
    dir: &Path,
    folder: TargetFolder,
    options: &BuildOptions,
    progress: &mut dyn FnMut(&str),
) -> Result<PathBuf, BuildError> {
    let toolchain = Toolchain::find(dir, options, progress)?;
    let mut cargo = command("cargo", dir);
    cargo.args(["build", "--release", "--target", TARGET, "--message-format", "json-render-diagnostics"]);
    let workspace = set_environment(&mut cargo, dir, &toolchain);
    if folder == TargetFolder::Separate {
        cargo.arg("--target-dir").arg(workspace.join("target/built-again"));
    }
    // Without a lock file, the first build writes one.
    let lock = workspace.join("Cargo.lock");
    if lock.is_file() && !options.update {
        cargo.arg("--locked");
    } else {
        layout::refuse_link(&lock)?;
    }
    let printed = run("cargo build", RUST.sentence, &mut cargo, progress);
    let printed = printed.map_err(|error| lock_error(error, &lock, dir))?;
    let manifest = dir.join("Cargo.toml");
    library_artifact(&printed, &manifest).ok_or_else(|| BuildError::NoLibrary(dir.to_owned()))
}

/// Returns [`BuildError::LockFile`] if cargo failed because the lock file does not match `Cargo.toml`. Returns any
/// other error unchanged.
fn lock_error(error: BuildError, lock: &Path, dir: &Path) -> BuildError {
    match error {
        BuildError::Failed { output, .. } if output.contains("--locked was passed") => BuildError::LockFile {
            place: lock.display().to_string(),
            message: format!("it does not match {}", dir.join("Cargo.toml").display()),
            dir: dir.to_owned(),
        },
        other => other,
    }
}

/// Sets the compiler, the linker, and flags that keep this machine's paths out of the component. Returns the
/// workspace folder.
fn set_environment(cargo: &mut Command, dir: &Path, toolchain: &Toolchain) -> PathBuf {
    if let Some(rustc) = &toolchain.rustc {
        cargo.env("RUSTC", rustc);
    }
    cargo.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", "wasm-component-ld");
    let mut locate = command("cargo", dir);
    locate.args(["locate-project", "--workspace", "--message-format", "plain"]);
    let manifest = output_of(&mut locate).map(PathBuf::from);
    let workspace = manifest.as_deref().and_then(Path::parent).unwrap_or(dir);
    // The remapping of cargo's home folder follows the remapping of the source root. rustc applies the last remapping
    // that matches a path, and cargo's home folder may lie inside the source root.
    let mut flags = vec![remap(source_root(workspace), "/src")];
    if let Some(home) = cargo_home() {
        flags.push(remap(&home, "/cargo"));
    }
    let rustc = toolchain.rustc.as_deref().unwrap_or(Path::new("rustc"));
    flags.extend(standard_library_flag(rustc, dir));
    cargo.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"));
    workspace.to_owned()
}

fn remap(from: &Path, to: &str) -> String {
    format!("--remap-path-prefix={}={to}", from.display())
}

/// Returns the flag that makes rustc name the standard library's sources by the commit of the compiler.
///
/// If `rust-src` is installed, rustc names these sources by their path on this machine. Code that is compiled again in
/// the plugin, such as generic functions, would contain this path. Without `rust-src`, rustc names the sources by the
/// commit.
fn standard_library_flag(rustc: &Path, dir: &Path) -> Option<String> {
    let sysroot = PathBuf::from(output_of(command(rustc, dir).args(["--print", "sysroot"]))?);
    let version = output_of(command(rustc, dir).arg("-vV"))?;
    let commit = version.lines().find_map(|line| line.strip_prefix("commit-hash: "))?;
    let is_hash = commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash.then(|| remap(&sysroot.join("lib/rustlib/src/rust"), &format!("/rustc/{commit}")))
}

/// Returns the folder whose path is replaced by `/src` in the component. The result is the parent of the workspace,
/// because path dependencies may lie beside the workspace. If the parent is the root folder or lies directly in the
/// root folder, the result is the workspace itself.
fn source_root(workspace: &Path) -> &Path {
    let deep = |path: &&Path| path.components().filter(|part| matches!(part, Component::Normal(_))).count() > 1;
    workspace.parent().filter(deep).unwrap_or(workspace)
}

fn cargo_home() -> Option<PathBuf> {
    let var = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    var("CARGO_HOME").or_else(|| Some(var("HOME")?.join(".cargo")))
}

/// Returns the library of the package with this manifest, taken from cargo's messages.
fn library_artifact(printed: &[u8], manifest: &Path) -> Option<PathBuf> {
    let manifest = std::fs::canonicalize(manifest).unwrap_or_else(|_| manifest.to_owned());
    printed
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice::<CargoMessage>(line).ok())
        .filter(|message| message.reason == "compiler-artifact")
        .filter(|message| message.target.as_ref().is_some_and(|target| target.kind.iter().any(|kind| kind == "cdylib")))
        .filter(|message| {
            let own = message.manifest_path.as_deref().and_then(|path| std::fs::canonicalize(path).ok());
            own.as_ref() == Some(&manifest)
        })
        .flat_map(|message| message.filenames)
        .find(|file| file.extension().is_some_and(|extension| extension == "wasm"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_library_of_the_package() {
        let dir = tempfile::tempdir().unwrap();
        let manifest = dir.path().join("Cargo.toml");
        std::fs::write(&manifest, "").unwrap();
        let line = |path: &Path, kind: &str, file: &str| {
            serde_json::json!({
                "reason": "compiler-artifact", "manifest_path": path, "target": { "kind": [kind] },
                "filenames": ["/t/x.d", file],
            })
            .to_string()
        };
        let other = dir.path().join("other/Cargo.toml");
        let printed = [
            line(&other, "cdylib", "/t/other.wasm"),
            line(&manifest, "custom-build", "/t/build.wasm"),
            "{\"reason\":\"build-finished\",\"success\":true}".to_owned(),
            line(&manifest, "cdylib", "/t/own.wasm"),
        ];
        assert_eq!(library_artifact(printed.join("\n").as_bytes(), &manifest), Some(PathBuf::from("/t/own.wasm")));
        assert_eq!(library_artifact(b"", &manifest), None);
    }

    #[test]
    fn source_root_covers_neighbours_but_not_the_root_folder() {
        assert_eq!(source_root(Path::new("/home/ada/latch/example-plugins")), Path::new("/home/ada/latch"));
        assert_eq!(source_root(Path::new("/plugins/mail")), Path::new("/plugins/mail"));
        assert_eq!(source_root(Path::new("/mail")), Path::new("/mail"));
    }
}
