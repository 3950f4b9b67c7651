//! Finds a Rust toolchain that can build for Wasm, or makes one. The ways are tried in this order:
//!
//! 1. The target is already installed for the `rustc` that cargo uses.
//! 2. A toolchain that way 4 made earlier is found.
//! 3. `rustup target add` installs the target.
//! 4. The program in the environment variable `LATCH_WASM_INSTALLER` makes a toolchain in a private folder. In a
//!    checkout, cargo sets the variable to a script for Debian (`.cargo/config.toml`).

use std::path::{Path, PathBuf};

use crate::build::error::BuildError;
use crate::build::install_advice::{RUST, WITHOUT_RUSTUP};
use crate::build::options::BuildOptions;
use crate::build::run::{command, output_of, run};
use crate::build::{install_advice, installer};

/// Compile target of plugins. The target has no system interface to link against.
pub(super) const TARGET: &str = "wasm32-unknown-unknown";

/// Compiler for Rust plugins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Toolchain {
    /// Path of the compiler, or `None` for the compiler that cargo uses by default.
    pub rustc: Option<PathBuf>,
}

impl Toolchain {
    /// Finds or makes a toolchain. Reports every action that changes the machine to `progress`.
    pub fn find(dir: &Path, options: &BuildOptions, progress: &mut dyn FnMut(&str)) -> Result<Self, BuildError> {
        let mut reasons = Vec::new();
        let wanted = |way: u8| !options.skipped_ways.contains(&way);
        if output_of(command("cargo", dir).arg("--version")).is_none() {
            return Err(BuildError::Missing { program: "cargo".into(), advice: RUST.sentence });
        }

        let own = Path::new("rustc");
        if wanted(1) {
            if has_target(own, dir) {
                return Ok(Self { rustc: None });
            }
            reasons.push(format!("rustc does not have the target {TARGET}"));
        }

        let kept = installer::rustc(&options.toolchain_dir);
        if wanted(2) && has_target(&kept, dir) {
            return Ok(Self { rustc: Some(kept) });
        }

        if wanted(3) {
            match add_target(dir, progress) {
                Ok(()) if has_target(own, dir) => return Ok(Self { rustc: None }),
                Ok(()) => reasons.push("rustup added the target to a toolchain that cargo does not use".to_owned()),
                Err(why) => reasons.push(why),
            }
        }

        let program = options.installer.as_deref().filter(|_| wanted(4));
        if let Some(program) = program {
            match installer::make_toolchain(program, &options.toolchain_dir, dir, progress) {
                Ok(()) if has_target(&kept, dir) => return Ok(Self { rustc: Some(kept) }),
                Ok(()) => reasons.push(format!("the toolchain in {} does not work", options.toolchain_dir.display())),
                Err(why) => reasons.push(format!("{}: {why}", program.display())),
            }
        }
        reasons.push(format!("try: rustup target add {TARGET}"));
        if program.is_none() {
            reasons.push(WITHOUT_RUSTUP.to_owned());
        }
        Err(BuildError::NoWasmTarget(reasons))
    }
}

/// Returns true if the compiler has the standard library of the target.
fn has_target(rustc: &Path, dir: &Path) -> bool {
    let mut print = command(rustc, dir);
    print.args(["--print", "target-libdir", "--target", TARGET]);
    let Some(libdir) = output_of(&mut print) else { return false };
    let Ok(entries) = std::fs::read_dir(libdir) else { return false };
    let is_std = |name: &str| name.starts_with("libstd-") && name.ends_with(".rlib");
    entries.flatten().any(|entry| entry.file_name().to_str().is_some_and(is_std))
}

fn add_target(dir: &Path, progress: &mut dyn FnMut(&str)) -> Result<(), String> {
    progress(&format!("installing the Rust target: rustup target add {TARGET}"));
    let mut rustup = command("rustup", dir);
    rustup.args(["target", "add", TARGET]);
    // With the default retries, rustup takes a long time to fail on a network that drops packets.
    rustup.env("RUSTUP_MAX_RETRIES", "1");
    match run("rustup target add", install_advice::RUSTUP, &mut rustup, progress) {
        Ok(_) => Ok(()),
        Err(BuildError::Missing { .. }) => Err("rustup is not installed, so it cannot add the target".to_owned()),
        Err(BuildError::Failed { output, .. }) => {
            let message = output.lines().find(|line| line.starts_with("error")).unwrap_or("it failed").to_owned();
            Err(format!("rustup target add {TARGET}: {message}"))
        }
        Err(other) => Err(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_compiler_has_no_target() {
        assert!(!has_target(Path::new("no-such-rustc"), Path::new("/")));
    }

    #[test]
    fn failed_toolchain_search_lists_every_reason() {
        let dir = tempfile::tempdir().unwrap();
        let nothing = BuildOptions { skipped_ways: vec![1, 2, 3], ..options(dir.path(), None) };
        let error = Toolchain::find(Path::new("/"), &nothing, &mut |_| ()).unwrap_err().to_string();
        for message in ["rustup target add wasm32-unknown-unknown", "set LATCH_WASM_INSTALLER to .cargo/"] {
            assert!(error.contains(message), "{message}: {error}");
        }
        let failing = installer(dir.path(), "echo progress >&2; echo there is no mirror >&2; exit 1");
        let nothing = BuildOptions { skipped_ways: vec![1, 2, 3], ..options(dir.path(), Some(failing)) };
        let error = Toolchain::find(Path::new("/"), &nothing, &mut |_| ()).unwrap_err().to_string();
        assert!(error.contains("installer: there is no mirror") && !error.contains("LATCH_WASM_INSTALLER"), "{error}");
    }

    fn options(dir: &Path, installer: Option<PathBuf>) -> BuildOptions {
        BuildOptions { toolchain_dir: dir.join("toolchain"), installer, ..BuildOptions::default() }
    }

    /// Writes a shell script and returns its path.
    fn installer(dir: &Path, script: &str) -> PathBuf {
        let path = dir.join("installer");
        // A shell writes the script, because the system refuses to start a program whose file is open for writing. This
        // process therefore never opens the file for writing.
        let mut write = command("sh", dir);
        write.args(["-c", "printf '%s' \"$1\" >installer && chmod +x installer", "sh"]);
        assert!(write.arg(format!("#!/bin/sh\n{script}\n")).status().unwrap().success());
        path
    }
}
