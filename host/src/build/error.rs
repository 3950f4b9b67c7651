//! Why a plugin could not be built.

use std::path::{Path, PathBuf};

use super::recipe::Problem;

/// Why a plugin could not be built, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The folder holds no recipe.
    #[error(
        "{} holds no latch-plugin.toml: name a plugin's folder", .0.display()
    )]
    NoRecipe(PathBuf),
    /// The recipe is wrong: every problem of it.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Recipe(Vec<Problem>),
    /// A program that is needed is not there.
    #[error("{program} is not installed: {advice}")]
    Missing {
        /// The program.
        program: String,
        /// How to get it.
        advice: &'static str,
    },
    /// A program failed.
    #[error("{what} failed ({status}):\n{output}")]
    Failed {
        /// What was being done.
        what: String,
        /// How it ended.
        status: String,
        /// The end of what it said.
        output: String,
    },
    /// No way to a Wasm target worked: each with its reason.
    #[error("no Rust toolchain here can build for wasm32-unknown-unknown:\n{}", .0.iter().map(|why| format!("  - {why}")).collect::<Vec<_>>().join("\n"))]
    NoWasmTarget(Vec<String>),
    /// The package makes no library that could be a plugin.
    #[error("{} makes no plugin: its Cargo.toml needs [lib] with crate-type = [\"cdylib\"]", .0.display())]
    NoLibrary(PathBuf),
    /// What was made is no component.
    #[error("{} is {found}, not a component: {advice}", .path.display())]
    NotAComponent {
        /// What was made.
        path: PathBuf,
        /// What it is.
        found: &'static str,
        /// What to do.
        advice: &'static str,
    },
    /// The file system refused.
    #[error("cannot {doing} {}: {source}", .path.display())]
    Io {
        /// What was being done.
        doing: &'static str,
        /// To what.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
}

impl BuildError {
    pub(super) fn io(doing: &'static str, path: &Path, source: std::io::Error) -> Self {
        Self::Io { doing, path: path.to_owned(), source }
    }
}
