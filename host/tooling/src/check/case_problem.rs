//! Problems in a file of cases, with their lines.

use latchwork_core::encoding::canon;
use latchwork_core::encoding::canon::CanonErrorKind;

/// A problem in a file of cases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseProblem {
    /// Line number, from 1.
    pub line: u64,
    /// Column number, from 1. `None` if the line is valid JSON.
    pub column: Option<u64>,
    /// JSON pointer to the value in the line's document.
    pub pointer: String,
    /// Description of the problem and of a valid value.
    pub message: String,
}

/// Returns the number of the line that contains the byte at `at`.
pub(in crate::check) fn line_at(bytes: &[u8], at: usize) -> u64 {
    bytes[..at].iter().filter(|byte| **byte == b'\n').count() as u64 + 1
}

/// Returns a message if an object of this line has a duplicate key. Such a line is ambiguous.
pub(in crate::check) fn duplicate_key(line: &str) -> Option<String> {
    let error = canon::canonicalize(line.as_bytes()).err()?;
    matches!(error.refusal, CanonErrorKind::DuplicateKey(_)).then(|| error.refusal.to_string())
}
