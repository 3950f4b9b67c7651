//! Names of packages and interfaces, and the shape of a component.

use latchwork_core::model::manifest::PluginKind;

/// Package prefix of the interfaces that this host serves. `VERSION` is their version suffix.
pub(crate) const PACKAGE: &str = "latchwork:plugin/";

pub(crate) const VERSION: &str = "@0.1.0";

pub(crate) fn interface_name(interface: &str) -> String {
    format!("{PACKAGE}{interface}{VERSION}")
}

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
