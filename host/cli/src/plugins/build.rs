//! `latch plugin build`: builds components from source.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use latchwork::config::Config;
use latchwork_core::model::error_docs;
use latchwork_tooling::build;
use latchwork_tooling::build::{BuildError, BuildOptions, BuiltPlugin, RECIPE, Recipe};

use crate::context::CommandContext;
use crate::error::CliError;

/// Builds every configured plugin whose source is a folder with a recipe.
pub(crate) async fn build_configured(ctx: &CommandContext<'_>, config: &Config) -> anyhow::Result<Vec<BuiltPlugin>> {
    build_all(ctx, &configured_folders(config), LockFiles::Keep)
}

/// Returns the folders of all configured plugins that are built from source.
pub(crate) fn configured_folders(config: &Config) -> Vec<PathBuf> {
    folders(config.plugins().iter().map(|plugin| plugin.source.as_path()))
}

/// Handling of lock files that exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LockFiles {
    /// A lock file that does not match its manifest is refused.
    Keep,
    /// Lock files are changed so that they match their manifests.
    Update,
}

/// Returns the sources that are folders with a recipe, without duplicates. Two plugins may have the same folder.
fn folders<'p>(sources: impl Iterator<Item = &'p Path>) -> Vec<PathBuf> {
    let mut known = BTreeSet::new();
    sources.filter(|dir| dir.join(RECIPE).is_file() && known.insert(*dir)).map(Path::to_owned).collect()
}

pub(crate) fn build_all(
    ctx: &CommandContext<'_>,
    dirs: &[PathBuf],
    locks: LockFiles,
) -> anyhow::Result<Vec<BuiltPlugin>> {
    let options = BuildOptions::from_env().map_err(|error| build_error(ctx, error))?;
    let options = BuildOptions { update: locks == LockFiles::Update, ..options };
    let build = |(at, dir): (usize, &PathBuf)| {
        let left = match dirs.len() - at - 1 {
            0 => String::new(),
            left => format!(", {left} left"),
        };
        ctx.printer.note(format!("building {}{left}", display_folder(&ctx.cwd, dir)));
        // A build blocks this thread; other tasks run on other threads.
        tokio::task::block_in_place(|| build::build(dir, &options, &mut |line| ctx.printer.note(line)))
    };
    Ok(dirs.iter().enumerate().map(build).collect::<Result<Vec<_>, _>>().map_err(|error| build_error(ctx, error))?)
}

/// Builds a folder again and returns the component without storing it.
pub(crate) fn rebuild(ctx: &CommandContext<'_>, dir: &Path) -> anyhow::Result<Vec<u8>> {
    let options = BuildOptions::from_env().map_err(|error| build_error(ctx, error))?;
    let build = || build::rebuild(dir, &options, &mut |line| ctx.printer.note(line));
    Ok(tokio::task::block_in_place(build).map_err(|error| build_error(ctx, error))?)
}

pub(crate) fn build_error(ctx: &CommandContext<'_>, error: BuildError) -> CliError {
    if let Some(unwritten) = CliError::unwritable_build(&error) {
        return unwritten;
    }
    // An error for people leaves out the compiler output, because people have seen this output on stderr. An error for
    // programs is complete.
    let has_read = !ctx.json && ctx.printer.writes_for_people();
    let message = if has_read { error.brief() } else { error.to_string() };
    match error {
        // The build did not start, because the command names a wrong folder or the recipe is wrong.
        BuildError::NoRecipe(_) | BuildError::Recipe(_) => CliError::input(error_docs::PLUGIN_BUILD, message),
        BuildError::Source { .. } | BuildError::Sources(_) => CliError::input(error_docs::PLUGIN_SOURCES, message),
        BuildError::LockFile { .. } => CliError::input(error_docs::LOCK_FILE, message),
        BuildError::NoSdk { .. } => CliError::input(error_docs::PLUGIN_SDK, message),
        BuildError::Missing { .. } | BuildError::Install { .. } | BuildError::NoCacheFolder => {
            CliError::failed(error_docs::TOOLS_MISSING, message)
        }
        _ => CliError::failed(error_docs::PLUGIN_BUILD, message),
    }
}

/// Returns the path of a folder for display. The path of a folder below the working directory is relative. For the
/// working directory itself, returns the name of its plugin.
fn display_folder(cwd: &Path, dir: &Path) -> String {
    let below = dir.strip_prefix(cwd).unwrap_or(dir);
    if below.components().next().is_some() {
        return below.display().to_string();
    }
    match Recipe::read(dir) {
        Ok(recipe) => recipe.name,
        Err(_) => cwd.file_name().unwrap_or(cwd.as_os_str()).to_string_lossy().into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_two_plugins_is_built_once() {
        let parent = tempfile::tempdir().unwrap();
        let [b, a, none] = ["b", "a", "none"].map(|name| parent.path().join(name));
        for dir in [&b, &a, &none] {
            std::fs::create_dir(dir).unwrap();
        }
        for dir in [&b, &a] {
            std::fs::write(dir.join(RECIPE), "").unwrap();
        }
        let sources = [&b, &a, &none, &b];
        assert_eq!(folders(sources.into_iter().map(PathBuf::as_path)), [b.clone(), a.clone()]);
    }

    #[test]
    fn folder_is_named_from_any_working_directory() {
        let temp = tempfile::tempdir().unwrap();
        let dir = temp.path().join("folder");
        std::fs::create_dir(&dir).unwrap();
        assert_eq!(display_folder(temp.path(), &dir), "folder");
        assert_eq!(display_folder(&dir, &dir.join(".")), "folder");
        std::fs::write(dir.join(RECIPE), "[plugin]\nname = \"mail\"\nkind = \"tool\"\nlang = \"rust\"\n").unwrap();
        assert_eq!(display_folder(&dir, &dir.join(".")), "mail");
        assert_eq!(display_folder(temp.path(), &dir), "folder");
    }
}
