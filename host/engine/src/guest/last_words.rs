//! The last texts that a guest wrote about an error. They say more about a trap than the functions on its stack.

use latchwork_core::model::bounds;
use latchwork_core::model::error::{Code, Failure};

/// Maximum number of bytes that are kept and shown.
const BYTES_MAX: usize = bounds::LAST_WORDS_BYTES;

/// Beginning of the last words in a failure message.
pub const LAST_WORDS: &str = "; its last words: ";

/// The end of the texts that a guest wrote, at most 2 KiB.
#[derive(Debug, Default)]
pub(crate) struct LastWords(String);

impl LastWords {
    /// Adds a text. The beginning of what is kept gives way to it.
    pub(crate) fn add(&mut self, text: &str) {
        self.0.push_str(text);
        let surplus = self.0.len().saturating_sub(BYTES_MAX);
        if surplus > 0 {
            let start = (surplus..=self.0.len()).find(|at| self.0.is_char_boundary(*at)).unwrap_or(self.0.len());
            self.0.drain(..start);
        }
    }

    /// Returns the failure with the last words, if a trap ended the guest and it wrote any.
    pub(crate) fn explain(&self, mut failure: Failure) -> Failure {
        let lines: Vec<&str> = self.0.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        if failure.code == Code::PluginTrap && !lines.is_empty() {
            failure.message.push_str(LAST_WORDS);
            failure.message.push_str(&lines.join(" / ").replace(char::is_control, " "));
        }
        failure
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// I218: the last words are bounded, end with the last text, and belong to traps alone.
    #[test]
    fn last_words_are_bounded_and_belong_to_traps() {
        let mut words = LastWords::default();
        let trap = || Failure::new(Code::PluginTrap, "it trapped");
        assert_eq!(words.explain(trap()).message, "it trapped");
        words.add("Traceback:\n  File \"plugin.py\", line 7\u{1b}[0m\n");
        words.add("ZeroDivisionError\n");
        let expected = "it trapped; its last words: Traceback: / File \"plugin.py\", line 7 [0m / ZeroDivisionError";
        assert_eq!(words.explain(trap()).message, expected);
        assert_eq!(words.explain(Failure::new(Code::OutOfFuel, "no fuel")).message, "no fuel");
        for n in 0..1_000 {
            words.add(&format!("\u{e9}\u{1f600}{n}\n"));
        }
        assert!(words.0.len() <= BYTES_MAX);
        let message = words.explain(trap()).message;
        assert!(message.ends_with("999") && message.len() < 2 * BYTES_MAX, "{message}");
    }
}
