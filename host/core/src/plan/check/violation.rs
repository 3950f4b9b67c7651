//! Violations of the rules for plans.

use crate::plan::check::position;

/// Violation of a rule, with its position in the text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column} {pointer:?} {code}: {message}")]
pub struct Violation {
    /// JSON pointer to the value. A missing value is reported at the place where it should be added.
    pub pointer: String,
    /// Stable code of the violated rule, such as `P012`. [`RULES`](crate::plan::RULES) lists all codes.
    pub code: &'static str,
    /// Description of the mistake and of the correction.
    pub message: String,
    /// Line of the value, from 1.
    pub line: usize,
    /// Column of the value in characters, from 1.
    pub column: usize,
}

impl Violation {
    /// Creates a violation at the position of `pointer` in `text`. The text must be valid JSON.
    pub(crate) fn at(pointer: String, code: &'static str, message: String, text: &[u8]) -> Self {
        let positions = position::Positions::of(text);
        let (line, column) = positions.line_column(positions.offset(&pointer));
        Self { pointer, code, message, line, column }
    }
}

/// Mismatch between a value and a JSON Schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SchemaMismatch {
    /// The object at the pointer lacks a required property.
    Missing {
        /// JSON pointer to the object.
        pointer: String,
        /// Name of the property.
        name: String,
    },
    /// The object at the pointer has a property that the schema does not admit.
    Unknown {
        /// JSON pointer to the object.
        pointer: String,
        /// Name of the property.
        name: String,
    },
    /// The value at the pointer violates another rule of the schema.
    Wrong {
        /// JSON pointer to the value.
        pointer: String,
        /// Description of the mistake.
        why: String,
    },
}
