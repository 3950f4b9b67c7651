//! Files and directories that only this user can read. Databases hold the payloads of all tenants and the secrets of
//! jobs.
//!
//! Modes are set when a file is created. An administrator may change them, for example for a group of approvers. The
//! mode of the process (`umask`) stays as it is, because it also applies to the files of tools.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

const FILE_MODE: u32 = 0o600;
const DIRECTORY_MODE: u32 = 0o700;

/// Creates the directory and its missing parents.
pub(crate) fn create_directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(DIRECTORY_MODE).create(path)
}

/// Creates the file, or empties it.
pub(crate) fn create_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(true).mode(FILE_MODE).open(path)
}

/// Opens the file for reading and writing. Creates it if it is missing.
pub(crate) fn open_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(FILE_MODE).open(path)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// I205.
    #[test]
    fn new_files_are_private_and_existing_ones_keep_their_mode() {
        let temp = tempfile::tempdir().unwrap();
        let (dir, file) = (temp.path().join("a/b"), temp.path().join("a/b/c"));
        create_directory(&dir).unwrap();
        create_file(&file).unwrap();
        open_file(&dir.join("d")).unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o7777;
        assert_eq!((mode(&temp.path().join("a")), mode(&dir)), (0o700, 0o700));
        assert_eq!((mode(&file), mode(&dir.join("d"))), (0o600, 0o600));
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o660)).unwrap();
        create_file(&file).unwrap();
        open_file(&file).unwrap();
        create_directory(&dir).unwrap();
        assert_eq!(mode(&file), 0o660);
    }
}
