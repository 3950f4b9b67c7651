//! Builds the plugin of a folder.

use std::fs::File;
use std::path::{Path, PathBuf};

use crate::build::error::BuildError;
use crate::build::options::BuildOptions;
use crate::build::publish::BuiltPlugin;
use crate::build::recipe::{Lang, RECIPE, Recipe};
use crate::build::{c, cargo, disk_space, go, js, layout, publish, python};
use crate::units::size;

/// Returns the path at which the component of a plugin's folder is published.
pub fn component_path(dir: &Path, recipe: &Recipe) -> PathBuf {
    dir.join("build").join(format!("{}.wasm", recipe.name))
}

/// Returns the component of a configured source: the source itself or, for a folder with a recipe, the component that is
/// published in the folder. Returns `None` if the recipe cannot be read.
pub fn component_of(source: &Path) -> Option<PathBuf> {
    match source.join(RECIPE).is_file() {
        true => Some(component_path(source, &Recipe::read(source).ok()?)),
        false => Some(source.to_owned()),
    }
}

/// Builds the plugin in `dir` without reuse of the previous build, and returns the component's bytes. Does not publish
/// the component, so the file in `build/` is unchanged. Blocks the thread.
pub fn rebuild(dir: &Path, options: &BuildOptions, progress: &mut dyn FnMut(&str)) -> Result<Vec<u8>, BuildError> {
    let dir = std::path::absolute(dir).map_err(|source| BuildError::io("find", dir, source))?;
    let recipe = Recipe::read(&dir)?;
    let _alone = lock_folder(&dir, progress)?;
    let made = build_component(&dir, &recipe, cargo::TargetFolder::Separate, options, progress)?;
    publish::read_component(&made, recipe.lang)
}

/// Locks the folder for builds until the returned file is dropped. A second build waits, because two concurrent builds
/// of a folder would overwrite each other's files.
fn lock_folder(dir: &Path, progress: &mut dyn FnMut(&str)) -> Result<File, BuildError> {
    let build = dir.join("build");
    layout::refuse_link(&build)?;
    layout::refuse_link(&build.join(".lock"))?;
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
        Lang::C => c::build(dir, recipe, folder, options, progress),
        // Builds of these languages never reuse earlier results.
        Lang::Js => js::build(dir, recipe, options, progress),
        Lang::Python => python::build(dir, recipe, options, progress),
        Lang::Go => go::build(dir, recipe, options, progress),
    };
    made.map_err(|error| disk_space::with_unwritable_folder(error, dir, options))
}

/// Builds the plugin in `dir`. Calls `progress` with one line for each action. Blocks the thread.
pub fn build(dir: &Path, options: &BuildOptions, progress: &mut dyn FnMut(&str)) -> Result<BuiltPlugin, BuildError> {
    let dir = std::path::absolute(dir).map_err(|source| BuildError::io("find", dir, source))?;
    let recipe = Recipe::read(&dir)?;
    let _alone = lock_folder(&dir, progress)?;
    let place = component_path(&dir, &recipe);
    layout::refuse_link(&place)?;
    let made = build_component(&dir, &recipe, cargo::TargetFolder::Default, options, progress)?;
    let built = publish::publish(&made, &place, recipe)?;
    let how = if built.changed { "built" } else { "unchanged" };
    let size = size(usize::try_from(built.bytes).unwrap_or(usize::MAX));
    progress(&format!("{how}: {} ({size}, sha256:{})", built.wasm.display(), built.digest));
    Ok(built)
}
