//! Opens files and directories for guests.
//!
//! Opening a FIFO waits until another process opens its other end. wasmtime-wasi would wait on a thread that cannot be
//! stopped. This module therefore opens the path itself, without waiting. It closes everything that is neither a file
//! nor a directory.

use std::io;
use std::path::Path;

use cap_primitives::fs::{FollowSymlinks, OpenOptions, OpenOptionsExt, open};
use rustix::fs::OFlags;
use rustix::io::Errno;
use wasmtime_wasi::OpenMode;
use wasmtime_wasi::filesystem::{Descriptor, Dir, File};
use wasmtime_wasi::p2::bindings::filesystem::types::{DescriptorFlags, ErrorCode, OpenFlags, PathFlags};

use crate::os::lack::is_lack;

/// Path that a guest opens, with the flags of `wasi:filesystem`.
pub(crate) struct Opening {
    pub(crate) path_flags: PathFlags,
    pub(crate) path: String,
    pub(crate) open: OpenFlags,
    pub(crate) flags: DescriptorFlags,
}

/// Reason why a path was not opened.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OpenError {
    /// Error for the guest.
    #[error("{0}")]
    Code(ErrorCode),
    /// The machine lacks memory or descriptors.
    #[error("{0}")]
    Lack(io::Error),
}

impl From<ErrorCode> for OpenError {
    fn from(code: ErrorCode) -> Self {
        Self::Code(code)
    }
}

impl From<io::Error> for OpenError {
    /// `NXIO` stands for a FIFO without a reader or a socket. Neither can be opened for writing without waiting.
    fn from(error: io::Error) -> Self {
        match Errno::from_io_error(&error) {
            _ if is_lack(&error) => Self::Lack(error),
            Some(Errno::NXIO) => Self::Code(ErrorCode::NotPermitted),
            _ => Self::Code(ErrorCode::from(&error)),
        }
    }
}

impl Opening {
    /// An opening counts as a change if it creates or truncates a file, or opens a file for writing. The right to
    /// mutate a directory does not count, because opening a directory changes nothing. Toolchains routinely ask for
    /// this right.
    pub(crate) fn changes(&self) -> bool {
        self.open.intersects(OpenFlags::CREATE | OpenFlags::TRUNCATE) || self.flags.contains(DescriptorFlags::WRITE)
    }

    /// The access that the opened file has. Without the right to write, the guest can read.
    fn mode(&self) -> OpenMode {
        let mut mode = OpenMode::empty();
        mode.set(OpenMode::WRITE, self.changes());
        let reads = self.flags.contains(DescriptorFlags::READ) || !self.flags.contains(DescriptorFlags::WRITE);
        mode.set(OpenMode::READ, reads);
        mode
    }

    fn options(&self) -> OpenOptions {
        let mode = self.mode();
        let (creates, is_new) = (self.open.contains(OpenFlags::CREATE), self.open.contains(OpenFlags::EXCLUSIVE));
        let follow = match self.path_flags.contains(PathFlags::SYMLINK_FOLLOW) {
            true => FollowSymlinks::Yes,
            false => FollowSymlinks::No,
        };
        let mut options = OpenOptions::new();
        options.read(mode.contains(OpenMode::READ)).write(mode.contains(OpenMode::WRITE));
        options.create(creates && !is_new).create_new(creates && is_new);
        options.truncate(self.open.contains(OpenFlags::TRUNCATE));
        // The crate cap-fs-ext calls this method to set which links are followed. That crate has no other use here, so
        // the method is called directly.
        options._cap_fs_ext_follow(follow).custom_flags(OFlags::NONBLOCK.bits() as i32);
        options
    }

    /// Refuses openings that no file system can carry out.
    fn check(&self) -> Result<(), ErrorCode> {
        let integrity = DescriptorFlags::FILE_INTEGRITY_SYNC
            | DescriptorFlags::DATA_INTEGRITY_SYNC
            | DescriptorFlags::REQUESTED_WRITE_SYNC;
        if self.flags.intersects(integrity) {
            return Err(ErrorCode::Unsupported);
        }
        let of_files = OpenFlags::CREATE | OpenFlags::EXCLUSIVE | OpenFlags::TRUNCATE;
        if self.open.contains(OpenFlags::DIRECTORY) && self.open.intersects(of_files) {
            return Err(ErrorCode::Invalid);
        }
        Ok(())
    }

