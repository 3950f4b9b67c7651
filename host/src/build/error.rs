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
    /// A program that is needed could not be installed.
    #[error("{name} cannot be installed; it comes from its language's package registry:\n{output}")]
    Install {
        /// The program and its version.
        name: String,
        /// What the installer said.
        output: String,
    },
    /// The project holds no SDK.
    #[error(
        "{} holds no {lang} SDK: put there what `latch plugin new` puts into a project, or say in latch-plugin.toml \
         where it is: sdk = \"latchwork\"", .dir.display()
    )]
    NoSdk {
        /// Where it was looked for.
        dir: PathBuf,
        /// The language.
        lang: &'static str,
    },
    /// The plugin's own files are not laid out as they have to be.
    #[error("{place}: {message}")]
    Source {
        /// The file, and where in it.
        place: String,
        /// What is wrong and what would be right.
        message: String,
    },
    /// The plugin's sources cannot become a component: each problem with its file and line.
    #[error("{}", .0.join("\n"))]
    Sources(Vec<String>),
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
    /// The error without what a program said: for a reader to whom `progress` has shown it already.
    pub fn brief(&self) -> String {
        match self {
            Self::Failed { what, status, .. } => format!("{what} failed ({status})"),
            Self::Install { name, .. } => {
                format!("{name} cannot be installed; it comes from its language's package registry")
            }
            other => other.to_string(),
        }
    }

    pub(super) fn io(doing: &'static str, path: &Path, source: std::io::Error) -> Self {
        Self::Io { doing, path: path.to_owned(), source }
    }
}
