//! Why a plugin could not be built.

use std::path::{Path, PathBuf};

use latchwork_core::pages;

use super::recipe::Problem;
use crate::files;

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
    /// A program failed where nothing can be written.
    #[error("nothing can be written in {} ({source}), and {error}", .dir.display())]
    NoRoom {
        /// What failed.
        error: Box<BuildError>,
        /// The folder.
        dir: PathBuf,
        /// Why not.
        source: std::io::Error,
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
        Self::Io { doing, path: path.to_owned(), source: files::without_path(source) }
    }

    /// The same with the paths below one folder told as below another: what is made in a temporary folder is moved.
    pub(super) fn moved(self, from: &Path, to: &Path) -> Self {
        match self {
            Self::Io { doing, path, source } => {
                let path = path.strip_prefix(from).map_or(path.clone(), |rest| to.join(rest).components().collect());
                Self::Io { doing, path, source }
            }
            other => other,
        }
    }

    /// The code of a disk that is full, or of a folder that cannot be written, where that is the reason.
    pub fn unwritable(&self) -> Option<&'static str> {
        match self {
            Self::NoRoom { source, .. } => pages::of_unwritable(source.kind()),
            // A file that may not be read, or a program that may not be started, is another matter.
            Self::Io { doing, source, .. } if !["find", "read", "read from", "start", "wait for"].contains(doing) => {
                pages::of_unwritable(source.kind())
            }
            Self::Failed { output, .. } | Self::Install { output, .. } => said(output),
            _ => None,
        }
    }
}

/// The same of a program that says so in the words of the system, or as Node.js does.
fn said(output: &str) -> Option<&'static str> {
    let says = |words: &[&str]| words.iter().any(|word| output.contains(word));
    if says(&["No space left on device", "no space left on device", "ENOSPC", "Disk quota exceeded"]) {
        return Some(pages::DISK_FULL);
    }
    says(&["Read-only file system", "read-only file system", "EROFS"]).then_some(pages::FOLDER_READ_ONLY)
}
