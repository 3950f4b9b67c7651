//! Directory entries and errors of file operations, and the search for the granted directory of a path.

use std::fmt;

/// Kind of a failed file operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// No granted directory contains the path.
    NotGranted,
    /// The grant or the permissions on the host's file system do not allow the operation.
    Denied,
    /// Nothing exists at the path.
    NotFound,
    /// Something already exists at the path.
    AlreadyExists,
    /// The disk is full or a quota is exhausted.
    NoSpace,
    /// The file is larger than the caller's limit.
    TooLarge,
    /// The text is not UTF-8.
    NotText,
    /// Anything else.
    Other,
}

/// Error of a file operation.
///
/// Converts into a guest [`Error`](crate::Error) by `?`. A failed read becomes an error with `applied: no`. A
/// failed write becomes an error with `applied: unknown`, except for [`ErrorKind::NotGranted`].
///
/// Call [`not_applied`](crate::Error::not_applied) on the error of a write that certainly changed nothing.
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
    /// Returns the kind of the failure.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
    /// Returns the guest path of the failed operation.
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

/// Type of a directory entry.
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
    /// Name within the directory, without the path.
    pub name: String,
    /// Type of the entry.
    pub kind: Kind,
}

/// Returns the index of the longest granted guest path that contains `path`, and the rest of `path` below
/// that directory. The rest is `.` for the granted directory itself.
pub(crate) fn find_grant<'p>(grants: impl Iterator<Item = impl AsRef<str>>, path: &'p str) -> Option<(usize, &'p str)> {
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
    fn longest_matching_grant_is_chosen() {
        let grants = ["/data", "/data/inbox", "/out/"];
        let find = |path| find_grant(grants.iter(), path);
        assert_eq!(find("/data/cv.md"), Some((0, "cv.md")));
        assert_eq!(find("/data/inbox/a/b"), Some((1, "a/b")));
        assert_eq!(find("/data"), Some((0, ".")));
        assert_eq!(find("/database"), None);
        assert_eq!(find("/out/x"), Some((2, "x")));
    }
}
