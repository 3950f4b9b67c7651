//! `latch plugin list`: lists the configured plugins.

use serde_json::json;

use latchwork_core::encoding::truncate;
use latchwork_engine::Plugin;

use crate::context::CommandContext;
use crate::display::enum_name::enum_name;
use crate::error::{Exit, plugins_not_loaded};
use crate::open;
use crate::plugins::catalog;
use crate::plugins::effect_verifier::effect_verifier;
use crate::plugins::ungated;
use crate::text::{Text, table};

pub(super) fn run(ctx: &CommandContext<'_>) -> anyhow::Result<Exit> {
    let config = ctx.config(None)?;
    open::require_configuration(&config)?;
    let registry = catalog::load_from_survey(ctx.session(), &config, open::survey(&config))?;
    let confirmed = |plugin: &Plugin| {
        let configured = config.plugins().iter().find(|configured| configured.name == plugin.name);
        configured.map(|configured| effect_verifier(&config, configured, plugin)).unwrap_or_default()
    };
    let without_approval = |plugin: &Plugin| ungated::without_approval(&config, plugin, &plugin.settings().grants);
    let operators = |plugin: &Plugin| plugin.manifest.operators.iter().map(|o| o.name.to_string()).collect::<Vec<_>>();
    let entry = |plugin: &Plugin| {
        json!({
            "name": plugin.name,
            "kind": plugin.kind,
            "version": plugin.manifest.version,
            "digest": format!("sha256:{}", plugin.digest),
            "operators": operators(plugin),
            "confirmation": confirmed(plugin).document(),
            "without_approval": without_approval(plugin),
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
                let mut text = table(["name", "kind", "version", "digest", "confirmed by", "operators"], &rows);
                let tools = plugins.iter().filter_map(|plugin| Some([plugin.name.clone(), without_approval(plugin)?]));
                let tools: Vec<_> = tools.collect();
                if !tools.is_empty() {
                    text += "";
                    text += table(["tool", "may do without an approval"], &tools);
                }
                text
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
