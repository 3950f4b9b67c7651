//! Limit of the size of a cache directory. Without a limit, each build of a plugin would leave its compiled code on the
//! disk.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{Timespec, Timestamps, UTIME_NOW, UTIME_OMIT};

/// Size of all entries above which the entries used least recently are removed.
pub(super) const MAX_BYTES: u64 = 4 << 30;
/// An entry is kept for this time after its last use, even if the size of all entries is above the limit. Programs that
/// start the same large plugins by turns therefore find all of them.
pub(super) const KEPT: Duration = Duration::from_hours(24);

/// Beginning of the names of temporary files, which become entries when they are complete.
pub(super) const TEMPORARY: &str = ".new-";

/// Sets the modification time of an entry to the present, because the entry is used.
pub(super) fn mark_used(entry: &File) -> std::io::Result<()> {
    let time = |tv_nsec| Timespec { tv_sec: 0, tv_nsec };
    Ok(rustix::fs::futimens(entry, &Timestamps { last_access: time(UTIME_OMIT), last_modification: time(UTIME_NOW) })?)
}

/// Removes the entries that were used least recently, until all entries have at most `max_bytes`. An entry remains if it
/// was used less than `kept` before `now`. Without `now`, the last use of any entry counts as the present. Returns the
/// files of the removed entries.
///
/// Temporary files of processes that were killed count as entries. Other files, and links, stay.
///
/// # Errors
/// The directory cannot be read, or an entry cannot be read or removed. The other entries are still removed.
pub(super) fn remove_unused(
    dir: &Path,
    max_bytes: u64,
    kept: Duration,
    now: Option<SystemTime>,
) -> std::io::Result<Vec<PathBuf>> {
    let (mut entries, mut failed): (Vec<(SystemTime, u64, PathBuf)>, _) = (Vec::new(), None);
    for file in std::fs::read_dir(dir)? {
        let file = file?;
        let path = file.path();
        let is_temporary = file.file_name().as_encoded_bytes().starts_with(TEMPORARY.as_bytes());
        if !is_temporary && path.extension().is_none_or(|extension| extension != "aot") {
            continue;
        }
        match file.metadata() {
            Ok(meta) if meta.is_file() => match meta.modified() {
                Ok(used) => entries.push((used, meta.len(), path)),
                Err(error) => failed = failed.or(Some(error)),
            },
            Ok(_) => {}
            // Another process removed it in the meantime.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    entries.sort();
    let Some(now) = now.or_else(|| entries.last().map(|(last_use, ..)| *last_use)) else {
        return failed.map_or(Ok(Vec::new()), Err);
    };
    let mut bytes = entries.iter().fold(0, |sum: u64, (_, bytes, _)| sum.saturating_add(*bytes));
    let mut removed = Vec::new();
    for (used, size, path) in entries {
        if bytes <= max_bytes || now.duration_since(used).is_ok_and(|unused| unused < kept) {
            break;
        }
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => failed = failed.or(Some(error)),
            _ => {
                bytes = bytes.saturating_sub(size);
                removed.push(path);
            }
        }
    }
    failed.map_or(Ok(removed), Err)
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
        let remove = |max_bytes| remove_unused(dir, max_bytes, KEPT, None).unwrap();
        assert!(remove(500).is_empty(), "the limit is not exceeded");
        assert_eq!(remove(400), [old]);
        assert_eq!(remove(399), [older]);
        assert_eq!(remove(0), [kept[0].clone()], "two were used within a day");
        assert!(remove(0).is_empty());
        assert!(kept[1].exists() && kept[2].exists() && dir.join("secret").exists());
    }

    /// I268: an entry with a time of use in the future removes no entry that was used within the last day.
    #[test]
    fn present_is_the_time_of_the_stored_entry() {
        let temp = tempfile::tempdir().unwrap();
        let recent = entry(temp.path(), "recent", 20);
        entry(temp.path(), "future", 1_000);
        let stored = entry(temp.path(), "stored", 30);
        let now = std::fs::metadata(&stored).unwrap().modified().unwrap();
        assert!(remove_unused(temp.path(), 0, KEPT, Some(now)).unwrap().is_empty());
        assert!(recent.exists());
    }

    /// I268: a temporary file of a killed process is removed. A folder or a link with the name of an entry stays, and
    /// the entries after it are removed.
    #[test]
    fn temporary_files_are_removed_and_folders_skipped() {
        let temp = tempfile::tempdir().unwrap();
        let dir = temp.path();
        let old = entry(dir, "old", 0);
        let left = dir.join(".new-abc");
        std::fs::rename(entry(dir, "left", 1), &left).unwrap();
        std::fs::create_dir(dir.join("folder.aot")).unwrap();
        std::os::unix::fs::symlink("elsewhere", dir.join("link.aot")).unwrap();
        entry(dir, "stored", 500);
        assert_eq!(remove_unused(dir, 100, KEPT, None).unwrap(), [old, left]);
        assert!(dir.join("folder.aot").exists() && dir.join("link.aot").is_symlink());
    }

    /// I268: an entry that was just used is not the least recently used one.
    #[test]
    fn used_entry_is_kept() {
        let temp = tempfile::tempdir().unwrap();
        let (first, second) = (entry(temp.path(), "a", 0), entry(temp.path(), "b", 1));
        mark_used(&File::open(&first).unwrap()).unwrap();
        assert_eq!(remove_unused(temp.path(), 100, KEPT, None).unwrap(), [second]);
        assert!(first.exists());
    }

    #[test]
    fn directory_without_entries_is_left_alone() {
        let temp = tempfile::tempdir().unwrap();
        assert!(remove_unused(temp.path(), 0, KEPT, None).unwrap().is_empty());
    }
}
