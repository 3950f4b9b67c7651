//! Checks of the path of a file, and the lock of opening.

use std::fs::File;
use std::path::{Path, PathBuf};

use latchwork_core::storage::StoreError;

use crate::os::{file_lock, private_files};

/// Checks that a file exists at `path` or can be created there.
pub(crate) fn check_path(path: &Path, create: bool) -> Result<(), StoreError> {
    match std::fs::metadata(path) {
        Ok(meta) if meta.is_dir() => {
            Err(StoreError::Unavailable("it is a directory: use a file in it, such as latch.db".to_owned()))
        }
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && create => {
            let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty());
            match dir {
                Some(dir) if !dir.is_dir() => Err(StoreError::Unavailable(format!(
                    "its directory {} does not exist: create it, or use another file",
                    dir.display()
                ))),
                _ => Ok(()),
            }
        }
        Err(error) => Err(StoreError::Unavailable(format!("cannot open it: {error}"))),
    }
}

/// Creates the file of a database before SQLite does. SQLite would give the file the default mode of the process.
/// SQLite gives the other files of the database the mode of this file.
pub(crate) fn create_database_file(path: &Path) -> Result<(), StoreError> {
    let created = private_files::open_file(path);
    created.map(drop).map_err(|error| StoreError::Unavailable(format!("cannot create it: {error}")))
}

/// Takes the lock of opening a database. The lock is held until the returned file is dropped.
pub(crate) async fn lock_opening(dir: PathBuf) -> Result<File, StoreError> {
    let take = move || {
        private_files::create_directory(&dir)?;
        file_lock::exclusive(&dir.join("open.lock"))
    };
    let taken: std::io::Result<File> =
        tokio::task::spawn_blocking(take).await.map_err(|error| StoreError::Unavailable(error.to_string()))?;
    taken.map_err(|error| StoreError::Unavailable(format!("cannot lock the directory beside it: {error}")))
}
