//! Size of a JSON value, in the unit of the work of a check.

use serde_json::Value;

/// Bytes of text that cost as much as one value.
pub(super) const TEXT_BYTES: u64 = 16;

/// Size of a value with all its parts.
pub(super) struct Size {
    pub(super) values: u64,
    /// Bytes of all texts and names.
    pub(super) text: u64,
    pub(super) depth: usize,
}

impl Size {
    pub(super) fn units(&self) -> u64 {
        self.values + self.text / TEXT_BYTES
    }
}

pub(super) fn size(value: &Value) -> Size {
    let mut all = Size { values: 1, text: 0, depth: 0 };
    let mut add = |inner: Size| {
        all.values += inner.values;
        all.text += inner.text;
        all.depth = all.depth.max(inner.depth + 1);
    };
    match value {
        Value::String(text) => all.text = text.len() as u64,
        Value::Array(items) => items.iter().for_each(|item| add(size(item))),
        Value::Object(members) => members.iter().for_each(|(name, member)| {
            let inner = size(member);
            add(Size { text: inner.text + name.len() as u64, values: inner.values + 1, ..inner });
        }),
        _ => {}
    }
    all
}

/// Units of a whole value.
pub(super) fn units_of(value: &Value) -> u64 {
    size(value).units()
}

/// Units of a text, or of the name of a member.
pub(super) fn text_units(text: &str) -> u64 {
    1 + text.len() as u64 / TEXT_BYTES
}
