//! Problems of a configuration, with their positions.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::located_toml::TomlProblem;

/// Source of a setting or a problem.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SettingSource {
    /// A position in the file. Lines and columns are counted from 1.
    File {
        /// Path of the file.
        path: PathBuf,
        /// Line number.
        line: usize,
        /// Column number, in characters.
        column: usize,
    },
    /// The file as a whole.
    WholeFile(PathBuf),
    /// An environment variable.
    Environment(&'static str),
    /// A flag of the command line.
    Flag(&'static str),
    /// No source: the setting is missing, or there is no file.
    Nowhere,
}

impl fmt::Display for SettingSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SettingSource::File { path, line, column } => write!(f, "{}:{line}:{column}", path.display()),
            SettingSource::WholeFile(path) => write!(f, "{}", path.display()),
            SettingSource::Environment(name) => write!(f, "environment variable {name}"),
            SettingSource::Flag(name) => write!(f, "{name}"),
            SettingSource::Nowhere => f.write_str("configuration"),
        }
    }
}

/// One problem of the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigProblem {
    /// Source of the problem.
    pub origin: SettingSource,
    /// Path of the key from the top, such as `plugin[0].grants.http[1]`. Empty if the problem concerns no
    /// key.
    pub key: String,
    /// Code of the error page, such as `L0003`.
    pub code: &'static str,
    /// Description of the problem and of a valid value.
    pub message: String,
}

impl ConfigProblem {
    pub(super) fn in_file(path: &Path, problem: TomlProblem) -> Self {
        let TomlProblem { line, column, key, code, message } = problem;
        Self { origin: SettingSource::File { path: path.to_owned(), line, column }, key, code, message }
    }
}

impl fmt::Display for ConfigProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.origin)?;
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        write!(f, "{} [{}]", self.message, self.code)
    }
}

/// All problems of a configuration, in the order of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigErrors(pub Vec<ConfigProblem>);

impl fmt::Display for ConfigErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_slice() {
            [one] => write!(f, "the configuration has a problem: {one}"),
            all => {
                write!(f, "the configuration has {} problems:", all.len())?;
                all.iter().try_for_each(|problem| write!(f, "\n  {problem}"))
            }
        }
    }
}

impl std::error::Error for ConfigErrors {}
