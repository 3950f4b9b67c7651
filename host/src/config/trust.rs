//! Trust in a configuration file that the user did not name. The file grants plugins access to this machine, with the
//! rights of the user.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use latchwork_core::model::error_docs;

use crate::config::TRUST_VARIABLE;
use crate::config::problem::{ConfigErrors, ConfigProblem, SettingSource};

/// A configuration file, and the way in which it was found.
pub(super) struct FoundConfig {
    pub(super) path: PathBuf,
    pub(super) by: FoundBy,
}

/// Way in which a configuration file was found.
pub(super) enum FoundBy {
    /// A flag or a variable names the file.
    Name,
    /// The file is in the working directory or in the folder of the plan.
    Folder,
    /// The file is above this folder.
    SearchAbove(PathBuf),
}

/// Returns the foreign owner of the configuration: a user other than this user and the administrator of the machine.
/// The function checks the file, the link that leads to the file, and the folder of the link. Relative paths of the
/// file start at the folder of the link.
fn foreign_owner(path: &Path) -> Option<u32> {
    let me = rustix::process::geteuid().as_raw();
    let folder = path.parent().unwrap_or(path);
    let owners = [std::fs::symlink_metadata(path), std::fs::metadata(path), std::fs::metadata(folder)];
    let owners = owners.into_iter().flatten().map(|about| about.uid());
    owners.into_iter().find(|owner| *owner != me && *owner != 0)
}

/// Refuses a file that the user has not named, if it is above the folder of the search or belongs to another user.
pub(super) fn check(found: &FoundConfig, env: &dyn Fn(&str) -> Option<String>) -> Result<(), ConfigErrors> {
    if env(TRUST_VARIABLE).as_deref() == Some("1") {
        return Ok(());
    }
    let why = match &found.by {
        FoundBy::Name => return Ok(()),
        FoundBy::SearchAbove(folder) => format!("it is above {}, where the search began", folder.display()),
        FoundBy::Folder => match foreign_owner(&found.path) {
            Some(owner) => format!("it, or its folder, belongs to the user with the number {owner}"),
            None => return Ok(()),
        },
    };
    let path = found.path.display();
    let message = format!(
        "this configuration is not used before you trust it, because {why}: add `--config {path}`, or set \
         {TRUST_VARIABLE}=1"
    );
    let (origin, code) = (SettingSource::WholeFile(found.path.clone()), error_docs::CONFIG_UNTRUSTED);
    Err(ConfigErrors(vec![ConfigProblem { origin, key: String::new(), code, message }]))
}
