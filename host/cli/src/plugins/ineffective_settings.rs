//! Detects valid settings that probably have no effect as written.
//!
//! Examples are a limit for an operator that no plugin serves, and a limit for a tenant with a misspelled name. These
//! settings are reported but never refused, because one file may configure several hosts.

use latchwork::config::{Config, DEFAULT_TENANT, Failover};
use latchwork::registry::Registry;
use latchwork_core::encoding::suggest::{did_you_mean, most_similar};

/// Returns one line for each setting that probably has no effect.
pub(crate) fn warnings(config: &Config, registry: &Registry) -> Vec<String> {
    let mut found = operators(config, registry);
    found.extend(tenants(config, "[worker] tenants", config.worker().tenants.keys()));
    found.extend(tenants(config, "[queue] tenants", config.queue().tenants.keys()));
    if config.failover() == Failover::Synchronous && config.database().starts_with("sqlite://") {
        let message = "failover = \"synchronous\" applies to PostgreSQL, and the database is a file: it has no effect";
        found.push(message.to_owned());
    }
    found
}

fn operators(config: &Config, registry: &Registry) -> Vec<String> {
    let served = registry.pinned_operators();
    let names = || served.keys().map(|operator| operator.as_str());
    let unserved = config.worker().operators.keys().filter(|operator| !served.contains_key(operator.as_str()));
    let messages = unserved.map(|operator| {
        let meant = did_you_mean(operator.as_str(), names());
        format!("[worker] operators limits `{operator}`, which no configured plugin serves now{meant}")
    });
    messages.collect()
}

/// Reports limits of tenants whose name is probably misspelled.
///
/// Reports a name only if it differs by one letter from the name of a tenant with a policy. Any other unknown name may
/// be intended, because limits also apply to a tenant without a policy. Names that differ in a digit may be intended
/// too: `team-1` and `team-2` are two tenants.
fn tenants<'a>(config: &'a Config, place: &str, limited: impl Iterator<Item = &'a String>) -> Vec<String> {
    let named = || config.policy().keys().map(String::as_str).filter(|tenant| *tenant != DEFAULT_TENANT);
    let unnamed = limited.filter(|tenant| !config.policy().contains_key(*tenant));
    let messages = unnamed.filter_map(|tenant| {
        let meant = most_similar(tenant, named()).filter(|meant| is_one_letter_off(tenant, meant))?;
        Some(format!("{place} limits `{tenant}`, a tenant without a policy of its own (did you mean `{meant}`?)"))
    });
    messages.collect()
}

/// Returns true if exactly one letter was inserted, left out or replaced, or two letters were swapped.
fn is_one_letter_off(written: &str, meant: &str) -> bool {
    let letters = |name: &str| name.chars().filter(|c| c.is_alphabetic()).collect::<String>();
    strsim::damerau_levenshtein(&letters(written), &letters(meant)) == 1
        && strsim::damerau_levenshtein(written, meant) == 1
}
