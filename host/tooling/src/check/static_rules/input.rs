//! Input of the static rules.

use std::sync::Arc;

use latchwork_engine::{ComponentInterface, LoadError, Plugin, PluginProblem};

/// Input of the static rules.
pub struct StaticInput<'a> {
    /// Path of the component. Findings refer to this path.
    pub file: &'a str,
    /// Bytes of the component.
    pub bytes: &'a [u8],
    /// Imports and exports of the component, or the reason why they cannot be read. Most refused components have
    /// readable imports and exports.
    pub outline: Result<ComponentInterface, PluginProblem>,
    /// Result of loading the component.
    pub loaded: &'a Result<Arc<Plugin>, LoadError>,
}
