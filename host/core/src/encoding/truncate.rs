//! Truncation of texts that exceed a limit.

use std::fmt::{self, Write as _};

/// Mark at the end of a shown text that was truncated.
pub const MARK: char = '…';

/// Beginning of a text that may have been longer.
///
/// Recorded data contains only [`start`](Self::start). The `Display` form is for people and ends with [`MARK`] if the
/// text was longer.
///
/// ```
/// use latchwork_core::encoding::truncate;
/// let cut = truncate::at_bytes("größer", 4);
/// assert_eq!((cut.start, cut.to_string()), ("grö", "grö…".to_owned()));
/// assert_eq!(truncate::at_characters("größer", 6).to_string(), "größer");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Truncated<'t> {
    /// Beginning of the text, without a mark.
    pub start: &'t str,
    /// True if the text was longer.
    pub is_truncated: bool,
}

impl fmt::Display for Truncated<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.start)?;
        if self.is_truncated { f.write_char(MARK) } else { Ok(()) }
    }
}

/// Returns at most `max` bytes of a text. The text is cut between two characters.
pub fn at_bytes(text: &str, max: usize) -> Truncated<'_> {
    at(text, text.floor_char_boundary(max))
}

/// Returns at most `max` characters of a text.
pub fn at_characters(text: &str, max: usize) -> Truncated<'_> {
    at(text, text.char_indices().nth(max).map_or(text.len(), |(end, _)| end))
}

fn at(text: &str, end: usize) -> Truncated<'_> {
    Truncated { start: &text[..end], is_truncated: end < text.len() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_longer_text_is_truncated_and_marked() {
        for (text, max, bytes, characters) in [
            ("", 0, "", ""),
            ("añb", 4, "añb", "añb"),
            ("añb", 3, "añ…", "añb"),
            ("añb", 2, "a…", "añ…"),
            ("ñ", 0, "…", "…"),
        ] {
            let displayed = (at_bytes(text, max).to_string(), at_characters(text, max).to_string());
            assert_eq!(displayed, (bytes.to_owned(), characters.to_owned()), "{text:?} {max}");
        }
        assert_eq!(at_bytes("añb", 2), Truncated { start: "a", is_truncated: true });
    }
}
