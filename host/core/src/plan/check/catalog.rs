//! Operators that a plan may name, and the validator of JSON schemas.

use serde_json::Value;

use crate::model::manifest::{Determinism, EffectKind, PluginKind};
use crate::plan::check::violation::SchemaMismatch;

/// Properties of an operator that the check needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperatorInfo {
    /// Effects that the operator may cause.
    pub effects: Vec<EffectKind>,
    /// Degree to which the operator's output depends only on its input.
    pub determinism: Determinism,
    /// Kind of the operator's plugin.
    pub kind: PluginKind,
    /// True if the plugin exports `compensate` and can undo its own calls.
    pub compensate: bool,
}

/// Access to the loaded operators and their properties.
pub trait Catalog {
    /// Returns the operator named `name`.
    fn operator(&self, name: &str) -> Option<OperatorInfo>;
    /// Returns the names of all operators, for suggestions.
    fn names(&self) -> Vec<String>;
    /// Returns true if the catalog contains the properties of its operators. If false, the check relies on the
    /// effects that the plan declares.
    fn knows_operators(&self) -> bool {
        true
    }
    /// Returns the mismatches between a value and the JSON Schema of a plan's parameters. The default implementation
    /// does not evaluate the schema and returns no mismatch.
    ///
    /// # Errors
    /// Returns the reason if the schema cannot be used.
    fn schema_mismatches(&self, _schema: &Value, _value: &Value) -> Result<Vec<SchemaMismatch>, String> {
        Ok(vec![])
    }
}
