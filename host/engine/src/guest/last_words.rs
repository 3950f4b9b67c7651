//! The last texts that a guest wrote about an error. They say more about a trap than the functions on its stack.

use std::sync::{Arc, Mutex, PoisonError};

use latchwork_core::model::bounds;
use latchwork_core::model::error::{Code, Failure};

/// Maximum number of bytes that are shown.
const SHOWN_BYTES_MAX: usize = bounds::LAST_WORDS_BYTES;
/// Number of bytes that are kept. This number is larger than the number of shown bytes, so that a secret at the
/// beginning of the shown part is found as a whole.
pub(crate) const KEPT_BYTES_MAX: usize = 32 << 10;

/// Beginning of the last words in a failure message.
pub const LAST_WORDS: &str = "; its last words: ";

/// The end of the texts that a guest wrote: records of the levels warn and error, and standard error. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct LastWords(Arc<Mutex<Kept>>);

/// Bytes that a guest wrote.
#[derive(Debug, Default)]
struct Kept {
    bytes: Vec<u8>,
    /// True if the guest wrote more bytes before these bytes.
    is_truncated: bool,
}

impl Kept {
    fn truncate(&mut self) {
        let surplus = self.bytes.len().saturating_sub(KEPT_BYTES_MAX);
        self.bytes.drain(..surplus);
        self.is_truncated |= surplus > 0;
    }
}

impl LastWords {
    /// Adds a text. If too many bytes are then kept, the oldest are dropped.
    pub(crate) fn add(&self, text: &[u8]) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.bytes.extend_from_slice(text);
        // The bytes are cut only at twice the maximum. Otherwise each of many short texts would move all kept bytes.
        if kept.bytes.len() > 2 * KEPT_BYTES_MAX {
            kept.truncate();
        }
    }

    /// Adds a record.
    pub(crate) fn add_record(&self, message: &str) {
        self.add(message.as_bytes());
        self.add(b"\n");
    }

    /// Returns the failure with the last words, if a trap ended the guest and the guest wrote last words. `show`
    /// returns the part of the kept bytes that may be shown. Its second argument is true if the guest wrote more bytes
    /// before the kept bytes.
    pub(crate) fn explain(&self, mut failure: Failure, show: impl FnOnce(&[u8], bool) -> Vec<u8>) -> Failure {
        if failure.code != Code::PluginTrap {
            return failure;
        }
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.truncate();
        let displayed = show(&kept.bytes, kept.is_truncated);
        let mut surplus = displayed.len().saturating_sub(SHOWN_BYTES_MAX);
        // If the cut is in the middle of a character, the rest of this character is left out.
        while displayed.get(surplus).is_some_and(|byte| byte & 0xc0 == 0x80) {
            surplus += 1;
        }
        let text = String::from_utf8_lossy(&displayed[surplus..]);
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        if !lines.is_empty() {
            failure.message.push_str(LAST_WORDS);
            failure.message.push_str(&visible(&lines.join(" / ")));
        }
        failure
    }
}

/// Replaces control characters, and escapes characters that change the order in which a terminal shows text.
fn visible(text: &str) -> String {
    let displayed = |c: char| match c {
        _ if c.is_control() => " ".to_owned(),
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => c.escape_unicode().to_string(),
        _ => c.to_string(),
    };
    text.chars().map(displayed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// I218, I242: the last words are bounded, end with the last text, and are shown only for a trap.
    #[test]
    fn last_words_are_bounded_and_belong_to_traps() {
        let words = LastWords::default();
        let explain = |failure: Failure| words.explain(failure, |text, _| text.to_vec()).message;
        let trap = || Failure::new(Code::PluginTrap, "it trapped");
        assert_eq!(explain(trap()), "it trapped");
        words.add(b"Traceback:\n  File \"plugin.py\", line 7\x1b[0m\n");
        words.add_record("ZeroDivisionError\u{202e}");
        let expected =
            "it trapped; its last words: Traceback: / File \"plugin.py\", line 7 [0m / ZeroDivisionError\\u{202e}";
        assert_eq!(explain(trap()), expected);
        assert_eq!(explain(Failure::new(Code::OutOfFuel, "no fuel")), "no fuel");
        for n in 0..20_000 {
            words.add_record(&format!("\u{e9}\u{1f600}{n}"));
            assert!(words.0.lock().unwrap().bytes.len() <= 2 * KEPT_BYTES_MAX);
        }
        let message = explain(trap());
        assert!(message.ends_with("19999") && message.len() < 2 * SHOWN_BYTES_MAX, "{message}");
        assert!(!message.contains('\u{fffd}'), "{message}");
    }
}
