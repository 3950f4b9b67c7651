//! Options of builds.

use std::path::PathBuf;

use crate::build::error::BuildError;

/// Build options. [`BuildOptions::from_env`] returns the options that users get.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BuildOptions {
    /// Ways to find a toolchain that the build skips. Each way has its number in the list of `wasm_target`. Tests use
    /// this option to exercise the remaining ways.
    pub skipped_ways: Vec<u8>,
    /// Folder for a toolchain that `installer` makes.
    pub toolchain_dir: PathBuf,
    /// Program that makes a Rust toolchain for Wasm if rustup is missing or fails. Only the user's environment names
    /// this program. If a project file could name it, building a foreign project could run any program.
    pub installer: Option<PathBuf>,
    /// Folder for the programs of languages other than Rust.
    pub tools_dir: PathBuf,
    /// True if the build may change lock files that exist, so that they match the plugin's manifest. A missing lock
    /// file is always written.
    pub update: bool,
}

impl BuildOptions {
    /// Reads the options from `LATCH_WASM_SKIP` (such as `"1 3"`), `LATCH_WASM_DIR`, `LATCH_WASM_INSTALLER` and
    /// `LATCH_TOOLS_DIR`.
    ///
    /// The two folders default to `latchwork/wasm-rust` and `latchwork/tools` in the user's cache folder.
    ///
    /// # Errors
    /// The user has no cache folder, because neither `XDG_CACHE_HOME` nor `HOME` is set. A folder that all users share
    /// is no substitute: another user could put programs into it.
    pub fn from_env() -> Result<Self, BuildError> {
        let var = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let skip = var("LATCH_WASM_SKIP").unwrap_or_default();
        let skip = skip.to_string_lossy().split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let cache = || match (var("XDG_CACHE_HOME"), var("HOME")) {
            (Some(cache), _) => Ok(PathBuf::from(cache)),
            (None, Some(home)) => Ok(PathBuf::from(home).join(".cache")),
            (None, None) => Err(BuildError::NoCacheFolder),
        };
        let named = |name: &str, default: &str| match var(name) {
            Some(path) => Ok(PathBuf::from(path)),
            None => Ok(cache()?.join(default)),
        };
        let toolchain_dir = named("LATCH_WASM_DIR", "latchwork/wasm-rust")?;
        let tools_dir = named("LATCH_TOOLS_DIR", "latchwork/tools")?;
        // Paths must be absolute, because the programs run in other working folders.
        let absolute = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
        Ok(Self {
            skipped_ways: skip,
            toolchain_dir,
            installer: var("LATCH_WASM_INSTALLER").map(|path| absolute(path.into())),
            tools_dir: absolute(tools_dir),
            update: false,
        })
    }
}
