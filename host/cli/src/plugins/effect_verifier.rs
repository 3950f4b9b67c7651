//! The verifier of a plugin's effects, as shown by the plugin commands.

use std::fmt;

use serde_json::{Value, json};

use latchwork::config::{Config, PluginConfig};
use latchwork::registry;
use latchwork_core::model::manifest::{Confirmation, PluginKind};
use latchwork_engine::Plugin;

/// The verifier of a plugin's effects and the rule for a failed confirmation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum EffectVerifier {
    /// The plugin has no effects.
    #[default]
    NoEffects,
    /// There is no verifier. Recorded results are used without checking the world.
    Unverified,
    /// The name of the verifier, and the rule for a failed confirmation.
    By(String, Confirmation),
}

/// Returns the verifier of a configured plugin's effects.
pub(crate) fn effect_verifier(config: &Config, configured: &PluginConfig, plugin: &Plugin) -> EffectVerifier {
    let changes = plugin.manifest.operators.iter().any(|operator| operator.is_world_changing());
    match registry::verifier_name(plugin, configured) {
        _ if plugin.kind == PluginKind::Step || !changes => EffectVerifier::NoEffects,
        Some(verifier) => EffectVerifier::By(verifier, registry::confirmation(config, configured)),
        None => EffectVerifier::Unverified,
    }
}

impl EffectVerifier {
    /// Returns the JSON form.
    pub(crate) fn document(&self) -> Value {
        match self {
            EffectVerifier::NoEffects => Value::Null,
            EffectVerifier::Unverified => json!({ "verifier": null, "unverified": true }),
            EffectVerifier::By(verifier, rule) => json!({ "verifier": verifier, "rule": rule, "unverified": false }),
        }
    }
}

impl fmt::Display for EffectVerifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EffectVerifier::NoEffects => f.write_str("-"),
            EffectVerifier::Unverified => f.write_str("unverified"),
            EffectVerifier::By(verifier, rule) => write!(f, "{verifier} ({})", rule.as_str()),
        }
    }
}
