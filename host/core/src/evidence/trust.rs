//! Keys that a verifier trusts.

use std::collections::BTreeMap;

use crate::model::person::{PublicKey, SIGNATURE_BYTES};

/// Trusted keys and their names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trust {
    keys: BTreeMap<PublicKey, String>,
}

impl Trust {
    /// Parses a trust file. Each line contains a key, `ed25519:…`, and optionally a name. Empty lines and lines that
    /// begin with `#` are ignored.
    ///
    /// # Errors
    /// Returns the numbers of the lines that are not keys. The list is empty if the file contains no key.
    pub fn parse(text: &str) -> Result<Trust, Vec<usize>> {
        let mut keys = BTreeMap::new();
        let mut bad = Vec::new();
        for (index, line) in text.lines().enumerate().filter(|(_, line)| !is_blank_or_comment(line)) {
            let (key, name) = line.trim().split_once(char::is_whitespace).unwrap_or((line.trim(), ""));
            match PublicKey::parse(key) {
                Some(key) => drop(keys.insert(key, name.trim().to_owned())),
                None => bad.push(index + 1),
            }
        }
        if bad.is_empty() && !keys.is_empty() { Ok(Trust { keys }) } else { Err(bad) }
    }

    /// Returns the name of a key. The name is empty if the file states none.
    pub(super) fn name(&self, key: &PublicKey) -> Option<&String> {
        self.keys.get(key)
    }
}

fn is_blank_or_comment(line: &str) -> bool {
    line.trim().is_empty() || line.trim_start().starts_with('#')
}

/// Keys against which a file is verified.
#[derive(Clone, Copy, Debug, Default)]
pub struct TrustedKeys<'a> {
    /// Keys that may sign evidence files. Without them, the owner of the key is not checked.
    pub signers: Option<&'a Trust>,
    /// Keys of people, each with the name of its person. Without them, the owners of the keys are not checked.
    pub people: Option<&'a Trust>,
}

/// Function that returns true if the signature of the message is valid for the key.
pub type IsSignature<'a> = dyn Fn(&PublicKey, &[u8], &[u8; SIGNATURE_BYTES]) -> bool + 'a;
