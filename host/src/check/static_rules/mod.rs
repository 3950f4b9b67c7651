//! Rules that inspect the component without running its steps. Only `describe` is called.

mod load_problems;

mod manifest;

use std::sync::Arc;

use super::finding::Finding;
use crate::engine::{ComponentInterface, LoadError, Plugin, Problem};

/// Input of the static rules.
pub struct StaticInput<'a> {
    /// Path of the component. Findings refer to this path.
    pub file: &'a str,
    /// Bytes of the component.
    pub bytes: &'a [u8],
    /// Imports and exports of the component. They can also be read from most refused components. The error is the
    /// reason why they cannot be read.
    pub outline: Result<ComponentInterface, Problem>,
    /// Result of loading the component.
    pub loaded: &'a Result<Arc<Plugin>, LoadError>,
}

/// Function that checks one or more static rules and returns every violation in the component.
type RuleCheck = fn(&StaticInput<'_>) -> Vec<Finding>;

/// All functions that check static rules. They are independent of each other.
const RULE_CHECKS: &[RuleCheck] = &[crate::check::static_rules::load_problems::run, manifest::run];

/// Returns every violation of a static rule.
pub(super) fn run(component: &StaticInput<'_>) -> Vec<Finding> {
    RULE_CHECKS.iter().flat_map(|run| run(component)).collect()
}
