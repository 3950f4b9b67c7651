//! Reads a component, loads it if possible, and prints the inspection.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use latchwork::config::{Config, PluginConfig};
use latchwork_core::model::error_docs;
use latchwork_core::model::ids::Hash;
use latchwork_core::model::manifest::{PluginKind, WasiMode};
use latchwork_engine::{LoadError, Plugin};
use latchwork_tooling::build;
use latchwork_tooling::build::Recipe;
use latchwork_tooling::inspect::{CallGraph, ComponentInfo, ExternItem, Reachability};

use crate::args::PluginInspectArgs;
use crate::commands::plugin::inspect::inspection::Inspection;
use crate::context::CommandContext;
use crate::error::{CliError, Exit};
use crate::files::source;
use crate::plugins::catalog;
use crate::plugins::effect_verifier::{EffectVerifier, effect_verifier};
use crate::plugins::needed_grants::grants_needed;
use crate::text::Text;

pub(crate) fn run(args: &PluginInspectArgs, ctx: &CommandContext<'_>) -> anyhow::Result<Exit> {
    let file = resolve_component(&args.file)?;
    let bytes = source::file(&file)?;
    let config = ctx.config(file.parent())?;
    let anatomy = tokio::task::block_in_place(|| ComponentInfo::read(&bytes));
    let configured = config.plugins().iter().find(|plugin| is_source(&plugin.source, &file));
    let judged = configured.cloned().unwrap_or_else(|| minimal_entry(&file, &anatomy));
    let difference = anatomy.differences(anatomy.nearest_world(), &judged.grants, judged.wasi);
    let imports = tokio::task::block_in_place(|| imports(&anatomy, &bytes));
    let whole = anatomy.fitting_world().is_some();
    let loaded = match args.only_static || !whole {
        true => None,
        false => Some(load(ctx, &config, &bytes, judged.clone())?),
    };
    let confirmed = match &loaded {
        Some(Ok(plugin)) => effect_verifier(&config, &judged, plugin),
        _ => EffectVerifier::default(),
    };
    let is_good = match &loaded {
        Some(loaded) => loaded.is_ok(),
        None => whole && difference.is_empty(),
    };
    let seen = Inspection {
        file: &file,
        bytes: bytes.len(),
        digest: Hash::of(&[&bytes]),
        anatomy: &anatomy,
        imports,
        config: &config,
        configured,
        judged: &judged,
        difference,
        loaded,
        confirmed,
    };
    if ctx.json {
        ctx.printer.document(&seen.document());
    } else {
        ctx.printer.print_text(Text::lines(seen.lines()));
    }
    Ok(if is_good { Exit::Done } else { Exit::Failed })
}

pub(crate) fn load(
    ctx: &CommandContext<'_>,
    config: &Config,
    bytes: &[u8],
    entry: PluginConfig,
) -> anyhow::Result<Result<Arc<Plugin>, LoadError>> {
    let engine = catalog::engine(ctx.session(), config)?;
    if !engine.is_compiled(bytes) {
        engine.announce(&entry.name, bytes, 0);
    }
    Ok(tokio::task::block_in_place(|| engine.load(bytes, catalog::settings(config, entry))))
}

pub(crate) fn imports(anatomy: &ComponentInfo, bytes: &[u8]) -> Vec<(ExternItem, Reachability)> {
    let items = anatomy.imports();
    let wanted: Vec<_> = items.iter().map(|item| (item.name.as_str(), None)).collect();
    let reached = if wanted.is_empty() { vec![] } else { CallGraph::link(bytes).find_paths(&wanted) };
    items.into_iter().zip(reached).collect()
}

/// Returns the component that a path names: the file itself, or the component built in the folder.
fn resolve_component(path: &Path) -> Result<PathBuf, CliError> {
    if !path.is_dir() {
        return Ok(path.to_owned());
    }
    let recipe = Recipe::read(path)
        .map_err(|error| CliError::input(error_docs::INPUT_UNREADABLE, format!("{}: {error}", path.display())))?;
    let file = build::component_path(path, &recipe);
    if !file.is_file() {
        let message = format!("{} is not built: `latch plugin build {}`", file.display(), path.display());
        return Err(CliError::input(error_docs::PLUGIN_MISSING, message));
    }
    Ok(file)
}

/// Returns true if `file` is the component of a configured source.
fn is_source(source: &Path, file: &Path) -> bool {
    let same = |path: &Path| {
        path == file
            || std::fs::canonicalize(path).ok().zip(std::fs::canonicalize(file).ok()).is_some_and(|(a, b)| a == b)
    };
    build::component_of(source).is_some_and(|component| same(&component))
}

/// Returns an entry that grants a component exactly what it needs to be loaded.
fn minimal_entry(file: &Path, anatomy: &ComponentInfo) -> PluginConfig {
    let imports = anatomy.imports();
    let virtual_wasi =
        anatomy.nearest_world() == PluginKind::Step && imports.iter().any(|item| item.name.starts_with("wasi:"));
    PluginConfig {
        name: file.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        source: file.to_owned(),
        digest: None,
        wasi: if virtual_wasi { WasiMode::Virtual } else { WasiMode::None },
        grants: grants_needed(anatomy),
        limits: Default::default(),
        retry: None,
        on_indeterminate: None,
        confirmation: None,
        verifier: None,
        operators: BTreeMap::new(),
        config: BTreeMap::new(),
        prices: None,
    }
}
