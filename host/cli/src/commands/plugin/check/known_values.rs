//! Collects the texts and numbers in the source files of a plugin.

use std::path::{Path, PathBuf};

use latchwork_tooling::check::KnownValues;

/// Extensions of the names of source files.
const EXTENSIONS: [&str; 9] = ["c", "go", "h", "js", "mjs", "py", "rs", "ts", "zig"];
/// Folders that contain no sources of the plugin.
const LEFT_OUT: [&str; 7] = ["build", "latchwork", "target", "node_modules", "vendor", "tests", "__pycache__"];
/// Maximum number of files. `BYTES_MAX` is the maximum size of all files together, in bytes.
const FILES_MAX: usize = 200;
const BYTES_MAX: usize = 1 << 20;
/// Maximum depth of folders.
const DEPTH_MAX: usize = 8;

/// Returns the values in the source files of a folder. A file that cannot be read is left out.
pub(super) fn of_folder(dir: &Path) -> KnownValues {
    let mut files = Vec::new();
    collect(dir, 0, &mut files);
    let mut room = BYTES_MAX;
    let mut texts = Vec::new();
    for file in files {
        let Ok(text) = std::fs::read_to_string(file) else { continue };
        let Some(left) = room.checked_sub(text.len()) else { break };
        room = left;
        texts.push(text);
    }
    KnownValues::of_sources(texts.iter().map(String::as_str))
}

/// Collects source files in the order of their names. Links are not followed.
fn collect(dir: &Path, depth: usize, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    let mut entries: Vec<_> = entries.flatten().collect();
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let (path, name) = (entry.path(), entry.file_name());
        let (Ok(kind), Some(name)) = (entry.file_type(), name.to_str()) else { continue };
        if kind.is_dir() && depth < DEPTH_MAX && !name.starts_with('.') && !LEFT_OUT.contains(&name) {
            collect(&path, depth + 1, files);
        }
        let is_source = path.extension().is_some_and(|end| EXTENSIONS.iter().any(|known| end == *known));
        let is_test = name.starts_with("test") || name.contains("_test.") || name.contains(".test.");
        if kind.is_file() && is_source && !is_test && files.len() < FILES_MAX {
            files.push(path);
        }
    }
}
