//! The granted directories of a loaded plugin, kept open.
//!
//! A directory is opened when the plugin is loaded. Each call gets the opened directory, even if its name leads to
//! another directory or to a link by then.

use std::fmt;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use wasmtime_wasi::{FsPerms, WasiCtxBuilder};

use crate::capability::grants::DirGrant;
use crate::guest::permissions::CallPermissions;
use crate::os::folders;

/// Open directories, in the order of the grants.
#[derive(Clone)]
pub struct OpenDirs(Arc<[(DirGrant, Result<OwnedFd, String>)]>);

impl fmt::Debug for OpenDirs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(grant, _)| &grant.host)).finish()
    }
}

impl OpenDirs {
    /// Opens the granted directories. A directory that cannot be opened makes each call fail. A plugin that is only
    /// inspected has no calls, and its directories need not exist.
    pub fn open(grants: &[DirGrant]) -> Self {
        let open =
            |grant: &DirGrant| (grant.clone(), folders::open_folder(&grant.host).map_err(|error| error.to_string()));
        Self(grants.iter().map(open).collect())
    }

    /// Returns the open directory in which the guest sees a path, and the path in this directory. The directory is an
    /// error text if it could not be opened. Returns `None` if no directory has the path.
    pub fn locate<'p>(&self, path: &'p str) -> Option<(Result<BorrowedFd<'_>, &str>, &'p Path)> {
        let inner = |grant: &DirGrant| {
            let inner = Path::new(path).strip_prefix(&grant.guest).ok()?;
            let is_plain = inner.components().all(|part| matches!(part, Component::Normal(_)));
            (is_plain && inner.components().next().is_some()).then_some(inner)
        };
        // If several directories match, the plugin sees the directory with the longest guest path.
        let matching = self.0.iter().filter_map(|(grant, opened)| Some((grant, opened, inner(grant)?)));
        let (_, opened, inner) = matching.max_by_key(|(grant, ..)| grant.guest.len())?;
        Some((opened.as_ref().map(AsFd::as_fd).map_err(String::as_str), inner))
    }

    /// Adds the directories to the directories of a guest.
    pub(crate) fn give_to(&self, wasi: &mut WasiCtxBuilder, permissions: CallPermissions) -> wasmtime::Result<()> {
        for (grant, opened) in self.0.iter() {
            let perms = if grant.write && permissions.may_write() { FsPerms::ReadWrite } else { FsPerms::ReadOnly };
            let failed =
                |error: String| wasmtime::format_err!("directory {} cannot be opened: {error}", grant.host.display());
            let dir = opened.as_ref().map_err(|error| failed(error.clone()))?;
            wasi.preopened_dir(path_of(grant, dir).map_err(|error| failed(error.to_string()))?, &grant.guest, perms)
                .map_err(|error| failed(error.to_string()))?;
        }
        Ok(())
    }
}

/// Returns a path that leads to the open directory, because the WASI library opens directories by path.
#[cfg(target_os = "linux")]
fn path_of(_: &DirGrant, dir: &OwnedFd) -> io::Result<PathBuf> {
    Ok(PathBuf::from(format!("/proc/self/fd/{}", dir.as_raw_fd())))
}

/// Returns the path of the grant, if it still leads to the open directory.
#[cfg(not(target_os = "linux"))]
fn path_of(grant: &DirGrant, dir: &OwnedFd) -> io::Result<PathBuf> {
    use std::os::unix::fs::MetadataExt;
    let (open, named) = (std::fs::File::from(dir.try_clone()?).metadata()?, std::fs::metadata(&grant.host)?);
    match (open.dev(), open.ino()) == (named.dev(), named.ino()) {
        true => Ok(grant.host.clone()),
        false => Err(io::Error::other("another directory has its name since the plugin was loaded")),
    }
}
