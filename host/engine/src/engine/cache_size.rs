//! Limit of the size of a cache directory. Without a limit, each build of a plugin would leave its compiled code on the
//! disk.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{Timespec, Timestamps, UTIME_NOW, UTIME_OMIT};

/// Size of all entries above which the entries used least recently are removed.
pub(crate) const MAX_BYTES: u64 = 4 << 30;
/// An entry is kept for this time after its last use, even if the size of all entries is above the limit. Programs that
/// start the same large plugins by turns therefore find all of them.
pub(crate) const KEPT: Duration = Duration::from_hours(24);

/// Sets the modification time of an entry to the present, because the entry is used.
pub(crate) fn mark_used(entry: &File) -> std::io::Result<()> {
    let time = |tv_nsec| Timespec { tv_sec: 0, tv_nsec };
    Ok(rustix::fs::futimens(entry, &Timestamps { last_access: time(UTIME_OMIT), last_modification: time(UTIME_NOW) })?)
}

/// Removes the entries that were used least recently, until the other entries together have at most `max_bytes`. An
/// entry remains if its last use was less than `kept` before the most recent use of any entry. Returns the files of the
/// removed entries.
///
/// # Errors
/// The directory cannot be read, or an entry cannot be removed.
pub(crate) fn remove_unused(dir: &Path, max_bytes: u64, kept: Duration) -> std::io::Result<Vec<PathBuf>> {
    let mut entries: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
    for file in std::fs::read_dir(dir)? {
        let file = file?;
        let path = file.path();
        if path.extension().is_none_or(|extension| extension != "aot") {
            continue;
        }
        match file.metadata() {
            Ok(meta) => entries.push((meta.modified()?, meta.len(), path)),
            // Another process removed it in the meantime.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    entries.sort();
    let Some((last_use, ..)) = entries.last() else { return Ok(Vec::new()) };
    let last_use = *last_use;
    let mut bytes: u64 = entries.iter().map(|(_, bytes, _)| bytes).sum();
    let mut removed = Vec::new();
    for (used, size, path) in entries {
        if bytes <= max_bytes || last_use.duration_since(used).is_ok_and(|unused| unused < kept) {
            break;
        }
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => removed.push(path),
        }
        bytes -= size;
    }
    Ok(removed)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes an entry of 100 bytes that was last used some hours after 1970-01-02.
    fn entry(dir: &Path, name: &str, hours: u64) -> PathBuf {
        let path = dir.join(format!("{name}.aot"));
        std::fs::write(&path, [7; 100]).unwrap();
        let used = SystemTime::UNIX_EPOCH + Duration::from_hours(24 + hours);
        File::options().write(true).open(&path).unwrap().set_modified(used).unwrap();
        path
    }

    /// I268: the entries used least recently are removed, and none that was used within the last day.
    #[test]
    fn least_recently_used_entries_are_removed() {
        let temp = tempfile::tempdir().unwrap();
        let dir = temp.path();
        let old = entry(dir, "c-old", 0);
        let older = entry(dir, "a-less-old", 1);
        let kept = [entry(dir, "d", 10), entry(dir, "b-new", 100), entry(dir, "e-newest", 101)];
        std::fs::write(dir.join("secret"), [1; 4000]).unwrap();
        assert!(remove_unused(dir, 500, KEPT).unwrap().is_empty(), "the limit is not exceeded");
        assert_eq!(remove_unused(dir, 400, KEPT).unwrap(), [old]);
        assert_eq!(remove_unused(dir, 399, KEPT).unwrap(), [older]);
        assert_eq!(remove_unused(dir, 0, KEPT).unwrap(), [kept[0].clone()], "two were used within a day");
        assert!(remove_unused(dir, 0, KEPT).unwrap().is_empty());
        assert!(kept[1].exists() && kept[2].exists() && dir.join("secret").exists());
    }

    /// I268: an entry that was just used is not the least recently used one.
    #[test]
    fn used_entry_is_kept() {
        let temp = tempfile::tempdir().unwrap();
        let (first, second) = (entry(temp.path(), "a", 0), entry(temp.path(), "b", 1));
        mark_used(&File::open(&first).unwrap()).unwrap();
        assert_eq!(remove_unused(temp.path(), 100, KEPT).unwrap(), [second]);
        assert!(first.exists());
    }

    #[test]
    fn directory_without_entries_is_left_alone() {
        let temp = tempfile::tempdir().unwrap();
        assert!(remove_unused(temp.path(), 0, KEPT).unwrap().is_empty());
    }
}
