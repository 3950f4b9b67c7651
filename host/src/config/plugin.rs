//! `[[plugin]]`: components, their grants and their limits.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;
use toml::de::DeValue;

use latchwork_core::model::bounds;
use latchwork_core::model::error_docs;
use latchwork_core::model::manifest::WasiMode;
use latchwork_core::model::retry::RetrySpec;
use latchwork_core::rules::cost::Prices;
use latchwork_engine::capability::settings::LimitsConfig;

use crate::config::keys::ON_INDETERMINATE;
use crate::config::types::PluginConfig;
use crate::config::{grants, operators, values, verifier};
use crate::located_toml::{TableReader, TomlField};

/// Largest number of retries that the table `retry` may set.
const RETRIES_MAX: u64 = 100;
/// Longest backoff that the table `retry` may set, in milliseconds: one day.
const RETRY_MS_MAX: u32 = 24 * 60 * 60 * 1_000;
/// Key of `config` that holds the prices of models.
const PRICES: &str = "model_prices";
/// Minimum of the configured memory, in bytes: one page of Wasm memory.
const MEMORY_BYTES_MIN: u64 = 64 << 10;

/// Reads all plugins and returns the valid plugins. A plugin with the name of an earlier plugin is reported as a
/// problem.
pub(super) fn read(field: Option<TomlField<'_>>, root: &Path) -> Vec<PluginConfig> {
    let mut names = BTreeSet::new();
    let Some(field) = field else { return vec![] };
    field.list(|entry| read_one(entry.table()?, root, &mut names))
}

fn read_one(mut table: TableReader<'_>, root: &Path, names: &mut BTreeSet<String>) -> Option<PluginConfig> {
    let name = table.require("name").and_then(|field| {
        let name = field.parse(values::plugin_name)?;
        if !names.insert(name.clone()) {
            let message = format!("duplicate plugin name `{name}`: each plugin needs its own name");
            field.problem(error_docs::CONFIG_DUPLICATE_PLUGIN, message);
        }
        Some(name)
    });
    let source = table.require("source").and_then(|field| {
        let source = field.string()?;
        if source.starts_with("oci://") {
            let message = "plugins from a registry are not supported by this version: name a file or a folder";
            field.problem(error_docs::CONFIG_NOT_SUPPORTED, message);
            return None;
        }
        if source.is_empty() {
            return field.invalid("`source` is empty: name a file or a folder");
        }
        Some(values::absolute(root, source))
    });
    let digest = table.get("digest").and_then(|field| field.parse(values::digest));
    let wasi =
        table.get("wasi").and_then(|field| field.choice(&[("none", WasiMode::None), ("virtual", WasiMode::Virtual)]));
    let grants = table.get("grants").and_then(|field| field.table()).map(|table| grants::read(table, root));
    let limits = table.get("limits").and_then(|field| field.table()).map(limits);
    let retry = table.get("retry").and_then(|field| field.table()).map(retry);
    let on_indeterminate = table.get("on_indeterminate").and_then(|field| field.choice(&ON_INDETERMINATE));
    let grants = grants.unwrap_or_default();
    let confirmation = verifier::confirmation(&mut table);
    let verifier = table.get("verifier").and_then(|field| verifier::read(&field, &grants));
    let config = table.get("config").and_then(|field| field.table()).map(|mut table| {
        let entries = table.entries().into_iter();
        entries
            .filter_map(|(key, field)| Some((key.to_owned(), config_value(key, &field)?)))
            .collect::<BTreeMap<_, _>>()
    });
    let config = config.unwrap_or_default();
    let operators = table.get("operators").and_then(|field| field.table()).map(operators::read).unwrap_or_default();
    let prices = config.get(PRICES).and_then(|table| Prices::read(table).ok());
    table.finish();
    Some(PluginConfig {
        name: name?,
        source: source?,
        digest,
        wasi: wasi.unwrap_or_default(),
        grants,
        limits: limits.unwrap_or_default(),
        retry,
        on_indeterminate,
        confirmation,
        verifier,
        operators,
        config,
        prices,
    })
}

