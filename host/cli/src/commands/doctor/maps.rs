//! Check of the key-value maps that all tenants share.

use latchwork::config::{Config, PluginConfig};
use latchwork_engine::capability::config_line::config_line;
use latchwork_engine::capability::grants::{Grants, KvGrant};
use latchwork_store::Database;

use crate::commands::doctor::check::DoctorCheck;
use crate::commands::doctor::database::store_failure;

const NAME: &str = "maps";

/// Warns about each map that all tenants share and that no grant opens. Such a map can hold entries of an earlier
/// version, in which tenants had no maps of their own. If the jobs had several tenants, these entries stayed in the
/// shared map.
pub(super) async fn maps(config: &Config, store: &Database, checks: &mut Vec<DoctorCheck>) {
    match store.shared_maps().await {
        Ok(maps) => checks.extend(maps.iter().filter_map(|(name, bytes)| unreachable_map(config, name, *bytes))),
        Err(error) => checks.push(store_failure(NAME, &error)),
    }
}

fn unreachable_map(config: &Config, name: &str, bytes: u64) -> Option<DoctorCheck> {
    let kv = |plugin: &PluginConfig| plugin.grants.kv.clone().filter(|grant| grant.name == name);
    if config.plugins().iter().filter_map(kv).any(|grant| grant.is_shared) {
        return None;
    }
    let found = format!(
        "the map {name} that all tenants share has {bytes} bytes, and no grant opens it: they are from before each tenant had \
         a map of its own, or from a grant with `shared = true`"
    );
    let plugin = config.plugins().iter().find(|plugin| kv(plugin).is_some());
    let grants = plugin.map(|plugin| plugin.grants.clone()).unwrap_or_default();
    let shared = KvGrant { is_shared: true, ..plugin.and_then(kv).unwrap_or_else(|| KvGrant::named(name)) };
    let line = config_line(&Grants { kv: Some(shared), ..grants });
    let of = plugin.map_or("the [[plugin]] that needs it".to_owned(), |plugin| format!("plugin {}", plugin.name));
    let check = DoctorCheck::warn(NAME, found, format!("if all tenants may read it, write for {of}: {line}"));
    let check = check.with_subject("map", name);
    Some(match plugin {
        Some(plugin) => check.with_subject("plugin", plugin.name.as_str()),
        None => check,
    })
}
