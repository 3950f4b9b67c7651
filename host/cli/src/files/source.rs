//! Input text of a command: a file, or stdin for `-`.

use std::io::Read;
use std::path::{Path, PathBuf};

use latchwork_core::model::error_docs;

use crate::context::CommandContext;
use crate::error::CliError;

/// Maximum input size in bytes. A larger input is most likely an endless device.
const READ_MAX: u64 = 1 << 30;

/// Input text and its source.
pub(crate) struct InputSource {
    /// Name in messages: the path of the file, or `stdin`.
    pub(crate) name: PathBuf,
    /// Folder of the file, or `None` for stdin. For stdin, the search for the configuration starts at the working
    /// directory.
    pub(crate) folder: Option<PathBuf>,
    /// The bytes read.
    pub(crate) text: Vec<u8>,
}

impl InputSource {
    /// Reads a file, or stdin for `-`. If stdin is read, the command asks no questions on the terminal.
    pub(crate) fn read(path: &Path, ctx: &CommandContext<'_>) -> Result<Self, CliError> {
        if !is_stdin(path) {
            return Ok(Self { name: path.to_owned(), folder: path.parent().map(Path::to_owned), text: file(path)? });
        }
        ctx.printer.reserve_stdin();
        let name = PathBuf::from("stdin");
        let text = bounded(std::io::stdin().lock(), &name)?;
        Ok(Self { name, folder: None, text })
    }
}

/// Returns true if a path on the command line means stdin.
pub(crate) fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Reads a file that was named on the command line.
pub(crate) fn file(path: &Path) -> Result<Vec<u8>, CliError> {
    if std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.len() > READ_MAX) {
        return Err(unreadable(path, &too_large()));
    }
    let file = std::fs::File::open(path).map_err(|error| unreadable(path, &format!("cannot be read: {error}")))?;
    bounded(file, path)
}

fn bounded(from: impl Read, name: &Path) -> Result<Vec<u8>, CliError> {
    let mut bytes = Vec::new();
    match from.take(READ_MAX + 1).read_to_end(&mut bytes) {
        Ok(_) if bytes.len() as u64 > READ_MAX => Err(unreadable(name, &too_large())),
        Ok(_) => Ok(bytes),
        Err(error) => Err(unreadable(name, &format!("cannot be read: {error}"))),
    }
}

fn too_large() -> String {
    format!("has more than {} MiB", READ_MAX >> 20)
}

fn unreadable(path: &Path, why: &str) -> CliError {
    CliError::input(error_docs::INPUT_UNREADABLE, format!("{} {why}", path.display()))
}

/// Reads a file of any size. The error names the file.
pub(crate) fn read_unbounded(path: &Path) -> anyhow::Result<Vec<u8>> {
    std::fs::read(path).map_err(|error| {
        CliError::input(error_docs::INPUT_UNREADABLE, format!("{} cannot be read: {error}", path.display())).into()
    })
}
