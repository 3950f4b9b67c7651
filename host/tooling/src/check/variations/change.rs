//! A change of one value.

use serde_json::Value;

/// A change of the value at a place. `None` removes the value.
pub(super) struct ValueChange {
    pub(super) what: String,
    pub(super) value: Option<Value>,
    pub(super) is_large: bool,
}

impl ValueChange {
    pub(super) fn to(what: impl Into<String>, value: impl Into<Value>) -> Self {
        Self { what: what.into(), value: Some(value.into()), is_large: false }
    }

    pub(super) fn large(what: &str, value: impl Into<Value>) -> Self {
        Self { is_large: true, ..Self::to(what, value) }
    }
}
