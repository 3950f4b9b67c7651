//! Who looks at what a plugin changed, as commands about plugins say it.

use std::fmt;

use latchwork_core::manifest::{Confirmation, PluginKind};
use serde_json::{Value, json};

use crate::config::{Config, PluginConfig};
use crate::engine::Plugin;
use crate::registry;

/// Who confirms a plugin's effects, and what follows where they do not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Confirmed {
    /// It has no effects.
    #[default]
    Nothing,
    /// Nobody: results are injected unchecked.
    Unverified,
    /// This verifier, under this rule.
    By(String, Confirmation),
}

/// Who confirms the effects of a configured plugin.
pub(crate) fn of(config: &Config, configured: &PluginConfig, plugin: &Plugin) -> Confirmed {
    let changes = plugin.manifest.operators.iter().any(|operator| operator.is_world_changing());
    match registry::verifier(plugin, configured) {
        _ if plugin.kind == PluginKind::Step || !changes => Confirmed::Nothing,
        Some(verifier) => Confirmed::By(verifier, registry::confirmation(config, configured)),
        None => Confirmed::Unverified,
    }
}

impl Confirmed {
    /// For programs.
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
