//! Runs the installer: a program, named by the user's environment, that makes a Rust toolchain for Wasm. Used if rustup
//! is missing or fails.

use std::path::{Path, PathBuf};

use super::error::BuildError;
use super::install_advice;
use super::run::{command, run};

/// Path of the compiler in the toolchain at `base`. The file exists only after [`make_toolchain`].
pub(super) fn rustc(base: &Path) -> PathBuf {
    base.join("current/bin/rustc")
}

/// Runs the installer in `dir`, the folder of the plugin. The arguments of the installer are `base` and the minimum
/// version of Rust. The installer makes the compiler at [`rustc`] and writes its messages to stderr. The last message
/// of a failed installer states the reason.
pub(super) fn make_toolchain(
    installer: &Path,
    base: &Path,
    dir: &Path,
    progress: &mut dyn FnMut(&str),
) -> Result<(), String> {
    let base = &std::path::absolute(base).map_err(|error| format!("cannot find {}: {error}", base.display()))?;
    std::fs::create_dir_all(base).map_err(|error| format!("cannot make {}: {error}", base.display()))?;
    progress(&format!("making a Rust toolchain for Wasm with {}, once, in {}", installer.display(), base.display()));
    // Runs in the plugin's folder, because rustup selects a toolchain by folder.
    let mut program = command(installer, dir);
    program.arg(base).arg(env!("CARGO_PKG_RUST_VERSION"));
    match run("making the toolchain", install_advice::INSTALLER, &mut program, progress) {
        Ok(_) => Ok(()),
        Err(BuildError::Failed { output, .. }) => {
            Err(output.lines().last().unwrap_or("it failed without a message").to_owned())
        }
        Err(other) => Err(other.to_string()),
    }
}
