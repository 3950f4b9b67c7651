//! A change of one value, and a varied value.

use serde_json::Value;

/// A value and what was changed, such as `an empty text at "/title"`.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::check) struct InputVariation {
    pub(in crate::check) what: String,
    pub(in crate::check) value: Value,
    /// True if the value is much larger than that of the case.
    pub(in crate::check) is_large: bool,
}

/// A change of the value at a place. `None` removes the value.
pub(super) struct ValueChange {
    pub(super) what: String,
    pub(super) value: Option<Value>,
    pub(super) is_large: bool,
    /// The ends of a chain, if the changed value is an array of elements that refer to each other.
    pub(super) ends: Option<ChainEnds>,
}

/// Names of the first and the last element of a chain. A value beside the array can name the element at which a walk
/// along the chain begins.
#[derive(Clone)]
pub(super) struct ChainEnds {
    /// The names of the elements before the change.
    pub(super) names: Vec<Value>,
    /// The names of the first and the last element after the change.
    pub(super) ends: [Value; 2],
}

impl ValueChange {
    pub(super) fn to(what: impl Into<String>, value: impl Into<Value>) -> Self {
        Self { what: what.into(), value: Some(value.into()), is_large: false, ends: None }
    }

    pub(super) fn large(what: &str, value: impl Into<Value>) -> Self {
        Self { is_large: true, ..Self::to(what, value) }
    }

    pub(super) fn removal() -> Self {
        Self { what: "no value".to_owned(), value: None, is_large: false, ends: None }
    }

    pub(super) fn with_ends(self, ends: ChainEnds) -> Self {
        Self { ends: Some(ends), ..self }
    }
}
