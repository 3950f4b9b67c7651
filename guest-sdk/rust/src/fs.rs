//! Granted directories: `dirs = [{ host = "outbox", guest = "/outbox", write = true }]`.
//!
//! Paths are the guest's: `/outbox/new/1`. What is written is on the disk when the function
//! returns, and a file appears whole or not at all.
//!
//! ```
//! use latchwork_guest::{fs, testing::Host};
//!
//! let outbox = tempfile::tempdir()?;
//! Host::new().dir("/outbox", outbox.path()).run(|| {
//!     fs::create_new("/outbox/.1.part", b"Hello")?;
//!     fs::rename("/outbox/.1.part", "/outbox/1")?;
//!     assert_eq!(fs::read_to_string("/outbox/1")?, "Hello");
//!     assert!(!fs::exists("/outbox/2")?);
//!     Ok::<(), fs::Error>(())
//! })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fmt;

use crate::host::files as host;

/// Why it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// No granted directory holds the path.
    NotGranted,
    /// The grant does not allow writing, or the host's own permissions do not allow it.
    Denied,
    /// There is nothing at the path.
    NotFound,
    /// There is something at the path already.
    AlreadyExists,
    /// The disk is full or a quota is used up.
    NoSpace,
    /// The file is larger than was allowed.
    TooLarge,
    /// The text is not UTF-8.
    NotText,
    /// Anything else.
    Other,
}

/// Why a file operation failed.
///
/// It turns into a guest [`Error`](crate::Error) by `?`. Of a failed read the host is told that
/// nothing was done; of a failed write, that it cannot be told: call
/// [`not_applied`](crate::Error::not_applied) where the tool knows better.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    path: String,
    message: String,
    writing: bool,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, path: &str, writing: bool, message: impl Into<String>) -> Self {
        Self { kind, path: path.to_owned(), message: message.into(), writing }
    }
    /// What kind of failure.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
    /// The path.
    pub fn path(&self) -> &str {
        &self.path
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.message)
    }
}

impl std::error::Error for Error {}

impl From<Error> for crate::Error {
    fn from(error: Error) -> Self {
        let message = error.to_string();
        let guest = match error.kind {
            ErrorKind::NotGranted | ErrorKind::Denied => Self::policy_denied(message),
            ErrorKind::NotFound | ErrorKind::AlreadyExists | ErrorKind::TooLarge | ErrorKind::NotText => {
                Self::invalid_input(message)
            }
            ErrorKind::NoSpace | ErrorKind::Other => Self::dependency_unavailable(message),
        };
        if error.writing && error.kind != ErrorKind::NotGranted { guest.applied_unknown() } else { guest.not_applied() }
    }
}

/// What lies at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A file.
    File,
    /// A directory.
    Directory,
    /// Anything else.
    Other,
}

/// One entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name in the directory.
    pub name: String,
    /// What it is.
    pub kind: Kind,
}

/// The whole file.
pub fn read(path: &str) -> Result<Vec<u8>, Error> {
    read_up_to(path, usize::MAX)
}

/// The whole file, if it is no larger than `limit` bytes.
pub fn read_up_to(path: &str, limit: usize) -> Result<Vec<u8>, Error> {
    host::read(path, limit)
}

/// The whole file as text.
pub fn read_to_string(path: &str) -> Result<String, Error> {
    String::from_utf8(read(path)?).map_err(|_| Error::new(ErrorKind::NotText, path, false, "is not UTF-8 text"))
}

/// Write a file that is not there yet; on the disk when it returns.
pub fn create_new(path: &str, content: &[u8]) -> Result<(), Error> {
    host::create_new(path, content)
}

/// Write a file whole, in place of what was there: readers see the old or the new content, never
/// a mixture, and so does whoever looks after a crash. `unique` tells this writer's temporary
/// file from another's; the external key of the call does.
pub fn replace(path: &str, content: &[u8], unique: &str) -> Result<(), Error> {
    let temporary = prepare(path, content, unique)?;
    rename(&temporary, path)
}

