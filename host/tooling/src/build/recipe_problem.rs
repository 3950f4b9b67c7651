//! A problem in a recipe.

use std::fmt;
use std::path::{Path, PathBuf};

use latchwork::located_toml::TomlProblem;

/// A problem in a recipe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecipeProblem {
    /// The file.
    pub file: PathBuf,
    /// Line, from 1.
    pub line: usize,
    /// Key at which the problem occurs, such as `plugin.lang`. Empty if the problem concerns the whole text.
    pub key: String,
    /// The problem, and how to fix it.
    pub message: String,
}

impl RecipeProblem {
    pub(super) fn in_file(file: &Path, problem: TomlProblem) -> Self {
        let TomlProblem { line, key, message, .. } = problem;
        Self { file: file.to_owned(), line, key, message }
    }
}

impl fmt::Display for RecipeProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, key, message } = self;
        let between = if key.is_empty() { "" } else { ": " };
        write!(f, "{}:{line}: {key}{between}{message}", file.display())
    }
}
