//! Differences between the current configuration and the configuration under which a job was accepted.
//!
//! The jobs themselves do not show that the configuration has changed: a running job continues with the plugin versions
//! it pinned, and a finished job keeps its results. The comparison reads only the configuration and the files of the
//! plugins. Nothing is compiled.

use std::collections::{BTreeMap, BTreeSet};

use latchwork_core::model::ids::{Hash, Operator};
use latchwork_core::model::manifest::{Limits, PinnedOperator};
use latchwork_core::response::{ChangedPluginView, PluginSetting};
use latchwork_core::state::Durable;
use latchwork_engine::capability::settings::LimitsConfig;

use crate::config::{Config, PluginConfig};
use crate::registry;
use crate::registry::settings_fingerprint;

/// Lists the differences between the pinned and the current configuration, for every plugin that the job used
/// or may still use.
pub fn changed_settings(config: &Config, durable: &Durable) -> Vec<ChangedPluginView> {
    let mut pinned: BTreeMap<&str, &PinnedOperator> = BTreeMap::new();
    let used = used_operators(durable);
    for (operator, pin) in &durable.job.header.operators {
        if used.as_ref().is_none_or(|used| used.contains(operator)) {
            pinned.entry(&pin.plugin).or_insert(pin);
        }
    }
    let changed = |(name, pin): (&str, &PinnedOperator)| {
        let view = |(setting, pinned, configured): (PluginSetting, String, String)| ChangedPluginView {
            plugin: name.to_owned(),
            setting,
            pinned: Some(pinned).filter(|text| !text.is_empty()),
            configured: Some(configured).filter(|text| !text.is_empty()),
        };
        let configured = config.plugins.iter().find(|plugin| plugin.name == name);
        let differences = match configured {
            None => vec![(PluginSetting::Plugin, format!("sha256:{}", pin.digest), String::new())],
            Some(plugin) => setting_differences(config, plugin, pin),
        };
        differences.into_iter().map(view).collect::<Vec<_>>()
    };
    pinned.into_iter().flat_map(changed).collect()
}

/// Returns the operators that a finished job called. Returns `None` for an open job, which may still call any
/// operator that it pinned.
fn used_operators(durable: &Durable) -> Option<BTreeSet<&Operator>> {
    let job = &durable.job;
    let planned = job.plan.steps.iter().map(|step| &step.name);
    job.state.is_terminal().then(|| planned.chain(job.calls.values().map(|call| &call.operator)).collect())
}

/// Returns a hash of the plugins that a job pinned. The hash covers the fields that are compared with the
/// configuration.
pub fn pinned_settings_hash(durable: &Durable) -> Hash {
    let pin = |pin: &PinnedOperator| {
        let PinnedOperator { plugin, digest, limits, wasi, settings, .. } = pin;
        format!("{plugin:?} {digest} {limits:?} {wasi:?} {settings:?}\n")
    };
    let pins: BTreeSet<String> = durable.job.header.operators.values().map(pin).collect();
    Hash::of(&pins.iter().map(String::as_bytes).collect::<Vec<_>>())
}

type SettingDifference = (PluginSetting, String, String);

fn setting_differences(config: &Config, plugin: &PluginConfig, pin: &PinnedOperator) -> Vec<SettingDifference> {
    let mut found = Vec::new();
    if let Some(configured) = registry::changed_component(&config.state_dir, &plugin.source, pin.digest) {
        found.push((PluginSetting::Component, format!("sha256:{}", pin.digest), format!("sha256:{configured}")));
    }
    if plugin.wasi != pin.wasi {
        let word = |wasi| serde_json::to_value(wasi).ok().and_then(|it| it.as_str().map(str::to_owned));
        found.push((PluginSetting::Wasi, word(pin.wasi).unwrap_or_default(), word(plugin.wasi).unwrap_or_default()));
    }
    found.extend(limit_differences(&plugin.limits, &pin.limits));
    let says_more = found.iter().any(|(setting, ..)| *setting != PluginSetting::Component);
    if !says_more && pin.settings.is_some_and(|settings| settings != settings_fingerprint(&config.root, plugin)) {
        found.push((PluginSetting::Grants, String::new(), String::new()));
    }
    found
}

/// Lists each configured limit that differs from the pinned limit.
fn limit_differences(configured: &LimitsConfig, pinned: &Limits) -> Vec<SettingDifference> {
    let each = [
        ("memory", configured.memory_bytes, pinned.memory_bytes),
        ("fuel", configured.fuel, pinned.fuel),
        ("timeout", configured.timeout_ms.map(u64::from), u64::from(pinned.timeout_ms)),
        ("output", configured.output_bytes.map(u64::from), u64::from(pinned.output_bytes)),
        ("host_calls", configured.host_calls.map(u64::from), u64::from(pinned.host_calls)),
    ];
    let differs =
        each.into_iter().filter_map(|(name, now, then)| now.filter(|now| *now != then).map(|now| (name, then, now)));
    differs
        .map(|(name, then, now)| (PluginSetting::Limits, format!("{name} {then}"), format!("{name} {now}")))
        .collect()
}
