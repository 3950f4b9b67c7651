//! Watches files by polling their modification time and size.
//!
//! Polling needs no service of the operating system, and works on network and container file systems.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Names of build outputs in a folder of sources.
const BUILD_OUTPUTS: [&str; 5] = ["build", "target", "node_modules", "__pycache__", "Cargo.lock"];
/// Maximum number of watched files. Further files are ignored, because a folder with more files is most likely not a
/// folder of sources.
const FILES_MAX: usize = 5_000;

/// Watched files with modification time and size. The value is `None` for a missing file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct WatchedFiles(BTreeMap<PathBuf, Option<(SystemTime, u64)>>);

impl WatchedFiles {
    /// Watches one file. The file need not exist yet.
    pub(super) fn file(&mut self, path: &Path) {
        let found = std::fs::metadata(path).ok();
        let stamp = found.and_then(|found| Some((found.modified().ok()?, found.len())));
        self.0.insert(path.to_owned(), stamp);
    }

    /// Watches a component, or a folder of sources without its build outputs.
    pub(super) fn source(&mut self, path: &Path) {
        if !path.is_dir() {
            return self.file(path);
        }
        for entry in std::fs::read_dir(path).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_made = BUILD_OUTPUTS.contains(&name.as_str()) || name.starts_with("latch.db");
            if self.0.len() < FILES_MAX && !is_made && !name.starts_with('.') {
                // `file_type` does not follow links. A followed link could lead back into the same folder without end.
                match entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    true => self.source(&entry.path()),
                    false => self.file(&entry.path()),
                }
            }
        }
    }

    /// Returns the number of files.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the files below a folder.
    pub(super) fn in_folder(&self, dir: &Path) -> WatchedFiles {
        WatchedFiles(self.0.iter().filter(|(path, _)| path.starts_with(dir)).map(|(p, s)| (p.clone(), *s)).collect())
    }

    /// Returns the files that differ from `before`, including added and removed files.
    pub(super) fn changes(&self, before: &WatchedFiles) -> Vec<PathBuf> {
        let mut changed: Vec<_> =
            self.0.iter().filter(|(path, stamp)| before.0.get(*path) != Some(stamp)).map(|(path, _)| path).collect();
        changed.extend(before.0.keys().filter(|path| !self.0.contains_key(*path)));
        changed.into_iter().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn build_outputs_are_not_watched() {
        let temp = tempfile::tempdir().unwrap();
        let dir = temp.path();
        for file in ["src/plugin.js", "latch-plugin.toml", "build/x.wasm", "target/y", ".git/z", "latch.db-wal"] {
            std::fs::create_dir_all(dir.join(file).parent().unwrap()).unwrap();
            std::fs::write(dir.join(file), file).unwrap();
        }
        let look = || {
            let mut watched = WatchedFiles::default();
            watched.source(dir);
            watched.file(&dir.join("absent"));
            watched
        };
        let before = look();
        assert_eq!(before.len(), 3);
        std::fs::write(dir.join("build/x.wasm"), "another").unwrap();
        assert_eq!(look(), before);
        std::fs::write(dir.join("src/plugin.js"), "another length").unwrap();
        std::fs::write(dir.join("absent"), "").unwrap();
        assert_eq!(look().changes(&before), [dir.join("absent"), dir.join("src/plugin.js")]);
        assert_ne!(look().in_folder(&dir.join("src")), before.in_folder(&dir.join("src")));
        std::fs::remove_file(dir.join("latch-plugin.toml")).unwrap();
        assert!(look().changes(&before).contains(&dir.join("latch-plugin.toml")));
    }
}
