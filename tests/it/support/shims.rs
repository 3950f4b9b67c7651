//! Small libraries of `tests/shims` that intercept calls of the system's C library.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Compiles the shim of this name into a folder. The result is used through `LD_PRELOAD`.
pub(crate) fn compile_shim(name: &str, folder: &Path) -> PathBuf {
    let shim = folder.join(format!("{name}.so"));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("shims/{name}.c"));
    let compiled =
        Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).arg(&shim).arg(&source).arg("-ldl").output();
    let compiled = compiled.expect("a C compiler, which Rust needs to link");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    shim
}
