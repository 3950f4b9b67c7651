//! Settings that are right by themselves and may not say what was meant: a limit of an operator that no plugin
//! serves, of a tenant whose name is nearly another's. They are told, and refuse nothing: one file may serve
//! several hosts.

use crate::config::{Config, DEFAULT_TENANT, Failover};
use crate::registry::Registry;
use latchwork_core::suggest::{did_you_mean, nearest};

/// One line each.
pub(super) fn settings(config: &Config, registry: &Registry) -> Vec<String> {
    let mut found = operators(config, registry);
    found.extend(tenants(config, "[worker] tenants", config.worker.tenants.keys()));
    found.extend(tenants(config, "[queue] tenants", config.queue.tenants.keys()));
    if config.failover == Failover::Synchronous && config.database.starts_with("sqlite://") {
        let message =
            "failover = \"synchronous\" says something of PostgreSQL, and the database is a file: it changes nothing";
        found.push(message.to_owned());
    }
    found
}

fn operators(config: &Config, registry: &Registry) -> Vec<String> {
    let served = registry.pin();
    let names = || served.keys().map(|operator| operator.as_str());
    let unserved = config.worker.operators.keys().filter(|operator| !served.contains_key(operator.as_str()));
    let told = unserved.map(|operator| {
        let meant = did_you_mean(operator.as_str(), names());
        format!("[worker] operators limits `{operator}`, which no configured plugin serves now{meant}")
    });
    told.collect()
}

/// A tenant needs no policy of its own, and its limits hold without: only a name that is one slip away from one that
/// has a policy, and differs in letters, is worth a word. `team-1` and `team-2` are two teams.
fn tenants<'a>(config: &'a Config, place: &str, limited: impl Iterator<Item = &'a String>) -> Vec<String> {
    let named = || config.policy.keys().map(String::as_str).filter(|tenant| *tenant != DEFAULT_TENANT);
    let unnamed = limited.filter(|tenant| !config.policy.contains_key(*tenant));
    let told = unnamed.filter_map(|tenant| {
        let meant = nearest(tenant, named()).filter(|meant| is_slip(tenant, meant))?;
        Some(format!("{place} limits `{tenant}`, a tenant without a policy of its own (did you mean `{meant}`?)"))
    });
    told.collect()
}

/// Whether one letter was doubled, left out, put in, taken for another, or two of them swapped.
fn is_slip(written: &str, meant: &str) -> bool {
    let letters = |name: &str| name.chars().filter(|c| c.is_alphabetic()).collect::<String>();
    strsim::damerau_levenshtein(&letters(written), &letters(meant)) == 1
        && strsim::damerau_levenshtein(written, meant) == 1
}
