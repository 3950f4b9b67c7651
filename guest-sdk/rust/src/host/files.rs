//! File operations through WASI 0.2.

use wasip2::filesystem::preopens::get_directories;
use wasip2::filesystem::types::{Descriptor, DescriptorFlags, DescriptorType, ErrorCode, OpenFlags, PathFlags};

use crate::data::fs::{Entry, Error, ErrorKind, Kind, find_grant};

/// Maximum number of bytes per WASI read or write.
const CHUNK: u64 = 64 * 1024;

fn error(code: ErrorCode, path: &str, writing: bool) -> Error {
    let kind = match code {
        ErrorCode::NoEntry | ErrorCode::NotDirectory => ErrorKind::NotFound,
        ErrorCode::Exist => ErrorKind::AlreadyExists,
        ErrorCode::Access | ErrorCode::NotPermitted | ErrorCode::ReadOnly => ErrorKind::Denied,
        ErrorCode::InsufficientSpace | ErrorCode::Quota => ErrorKind::NoSpace,
        ErrorCode::FileTooLarge => ErrorKind::TooLarge,
        _ => ErrorKind::Other,
    };
    Error::new(kind, path, writing, code.message())
}

fn granted(path: &str, writing: bool) -> Result<(Descriptor, &str), Error> {
    let mut directories = get_directories();
    match find_grant(directories.iter().map(|(_, guest)| guest), path) {
        Some((index, rest)) => Ok((directories.swap_remove(index).0, rest)),
        None => {
            let known: Vec<_> = directories.iter().map(|(_, guest)| guest.as_str()).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            Err(Error::new(
                ErrorKind::NotGranted,
                path,
                writing,
                format!("no granted directory contains this path (granted: {known})"),
            ))
        }
    }
}

/// Flushes the parent directory of `rest`, so that a created, moved or removed name survives a crash.
fn sync_parent(directory: &Descriptor, rest: &str, path: &str) -> Result<(), Error> {
    let parent = rest.rsplit_once('/').map_or(".", |(parent, _)| parent);
    let opened = directory
        .open_at(PathFlags::empty(), parent, OpenFlags::DIRECTORY, DescriptorFlags::READ)
        .map_err(|code| error(code, path, true))?;
    match opened.sync() {
        // Ignores the error of a file system that cannot flush a directory.
        Ok(()) | Err(ErrorCode::Unsupported | ErrorCode::Invalid | ErrorCode::BadDescriptor) => Ok(()),
        Err(code) => Err(error(code, path, true)),
    }
}

pub(crate) fn read(path: &str, limit: usize) -> Result<Vec<u8>, Error> {
    let (directory, rest) = granted(path, false)?;
    let file = directory
        .open_at(PathFlags::empty(), rest, OpenFlags::empty(), DescriptorFlags::READ)
        .map_err(|code| error(code, path, false))?;
    let mut content = Vec::new();
    loop {
        let (bytes, end) = file.read(CHUNK, content.len() as u64).map_err(|code| error(code, path, false))?;
        content.extend_from_slice(&bytes);
        if content.len() > limit {
            return Err(Error::new(ErrorKind::TooLarge, path, false, format!("is larger than {limit} bytes")));
        }
        if end || bytes.is_empty() {
            return Ok(content);
        }
    }
}

pub(crate) fn create_new(path: &str, content: &[u8]) -> Result<(), Error> {
    let (directory, rest) = granted(path, true)?;
    let fail = |code| error(code, path, true);
    let flags = OpenFlags::CREATE | OpenFlags::EXCLUSIVE;
    let file = directory.open_at(PathFlags::empty(), rest, flags, DescriptorFlags::WRITE).map_err(fail)?;
    let mut written = 0;
    while written < content.len() {
        let end = content.len().min(written + CHUNK as usize);
        let count = file.write(&content[written..end], written as u64).map_err(fail)?;
        if count == 0 {
            return Err(Error::new(ErrorKind::NoSpace, path, true, "the host wrote 0 bytes"));
        }
        written += count as usize;
    }
    file.sync().map_err(fail)?;
    sync_parent(&directory, rest, path)
}

pub(crate) fn rename(from: &str, to: &str) -> Result<(), Error> {
    let (old_directory, old) = granted(from, true)?;
    let (new_directory, new) = granted(to, true)?;
    old_directory.rename_at(old, &new_directory, new).map_err(|code| error(code, to, true))?;
    sync_parent(&new_directory, new, to)
}

pub(crate) fn link(from: &str, to: &str) -> Result<(), Error> {
    let (old_directory, old) = granted(from, true)?;
    let (new_directory, new) = granted(to, true)?;
    old_directory.link_at(PathFlags::empty(), old, &new_directory, new).map_err(|code| error(code, to, true))?;
    sync_parent(&new_directory, new, to)
}

pub(crate) fn remove(path: &str) -> Result<(), Error> {
    let (directory, rest) = granted(path, true)?;
    directory.unlink_file_at(rest).map_err(|code| error(code, path, true))?;
    sync_parent(&directory, rest, path)
}

pub(crate) fn create_dir(path: &str) -> Result<(), Error> {
    let (directory, rest) = granted(path, true)?;
    directory.create_directory_at(rest).map_err(|code| error(code, path, true))?;
    sync_parent(&directory, rest, path)
}

pub(crate) fn list(path: &str) -> Result<Vec<Entry>, Error> {
    let (directory, rest) = granted(path, false)?;
    let fail = |code| error(code, path, false);
    let opened =
        directory.open_at(PathFlags::empty(), rest, OpenFlags::DIRECTORY, DescriptorFlags::READ).map_err(fail)?;
    let stream = opened.read_directory().map_err(fail)?;
    let mut entries = Vec::new();
    while let Some(entry) = stream.read_directory_entry().map_err(fail)? {
        let kind = match entry.type_ {
            DescriptorType::RegularFile => Kind::File,
            DescriptorType::Directory => Kind::Directory,
            _ => Kind::Other,
        };
        entries.push(Entry { name: entry.name, kind });
    }
    Ok(entries)
}

pub(crate) fn exists(path: &str) -> Result<bool, Error> {
    let (directory, rest) = granted(path, false)?;
    match directory.stat_at(PathFlags::empty(), rest) {
        Ok(_) => Ok(true),
        Err(ErrorCode::NoEntry | ErrorCode::NotDirectory) => Ok(false),
        Err(code) => Err(error(code, path, false)),
    }
}
