//! Errors that prevent a plugin from being loaded. They list every problem, not only the first.

use std::fmt;

use latchwork_core::model::error_docs;

use crate::interfaces::PluginProblem;

/// Reason why the engine cannot start.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The engine refuses its configuration, which is a defect of this build.
    #[error("the WebAssembly engine refuses its configuration: {0:#}")]
    Config(wasmtime::Error),
    /// The cache of compiled code cannot be used safely.
    #[error(
        "the cache for compiled plugins at {path} cannot be used: {reason}; \
         fix this, or set LATCH_CACHE_DIR to another directory"
    )]
    Cache {
        /// The directory.
        path: String,
        /// Description of the problem.
        reason: String,
    },
}

/// Refusal of a plugin, with every reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError {
    /// The plugin's name in `latch.toml`.
    pub plugin: String,
    /// The problems, at least one.
    pub problems: Vec<PluginProblem>,
}

impl LoadError {
    /// Creates a refusal with one reason.
    pub fn single(plugin: &str, problem: PluginProblem) -> Self {
        Self { plugin: plugin.to_owned(), problems: vec![problem] }
    }

    /// The plugin's name in `latch.toml`.
    pub fn plugin(&self) -> &str {
        &self.plugin
    }

    /// Code of the error page that explains the first problem.
    pub fn page(&self) -> &'static str {
        self.problems.first().map_or(error_docs::DEFECT, PluginProblem::page)
    }
}

impl std::error::Error for LoadError {}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "plugin {:?} cannot be loaded:", self.plugin)?;
        match self.problems.as_slice() {
            [one] => write!(f, " {one}"),
            many => many.iter().try_for_each(|problem| write!(f, "\n  - {problem}")),
        }
    }
}
