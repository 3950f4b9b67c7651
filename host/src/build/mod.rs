//! `latch plugin build`: a component from source, whatever its toolchain needs.
//!
//! A plugin's folder holds a recipe, `latch-plugin.toml`:
//!
//! ```toml
//! [plugin]
//! name = "mail"      # the component is build/mail.wasm
//! kind = "tool"      # or "step"
//! lang = "rust"
//! ```
//!
//! The same sources in the same place give the same component, to the byte: the environment's
//! compiler settings, which are meant for other programs, are not passed on. Paths of this machine
//! are kept out of it. (Elsewhere, cargo names a dependency outside of the workspace otherwise,
//! and the bytes differ.)

mod cargo;
mod debian;
mod error;
mod publish;
mod recipe;
mod run;
mod wasm_target;

use std::path::{Path, PathBuf};

use latchwork_core::ids::Hash;
use latchwork_core::manifest::PluginKind;

pub use error::BuildError;
pub use recipe::{Lang, Problem, RECIPE, Recipe};
pub use wasm_target::Toolchain;

/// A component that was built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Built {
    /// The plugin's name in its recipe.
    pub name: String,
    /// What the recipe says it is.
    pub kind: PluginKind,
    /// The component.
    pub wasm: PathBuf,
    /// SHA-256 of the component.
    pub digest: Hash,
    /// Size of the component in bytes.
    pub bytes: u64,
    /// Whether it differs from what was there before.
    pub changed: bool,
}

/// How to build; [`Options::from_env`] is what users get.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Ways to a Wasm target to leave out, by their numbers in `wasm_target`: to test the others.
    pub skip: Vec<u8>,
    /// Where a toolchain of our own making is kept.
    pub toolchain_dir: PathBuf,
}

impl Options {
    /// `LATCH_WASM_SKIP` (`"1 3"`) and `LATCH_WASM_DIR`; the latter is `latchwork/wasm-rust` in the
    /// user's cache folder if it is not set.
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
        Self { skip, toolchain_dir }
    }
}

/// Where the component of a plugin's folder is, once it is built.
pub fn component_path(dir: &Path, recipe: &Recipe) -> PathBuf {
    dir.join("build").join(format!("{}.wasm", recipe.name))
}

/// Build the plugin in `dir`. `progress` is told what is done, line by line. Blocks.
pub fn build(dir: &Path, options: &Options, progress: &mut dyn FnMut(&str)) -> Result<Built, BuildError> {
    let dir = std::path::absolute(dir).map_err(|source| BuildError::io("find", dir, source))?;
    let recipe = Recipe::read(&dir)?;
    let made = match recipe.lang {
        Lang::Rust => cargo::build(&dir, options, progress)?,
    };
    let built = publish::publish(&made, &component_path(&dir, &recipe), recipe)?;
    let how = if built.changed { "built" } else { "unchanged" };
    progress(&format!("{how}: {} ({} KiB, sha256:{})", built.wasm.display(), built.bytes.div_ceil(1024), built.digest));
    Ok(built)
}
