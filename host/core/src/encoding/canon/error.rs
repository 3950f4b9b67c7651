//! Reasons why a text has no canonical form.

/// Reason why a text has no canonical form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CanonErrorKind {
    /// The text is not valid UTF-8.
    #[error("the text is not valid UTF-8")]
    Utf8,
    /// The text is not valid JSON.
    #[error("{0}")]
    Syntax(&'static str),
    /// An object contains a key twice.
    #[error("the key {0:?} appears twice in one object; keep one of them")]
    DuplicateKey(String),
    /// The text is nested deeper than [`JSON_NESTING`].
    #[error("nested deeper than {JSON_NESTING} levels")]
    TooDeep,
    /// A double cannot hold the integer exactly.
    #[error("the integer {0} cannot be held exactly by a double; write it as a string")]
    InexactInteger(String),
    /// A double cannot hold the number, because it is too large.
    #[error("the number {0} is beyond the range of a double; write it as a string")]
    Overflow(String),
    /// A `\u` escape is half of a surrogate pair.
    #[error("a \\u escape is half of a surrogate pair, which is no character")]
    LoneSurrogate,
}

/// Error: a refused text, with the position and the reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at byte {offset}: {refusal}")]
pub struct CanonError {
    /// Byte offset into the text, from 0.
    pub offset: usize,
    /// Reason why the text is refused at this offset.
    pub refusal: CanonErrorKind,
}

impl CanonError {
    /// Returns the line and column of the error, both from 1. `text` is the whole text that was refused. The column
    /// counts characters.
    pub fn line_column(&self, text: &[u8]) -> (usize, usize) {
        let before = &text[..self.offset.min(text.len())];
        let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        // UTF-8 continuation bytes are not counted as characters.
        let column = before[line_start..].iter().filter(|byte| **byte & 0xC0 != 0x80).count() + 1;
        (line, column)
    }
}

/// Maximum nesting depth of objects and arrays. Real payloads stay below this depth. A recursive parser in another
/// program does not overflow its stack at this depth.
pub const JSON_NESTING: usize = 64;
