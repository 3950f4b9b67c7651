//! Hides secrets in the texts of a guest that a failure shows, and in the texts of verifiers.

use aho_corasick::AhoCorasick;

use crate::capability::placeholder::Placeholders;
use crate::capability::secret_echo::base64_forms;
use crate::capability::settings::PluginSettings;
use crate::guest::last_words::KEPT_BYTES_MAX;
use crate::os::Machine;

/// Length in bytes of the shortest value that is looked for in base64. The encoded form of a shorter value could be a
/// part of any text.
const ENCODED_BYTES_MIN: usize = 4;

/// Replaces the secrets of a plugin in a text about an answer of a server. The text is recorded.
pub fn hide_secrets(settings: &PluginSettings, machine: &Machine, text: &str) -> String {
    let hidden = HiddenSecrets::new(settings, &Placeholders::new(machine.clone()));
    String::from_utf8_lossy(&hidden.replace_in(text.as_bytes(), false)).into_owned()
}

/// The secrets that a plugin may use, as texts to find and their replacements.
///
/// A value of any length is found in clear. A value of at least `ENCODED_BYTES_MIN` bytes is also found inside base64
/// with either alphabet. A placeholder is found in clear. Secrets are also replaced for a plugin that receives them in
/// clear, because its failures are recorded. A value that the guest compressed, encrypted, escaped or encoded in
/// another way is not found.
pub(crate) struct HiddenSecrets {
    texts: Vec<Vec<u8>>,
    replacements: Vec<String>,
}

impl HiddenSecrets {
    /// Returns the secrets that `settings` names and that have values.
    pub(crate) fn new(settings: &PluginSettings, placeholders: &Placeholders) -> Self {
        let mut hidden = Self { texts: Vec::new(), replacements: Vec::new() };
        for name in settings.grants.secret_names() {
            let Some(value) = settings.secrets.value(name).filter(|value| !value.is_empty()) else { continue };
            hidden.add(name, placeholders.hand_out(name, value.clone()).into_bytes());
            hidden.add_value(name, &value);
        }
        hidden
    }

    fn add_value(&mut self, name: &str, value: &str) {
        self.add(name, value.as_bytes().to_vec());
        if value.len() >= ENCODED_BYTES_MIN {
            (0..3).flat_map(|before| base64_forms(value.as_bytes(), before)).for_each(|form| self.add(name, form));
        }
    }

    fn add(&mut self, name: &str, text: Vec<u8>) {
        self.texts.push(text);
        self.replacements.push(format!("<secret {name}>"));
    }

    /// Replaces the secrets in a text. If `is_truncated` is true, the text is the end of a longer text and may begin
    /// with the end of a secret. The first bytes are then left out.
    pub(crate) fn replace_in(&self, text: &[u8], is_truncated: bool) -> Vec<u8> {
        if self.texts.is_empty() {
            return text.to_vec();
        }
        let longest = self.texts.iter().map(Vec::len).max().unwrap_or(0);
        let Ok(finder) = AhoCorasick::new(&self.texts) else { return Vec::new() };
        if is_truncated && longest >= KEPT_BYTES_MAX {
            return Vec::new();
        }
        let mut found: Vec<_> = finder
            .find_overlapping_iter(text)
            .map(|found| (found.start(), std::cmp::Reverse(found.end()), found.pattern().as_usize()))
            .collect();
        found.sort_unstable();
        let mut at = if is_truncated { longest - 1 } else { 0 };
        let mut output = Vec::with_capacity(text.len());
        for (start, std::cmp::Reverse(end), pattern) in found {
            if end <= at {
                continue;
            }
            // A secret that overlaps the previous secret begins before `at`. No text lies between the two.
            if start >= at {
                output.extend_from_slice(&text[at..start]);
            }
            output.extend_from_slice(self.replacements[pattern].as_bytes());
            at = end;
        }
        output.extend_from_slice(text.get(at..).unwrap_or_default());
        output
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hidden(secrets: &[(&str, &str)]) -> HiddenSecrets {
        let mut hidden = HiddenSecrets { texts: Vec::new(), replacements: Vec::new() };
        secrets.iter().for_each(|(name, value)| hidden.add_value(name, value));
        hidden
    }

    fn replaced(hidden: &HiddenSecrets, text: &str, is_truncated: bool) -> String {
        String::from_utf8(hidden.replace_in(text.as_bytes(), is_truncated)).unwrap()
    }

    /// I242: no part of a secret is shown, however long it is and wherever the text begins.
    #[test]
    fn secrets_are_hidden_in_clear_and_in_base64() {
        let hidden = hidden(&[("TOKEN", "hunter2-hunter2"), ("PIN", "77"), ("PEM", "line 1\nline 2")]);
        assert_eq!(replaced(&hidden, "key=hunter2-hunter2, pin=77!", false), "key=<secret TOKEN>, pin=<secret PIN>!");
        assert_eq!(replaced(&hidden, "line 1\nline 2", false), "<secret PEM>");
        use base64::Engine as _;
        for before in 0..4 {
            let text = format!("{}hunter2-hunter2 and more", "x".repeat(before));
            let text = replaced(&hidden, &base64::prelude::BASE64_STANDARD.encode(text), false);
            assert!(text.contains("<secret TOKEN>") && text.len() < 45, "{text}");
        }
        for offset in 1..15 {
            let text = format!("{} and more, at last it failed with hunter2-hunter2", &"hunter2-hunter2"[offset..]);
            let text = replaced(&hidden, &text, true);
            assert!(text.ends_with("with <secret TOKEN>") && !text.contains("hunter"), "{text}");
        }
    }

    /// I242: secrets that overlap are hidden together.
    #[test]
    fn overlapping_secrets_are_hidden_together() {
        let hidden = hidden(&[("ONE", "abcdefgh"), ("TWO", "ghijklmn")]);
        assert_eq!(replaced(&hidden, "<abcdefghijklmn>", false), "<<secret ONE><secret TWO>>");
        assert_eq!(replaced(&hidden, "ghijklmnabcdefgh", false), "<secret TWO><secret ONE>");
    }
}
