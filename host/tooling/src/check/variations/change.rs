//! A change of one value, and a varied value.

use serde_json::Value;

/// An input is much larger than that of its case if it has more than `LARGE_BYTES` bytes and `LARGER` times as many bytes.
const LARGE_BYTES: usize = 50_000;
const LARGER: usize = 4;

/// A value and what was changed, such as `an empty text at "/title"`.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::check) struct InputVariation {
    pub(in crate::check) what: String,
    pub(in crate::check) value: Value,
    /// True if the value is much larger than that of the case.
    pub(in crate::check) is_large: bool,
}

/// Returns true if an input is much larger than that of its case, so that it may pass a limit. Both lengths are in bytes.
pub(in crate::check) fn is_much_larger(bytes: usize, usual: usize) -> bool {
    bytes > LARGE_BYTES.max(usual.saturating_mul(LARGER))
}

/// A change of the value at a place.
pub(super) struct ValueChange<'v> {
    pub(super) what: String,
    value: NewValue<'v>,
    pub(super) is_large: bool,
    /// The ends of a chain, if the changed value is an array of elements that refer to each other.
    pub(super) ends: Option<ChainEnds>,
}

/// The value after a change.
enum NewValue<'v> {
    /// The value is removed.
    None,
    Made(Value),
    /// A large value, which is made only if the change is.
    Later(Box<dyn FnOnce() -> Value + 'v>),
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

impl<'v> ValueChange<'v> {
    pub(super) fn to(what: impl Into<String>, value: impl Into<Value>) -> Self {
        Self { what: what.into(), value: NewValue::Made(value.into()), is_large: false, ends: None }
    }

    pub(super) fn large(what: &str, value: impl Into<Value>) -> Self {
        Self { is_large: true, ..Self::to(what, value) }
    }

    /// Returns a large change whose value is made when it is needed.
    pub(super) fn later<V: Into<Value>>(what: impl Into<String>, make: impl FnOnce() -> V + 'v) -> Self {
        let value = NewValue::Later(Box::new(|| make().into()));
        Self { what: what.into(), value, is_large: true, ends: None }
    }

    pub(super) fn removal() -> Self {
        Self { what: "no value".to_owned(), value: NewValue::None, is_large: false, ends: None }
    }

    /// Returns the value after the change. `None` stands for a removal.
    pub(super) fn into_value(self) -> Option<Value> {
        match self.value {
            NewValue::None => None,
            NewValue::Made(value) => Some(value),
            NewValue::Later(make) => Some(make()),
        }
    }

    /// Sets whether the value counts as much larger than that of the case.
    pub(super) fn sized(self, is_large: bool) -> Self {
        Self { is_large, ..self }
    }

    pub(super) fn with_ends(self, ends: ChainEnds) -> Self {
        Self { ends: Some(ends), ..self }
    }
}
