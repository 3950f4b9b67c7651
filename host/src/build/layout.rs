//! A plugin's folder: where its sources, its SDK and what is made on the way are.

use std::path::{Path, PathBuf};

use super::recipe::{RECIPE, Recipe};
use super::{BuildError, sdk};

/// The folder of one plugin.
pub(super) struct Layout<'a> {
    dir: &'a Path,
    recipe: &'a Recipe,
    /// Where everything that is made on the way goes; emptied first.
    pub(super) obj: PathBuf,
}

/// The layout of the plugin in `dir`.
pub(super) fn of<'a>(dir: &'a Path, recipe: &'a Recipe) -> Result<Layout<'a>, BuildError> {
    let obj = dir.join("build/.obj");
    if obj.exists() {
        std::fs::remove_dir_all(&obj).map_err(|error| BuildError::io("empty", &obj, error))?;
    }
    std::fs::create_dir_all(&obj).map_err(|error| BuildError::io("make", &obj, error))?;
    // Nothing of it is a source.
    sdk::put(&dir.join("build/.gitignore"), "*\n")?;
    Ok(Layout { dir, recipe, obj })
}

impl Layout<'_> {
    /// The file that the plugin begins with.
    pub(super) fn main(&self) -> Result<PathBuf, BuildError> {
        let main = self.dir.join(&self.recipe.more.main);
        match main.is_file() {
            true => Ok(main),
            false => Err(BuildError::Source {
                place: format!("{}: plugin.main", self.dir.join(RECIPE).display()),
                message: format!("there is no {}", main.display()),
            }),
        }
    }

    /// The SDK's folder, which holds `file`.
    pub(super) fn sdk(&self, file: &str) -> Result<PathBuf, BuildError> {
        let sdk = self.dir.join(&self.recipe.more.sdk);
        let sdk = std::fs::canonicalize(&sdk).unwrap_or(sdk);
        match sdk.join(file).is_file() {
            true => Ok(sdk),
            false => Err(BuildError::NoSdk { dir: sdk, lang: self.recipe.lang.word() }),
        }
    }
}
