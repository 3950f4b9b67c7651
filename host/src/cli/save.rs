//! Writing files that a command was asked for: the whole file or none.

use std::fs::{File, OpenOptions, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use latchwork_core::pages;

use super::error::CliError;
use crate::files;

/// Who may read a file.
#[derive(Clone, Copy)]
pub(super) enum Readers {
    /// Its owner: it may hold payloads.
    Owner,
    /// Everyone whom the umask lets.
    Everyone,
}

/// Refuses a file that exists.
///
/// # Errors
/// `L0111` names the file.
pub(super) fn refuse_existing(path: &Path) -> Result<(), CliError> {
    match is_replaceable(path) {
        true => Err(exists(path)),
        false => Ok(()),
    }
}

/// Writes a file that does not exist yet.
///
/// # Errors
/// `L0111` if the file exists, also if it came to exist meanwhile: it stays as it is. `L0040` if it cannot be written.
pub(super) fn create(path: &Path, bytes: &[u8], readers: Readers) -> Result<(), CliError> {
    refuse_existing(path)?;
    write(path, bytes, readers, false)
}

/// Writes a file in place of the one that exists: readers see the old one or the new one.
///
/// # Errors
/// `L0040` if it cannot be written: the old file stays as it is.
pub(super) fn replace(path: &Path, bytes: &[u8], readers: Readers) -> Result<(), CliError> {
    write(path, bytes, readers, true)
}

fn write(path: &Path, bytes: &[u8], readers: Readers, replaces: bool) -> Result<(), CliError> {
    // A terminal, a pipe or /dev/null takes bytes and loses none that it had.
    if std::fs::metadata(path).is_ok_and(|meta| !meta.is_file() && !meta.is_dir()) {
        let written = OpenOptions::new().write(true).open(path).and_then(|mut file| file.write_all(bytes));
        return written.map_err(|error| CliError::unwritable(path, &error));
    }
    // Behind a symbolic link the file it points to is replaced, and not the link.
    let real = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = folder(&real);
    let permissions = match readers {
        Readers::Owner => Permissions::from_mode(0o600),
        Readers::Everyone => files::usual(),
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
        std::io::ErrorKind::AlreadyExists if !replaces => exists(path),
        _ => CliError::unwritable(path, &files::without_path(error)),
    })
}

/// The folder of a file.
pub(super) fn folder(path: &Path) -> PathBuf {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")).to_owned()
}

fn is_replaceable(path: &Path) -> bool {
    std::fs::metadata(path).map_or(path.is_symlink(), |meta| meta.is_file())
}

fn exists(path: &Path) -> CliError {
    let message =
        format!("{} exists and is left as it is: name another file, or replace it with --force", path.display());
    CliError::input(pages::OUTPUT_EXISTS, message)
}
