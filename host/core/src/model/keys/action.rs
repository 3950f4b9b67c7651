//! Action keys. Two jobs that request the same action have equal action keys.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::encoding::canon::value_to_canonical;
use crate::model::ids::Hash;
use crate::model::keys::length_prefixed;

/// An `idempotency_template` with balanced braces: text with names in `{}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template<'a> {
    text: &'a str,
    names: Vec<&'a str>,
}

/// Error: a template whose braces are not balanced.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message} at byte {offset} of the template")]
pub struct BadTemplate {
    /// Byte offset into the template.
    pub offset: usize,
    /// Description of the error.
    pub message: &'static str,
}

/// Error: a name in a template that is not a payload field and not an entry of `hashes`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{{{0}}}` names neither a field of the payload nor an entry of `hashes`")]
pub struct UnknownName(pub String);

impl<'a> Template<'a> {
    /// Finds the names in a template. Braces cannot be escaped, because they are used only for names.
    pub fn parse(text: &'a str) -> Result<Self, BadTemplate> {
        let bad = |offset, message| Err(BadTemplate { offset, message });
        let mut names = Vec::new();
        let mut open = None;
        for (index, char) in text.char_indices() {
            match (char, open) {
                ('{', None) => open = Some(index + 1),
                ('{', Some(_)) => return bad(index, "`{` inside a name"),
                ('}', None) => return bad(index, "`}` without `{`"),
                ('}', Some(start)) if start == index => return bad(index, "an empty name"),
                ('}', Some(start)) => {
                    names.push(&text[start..index]);
                    open = None;
                }
                _ => {}
            }
        }
        match open {
            Some(start) => bad(start - 1, "`{` without `}`"),
            None => Ok(Self { text, names }),
        }
    }

    /// Returns the names in the order of the text, including repetitions.
    pub fn names(&self) -> &[&'a str] {
        &self.names
    }

    /// Returns the action key: the SHA-256 over the length-prefixed template and the length-prefixed canonical form
    /// of each name's value.
    ///
    /// The value of a name is the payload field of that name. If the payload has no such field, the value is the
    /// hexadecimal SHA-256 of the canonical form of the entry in `hashes`. Bindings in `payload` and `hashes` must be
    /// resolved before this function is called.
    pub fn key(&self, payload: &Value, hashes: &BTreeMap<String, Value>) -> Result<Hash, UnknownName> {
        let mut fields = vec![self.text.as_bytes().to_vec()];
        for name in &self.names {
            let field = match (payload.get(name), hashes.get(*name)) {
                (Some(value), _) => value_to_canonical(value),
                (None, Some(value)) => {
                    let digest = Hash::of(&[&value_to_canonical(value)]);
                    value_to_canonical(&Value::String(digest.to_hex()))
                }
                (None, None) => return Err(UnknownName((*name).to_owned())),
            };
            fields.push(field);
        }
        let fields: Vec<&[u8]> = fields.iter().map(Vec::as_slice).collect();
        Ok(length_prefixed(&fields))
    }
}

/// Returns the action key of a plan step. See [`Template::key`]. [`crate::plan::check`] must have accepted the
/// template.
pub fn action_key(template: &str, payload: &Value, hashes: &BTreeMap<String, Value>) -> Result<Hash, UnknownName> {
    let template = Template::parse(template).expect("a checked plan has no bad template");
    template.key(payload, hashes)
}

/// Returns the action key of a call inside a step plugin. `text` is the key that the plugin gives. The result equals
/// the action key of the template `text` without names.
pub fn call_action_key(text: &str) -> Hash {
    length_prefixed(&[text.as_bytes()])
}
