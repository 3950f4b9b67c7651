//! The plugin that is checked and its inputs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use latchwork::config::{Config, PluginConfig};
use latchwork_core::model::error_docs;
use latchwork_engine::capability::grants::Grants;
use latchwork_tooling::build::{RECIPE, Recipe, RuleException, component_path};
use latchwork_tooling::check::{Exception, RebuiltComponent};

use crate::args::PluginCheckArgs;
use crate::commands::plugin::check::phases::Phases;
use crate::context::CommandContext;
use crate::error::CliError;
use crate::files::source;
use crate::plugins::build;

/// Name of the file with test cases in a plugin folder.
const CASES: &str = "cases.jsonl";

/// The component to check.
pub(super) struct CheckTarget {
    /// Name of the plugin.
    pub(super) name: String,
    /// Path of the component.
    pub(super) wasm: PathBuf,
    /// Path of the component as shown in findings.
    pub(super) display_name: String,
    /// Source folder, if a folder was given.
    pub(super) dir: Option<PathBuf>,
    /// Exceptions of the recipe in the source folder.
    pub(super) exceptions: Vec<Exception>,
}

/// Returns the component that a path names. A folder is built first.
pub(super) fn resolve_target(ctx: &CommandContext<'_>, path: &Path) -> anyhow::Result<CheckTarget> {
    let full = ctx.cwd.join(path);
    if !full.is_dir() {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        return Ok(CheckTarget {
            name,
            wasm: full,
            display_name: path.display().to_string(),
            dir: None,
            exceptions: vec![],
        });
    }
    if !full.join(RECIPE).is_file() {
        let message = format!("{} has no {RECIPE}: name a component, or a plugin's folder", path.display());
        return Err(CliError::input(error_docs::INPUT_UNREADABLE, message).into());
    }
    build::build_all(ctx, std::slice::from_ref(&full), build::LockFiles::Keep)?;
    let recipe = Recipe::read(&full).map_err(|error| CliError::input(error_docs::PLUGIN_BUILD, error.to_string()))?;
    let wasm = component_path(&full, &recipe);
    let display_name = component_path(path, &recipe).display().to_string();
    let exception = |RuleException { rule, operator, function, reason }| Exception { rule, operator, function, reason };
    let exceptions = recipe.exceptions.into_iter().map(exception).collect();
    Ok(CheckTarget { name: recipe.name, wasm, display_name, dir: Some(full), exceptions })
}

/// Returns name and content of the file of test cases: the file of `--cases`, else the file in the plugin folder.
pub(super) fn cases(
    args: &PluginCheckArgs,
    ctx: &CommandContext<'_>,
    file: &Path,
    target: &CheckTarget,
) -> Result<Option<(String, Vec<u8>)>, CliError> {
    if let Some(path) = &args.cases {
        return Ok(Some((path.display().to_string(), source::file(&ctx.cwd.join(path))?)));
    }
    let Some(dir) = &target.dir else { return Ok(None) };
    let path = dir.join(CASES);
    if !path.is_file() {
        return Ok(None);
    }
    Ok(Some((file.join(CASES).display().to_string(), source::file(&path)?)))
}

/// Returns a second build of the same sources: the file of `--rebuilt`, else a new build of the plugin folder. Returns
/// `None` if there is no file and no folder, or if `--once` prevents the build.
pub(super) fn rebuilt(
    args: &PluginCheckArgs,
    ctx: &CommandContext<'_>,
    target: &CheckTarget,
    phases: &Phases<'_>,
) -> anyhow::Result<Option<RebuiltComponent>> {
    let bytes = match (&args.rebuilt, &target.dir) {
        (Some(file), _) => source::file(&ctx.cwd.join(file))?,
        (None, Some(dir)) if !args.once => {
            phases.begin(&format!("building {} a second time, to compare", target.name));
            build::rebuild(ctx, dir)?
        }
        _ => return Ok(None),
    };
    Ok(Some(RebuiltComponent { bytes }))
}

/// Returns the configuration entry of the plugin, or an entry without grants.
pub(super) fn entry(config: &Config, target: &CheckTarget) -> PluginConfig {
    let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let (wasm, dir) = (real(&target.wasm), target.dir.as_deref().map(real));
    let is_it = |plugin: &&PluginConfig| {
        let source = real(&plugin.source);
        source == wasm || Some(&source) == dir.as_ref()
    };
    config.plugins().iter().find(is_it).cloned().unwrap_or_else(|| PluginConfig {
        name: target.name.clone(),
        source: target.wasm.clone(),
        digest: None,
        wasi: Default::default(),
        grants: Grants::default(),
        limits: Default::default(),
        retry: None,
        on_indeterminate: None,
        confirmation: None,
        verifier: None,
        operators: Default::default(),
        config: BTreeMap::new(),
        prices: None,
    })
}
