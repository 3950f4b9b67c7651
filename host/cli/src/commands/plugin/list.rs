//! `latch plugin list`: lists the configured plugins.

use serde_json::json;

use latchwork_core::encoding::truncate;
use latchwork_engine::Plugin;

use crate::context::Context;
use crate::display::enum_name::enum_name;
use crate::error::{Exit, plugins_not_loaded};
use crate::open;
use crate::plugins::catalog;
use crate::plugins::effect_verifier::effect_verifier;
use crate::text::{Text, table};

pub(super) fn run(ctx: &Context<'_>) -> anyhow::Result<Exit> {
    let config = ctx.config(None)?;
    open::require_configuration(&config)?;
    let registry = catalog::load_from_survey(ctx.session(), &config, open::survey(&config))?;
    let confirmed = |plugin: &Plugin| {
        let configured = config.plugins.iter().find(|configured| configured.name == plugin.name);
        configured.map(|configured| effect_verifier(&config, configured, plugin)).unwrap_or_default()
    };
    let operators = |plugin: &Plugin| plugin.manifest.operators.iter().map(|o| o.name.to_string()).collect::<Vec<_>>();
    let entry = |plugin: &Plugin| {
        json!({
            "name": plugin.name,
            "kind": plugin.kind,
            "version": plugin.manifest.version,
            "digest": format!("sha256:{}", plugin.digest),
            "operators": operators(plugin),
            "confirmation": confirmed(plugin).document(),
        })
    };
    let plugins = registry.plugins();
    let mut document = json!({ "plugins": plugins.iter().map(|plugin| entry(plugin)).collect::<Vec<_>>() });
    let refused = registry.refused();
    if !refused.is_empty() {
        document["error"] = plugins_not_loaded(refused).to_json()["error"].clone();
    }
    ctx.answer(&document, || {
        let row = |plugin: &Plugin| {
            let digest = plugin.digest.to_hex();
            [
                plugin.name.clone(),
                enum_name(&plugin.kind),
                plugin.manifest.version.clone(),
                format!("sha256:{}", truncate::at_characters(&digest, 12)),
                confirmed(plugin).to_string(),
                operators(plugin).join(", "),
            ]
        };
        match plugins {
            [] if !refused.is_empty() => Text::from("no plugin could be loaded"),
            [] => Text::from("no plugins are configured"),
            plugins => {
                let rows: Vec<_> = plugins.iter().map(|plugin| row(plugin)).collect();
                table(["name", "kind", "version", "digest", "confirmed by", "operators"], &rows)
            }
        }
    });
    if refused.is_empty() {
        return Ok(Exit::Done);
    }
    if !ctx.json {
        ctx.printer.error(&plugins_not_loaded(refused));
    }
    Ok(Exit::Usage)
}
