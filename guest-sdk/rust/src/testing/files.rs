//! Granted directories of the test host, on the file system of this machine.

use std::fs;
use std::io::{self, Write as _};
use std::path::PathBuf;

use super::current;
use crate::data::fs::{Entry, Error, ErrorKind, Kind, find_grant};

fn error(error: &io::Error, path: &str, writing: bool) -> Error {
    let kind = match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => ErrorKind::NotFound,
        io::ErrorKind::AlreadyExists => ErrorKind::AlreadyExists,
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => ErrorKind::Denied,
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => ErrorKind::NoSpace,
        _ => ErrorKind::Other,
    };
    Error::new(kind, path, writing, error.to_string())
}

fn granted_path(path: &str, writing: bool) -> Result<PathBuf, Error> {
    let host = current();
    match find_grant(host.dirs.iter().map(|(guest, _)| guest), path) {
        Some((index, rest)) => Ok(host.dirs[index].1.join(rest)),
        None => Err(Error::new(ErrorKind::NotGranted, path, writing, "no granted directory contains this path")),
    }
}

pub(crate) fn read(path: &str, limit: usize) -> Result<Vec<u8>, Error> {
    let content = fs::read(granted_path(path, false)?).map_err(|e| error(&e, path, false))?;
    if content.len() > limit {
        return Err(Error::new(ErrorKind::TooLarge, path, false, format!("is larger than {limit} bytes")));
    }
    Ok(content)
}

pub(crate) fn create_new(path: &str, content: &[u8]) -> Result<(), Error> {
    let place = granted_path(path, true)?;
    fs::File::create_new(place).and_then(|mut file| file.write_all(content)).map_err(|e| error(&e, path, true))
}

pub(crate) fn rename(from: &str, to: &str) -> Result<(), Error> {
    fs::rename(granted_path(from, true)?, granted_path(to, true)?).map_err(|e| error(&e, to, true))
}

pub(crate) fn link(from: &str, to: &str) -> Result<(), Error> {
    fs::hard_link(granted_path(from, true)?, granted_path(to, true)?).map_err(|e| error(&e, to, true))
}

pub(crate) fn remove(path: &str) -> Result<(), Error> {
    fs::remove_file(granted_path(path, true)?).map_err(|e| error(&e, path, true))
}

pub(crate) fn create_dir(path: &str) -> Result<(), Error> {
    fs::create_dir(granted_path(path, true)?).map_err(|e| error(&e, path, true))
}

pub(crate) fn list(path: &str) -> Result<Vec<Entry>, Error> {
    let place = granted_path(path, false)?;
    let entries = fs::read_dir(place).and_then(|entries| {
        entries
            .map(|entry| {
                let entry = entry?;
                let kind = match entry.file_type()? {
                    kind if kind.is_file() => Kind::File,
                    kind if kind.is_dir() => Kind::Directory,
                    _ => Kind::Other,
                };
                Ok(Entry { name: entry.file_name().to_string_lossy().into_owned(), kind })
            })
            .collect()
    });
    entries.map_err(|e| error(&e, path, false))
}

pub(crate) fn exists(path: &str) -> Result<bool, Error> {
    granted_path(path, false)?.try_exists().map_err(|e| error(&e, path, false))
}
