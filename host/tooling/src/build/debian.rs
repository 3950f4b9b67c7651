//! Builds a Rust toolchain from Debian's packages, for machines that cannot reach rustup's server.

use std::path::{Path, PathBuf};

use crate::build::error::BuildError;
use crate::build::install_advice;
use crate::build::run::{command, run};

/// Shell script that builds the toolchain. The script mostly runs apt, dpkg and a compiler.
const SCRIPT: &str = include_str!("debian-wasm-rust.sh");

/// Path of the compiler in the toolchain at `base`. The file exists only after [`make_toolchain`].
pub(super) fn rustc(base: &Path) -> PathBuf {
    base.join("current/bin/rustc")
}

/// Builds the toolchain. Root is needed only if libraries or package lists are missing.
pub(super) fn make_toolchain(base: &Path, progress: &mut dyn FnMut(&str)) -> Result<(), String> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Err("they require x86_64 Linux".to_owned());
    }
    if !Path::new("/etc/debian_version").exists() {
        return Err("this system is not Debian".to_owned());
    }
    std::fs::create_dir_all(base).map_err(|error| format!("cannot make {}: {error}", base.display()))?;
    progress(&format!("making a Rust toolchain for Wasm from Debian's packages, once, in {}", base.display()));
    let mut bash = command("bash", base);
    bash.args(["-c", SCRIPT, "debian-wasm-rust"]).arg(base).arg(env!("CARGO_PKG_RUST_VERSION"));
    match run("making the toolchain", install_advice::BASH, &mut bash, progress) {
        Ok(_) => Ok(()),
        Err(BuildError::Failed { output, .. }) => {
            Err(output.lines().last().unwrap_or("the script failed without a message").to_owned())
        }
        Err(other) => Err(other.to_string()),
    }
}
