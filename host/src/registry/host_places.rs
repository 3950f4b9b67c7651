//! Files and folders of the host that no plugin may reach through a granted folder.

use std::path::Path;

use latchwork_core::storage::Owner;

use crate::config::{Config, RealPath};

/// A file or folder that restricts the grants of folders.
pub(super) struct RestrictedPlace {
    /// Name of the place in a message.
    pub(super) what: String,
    pub(super) real: RealPath,
    /// True for a folder: a granted folder must not lie inside it either.
    pub(super) is_folder: bool,
    /// True if only writable grants are refused.
    pub(super) may_be_read: bool,
}

impl RestrictedPlace {
    pub(super) fn file(what: impl Into<String>, path: &Path) -> Self {
        Self { what: what.into(), real: RealPath::of(path), is_folder: false, may_be_read: false }
    }

    pub(super) fn folder(what: impl Into<String>, path: &Path) -> Self {
        Self { is_folder: true, ..Self::file(what, path) }
    }

    pub(super) fn readable(self) -> Self {
        Self { may_be_read: true, ..self }
    }
}

/// Returns the files and folders of the host itself.
pub(super) fn places(config: &Config) -> Vec<RestrictedPlace> {
    let mut places = Vec::new();
    places.extend(config.file.as_deref().map(|file| RestrictedPlace::file("configuration file", file)));
    let databases = [Some(&config.database), config.effect_store.as_ref()];
    for file in databases.into_iter().flatten().filter_map(|url| url.strip_prefix("sqlite://")) {
        // SQLite keeps its further files, such as the write-ahead log, in the folder of the file itself.
        let file = Path::new(file);
        places.push(RestrictedPlace::file("database", file));
        places.push(RestrictedPlace::folder("directory of the database's locks", &Owner::lock_dir(file)));
    }
    places.push(RestrictedPlace::folder("state directory", &config.state_dir));
    places.extend(config.cache_dir.iter().map(|dir| RestrictedPlace::folder("cache directory", dir)));
    places.extend(
        config.cache_secret_dir.iter().map(|dir| RestrictedPlace::folder("directory of the cache's secret", dir)),
    );
    places.extend(config.tools_dirs.iter().map(|dir| RestrictedPlace::folder("tools directory", dir)));
    places.extend(config.user_dirs.iter().map(|(what, dir)| RestrictedPlace::folder(*what, dir)));
    places.extend(std::env::current_exe().ok().map(|file| RestrictedPlace::file("running program", &file).readable()));
    places
}
