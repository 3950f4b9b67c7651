//! Errors of plugin builds.

use std::path::{Path, PathBuf};

use latchwork_core::model::error_docs;
use latchwork_engine::os::temp_files;

use crate::build::recipe_problem::RecipeProblem;

/// Reason why a plugin could not be built, with advice.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The folder contains no recipe.
    #[error(
        "no latch-plugin.toml in {}: name the folder of a plugin", .0.display()
    )]
    NoRecipe(PathBuf),
    /// The recipe is invalid. Contains every problem found.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Recipe(Vec<RecipeProblem>),
    /// A required program is not installed.
    #[error("{program} is not installed: {advice}")]
    Missing {
        /// The program.
        program: String,
        /// Installation advice.
        advice: &'static str,
    },
    /// A required program could not be installed.
    #[error("{name} could not be installed from its language's package registry:\n{output}")]
    Install {
        /// The program and its version.
        name: String,
        /// Output of the installer.
        output: String,
    },
    /// There is no folder for the programs of a build.
    #[error(
        "no folder for the programs of a build: neither HOME nor XDG_CACHE_HOME is set; set one of them, or \
         LATCH_TOOLS_DIR and LATCH_WASM_DIR to folders that no other user can write to"
    )]
    NoCacheFolder,
    /// The project contains no SDK.
    #[error(
        "no {lang} SDK in {}: copy the SDK from a project that `latch plugin new` created, or set its folder in \
         latch-plugin.toml: sdk = \"latchwork\"", .dir.display()
    )]
    NoSdk {
        /// Folder where the SDK was expected.
        dir: PathBuf,
        /// The language.
        lang: &'static str,
    },
    /// The plugin's own files do not have the required layout.
    #[error("{place}: {message}")]
    Source {
        /// The file, and the position in it.
        place: String,
        /// The problem, and the correct form.
        message: String,
    },
    /// The plugin's sources cannot be turned into a component. Each problem has its file and line.
    #[error("{}", .0.join("\n"))]
    Sources(Vec<String>),
    /// A lock file does not match the plugin's manifest: the manifest has changed, or the lock file belongs to another
    /// manifest.
    #[error("{place}: {message}; if the change is wanted, type: latch plugin build {} --update", .dir.display())]
    LockFile {
        /// The lock file, and the line in it if known.
        place: String,
        /// The difference.
        message: String,
        /// The plugin's folder.
        dir: PathBuf,
    },
    /// A program failed.
    #[error("{what} failed ({status}):\n{output}")]
    Failed {
        /// The action that failed.
        what: String,
        /// Exit status of the program.
        status: String,
        /// The last lines of the program's output.
        output: String,
    },
    /// Every way to get a Wasm target failed. Contains one reason per way.
    #[error("no Rust toolchain on this machine can build for wasm32-unknown-unknown:\n{}", .0.iter().map(|why| format!("  - {why}")).collect::<Vec<_>>().join("\n"))]
    NoWasmTarget(Vec<String>),
    /// The package does not produce a library that could be a plugin.
    #[error("{} does not build a plugin: add [lib] to its Cargo.toml with crate-type = [\"cdylib\"]", .0.display())]
    NoLibrary(PathBuf),
    /// The build produced a file that is not a component.
    #[error("{} is {found} instead of a component: {advice}", .path.display())]
    NotAComponent {
        /// Path of the file.
        path: PathBuf,
        /// Kind of the file.
        found: &'static str,
        /// Advice to the user.
        advice: &'static str,
    },
    /// A program failed, and nothing can be written to a folder that the build needs.
    #[error("cannot write to {} ({source}); {error}", .dir.display())]
    UnwritableFolder {
        /// The error of the program.
        error: Box<BuildError>,
        /// The folder.
        dir: PathBuf,
        /// Error of the test write.
        source: std::io::Error,
    },
    /// The file system refused an operation.
    #[error("cannot {doing} {}: {source}", .path.display())]
    Io {
        /// The operation, as a verb.
        doing: &'static str,
        /// Path that the operation was applied to.
        path: PathBuf,
        /// Error of the operating system.
        source: std::io::Error,
    },
}

impl BuildError {
    /// Returns the message without the output of the program. `progress` has already received this output.
    pub fn brief(&self) -> String {
        match self {
            Self::Failed { what, status, .. } => format!("{what} failed ({status})"),
            Self::Install { name, .. } => {
                format!("{name} could not be installed from its language's package registry")
            }
            other => other.to_string(),
        }
    }

    pub(super) fn io(doing: &'static str, path: &Path, source: std::io::Error) -> Self {
        Self::Io { doing, path: path.to_owned(), source: temp_files::without_path(source) }
    }

    /// Returns the error with paths below `from` replaced by paths below `to`. `from` is the temporary folder in which
    /// the files are created. `to` is the folder that the user named.
    pub(super) fn with_moved_paths(self, from: &Path, to: &Path) -> Self {
        match self {
            Self::Io { doing, path, source } => {
                let path = path.strip_prefix(from).map_or(path.clone(), |rest| to.join(rest).components().collect());
                Self::Io { doing, path, source }
            }
            other => other,
        }
    }

    /// Returns the error code for a full disk or an unwritable folder if one of them caused the failure.
    pub fn unwritable_code(&self) -> Option<&'static str> {
        match self {
            Self::UnwritableFolder { source, .. } => error_docs::code_of_write_error(source.kind()),
            // These operations do not write, so their failures do not show that a folder is unwritable.
            Self::Io { doing, source, .. } if !["find", "read", "read from", "start", "wait for"].contains(doing) => {
                error_docs::code_of_write_error(source.kind())
            }
            Self::Failed { output, .. } | Self::Install { output, .. } => unwritable_code_in_output(output),
            _ => None,
        }
    }
}

/// Searches a program's output for the messages that the system and Node.js use for a full disk or a read-only
/// file system. Returns the matching error code.
fn unwritable_code_in_output(output: &str) -> Option<&'static str> {
    let says = |words: &[&str]| words.iter().any(|word| output.contains(word));
    if says(&["No space left on device", "no space left on device", "ENOSPC", "Disk quota exceeded"]) {
        return Some(error_docs::DISK_FULL);
    }
    says(&["Read-only file system", "read-only file system", "EROFS"]).then_some(error_docs::FOLDER_READ_ONLY)
}