/// Write a file whole where there is none: of several writers one wins, and the others are told
/// [`ErrorKind::AlreadyExists`]. `unique` is as for [`replace`]. Needs a file system with hard links.
///
/// ```
/// use latchwork_guest::{fs, testing::Host};
///
/// let records = tempfile::tempdir()?;
/// Host::new().dir("/records", records.path()).run(|| {
///     fs::publish("/records/1", b"mine", "ada")?;
///     let late = fs::publish("/records/1", b"theirs", "eve").unwrap_err();
///     assert_eq!(late.kind(), fs::ErrorKind::AlreadyExists);
///     Ok::<(), fs::Error>(())
/// })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn publish(path: &str, content: &[u8], unique: &str) -> Result<(), Error> {
    let temporary = prepare(path, content, unique)?;
    let linked = host::link(&temporary, path);
    // What is left behind by a crash here is removed by the next try with the same key.
    let removed = remove(&temporary);
    linked.and(removed)
}

/// The content in a temporary file beside `path`.
fn prepare(path: &str, content: &[u8], unique: &str) -> Result<String, Error> {
    let (directory, name) = path.rsplit_once('/').unwrap_or((".", path));
    let safe: String = unique.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let temporary = format!("{directory}/.{name}.{safe}.part");
    match create_new(&temporary, content) {
        Err(error) if error.kind == ErrorKind::AlreadyExists => {
            // An earlier try of the same call was cut off.
            remove(&temporary)?;
            create_new(&temporary, content)?;
        }
        other => other?,
    }
    Ok(temporary)
}

/// Move a file within a granted directory, in place of what was there; on the disk when it returns.
pub fn rename(from: &str, to: &str) -> Result<(), Error> {
    host::rename(from, to)
}

/// Remove a file; on the disk when it returns.
pub fn remove(path: &str) -> Result<(), Error> {
    host::remove(path)
}

/// Make a directory; one that is there already is fine.
pub fn create_dir(path: &str) -> Result<(), Error> {
    match host::create_dir(path) {
        Err(error) if error.kind == ErrorKind::AlreadyExists => Ok(()),
        other => other,
    }
}

/// What lies in a directory, by name.
pub fn list(path: &str) -> Result<Vec<Entry>, Error> {
    let mut entries = host::list(path)?;
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(entries)
}

/// Whether anything lies at the path.
pub fn exists(path: &str) -> Result<bool, Error> {
    host::exists(path)
}

/// Of the grants (guest paths), the one that holds `path`, and the way from there.
pub(crate) fn locate<'p>(grants: impl Iterator<Item = impl AsRef<str>>, path: &'p str) -> Option<(usize, &'p str)> {
    let mut best: Option<(usize, usize, &'p str)> = None;
    for (index, grant) in grants.enumerate() {
        let grant = grant.as_ref().trim_end_matches('/');
        let Some(rest) = path.strip_prefix(grant) else { continue };
        let rest = match rest.strip_prefix('/') {
            Some(rest) => rest,
            None if rest.is_empty() => rest,
            None => continue,
        };
        if best.is_none_or(|(_, length, _)| grant.len() > length) {
            best = Some((index, grant.len(), rest));
        }
    }
    best.map(|(index, _, rest)| (index, if rest.is_empty() { "." } else { rest }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closest_grant_holds_a_path() {
        let grants = ["/data", "/data/inbox", "/out/"];
        let find = |path| locate(grants.iter(), path);
        assert_eq!(find("/data/cv.md"), Some((0, "cv.md")));
        assert_eq!(find("/data/inbox/a/b"), Some((1, "a/b")));
        assert_eq!(find("/data"), Some((0, ".")));
        assert_eq!(find("/database"), None);
        assert_eq!(find("/out/x"), Some((2, "x")));
    }
}
