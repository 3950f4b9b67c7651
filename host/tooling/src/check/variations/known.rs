//! Literals in the sources of a plugin.

use std::collections::BTreeSet;

/// Maximum length of a text, in bytes. Longer texts are messages.
const TEXT_MAX: usize = 24;
/// Maximum number of texts and of numbers.
const COUNT_MAX: usize = 200;

/// Texts and numbers in the sources of a plugin: a step can treat each of them differently.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownValues {
    pub(super) texts: Vec<String>,
    pub(super) numbers: Vec<i64>,
}

impl KnownValues {
    /// Returns the texts.
    pub(in crate::check) fn texts(&self) -> &[String] {
        &self.texts
    }

    /// Reads the literals of source files in any of the languages. The order is that of the files.
    #[must_use]
    pub fn of_sources<'s>(files: impl IntoIterator<Item = &'s str>) -> Self {
        let mut known = Self::default();
        let (mut texts, mut numbers) = (BTreeSet::new(), BTreeSet::new());
        for line in files.into_iter().flat_map(str::lines) {
            let (found, rest) = literals(line);
            for text in found {
                if known.texts.len() < COUNT_MAX && texts.insert(text) {
                    known.texts.push(text.to_owned());
                }
            }
            for number in rest.iter().flat_map(|code| integers(code)) {
                if known.numbers.len() < COUNT_MAX && numbers.insert(number) {
                    known.numbers.push(number);
                }
            }
        }
        known
    }
}

/// Returns the short quoted texts of a line, and the code between the quoted texts. Leaves out a text that contains an
/// escape or a placeholder.
fn literals(line: &str) -> (Vec<&str>, Vec<&str>) {
    let (mut texts, mut code, mut rest) = (Vec::new(), Vec::new(), line);
    while let Some(open) = rest.find(['"', '\'', '`']) {
        let quote = &rest[open..=open];
        let Some(len) = rest[open + 1..].find(quote) else { break };
        let text = &rest[open + 1..open + 1 + len];
        let is_word = text.chars().any(char::is_alphanumeric) && !text.contains(['\\', '%', '{', '}', '<', '>', '/']);
        if is_word && len <= TEXT_MAX {
            texts.push(text);
        }
        code.push(&rest[..open]);
        rest = &rest[open + len + 2..];
    }
    code.push(rest);
    (texts, code)
}

/// Returns the whole numbers in a piece of code.
fn integers(code: &str) -> Vec<i64> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let words = code.split(|c: char| !is_part(c)).filter(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    words.filter_map(|word| word.replace('_', "").parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_texts_and_whole_numbers_of_sources_are_known() {
        let source = "METALS = {\"Ni\": Metal(\"nickel\", 1_455, 8.91)}\nif kind == 'W' and size1 > 12: raise Failure(f\"no {x}\")";
        let known = KnownValues::of_sources([source]);
        assert_eq!(known.texts, ["Ni", "nickel", "W"]);
        assert_eq!(known.numbers, [1455, 12]);
    }
}
