//! Reads histories and verifies them.

use latchwork::evidence::is_valid_signature;
use latchwork_core::evidence;
use latchwork_core::evidence::Verified;

/// Evidence file of an exported job.
pub struct HistoryFile {
    /// Path of the file, as the user named it.
    pub file: String,
    /// Contents of the file.
    pub bytes: Vec<u8>,
}

/// Reasons why a file is not a valid history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HistoryFileError {
    /// The file is not an evidence file. Contains the reason.
    NotEvidence(String),
    /// The evidence is damaged. Contains the line and the problem.
    Damaged(u64, String),
}

/// A verified history.
pub(crate) struct VerifiedHistory<'a> {
    pub(super) file: &'a str,
    pub(super) verified: Verified,
}

/// Reads a history. A damaged file is refused, because it proves nothing.
pub(crate) fn read(history: &HistoryFile) -> Result<VerifiedHistory<'_>, HistoryFileError> {
    let verified =
        evidence::verify(&history.bytes, None, &is_valid_signature).map_err(HistoryFileError::NotEvidence)?;
    match verified.report.problems.first() {
        Some(problem) => Err(HistoryFileError::Damaged(problem.line, problem.message.clone())),
        None => Ok(VerifiedHistory { file: &history.file, verified }),
    }
}
