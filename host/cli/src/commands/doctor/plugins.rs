//! Checks of the configured plugins. Each problem names its plugin and the fix.

use std::path::Path;
use std::sync::Arc;

use latchwork::config::{Config, PluginConfig};
use latchwork::registry::Registry;
use latchwork_core::model::error_docs;
use latchwork_engine::Plugin;
use latchwork_engine::capability::config_line::config_line;
use latchwork_engine::capability::older_grants;
use latchwork_tooling::build;
use latchwork_tooling::build::{RECIPE, Recipe};

use crate::commands::doctor::check::DoctorCheck;
use crate::commands::doctor::writable::writable;
use crate::context::CommandContext;
use crate::error::{CliError, CliProblem};
use crate::plugins::effect_verifier::{EffectVerifier, effect_verifier};
use crate::plugins::ungated::without_approval;
use crate::plugins::{catalog, ineffective_settings};

const NAME: &str = "plugins";

pub(super) fn plugins(ctx: &CommandContext<'_>, config: &Config, checks: &mut Vec<DoctorCheck>) {
    let (unbuilt, built): (Vec<_>, Vec<_>) = config.plugins().iter().cloned().partition(is_unbuilt);
    for plugin in &unbuilt {
        let found = format!("{}: it is not built yet", plugin.name);
        checks.push(
            DoctorCheck::warn(NAME, found, build_command(ctx, &plugin.source))
                .with_subject("plugin", plugin.name.as_str()),
        );
    }
    if built.is_empty() && !unbuilt.is_empty() {
        return;
    }
    for plugin in &built {
        checks.extend(unwritable_dirs(plugin));
    }
    let of_built = config.clone().with_plugins(built);
    match catalog::registry(ctx.session(), &of_built) {
        Ok(registry) => {
            checks.extend(effect_verifiers(config, &registry));
            checks.extend(access(config, &registry));
            checks.extend(registry.plugins().iter().filter_map(older_grants));
            checks.extend(registry.plugins().iter().filter_map(internal_operators));
            // Skips this check if a plugin is not built. The operators of that plugin are unknown, so valid settings
            // for them would be reported as settings without effect.
            if unbuilt.is_empty() {
                checks.extend(settings_without_effect(config, &registry));
            }
            let found = format!("{} loaded, {} operators", registry.plugins().len(), registry.pinned_operators().len());
            checks.push(DoctorCheck::ok(NAME, found));
        }
        Err(error) => {
            let error = CliError::from(error);
            if error.problems.is_empty() {
                checks.push(DoctorCheck::fail(NAME, error.message.as_str(), format!("latch explain {}", error.code)));
            }
            checks.extend(error.problems.iter().map(|problem| refused_plugin(ctx, config, problem)));
        }
    }
}

/// Returns a failed check for each writable granted directory that does not exist and cannot be created.
fn unwritable_dirs(plugin: &PluginConfig) -> impl Iterator<Item = DoctorCheck> {
    let missing = plugin.grants.dirs.iter().filter(|dir| dir.write && !dir.host.is_dir());
    missing.filter_map(|dir| {
        let nearest = dir.host.ancestors().find(|dir| dir.is_dir()).unwrap_or(Path::new("/"));
        let (found, fix) = writable(nearest, "grant another directory").err()?;
        let found = format!("{}: its granted directory {} cannot be made: {found}", plugin.name, dir.host.display());
        Some(DoctorCheck::fail(NAME, found, fix).with_subject("plugin", plugin.name.as_str()))
    })
}

/// Returns the failed check of a plugin that the host refused to load, with the command that helps.
fn refused_plugin(ctx: &CommandContext<'_>, config: &Config, problem: &CliProblem) -> DoctorCheck {
    let name = problem.json["plugin"].as_str().unwrap_or_default().to_owned();
    let found = format!("{name}: {}", problem.message);
    let source = config.plugins().iter().find(|plugin| plugin.name == name).map(|plugin| plugin.source.as_path());
    let fix = match source {
        Some(source) if problem.code == error_docs::PLUGIN_MISSING && source.join(RECIPE).is_file() => {
            build_command(ctx, source)
        }
        Some(source) if problem.code == error_docs::PLUGIN_IMPORTS => {
            format!(
                "latch plugin inspect {} says what it needs, and latch explain {} why",
                quoted_path(ctx, source),
                problem.code
            )
        }
        _ => format!("latch explain {}", problem.code),
    };
    DoctorCheck::fail(NAME, found, fix).with_subject("plugin", name).with_subject("code", problem.code.as_str())
}

