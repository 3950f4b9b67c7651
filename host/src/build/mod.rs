//! `latch plugin build`: builds a component from source and obtains the toolchain that its language needs.
//!
//! A plugin's folder contains a recipe, `latch-plugin.toml`:
//!
//! ```toml
//! [plugin]
//! name = "mail"      # the component is build/mail.wasm
//! kind = "tool"      # or "step"
//! lang = "rust"      # or "js", "python", "c", "go": these have more keys, see `recipe`
//! ```
//!
//! Rust sources in the same folder always produce the same component, byte for byte. Compiler settings in the
//! environment are meant for other builds, so the build ignores them. The component contains no paths of this machine.
//! In another folder the bytes may differ, because cargo then names a dependency outside the workspace differently.
//!
//! JavaScript and Python components contain a snapshot of a running engine. The snapshot differs with each build. Keep
//! such a component and pin it by its digest instead of building it again.

mod c;
mod cargo;
mod debian;
mod disk_space;
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
mod real_imports;
mod recipe;
mod run;
mod sdk;
mod tools;
mod wasm_target;
mod world;

use std::fs::File;
use std::path::{Path, PathBuf};

use latchwork_core::model::ids::Hash;
use latchwork_core::model::manifest::PluginKind;

use crate::units::size;

pub use error::BuildError;
pub use init::{CreatedProject, InitError, NewProject, suggested_language};
pub use new::{NewError, NewPlugin};
pub use programs::{BuildKind, Program, ProgramState, programs};
pub use recipe::{JsEngine, Lang, LanguageSettings, RECIPE, Recipe, RecipeProblem};
pub(crate) use sdk::interfaces;
pub use wasm_target::Toolchain;

/// A component that was built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuiltPlugin {
    /// The plugin's name in its recipe.
    pub name: String,
    /// Kind of the plugin in its recipe.
    pub kind: PluginKind,
    /// Path of the component.
    pub wasm: PathBuf,
    /// SHA-256 of the component.
    pub digest: Hash,
    /// Size of the component in bytes.
    pub bytes: u64,
    /// True if the component differs from the one that the previous build left at this path.
    pub changed: bool,
}

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

/// Returns the path at which the component of a plugin's folder is published.
pub fn component_path(dir: &Path, recipe: &Recipe) -> PathBuf {
    dir.join("build").join(format!("{}.wasm", recipe.name))
}

/// Builds the plugin in `dir` independently of the previous build and returns the component. The component in
/// `build/` is not changed. Blocks the thread.
pub fn rebuild(dir: &Path, options: &BuildOptions, progress: &mut dyn FnMut(&str)) -> Result<Vec<u8>, BuildError> {
    let dir = std::path::absolute(dir).map_err(|source| BuildError::io("find", dir, source))?;
    let recipe = Recipe::read(&dir)?;
    let _alone = lock_folder(&dir, progress)?;
    let made = build_component(&dir, &recipe, cargo::TargetFolder::Separate, options, progress)?;
    publish::read_component(&made, recipe.lang)
}

/// Locks the folder's builds until the returned file is dropped. Two concurrent builds of a folder would overwrite each
/// other's files. The second build therefore waits for the first.
fn lock_folder(dir: &Path, progress: &mut dyn FnMut(&str)) -> Result<File, BuildError> {
    let build = dir.join("build");
    std::fs::create_dir_all(&build).map_err(|source| BuildError::io("make", &build, source))?;
    let path = build.join(".lock");
    let failed = |source| BuildError::io("lock", &path, source);
    let file = File::options().create(true).truncate(false).write(true).open(&path).map_err(failed)?;
    if file.try_lock().is_err() {
        progress("another process is building this plugin; waiting for it to finish");
        file.lock().map_err(failed)?;
    }
    Ok(file)
}

fn build_component(
    dir: &Path,
    recipe: &Recipe,
    folder: cargo::TargetFolder,
    options: &BuildOptions,
    progress: &mut dyn FnMut(&str),
) -> Result<PathBuf, BuildError> {
    let made = match recipe.lang {
        Lang::Rust => cargo::build(dir, folder, options, progress),
        // Builds of these languages never reuse earlier results.
        Lang::Js => js::build(dir, recipe, options, progress),
        Lang::Python => python::build(dir, recipe, options, progress),
        Lang::C => c::build(dir, recipe, options, progress),
        Lang::Go => go::build(dir, recipe, options, progress),
    };
    made.map_err(|error| crate::build::disk_space::with_unwritable_folder(error, dir, options))
}

/// Builds the plugin in `dir`. Calls `progress` with one line for each action. Blocks the thread.
pub fn build(dir: &Path, options: &BuildOptions, progress: &mut dyn FnMut(&str)) -> Result<BuiltPlugin, BuildError> {
    let dir = std::path::absolute(dir).map_err(|source| BuildError::io("find", dir, source))?;
    let recipe = Recipe::read(&dir)?;
    let _alone = lock_folder(&dir, progress)?;
    let made = build_component(&dir, &recipe, cargo::TargetFolder::Default, options, progress)?;
    let built = publish::publish(&made, &component_path(&dir, &recipe), recipe)?;
    let how = if built.changed { "built" } else { "unchanged" };
    let size = size(usize::try_from(built.bytes).unwrap_or(usize::MAX));
    progress(&format!("{how}: {} ({size}, sha256:{})", built.wasm.display(), built.digest));
    Ok(built)
}