    /// Opens a path below `dir`, with the permissions of `dir`.
    pub(crate) async fn open_in(self, dir: &Dir) -> Result<Descriptor, OpenError> {
        self.check()?;
        if self.changes() && dir.perms.write_not_permitted() {
            return Err(ErrorCode::NotPermitted.into());
        }
        let (below, perms, mode) = (dir.dir.clone(), dir.perms, self.mode());
        let opened = tokio::task::spawn_blocking(move || {
            let file = open(&below, Path::new(&self.path), &self.options())?;
            let kind = file.metadata()?.file_type();
            match (kind.is_dir(), kind.is_file()) {
                (false, _) if self.open.contains(OpenFlags::DIRECTORY) => Err(OpenError::from(ErrorCode::NotDirectory)),
                (false, false) => Err(ErrorCode::NotPermitted.into()),
                (is_dir, _) => Ok((file, is_dir)),
            }
        });
        let (file, is_dir) = opened.await.map_err(|_| ErrorCode::Io)??;
        Ok(match is_dir {
            true => Descriptor::Dir(Dir::new(file, perms, mode, false)),
            false => Descriptor::File(File::new(file, perms, mode, false)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::process::Command;
    use std::time::Duration;

    use wasmtime_wasi::FsPerms;

    fn opened(path: &str, open: OpenFlags, flags: DescriptorFlags) -> Opening {
        Opening { path_flags: PathFlags::empty(), path: path.into(), open, flags }
    }

    fn directory(path: &Path) -> Dir {
        Dir::new(std::fs::File::open(path).unwrap(), FsPerms::ReadWrite, OpenMode::READ, false)
    }

    /// I221: a FIFO that replaces a file after the check of the path is refused, and holds no thread.
    #[tokio::test]
    async fn fifo_is_refused_without_a_wait() {
        let parent = tempfile::tempdir().unwrap();
        let fifo = parent.path().join("fifo");
        assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        let dir = directory(parent.path());
        for (open, flags) in [
            (OpenFlags::empty(), DescriptorFlags::READ),
            (OpenFlags::empty(), DescriptorFlags::WRITE),
            (OpenFlags::CREATE | OpenFlags::TRUNCATE, DescriptorFlags::READ | DescriptorFlags::WRITE),
        ] {
            let opening = opened("fifo", open, flags).open_in(&dir);
            let ended = tokio::time::timeout(Duration::from_secs(20), opening).await;
            // Both ends are opened, so that a thread that waits for one of them ends with this test.
            let _ends = std::fs::OpenOptions::new().read(true).write(true).open(&fifo).unwrap();
            let refused = ended.expect("it waits for the other end").err();
            assert!(matches!(refused, Some(OpenError::Code(ErrorCode::NotPermitted))), "{refused:?}");
        }
    }

    /// I221: flags have the meaning that WASI gives them.
    #[tokio::test]
    async fn openings_follow_their_flags() {
        let parent = tempfile::tempdir().unwrap();
        std::fs::create_dir(parent.path().join("folder")).unwrap();
        std::fs::write(parent.path().join("file"), "text").unwrap();
        std::os::unix::fs::symlink("file", parent.path().join("link")).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", parent.path().join("outside")).unwrap();
        let dir = directory(parent.path());
        let (none, read, write) = (OpenFlags::empty(), DescriptorFlags::READ, DescriptorFlags::WRITE);
        let new = OpenFlags::CREATE | OpenFlags::EXCLUSIVE;
        for (path, open, flags, expected) in [
            ("file", none, read, Ok("a file")),
            ("file", none, DescriptorFlags::empty(), Ok("a file")),
            ("folder", none, read, Ok("a folder")),
            ("folder", OpenFlags::DIRECTORY, read | DescriptorFlags::MUTATE_DIRECTORY, Ok("a folder")),
            ("folder", none, write, Err(ErrorCode::IsDirectory)),
            ("file", OpenFlags::DIRECTORY, read, Err(ErrorCode::NotDirectory)),
            ("file", OpenFlags::DIRECTORY | OpenFlags::CREATE, write, Err(ErrorCode::Invalid)),
            ("file", new, write, Err(ErrorCode::Exist)),
            ("missing", none, read, Err(ErrorCode::NoEntry)),
            ("made", new, write, Ok("a file")),
            ("file", none, read | DescriptorFlags::FILE_INTEGRITY_SYNC, Err(ErrorCode::Unsupported)),
            ("link", none, read, Err(ErrorCode::Loop)),
            ("../file", none, read, Err(ErrorCode::NotPermitted)),
            ("/etc/passwd", none, read, Err(ErrorCode::NotPermitted)),
        ] {
            let found = opened(path, open, flags).open_in(&dir).await;
            let found = found.map(|opened| match opened {
                Descriptor::File(_) => "a file",
                Descriptor::Dir(_) => "a folder",
            });
            assert_eq!(found.map_err(|code| code.to_string()), expected.map_err(|code| code.to_string()), "{path}");
        }
        for (path, expected) in [("link", None), ("outside", Some(ErrorCode::NotPermitted))] {
            let followed = Opening { path_flags: PathFlags::SYMLINK_FOLLOW, ..opened(path, none, read) };
            let refused = followed.open_in(&dir).await.err();
            assert_eq!(refused.map(|code| code.to_string()), expected.map(|code| code.to_string()), "{path}");
        }
        let truncated = opened("file", OpenFlags::TRUNCATE, write).open_in(&dir).await.unwrap();
        assert!(matches!(truncated, Descriptor::File(file) if file.open_mode == OpenMode::WRITE));
        assert_eq!(std::fs::read(parent.path().join("file")).unwrap(), b"");
        let mut read_only = directory(parent.path());
        read_only.perms = FsPerms::ReadOnly;
        let refused = opened("file", none, write).open_in(&read_only).await.err();
        assert!(matches!(refused, Some(OpenError::Code(ErrorCode::NotPermitted))), "{refused:?}");
        assert!(opened("file", none, read).open_in(&read_only).await.is_ok());
    }
}
