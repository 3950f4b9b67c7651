//! Text that others wrote, made safe for a terminal.
//!
//! Plugins, plans and answers of tools reach a person's screen, where that person decides about
//! them. What would move the cursor, repaint, reorder or hide is shown as an escape instead, so
//! that what is read is what is there.

use std::fmt::Write as _;

/// One line of text of others.
pub(crate) fn visible(text: &str) -> String {
    escape(text, false)
}

/// Several lines of text of others: line ends stay.
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
            _ if deceives(c) => write!(out, "{}", c.escape_unicode()),
            _ => write!(out, "{c}"),
        };
    }
    out
}

/// Whether a terminal would do something else than show it.
fn deceives(c: char) -> bool {
    c.is_control()
        || matches!(c,
            // Of no width: words that look alike and are not.
            '\u{ad}' | '\u{180e}' | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2064}' | '\u{feff}'
            // Reordering.
            | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{206f}'
            // Other line ends, annotations, tags.
            | '\u{2028}' | '\u{2029}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_repaints_reorders_or_hides() {
        assert_eq!(visible("plain, ä, 漢字 and 🙂"), "plain, ä, 漢字 and 🙂");
        assert_eq!(visible("a\u{1b}[2Kb\rc\nd\te\u{7f}\u{9b}"), r"a\u{1b}[2Kb\rc\nd\te\u{7f}\u{9b}");
        assert_eq!(visible("\u{202e}fdp\u{2069}\u{200f}"), r"\u{202e}fdp\u{2069}\u{200f}");
        assert_eq!(visible("e\u{200b}vil\u{feff}\u{200d}"), r"e\u{200b}vil\u{feff}\u{200d}");
    }

    #[test]
    fn line_ends_stay_in_text_of_several_lines() {
        assert_eq!(
            visible_lines("head\nbody\u{1b}[8m\u{1b}]0;title\u{7}"),
            "head\nbody\\u{1b}[8m\\u{1b}]0;title\\u{7}"
        );
    }
}