/// Reads one entry of `config`. The host checks only the entry with the prices, because the host itself uses the
/// prices. Only the plugin interprets the other entries.
fn config_value(key: &str, field: &TomlField<'_>) -> Option<Value> {
    let value = json(field)?;
    match Prices::read(&value) {
        Err(bad) if key == PRICES => field.invalid(bad.to_string()),
        _ => Some(value),
    }
}

fn limits(mut table: TableReader<'_>) -> LimitsConfig {
    let limits = LimitsConfig {
        memory_bytes: table.get("memory").and_then(|f| bytes(&f, MEMORY_BYTES_MIN, bounds::MEMORY_BYTES_MAX)),
        fuel: table.get("fuel").and_then(|f| f.integer(1..=i64::MAX as u64)),
        timeout_ms: table.get("timeout").and_then(|f| f.parse(positive_duration)),
        output_bytes: table
            .get("output")
            .and_then(|f| bytes(&f, 1, bounds::OUTPUT_BYTES_MAX))
            .map(|bytes| bytes as u32),
        component_bytes: table.get("component").and_then(|f| bytes(&f, 1, bounds::COMPONENT_BYTES_MAX)),
        host_calls: table.get("host_calls").and_then(|f| f.integer(0..=u64::from(u32::MAX))).map(|calls| calls as u32),
    };
    table.finish();
    limits
}

/// Reads `retry`, with the same bounds as the `retry` of a step.
fn retry(mut table: TableReader<'_>) -> RetrySpec {
    let day_ms = |field: TomlField<'_>| {
        field.parse(|text| match values::duration_ms(text)? {
            ms if ms <= RETRY_MS_MAX => Ok(ms),
            _ => Err(format!("`{text}` is longer than the maximum of one day")),
        })
    };
    let retry = RetrySpec {
        max: table.get("max").and_then(|field| field.integer(0..=RETRIES_MAX)).map(|max| max as u32),
        base_ms: table.get("base").and_then(day_ms),
        cap_ms: table.get("cap").and_then(day_ms),
    };
    table.finish();
    retry
}

fn bytes(field: &TomlField<'_>, min: u64, max: u64) -> Option<u64> {
    field.parse(|text| values::byte_size_between(text, min, max))
}

pub(super) fn positive_duration(text: &str) -> Result<u32, String> {
    match values::duration_ms(text)? {
        0 => Err(format!("`{text}` is zero: use a positive duration")),
        ms => Ok(ms),
    }
}

/// Converts a value to JSON, because a plugin reads its `config` table as JSON.
fn json(field: &TomlField<'_>) -> Option<Value> {
    match json_value(field.value()) {
        Ok(value) => Some(value),
        Err(message) => field.invalid(message),
    }
}

fn json_value(value: &DeValue<'_>) -> Result<Value, String> {
    Ok(match value {
        DeValue::String(text) => Value::from(&**text),
        DeValue::Boolean(value) => Value::from(*value),
        DeValue::Datetime(time) => Value::from(time.to_string()),
        DeValue::Integer(number) => {
            let value = i64::from_str_radix(number.as_str(), number.radix()).ok();
            // Numbers beyond 2^53 are refused, because many guests read JSON numbers as doubles, which would change
            // such numbers.
            let exact = value.filter(|value| value.unsigned_abs() <= 1 << 53);
            Value::from(exact.ok_or_else(|| format!("{number} is beyond 2^53: write it as a string"))?)
        }
        DeValue::Float(number) => {
            let value = number.as_str().parse::<f64>().ok().and_then(serde_json::Number::from_f64);
            Value::Number(value.ok_or_else(|| format!("{number} is not a JSON number"))?)
        }
        DeValue::Array(items) => {
            items.iter().map(|item| json_value(item.get_ref())).collect::<Result<Vec<_>, _>>()?.into()
        }
        DeValue::Table(entries) => {
            let entry = |(key, value): (&toml::Spanned<_>, &toml::Spanned<_>)| {
                let key: &std::borrow::Cow<'_, str> = key.get_ref();
                Ok((key.to_string(), json_value(value.get_ref())?))
            };
            Value::Object(entries.iter().map(entry).collect::<Result<_, String>>()?)
        }
    })
}
