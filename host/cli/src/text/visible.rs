//! Makes untrusted text safe for a terminal.
//!
//! A person makes decisions based on text of plugins, plans and tools. Characters that move the cursor, repaint,
//! reorder or hide text are shown as escapes, so that the person sees the actual text.

use std::fmt::Write as _;

/// Escapes untrusted text for one line.
pub(crate) fn visible(text: &str) -> String {
    escape(text, false)
}

/// Escapes untrusted text with several lines. Line ends are kept.
pub(super) fn visible_lines(text: &str) -> String {
    escape(text, true)
}

fn escape(text: &str, keeps_lines: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        // Writing to a string cannot fail.
        let _ = match c {
            '\n' if keeps_lines => write!(out, "{c}"),
            '\t' | '\n' | '\r' => write!(out, "{}", c.escape_debug()),
            _ if is_deceptive(c) => write!(out, "{}", c.escape_unicode()),
            _ => write!(out, "{c}"),
        };
    }
    out
}

/// Returns true if a terminal does not show the character as itself: the character controls the terminal, is invisible,
/// or reorders text.
fn is_deceptive(c: char) -> bool {
    c.is_control()
        || matches!(c,
            // Zero-width characters: words that differ only in these characters look alike.
            '\u{ad}' | '\u{180e}' | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2064}' | '\u{feff}'
            // Characters that change the writing direction.
            | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{206f}'
            // Other line ends, annotations and tags.
            | '\u{2028}' | '\u{2029}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repainting_reordering_and_hidden_characters_are_escaped() {
        assert_eq!(visible("plain, ä, 漢字 and 🙂"), "plain, ä, 漢字 and 🙂");
        assert_eq!(visible("a\u{1b}[2Kb\rc\nd\te\u{7f}\u{9b}"), r"a\u{1b}[2Kb\rc\nd\te\u{7f}\u{9b}");
        assert_eq!(visible("\u{202e}fdp\u{2069}\u{200f}"), r"\u{202e}fdp\u{2069}\u{200f}");
        assert_eq!(visible("e\u{200b}vil\u{feff}\u{200d}"), r"e\u{200b}vil\u{feff}\u{200d}");
    }

    #[test]
    fn line_ends_are_kept_in_multiline_text() {
        assert_eq!(
            visible_lines("head\nbody\u{1b}[8m\u{1b}]0;title\u{7}"),
            "head\nbody\\u{1b}[8m\\u{1b}]0;title\\u{7}"
        );
    }
}
