//! The verifier of a plugin's effects, as shown by the plugin commands.

use std::fmt;

use latchwork_core::manifest::{Confirmation, PluginKind};
use serde_json::{Value, json};

use crate::config::{Config, PluginConfig};
use crate::engine::Plugin;
use crate::registry;

/// The verifier of a plugin's effects and the rule for a failed confirmation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Confirmed {
    /// The plugin has no effects.
    #[default]
    Nothing,
    /// There is no verifier: recorded results are injected unchecked.
    Unverified,
    /// The verifier and its rule.
    By(String, Confirmation),
}

/// Returns the verifier of a configured plugin's effects.
pub(crate) fn of(config: &Config, configured: &PluginConfig, plugin: &Plugin) -> Confirmed {
    let changes = plugin.manifest.operators.iter().any(|operator| operator.is_world_changing());
    match registry::verifier(plugin, configured) {
        _ if plugin.kind == PluginKind::Step || !changes => Confirmed::Nothing,
        Some(verifier) => Confirmed::By(verifier, registry::confirmation(config, configured)),
        None => Confirmed::Unverified,
    }
}

impl Confirmed {
    /// Returns the JSON form.
    pub(crate) fn document(&self) -> Value {
        match self {
            Confirmed::Nothing => Value::Null,
            Confirmed::Unverified => json!({ "verifier": null, "unverified": true }),
            Confirmed::By(verifier, rule) => json!({ "verifier": verifier, "rule": rule, "unverified": false }),
        }
    }
}

impl fmt::Display for Confirmed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Confirmed::Nothing => f.write_str("-"),
            Confirmed::Unverified => f.write_str("unverified"),
            Confirmed::By(verifier, rule) => write!(f, "{verifier} ({})", rule.as_str()),
        }
    }
}
