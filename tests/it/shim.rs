//! Small libraries that stand between a program and the system's C library: `tests/shims`.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The shim of this name, compiled into a folder; to be named by `LD_PRELOAD`.
pub(crate) fn compiled(name: &str, folder: &Path) -> PathBuf {
    let shim = folder.join(format!("{name}.so"));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("shims/{name}.c"));
    let compiled =
        Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).arg(&shim).arg(&source).arg("-ldl").output();
    let compiled = compiled.expect("a C compiler, which Rust needs to link");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    shim
}
