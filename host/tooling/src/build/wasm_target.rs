//! Finds a Rust toolchain that can build for Wasm, or makes one. The ways are tried in this order:
//!
//! 1. The target is already installed for the `rustc` that cargo uses.
//! 2. A toolchain that way 4 made earlier is found.
//! 3. `rustup target add` installs the target.
//! 4. On Debian, a newer Rust from Debian's own packages is unpacked into a private folder. The standard
//!    library is built once for the target.

use std::path::{Path, PathBuf};

use crate::build::error::BuildError;
use crate::build::install_advice::RUST;
use crate::build::options::BuildOptions;
use crate::build::run::{command, output_of, run};
use crate::build::{debian, install_advice};

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

        let kept = debian::rustc(&options.toolchain_dir);
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

        if wanted(4) {
            match debian::make_toolchain(&options.toolchain_dir, progress) {
                Ok(()) if has_target(&kept, dir) => return Ok(Self { rustc: Some(kept) }),
                Ok(()) => reasons.push(format!("the toolchain in {} does not work", options.toolchain_dir.display())),
                Err(why) => reasons.push(format!("Debian's packages: {why}")),
            }
        }
        reasons.push(format!("try: rustup target add {TARGET}"));
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
            let said = output.lines().find(|line| line.starts_with("error")).unwrap_or("it failed").to_owned();
            Err(format!("rustup target add {TARGET}: {said}"))
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
        let nothing = BuildOptions {
            skipped_ways: vec![1, 2, 3, 4],
            toolchain_dir: PathBuf::from("/nonexistent"),
            tools_dir: PathBuf::from("/nonexistent"),
        };
        let error = Toolchain::find(Path::new("/"), &nothing, &mut |_| ()).unwrap_err();
        assert!(error.to_string().contains("rustup target add wasm32-unknown-unknown"), "{error}");
    }
}
