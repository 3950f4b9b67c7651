//! Tracked text files, as the tests of the sources read them.

use crate::support::checkout::{root, tracked_files};

/// A text file of the project, with its path relative to the root.
pub(super) struct TextFile {
    pub(super) path: String,
    pub(super) text: String,
}

impl TextFile {
    /// Returns the numbered lines without comments, because a comment that warns of a forbidden word may
    /// contain this word.
    pub(super) fn code_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        let comment = |line: &str| line.trim_start().starts_with("//");
        self.text.lines().enumerate().map(|(i, line)| (i + 1, line)).filter(move |(_, line)| !comment(line))
    }

    /// Returns the lines of `code_lines` without the tests at the end of the file. Also leaves out a single line before
    /// the tests that is compiled only for tests, such as a `use`.
    pub(super) fn product_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        let in_tests = self.path.ends_with("/tests.rs") || self.path.contains("/tests/");
        let lines: Vec<(usize, &str)> = if in_tests { vec![] } else { self.code_lines().collect() };
        let for_tests = |(_, line): &(usize, &str)| line.trim() == "#[cfg(test)]";
        let is_module = |(_, line): &(usize, &str)| line.starts_with("mod ") && line.ends_with('{');
        let end = lines.windows(2).position(|pair| for_tests(&pair[0]) && is_module(&pair[1])).unwrap_or(lines.len());
        let only_tests = |at: usize| for_tests(&lines[at]) || at > 0 && for_tests(&lines[at - 1]);
        (0..end).filter(|at| !only_tests(*at)).map(|at| lines[at]).collect::<Vec<_>>().into_iter()
    }

    /// Returns the text of the tests in a source file: the whole file, or its part after `#[cfg(test)]`.
    pub(super) fn tests(&self) -> &str {
        let path = self.path.as_str();
        match path.starts_with("tests/it/") || path.ends_with("tests.rs") || path.contains("/tests/") {
            true => &self.text,
            false => self.text.split_once("#[cfg(test)]").map_or("", |(_, tests)| tests),
        }
    }
}

/// Returns the tracked text files, sorted by path.
pub(super) fn text_files() -> Vec<TextFile> {
    let text = |path: String| Some(TextFile { text: std::fs::read_to_string(root().join(&path)).ok()?, path });
    let files: Vec<TextFile> = tracked_files().into_iter().filter_map(text).collect();
    assert!(files.len() > 100, "the sources are there");
    files
}

/// Returns the tracked Rust sources whose path starts with `folder`.
pub(super) fn rust_files(folder: &str) -> Vec<TextFile> {
    let files: Vec<TextFile> =
        text_files().into_iter().filter(|file| file.path.starts_with(folder) && file.path.ends_with(".rs")).collect();
    assert!(!files.is_empty(), "there is code in {folder}");
    files
}

/// Fails if `found` has entries. The entries violate `rule`, and the message contains both.
pub(super) fn assert_none(rule: &str, found: Vec<String>) {
    assert!(found.is_empty(), "{rule}:\n  {}", found.join("\n  "));
}
