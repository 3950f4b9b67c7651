//! Hash of the settings of a plugin, which a job records when it is accepted.

use std::path::Path;

use serde_json::json;

use latchwork_core::model::ids::Hash;
use latchwork_engine::capability::config_line;
use latchwork_engine::capability::settings::LimitsConfig;

use crate::config::PluginConfig;

/// Returns a hash of the grants, the `config` and the limits in a plugin's table.
///
/// A job records this hash when it is accepted. If the table has another hash later, the table has changed. The
/// recorded hash does not fix the settings: the tools of the job run with the current grants and the current `config`.
///
/// The path of a directory inside the project is hashed relative to `root`, so that moving the project does not change
/// the hash.
pub(crate) fn settings_fingerprint(root: &Path, plugin: &PluginConfig) -> Hash {
    // The maximum size of a component is not hashed. It decides only whether the component is loaded, and has no effect
    // on calls.
    let LimitsConfig { memory_bytes, fuel, timeout_ms, output_bytes, host_calls, component_bytes: _ } = plugin.limits;
    let limits = json!([memory_bytes, fuel, timeout_ms, output_bytes, host_calls]).to_string();
    let config = json!(plugin.config).to_string();
    let mut grants = plugin.grants.clone();
    for dir in &mut grants.dirs {
        if let Ok(inside) = dir.host.strip_prefix(root) {
            dir.host = inside.to_owned();
        }
    }
    Hash::of(&[config_line::config_line(&grants).as_bytes(), b"\0", config.as_bytes(), b"\0", limits.as_bytes()])
}
