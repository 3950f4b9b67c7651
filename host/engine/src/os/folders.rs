//! Opens folders and files without following links, so that a guest cannot redirect an access by making a link.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, openat, statat};
use rustix::io::Errno;

/// Opens a folder by an absolute path. Links in the path are followed once, at the beginning. If a part of the path is
/// replaced by a link in the meantime, opening fails.
pub fn open_folder(path: &Path) -> io::Result<OwnedFd> {
    let real = path.canonicalize()?;
    let root = rustix::fs::open("/", folder_flags(), Mode::empty())?;
    descend(root, real.strip_prefix("/").unwrap_or(&real))
}

/// Opens a regular file below a folder for reading. Returns `None` for anything else that has this name. Opening a pipe
/// does not block.
///
/// # Errors
/// `path` is empty, is absolute, or contains `..`. If a part of `path` is a link, [`is_link`] returns true for the
/// error.
pub fn open_file_beneath(folder: BorrowedFd<'_>, path: &Path) -> io::Result<Option<File>> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let parent = descend(folder.try_clone_to_owned()?, parent)?;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(openat(&parent, name, flags, Mode::empty())?);
    Ok(file.metadata()?.is_file().then_some(file))
}

/// Returns true if opening failed because a part of the path is a link.
pub fn is_link(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::LOOP.raw_os_error())
}

/// Opens the folder at `path` below `from`, part by part.
fn descend(from: OwnedFd, path: &Path) -> io::Result<OwnedFd> {
    let mut folder = from;
    for part in path.components() {
        match part {
            Component::Normal(name) => folder = open_inner(folder.as_fd(), name)?,
            _ => return Err(io::ErrorKind::InvalidInput.into()),
        }
    }
    Ok(folder)
}

fn open_inner(folder: BorrowedFd<'_>, name: &OsStr) -> io::Result<OwnedFd> {
    openat(folder, name, folder_flags(), Mode::empty()).map_err(|error| {
        // For a link, the system reports the same error as for a file that is not a folder.
        let is_link = || statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).is_ok_and(|meta| is_link_mode(meta.st_mode));
        if error == Errno::NOTDIR && is_link() { Errno::LOOP.into() } else { error.into() }
    })
}

fn is_link_mode(mode: u32) -> bool {
    FileType::from_raw_mode(mode) == FileType::Symlink
}

#[cfg(target_os = "linux")]
fn folder_flags() -> OFlags {
    OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC
}

#[cfg(not(target_os = "linux"))]
fn folder_flags() -> OFlags {
    OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn file_is_opened_only_without_links() {
        let dir = tempfile::tempdir().unwrap();
        let inside = dir.path().join("in");
        std::fs::create_dir_all(inside.join("folder")).unwrap();
        std::fs::write(inside.join("folder/a"), "text").unwrap();
        symlink("folder", inside.join("link")).unwrap();
        symlink("folder/a", inside.join("alias")).unwrap();
        let folder = open_folder(&inside).unwrap();
        let open = |path: &str| open_file_beneath(folder.as_fd(), Path::new(path));
        let mut text = String::new();
        open("folder/a").unwrap().expect("a file").read_to_string(&mut text).unwrap();
        assert_eq!(text, "text");
        assert!(open("folder").unwrap().is_none(), "a folder is no file");
        for path in ["link/a", "alias"] {
            assert!(is_link(&open(path).unwrap_err()), "{path}");
        }
        for path in ["../in/folder/a", "/folder/a", "folder/..", ""] {
            assert!(open(path).is_err(), "{path}");
        }
        assert_eq!(open("folder/a/b").unwrap_err().kind(), io::ErrorKind::NotADirectory);
        assert_eq!(open("none/a").unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn folder_stays_open_when_its_name_leads_elsewhere() {
        let dir = tempfile::tempdir().unwrap();
        let (kept, moved) = (dir.path().join("kept"), dir.path().join("moved"));
        std::fs::create_dir(&kept).unwrap();
        std::fs::write(kept.join("a"), "a").unwrap();
        let folder = open_folder(&kept).unwrap();
        std::fs::rename(&kept, &moved).unwrap();
        symlink("/", &kept).unwrap();
        assert!(open_file_beneath(folder.as_fd(), Path::new("a")).unwrap().is_some());
    }
}
