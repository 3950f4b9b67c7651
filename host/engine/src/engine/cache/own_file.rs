//! Files that the cache wrote itself. Another program of the user may have put something else in their place.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use rustix::fs::{Mode, OFlags};

/// Opens a file of the cache. A link is not followed: its target may be a file that the cache did not write. Only a
/// regular file is opened, because a pipe would block.
pub(super) fn open_own_file(path: &Path) -> std::io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    if !file.metadata()?.is_file() {
        return Err(std::io::Error::other("it is not a regular file"));
    }
    Ok(file)
}

pub(super) fn read_all(mut entry: File) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    entry.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Checks that the file belongs to this user and that no permission in the mask `others` is set.
pub(super) fn check_ownership(meta: &std::fs::Metadata, others: u32) -> Result<(), String> {
    let me = rustix::process::geteuid().as_raw();
    if meta.uid() != me {
        return Err(format!("it belongs to user {}, not to the current user ({me})", meta.uid()));
    }
    if meta.permissions().mode() & others != 0 {
        return Err("other users have access to it".to_owned());
    }
    Ok(())
}
