//! `latch plugin build`: a component from source, whatever its toolchain needs.
//!
//! A plugin's folder holds a recipe, `latch-plugin.toml`:
//!
//! ```toml
//! [plugin]
//! name = "mail"      # the component is build/mail.wasm
//! kind = "tool"      # or "step"
//! lang = "rust"      # or "js", "python", "c", "go": these have more keys, see `recipe`
//! ```
//!
//! The same Rust sources in the same place give the same component, to the byte: the environment's
//! compiler settings, which are meant for other programs, are not passed on. Paths of this machine
//! are kept out of it. (Elsewhere, cargo names a dependency outside of the workspace otherwise,
//! and the bytes differ.) JavaScript and Python components hold a snapshot of a running engine and
//! differ with each build: one is kept, and pinned by its digest, rather than built again.

mod c;
mod cargo;
mod debian;
mod encode;
mod error;
mod go;
mod init;
mod js;
mod layout;
mod new;
mod programs;
mod publish;
mod python;
mod real;
mod recipe;
mod room;
mod run;
mod sdk;
mod tools;
mod wasm_target;
mod world;

use std::fs::File;
use std::path::{Path, PathBuf};

use latchwork_core::ids::Hash;
use latchwork_core::manifest::PluginKind;

pub use error::BuildError;
pub use init::{Init, InitError, Made, suggested};
pub use new::{New, NewError};
pub use programs::{Need, Program, State, programs};
pub use recipe::{JsEngine, Lang, More, Problem, RECIPE, Recipe};
pub(crate) use sdk::interfaces;
pub use wasm_target::Toolchain;

use crate::units::size;

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
    /// Where the programs of other languages are kept.
    pub tools_dir: PathBuf,
}

impl Options {
    /// `LATCH_WASM_SKIP` (`"1 3"`), `LATCH_WASM_DIR` and `LATCH_TOOLS_DIR`; the latter two are
    /// `latchwork/wasm-rust` and `latchwork/tools` in the user's cache folder if they are not set.
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
        // Programs are started in folders of their own.
        let tools_dir = std::path::absolute(&tools_dir).unwrap_or(tools_dir);
        Self { skip, toolchain_dir, tools_dir }
    }
}

/// Where the component of a plugin's folder is, once it is built.
pub fn component_path(dir: &Path, recipe: &Recipe) -> PathBuf {
    dir.join("build").join(format!("{}.wasm", recipe.name))
}

/// Build the plugin in `dir` again, independently of the build before, and give the component: what is
/// in `build/` stays. Blocks.
pub fn again(dir: &Path, options: &Options, progress: &mut dyn FnMut(&str)) -> Result<Vec<u8>, BuildError> {
    let dir = std::path::absolute(dir).map_err(|source| BuildError::io("find", dir, source))?;
    let recipe = Recipe::read(&dir)?;
    let _alone = alone(&dir, progress)?;
    let made = make(&dir, &recipe, cargo::Folder::Another, options, progress)?;
    publish::content(&made, recipe.lang)
}

/// Two builds of a folder at the same time would write over each other's files: one waits. Held until the file
/// is dropped.
fn alone(dir: &Path, progress: &mut dyn FnMut(&str)) -> Result<File, BuildError> {
    let build = dir.join("build");
    std::fs::create_dir_all(&build).map_err(|source| BuildError::io("make", &build, source))?;
    let path = build.join(".lock");
    let failed = |source| BuildError::io("lock", &path, source);
    let file = File::options().create(true).truncate(false).write(true).open(&path).map_err(failed)?;
    if file.try_lock().is_err() {
        progress("another process builds this plugin; waiting for it");
        file.lock().map_err(failed)?;
    }
    Ok(file)
}

fn make(
    dir: &Path,
    recipe: &Recipe,
    folder: cargo::Folder,
    options: &Options,
    progress: &mut dyn FnMut(&str),
) -> Result<PathBuf, BuildError> {
    let made = match recipe.lang {
        Lang::Rust => cargo::build(dir, folder, options, progress),
        // These begin from nothing each time.
        Lang::Js => js::build(dir, recipe, options, progress),
        Lang::Python => python::build(dir, recipe, options, progress),
        Lang::C => c::build(dir, recipe, options, progress),
        Lang::Go => go::build(dir, recipe, options, progress),
    };
    made.map_err(|error| room::explained(error, dir, options))
}

/// Build the plugin in `dir`. `progress` is told what is done, line by line. Blocks.
pub fn build(dir: &Path, options: &Options, progress: &mut dyn FnMut(&str)) -> Result<Built, BuildError> {
    let dir = std::path::absolute(dir).map_err(|source| BuildError::io("find", dir, source))?;
    let recipe = Recipe::read(&dir)?;
    let _alone = alone(&dir, progress)?;
    let made = make(&dir, &recipe, cargo::Folder::Usual, options, progress)?;
    let built = publish::publish(&made, &component_path(&dir, &recipe), recipe)?;
    let how = if built.changed { "built" } else { "unchanged" };
    let size = size(usize::try_from(built.bytes).unwrap_or(usize::MAX));
    progress(&format!("{how}: {} ({size}, sha256:{})", built.wasm.display(), built.digest));
    Ok(built)
}