fn is_unbuilt(plugin: &PluginConfig) -> bool {
    plugin.source.join(RECIPE).is_file()
        && Recipe::read(&plugin.source).is_ok_and(|recipe| !build::component_path(&plugin.source, &recipe).is_file())
}

fn build_command(ctx: &CommandContext<'_>, source: &Path) -> String {
    format!("latch plugin build {}", quoted_path(ctx, source))
}

/// Returns a path quoted for a shell, relative to the working directory if the path lies below this directory.
fn quoted_path(ctx: &CommandContext<'_>, path: &Path) -> String {
    let below = path.strip_prefix(&ctx.cwd).unwrap_or(path);
    let below = if below.as_os_str().is_empty() { Path::new(".") } else { below };
    latchwork_core::response::shell_quoted(&below.display().to_string())
}

/// Returns a check that lists what each tool could do in a job without an approval. Returns `None` if there are no
/// tools.
fn access(config: &Config, registry: &Registry) -> Option<DoctorCheck> {
    let line = |plugin: &Arc<Plugin>| {
        let access = without_approval(config, plugin, &plugin.settings().grants)?;
        Some(format!("{} without an approval: {access}", plugin.name))
    };
    let lines: Vec<_> = registry.plugins().iter().filter_map(line).collect();
    (!lines.is_empty()).then(|| DoctorCheck::ok("access", lines.join("\n")))
}

/// Returns a warning about grants that contain only an address. In an earlier version, such a grant allowed more,
/// because grants did not yet state methods or bind secrets. The warning appears only if the operators could use what
/// the earlier version allowed in addition.
fn older_grants(plugin: &Arc<Plugin>) -> Option<DoctorCheck> {
    let present = older_grants::present_form(&plugin.settings().grants, &plugin.manifest.operators)?;
    let found =
        format!("{}: an address alone opens GET and HEAD, without secrets; its operators may need more", plugin.name);
    let fix = format!("keep what it needs of this line in its [[plugin]]: {}", config_line(&present));
    Some(DoctorCheck::warn("grants", found, fix).with_subject("plugin", plugin.name.as_str()))
}

/// Returns a warning about operators whose strongest effect is `internal_write`. An earlier version let such operators
/// change other systems. This version does not.
fn internal_operators(plugin: &Arc<Plugin>) -> Option<DoctorCheck> {
    let (grants, operators) = (&plugin.settings().grants, &plugin.manifest.operators);
    let found = older_grants::operators_without_external_effect(grants, operators);
    let names: Vec<_> = found.iter().map(|spec| spec.name.as_str()).collect();
    let first = names.first()?;
    let text = format!(
        "{}: {} may write to folders and the map alone, with internal_write: no TCP, and GET and HEAD alone",
        plugin.name,
        names.join(", ")
    );
    let fix = format!(
        "if it changes other systems, add the effect to its [[plugin]]: operators = {{ {first:?} = {{ effects = \
         [\"internal_write\", \"external_write\"] }} }}"
    );
    Some(DoctorCheck::warn("grants", text, fix).with_subject("plugin", plugin.name.as_str()))
}

/// Returns a warning about all settings without effect. Returns `None` if there are none.
fn settings_without_effect(config: &Config, registry: &Registry) -> Option<DoctorCheck> {
    let found = ineffective_settings::warnings(config, registry);
    let fix = "correct misspelled names, or remove settings that have no effect here";
    (!found.is_empty()).then(|| DoctorCheck::warn("settings", found.join("\n"), fix))
}

/// Returns a check that lists how the effects of each plugin are confirmed on resume. Returns `None` if no plugin has
/// effects.
fn effect_verifiers(config: &Config, registry: &Registry) -> Option<DoctorCheck> {
    let descriptions: Vec<String> = registry
        .plugins()
        .iter()
        .filter_map(|plugin| {
            let configured = config.plugins().iter().find(|configured| configured.name == plugin.name)?;
            let confirmed = effect_verifier(config, configured, plugin);
            (confirmed != EffectVerifier::NoEffects).then(|| format!("{}: {confirmed}", plugin.name))
        })
        .collect();
    (!descriptions.is_empty()).then(|| DoctorCheck::ok("confirmation", descriptions.join(", ")))
}
