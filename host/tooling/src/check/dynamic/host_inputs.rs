//! Inputs of the comparisons with another build of the same sources and with another process.

use std::path::PathBuf;

/// Another build of the same sources.
pub struct RebuiltComponent {
    /// Bytes of the component.
    pub bytes: Vec<u8>,
}

/// Command line of the other process that runs the cases.
#[derive(Clone, Debug)]
pub struct OtherProcess {
    /// Path of this program.
    pub program: PathBuf,
    /// Arguments with which the program calls [`serve`](crate::check::dynamic::serve).
    pub args: Vec<String>,
    /// Path of the component.
    pub wasm: PathBuf,
    /// Directory of the cache of compiled code.
    pub cache_dir: Option<PathBuf>,
    /// Directory of the secret of this cache. `None` if it is the cache directory itself.
    pub cache_secret_dir: Option<PathBuf>,
}
