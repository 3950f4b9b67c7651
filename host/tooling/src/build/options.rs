//! Options of builds.

use std::path::PathBuf;

/// Build options. [`BuildOptions::from_env`] returns the options that users get.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BuildOptions {
    /// Numbers of the ways in `wasm_target` that are not tried. Tests leave out some ways to exercise the others.
    pub skipped_ways: Vec<u8>,
    /// Folder for a toolchain built from Debian's packages.
    pub toolchain_dir: PathBuf,
    /// Folder for the programs of languages other than Rust.
    pub tools_dir: PathBuf,
}

impl BuildOptions {
    /// Reads the options from `LATCH_WASM_SKIP` (such as `"1 3"`), `LATCH_WASM_DIR` and `LATCH_TOOLS_DIR`.
    ///
    /// The two folders default to `latchwork/wasm-rust` and `latchwork/tools` in the user's cache folder.
    pub fn from_env() -> Self {
        let var = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let skip = var("LATCH_WASM_SKIP").unwrap_or_default();
        let skip = skip.to_string_lossy().split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let cache = || match (var("XDG_CACHE_HOME"), var("HOME")) {
            (Some(cache), _) => PathBuf::from(cache),
            (None, Some(home)) => PathBuf::from(home).join(".cache"),
            (None, None) => std::env::temp_dir(),
        };
        let toolchain_dir = var("LATCH_WASM_DIR").map_or_else(|| cache().join("latchwork/wasm-rust"), PathBuf::from);
        let tools_dir = var("LATCH_TOOLS_DIR").map_or_else(|| cache().join("latchwork/tools"), PathBuf::from);
        // The path must be absolute, because the programs run in other working folders.
        let tools_dir = std::path::absolute(&tools_dir).unwrap_or(tools_dir);
        Self { skipped_ways: skip, toolchain_dir, tools_dir }
    }
}
