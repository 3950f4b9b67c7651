//! Builds the guests of `tests/guests` for the tests that use them.

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use latchwork_tooling::build::{BuildOptions, Toolchain};

use crate::support::{checkout, program};

/// Returns the component of a guest in `tests/guests`. All guests are built on first use.
pub(crate) fn guest(name: &str) -> PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let dir = BUILT.get_or_init(build_guests);
    let path = dir.join(format!("{}.wasm", name.replace('-', "_")));
    assert!(path.exists(), "tests/guests has no member {name}");
    path
}

fn build_guests() -> PathBuf {
    let root = checkout::copy().join("tests");
    let target = program::target_dir().join("guests-tests");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(root.join("guests")).args(["build", "--release", "--locked"]).arg("--target-dir").arg(&target);
    // The guests are built without the build settings of this test, which are for another target and another folder.
    for variable in ["CARGO_TARGET_DIR", "CARGO_BUILD_TARGET", "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS"] {
        cargo.env_remove(variable);
    }
    // A compiler with the Wasm target, as found or installed by `latch plugin build`.
    let toolchain = Toolchain::find(&root, &BuildOptions::from_env().unwrap(), &mut |_| {})
        .expect("a compiler with the Wasm target is available");
    if let Some(rustc) = toolchain.rustc {
        cargo.env("RUSTC", rustc);
    }
    let output = cargo.output().expect("cargo runs");
    assert!(output.status.success(), "tests/guests cannot be built:\n{}", String::from_utf8_lossy(&output.stderr));
    target.join("wasm32-unknown-unknown/release")
}
