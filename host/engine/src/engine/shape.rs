//! Shape of a component: its kind and its optional functions.

use latchwork_core::model::manifest::PluginKind;

/// Kind and optional functions of a component, derived from its exports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) kind: PluginKind,
    pub(crate) reconcile: bool,
    pub(crate) verify: bool,
    pub(crate) compensate: bool,
    /// True for an untyped component: a tool that was not written for Latchwork.
    pub(crate) is_untyped: bool,
}
