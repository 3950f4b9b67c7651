//! Writes output files of commands. A file is written completely or not at all.

use std::fs::{File, OpenOptions, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use latchwork_core::model::error_docs;
use latchwork_engine::os::temp_files;

use crate::error::CliError;

/// Readers of a file.
#[derive(Clone, Copy)]
pub(crate) enum FileReaders {
    /// Only the owner, because the file may hold payloads.
    Owner,
    /// All users that the umask permits.
    Everyone,
}

/// Refuses a path at which a file exists.
///
/// # Errors
/// Returns `L0111` with the path if the file exists.
pub(crate) fn refuse_existing(path: &Path) -> Result<(), CliError> {
    match is_replaceable(path) {
        true => Err(exists_error(path)),
        false => Ok(()),
    }
}

/// Writes a file that must not exist yet.
///
/// # Errors
/// `L0111` if the file exists, even if another process has just created it. The existing file is unchanged.
/// `L0040` if the file cannot be written.
pub(crate) fn create(path: &Path, bytes: &[u8], readers: FileReaders) -> Result<(), CliError> {
    refuse_existing(path)?;
    write(path, bytes, readers, false)
}

/// Writes a file and replaces an existing file atomically. Readers see either the old or the new content.
///
/// # Errors
/// `L0040` if the file cannot be written. The old file is then unchanged.
pub(crate) fn replace(path: &Path, bytes: &[u8], readers: FileReaders) -> Result<(), CliError> {
    write(path, bytes, readers, true)
}

fn write(path: &Path, bytes: &[u8], readers: FileReaders, replaces: bool) -> Result<(), CliError> {
    // Writes directly to a terminal, a pipe or /dev/null, because no data is overwritten there.
    if std::fs::metadata(path).is_ok_and(|meta| !meta.is_file() && !meta.is_dir()) {
        let written = OpenOptions::new().write(true).open(path).and_then(|mut file| file.write_all(bytes));
        return written.map_err(|error| CliError::unwritable(path, &error));
    }
    // Replaces the target file of a symbolic link, not the link.
    let real = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = folder(&real);
    let permissions = match readers {
        FileReaders::Owner => Permissions::from_mode(0o600),
        FileReaders::Everyone => temp_files::default_permissions(),
    };
    let mut builder = tempfile::Builder::new();
    let made = builder.prefix(".new-").permissions(permissions).tempfile_in(&folder);
    let written = made.and_then(|mut file| {
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        let kept = if replaces { file.persist(&real) } else { file.persist_noclobber(&real) };
        kept.map_err(|error| error.error)?;
        File::open(&folder)?.sync_all()
    });
    written.map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists if !replaces => exists_error(path),
        _ => CliError::unwritable(path, &temp_files::without_path(error)),
    })
}

/// Returns the folder of a file.
pub(crate) fn folder(path: &Path) -> PathBuf {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")).to_owned()
}

fn is_replaceable(path: &Path) -> bool {
    std::fs::metadata(path).map_or(path.is_symlink(), |meta| meta.is_file())
}

fn exists_error(path: &Path) -> CliError {
    let message =
        format!("{} already exists and is unchanged: name another file, or replace it with --force", path.display());
    CliError::input(error_docs::OUTPUT_EXISTS, message)
}
