//! Runs all static rules.

use crate::check::finding::Finding;
use crate::check::static_rules::input::StaticInput;
use crate::check::static_rules::{load_problems, manifest};

/// Function that checks one or more static rules and returns every violation in the component.
type RuleCheck = fn(&StaticInput<'_>) -> Vec<Finding>;

/// All functions that check static rules. The functions are independent of each other.
const RULE_CHECKS: &[RuleCheck] = &[load_problems::run, manifest::run];

/// Returns every violation of a static rule.
pub(crate) fn run(component: &StaticInput<'_>) -> Vec<Finding> {
    RULE_CHECKS.iter().flat_map(|run| run(component)).collect()
}
