//! Granted directories: `dirs = [{ host = "outbox", guest = "/outbox", write = true }]`.
//!
//! Paths are guest paths: `/outbox/new/1`. Written data is on disk when the function returns. [`replace`] and
//! [`publish`] make a file visible only once it is complete.
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

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use crate::host::files as host;

pub use crate::data::fs::{Entry, Error, ErrorKind, Kind};

/// Maximum length of the name of a file on common file systems, in bytes.
const NAME_BYTES_MAX: usize = 255;
/// Number of bytes of a long name that the name of its temporary file shows.
const NAME_SHOWN_BYTES: usize = 100;

/// Reads a whole file.
pub fn read(path: &str) -> Result<Vec<u8>, Error> {
    read_up_to(path, usize::MAX)
}

/// Reads a whole file. Fails with [`ErrorKind::TooLarge`] if the file is larger than `limit` bytes.
pub fn read_up_to(path: &str, limit: usize) -> Result<Vec<u8>, Error> {
    host::read(path, limit)
}

/// Reads a whole file as text. Fails with [`ErrorKind::NotText`] if the content is not UTF-8.
pub fn read_to_string(path: &str) -> Result<String, Error> {
    String::from_utf8(read(path)?).map_err(|_| Error::new(ErrorKind::NotText, path, false, "is not UTF-8 text"))
}

/// Creates a file and writes it to disk. Fails with [`ErrorKind::AlreadyExists`] if the path exists. After a
/// crash the file may be incomplete: use [`replace`] or [`publish`] for a file that must be whole.
pub fn create_new(path: &str, content: &[u8]) -> Result<(), Error> {
    host::create_new(path, content)
}

/// Replaces a file atomically. Readers see the old or the new content, even after a crash. `unique` names the temporary
/// file of this writer: pass the external key of the call. A crash may leave the temporary file. That file is no effect
/// of the call, and the next try with the same key replaces it.
pub fn replace(path: &str, content: &[u8], unique: &str) -> Result<(), Error> {
    let temporary = write_temporary(path, content, unique)?;
    rename(&temporary, path)
}

/// Creates a file atomically. If several writers publish the same path, one writer succeeds and every other writer gets
/// [`ErrorKind::AlreadyExists`]. `unique` has the same meaning as for [`replace`]. The file system must support hard
/// links.
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
    let temporary = write_temporary(path, content, unique)?;
    let linked = host::link(&temporary, path);
    // If a crash here leaves the temporary file, the next try with the same key removes it.
    let removed = remove(&temporary);
    linked.and(removed)
}

/// Writes the content to a temporary file in the directory of `path`. Returns the path of the temporary file.
fn write_temporary(path: &str, content: &[u8], unique: &str) -> Result<String, Error> {
    let (directory, name) = path.rsplit_once('/').unwrap_or((".", path));
    let temporary = format!("{directory}/{}", temporary_name(name, unique));
    match create_new(&temporary, content) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            // A crash stopped an earlier try of the same call and left this file.
            remove(&temporary)?;
            create_new(&temporary, content)?;
        }
        other => other?,
    }
    Ok(temporary)
}

/// Returns the name of the temporary file for a file name. Different values of `unique` give different names, and no name is
/// longer than file systems allow.
fn temporary_name(name: &str, unique: &str) -> String {
    let plain = format!(".{name}.{unique}.part");
    if plain.len() <= NAME_BYTES_MAX && unique.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') {
        return plain;
    }
    let mut hasher = DefaultHasher::new();
    (name, unique).hash(&mut hasher);
    let end = (0..=name.len().min(NAME_SHOWN_BYTES)).rev().find(|end| name.is_char_boundary(*end)).unwrap_or_default();
    format!(".{}.{:016x}.part", &name[..end], hasher.finish())
}

/// Moves a file within a granted directory and replaces an existing file at `to`. The change is on disk when
/// the function returns.
pub fn rename(from: &str, to: &str) -> Result<(), Error> {
    host::rename(from, to)
}

/// Removes a file. The removal is on disk when the function returns.
pub fn remove(path: &str) -> Result<(), Error> {
    host::remove(path)
}

/// Creates a directory. Succeeds if the path already exists.
pub fn create_dir(path: &str) -> Result<(), Error> {
    match host::create_dir(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        other => other,
    }
}

/// Lists the entries of a directory, sorted by name.
pub fn list(path: &str) -> Result<Vec<Entry>, Error> {
    let mut entries = host::list(path)?;
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(entries)
}

/// Returns true if a file or directory exists at the path.
pub fn exists(path: &str) -> Result<bool, Error> {
    host::exists(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Host;

    /// A key has at most 128 characters. The name of a file may contain the whole key.
    #[test]
    fn file_whose_name_contains_the_longest_key_is_published() {
        let folder = tempfile::tempdir().unwrap();
        let key = format!("latch:job_01JZ7N3Q0V4X8C2M6K9RTB5WDF:{}:1", "s".repeat(89));
        assert_eq!(key.len(), 128);
        let path = format!("/out/{}.json", key.replace(':', ".."));
        let published = Host::new().dir("/out", folder.path()).run(|| {
            publish(&path, b"1", &key)?;
            replace(&path, b"2", &key)?;
            read(&path)
        });
        assert_eq!(published.unwrap(), b"2");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn similar_keys_have_temporary_files_of_their_own() {
        assert_eq!(temporary_name("a.json", "k-2"), ".a.json.k-2.part");
        assert_ne!(temporary_name("a", "latch:job:s3/0:1"), temporary_name("a", "latch:job:s3-0:1"));
        assert_ne!(temporary_name(&"a".repeat(250), "k1"), temporary_name(&"a".repeat(250), "k2"));
        let name = temporary_name(&"\u{1f600}".repeat(60), "latch:job:s1:1");
        assert!(name.len() <= NAME_BYTES_MAX && name.starts_with(".\u{1f600}"), "{name}");
    }
}
