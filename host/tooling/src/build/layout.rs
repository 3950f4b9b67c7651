//! Layout of a plugin's folder: sources, SDK and intermediate files.

use std::path::{Path, PathBuf};

use crate::build::error::BuildError;
use crate::build::recipe::{RECIPE, Recipe};
use crate::build::sdk;

/// The folder of one plugin.
pub(super) struct PluginLayout<'a> {
    dir: &'a Path,
    recipe: &'a Recipe,
    /// Folder for all intermediate files. Each build empties the folder first.
    pub(super) obj: PathBuf,
}

/// Refuses a link in a place that a build writes to. A link could lead out of the project.
pub(super) fn refuse_link(path: &Path) -> Result<(), BuildError> {
    if !path.is_symlink() {
        return Ok(());
    }
    Err(BuildError::Source {
        place: path.display().to_string(),
        message: "it is a link: remove it, because a build writes here".to_owned(),
    })
}

/// Returns the layout of the plugin in `dir`, with an empty folder for intermediate files.
pub(super) fn prepare<'a>(dir: &'a Path, recipe: &'a Recipe) -> Result<PluginLayout<'a>, BuildError> {
    let obj = dir.join("build/.obj");
    let ignore = dir.join("build/.gitignore");
    refuse_link(&obj)?;
    refuse_link(&ignore)?;
    if obj.exists() {
        std::fs::remove_dir_all(&obj).map_err(|error| BuildError::io("empty", &obj, error))?;
    }
    std::fs::create_dir_all(&obj).map_err(|error| BuildError::io("make", &obj, error))?;
    // Keeps the content of `build/` out of git.
    sdk::write_file(&ignore, "*\n")?;
    Ok(PluginLayout { dir, recipe, obj })
}

impl PluginLayout<'_> {
    /// Returns the plugin's main source file.
    pub(super) fn main_file(&self) -> Result<PathBuf, BuildError> {
        let main = self.dir.join(&self.recipe.settings.main);
        match main.is_file() {
            true => Ok(main),
            false => Err(BuildError::Source {
                place: format!("{}: plugin.main", self.dir.join(RECIPE).display()),
                message: format!("{} does not exist", main.display()),
            }),
        }
    }

    /// Returns the SDK's folder, which must contain `file`.
    pub(super) fn sdk_dir(&self, file: &str) -> Result<PathBuf, BuildError> {
        let sdk = self.dir.join(&self.recipe.settings.sdk);
        let sdk = std::fs::canonicalize(&sdk).unwrap_or(sdk);
        match sdk.join(file).is_file() {
            true => Ok(sdk),
            false => Err(BuildError::NoSdk { dir: sdk, lang: self.recipe.lang.as_str() }),
        }
    }
}
