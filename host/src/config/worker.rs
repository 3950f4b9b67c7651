//! `[worker]`: limits on the work of one process. `[queue]`: limits on the number of pending jobs.

use std::collections::BTreeMap;

use latchwork_core::model::ids::Operator;

use super::plugin::positive_duration;
use super::policy::is_operator;
use super::types::{QueueConfig, WorkerConfig};
use super::values;
use crate::config::limits::{OperatorLimit, RateLimit};
use crate::located_toml::{TableReader, TomlField};

/// Largest value that a number of jobs or calls may have in the configuration.
const COUNT_MAX: u64 = 1_000_000;

/// Reads `[worker]`.
pub(super) fn read(table: Option<TableReader<'_>>) -> WorkerConfig {
    let mut worker = WorkerConfig::default();
    let Some(mut table) = table else { return worker };
    if let Some(jobs) = table.get("jobs").and_then(|field| count(&field)) {
        worker.jobs = jobs;
    }
    if let Some(drain_ms) = table.get("drain").and_then(|field| field.parse(values::duration_ms)) {
        worker.drain_ms = drain_ms;
    }
    worker.tenants = tenants(&mut table);
    if let Some(operators) = table.get("operators").and_then(|field| field.table()) {
        worker.operators = limits(operators);
    }
    table.finish();
    worker
}

/// Reads `[queue]`.
pub(super) fn queue(table: Option<TableReader<'_>>) -> QueueConfig {
    let Some(mut table) = table else { return QueueConfig::default() };
    let pending = table.get("pending").and_then(|field| count(&field));
    let tenants = tenants(&mut table);
    table.finish();
    QueueConfig { pending, tenants }
}

/// Reads the limits of tenants: `tenants = { acme = 4 }`
fn tenants(table: &mut TableReader<'_>) -> BTreeMap<String, u32> {
    let Some(mut tenants) = table.get("tenants").and_then(|field| field.table()) else { return BTreeMap::new() };
    tenants.entries().into_iter().filter_map(|(name, field)| Some((name.to_owned(), count(&field)?))).collect()
}

/// Reads the limits of operators: `operators = { "Mail.Send" = { at_once = 2, rate = "30/1m" } }`
fn limits(mut table: TableReader<'_>) -> BTreeMap<Operator, OperatorLimit> {
    let mut limits = BTreeMap::new();
    for (name, field) in table.entries() {
        if !is_operator(name) {
            field.invalid::<()>(format!("`{name}` is not an operator name: write `\"Mail.Send\" = {{ at_once = 2 }}`"));
            continue;
        }
        let Some(mut limit) = field.table() else { continue };
        let at_once = limit.get("at_once").and_then(|field| count(&field));
        let rate = limit.get("rate").and_then(|field| field.parse(rate));
        let is_empty = limit.entries().is_empty();
        limit.finish();
        if is_empty {
            field.invalid::<()>(
                "the table sets no limit: write `{ at_once = 2 }`, `{ rate = \"30/1m\" }`, or both".to_owned(),
            );
            continue;
        }
        limits.insert(Operator::new(name), OperatorLimit { max_concurrent: at_once, rate });
    }
    limits
}

fn count(field: &TomlField<'_>) -> Option<u32> {
    field.integer(1..=COUNT_MAX).map(|count| count as u32)
}

/// Parses a rate: `30/1m` allows 30 calls per minute.
fn rate(text: &str) -> Result<RateLimit, String> {
    let form = "write a number and a time, such as \"30/1m\"";
    let (times, per) = text.split_once('/').ok_or_else(|| format!("`{text}` is not a rate: {form}"))?;
    let times = times.trim().parse::<u32>().ok().filter(|times| (1..=COUNT_MAX as u32).contains(times));
    let times = times.ok_or_else(|| format!("`{text}` does not begin with a number from 1 to {COUNT_MAX}: {form}"))?;
    Ok(RateLimit { permits: times, per_ms: positive_duration(per.trim())? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates() {
        assert_eq!(rate("30/1m"), Ok(RateLimit { permits: 30, per_ms: 60_000 }));
        assert_eq!(rate("1 / 500ms"), Ok(RateLimit { permits: 1, per_ms: 500 }));
        for wrong in ["", "30", "30/", "/1m", "0/1m", "-1/1m", "1.5/1m", "30/0s", "30/m", "9999999/1s"] {
            assert!(rate(wrong).is_err(), "{wrong}");
        }
    }
}
