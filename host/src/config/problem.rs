//! What is wrong with a configuration, and where.

use std::fmt;
use std::path::PathBuf;

/// Where a setting was found.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// A place of the file; line and column count from 1, columns in characters.
    File {
        /// The file.
        path: PathBuf,
        /// Its line.
        line: usize,
        /// The character in the line.
        column: usize,
    },
    /// The file as a whole.
    WholeFile(PathBuf),
    /// An environment variable.
    Environment(&'static str),
    /// A flag of the command line.
    Flag(&'static str),
    /// Nowhere: it is missing, or there is no file at all.
    Nowhere,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::File { path, line, column } => write!(f, "{}:{line}:{column}", path.display()),
            Origin::WholeFile(path) => write!(f, "{}", path.display()),
            Origin::Environment(name) => write!(f, "environment variable {name}"),
            Origin::Flag(name) => write!(f, "{name}"),
            Origin::Nowhere => f.write_str("configuration"),
        }
    }
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where.
    pub origin: Origin,
    /// The key, from the top: `plugin[0].grants.http[1]`; empty where none is concerned.
    pub key: String,
    /// Its error page: `L0003`.
    pub code: &'static str,
    /// What is wrong and what would be right.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.origin)?;
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        write!(f, "{} [{}]", self.message, self.code)
    }
}

/// Everything that is wrong with a configuration, in the order of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigErrors(pub Vec<Problem>);

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
