//! TOML files in which each value has its position. All problems of a file are collected in one list. A key of the file
//! that was never read is also a problem.

#[cfg(test)]
pub(crate) mod keys_read;
mod problem;
mod reader;

pub use problem::{TomlProblem, TomlProblems};
pub use reader::{TableReader, TomlField};
