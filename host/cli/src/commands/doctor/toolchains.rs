//! Checks the toolchains that `latch plugin build` needs for the recipes of the project.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use latchwork::config::Config;
use latchwork_tooling::build;
use latchwork_tooling::build::{BuildKind, ProgramState, RECIPE, Recipe};

use crate::commands::doctor::check::DoctorCheck;
use crate::context::CommandContext;

const NAME: &str = "toolchain";

pub(super) fn toolchains(ctx: &CommandContext<'_>, config: Option<&Config>, checks: &mut Vec<DoctorCheck>) {
    let mut needs: BTreeMap<BuildKind, BTreeSet<String>> = BTreeMap::new();
    for dir in folders(ctx, config) {
        if let Ok(recipe) = Recipe::read(&dir) {
            needs.entry(BuildKind::of(&recipe)).or_default().insert(recipe.name);
        }
    }
    if needs.is_empty() {
        checks.push(DoctorCheck::ok(NAME, "no plugin here is built from source: none is needed"));
    }
    let options = match build::BuildOptions::from_env() {
        Ok(options) => options,
        Err(error) => return checks.push(DoctorCheck::warn(NAME, error.to_string(), "export HOME")),
    };
    for (need, plugins) in needs {
        let plugins: Vec<String> = plugins.into_iter().collect();
        for program in tokio::task::block_in_place(|| build::programs(need, &ctx.cwd, &options)) {
            let about = format!("{} ({}): ", need.language_name(), plugins.join(", "));
            let check = match program.state {
                ProgramState::Found => DoctorCheck::ok(NAME, format!("{about}{}", program.name)),
                ProgramState::InstalledByBuild => {
                    let found = format!("{about}{} is not installed yet", program.name);
                    DoctorCheck::warn(NAME, found, "latch plugin build installs it, once")
                }
                ProgramState::Missing(install) => {
                    DoctorCheck::warn(NAME, format!("{about}{} is missing; only builds need it", program.name), install)
                }
            };
            checks.push(check.with_subject("language", need.language_name()).with_subject("plugins", plugins.clone()));
        }
    }
}

/// Returns the folders that contain a recipe. The function searches the sources of configured plugins, the working
/// directory, the project's folder, and the direct subfolders of the project's folder.
fn folders(ctx: &CommandContext<'_>, config: Option<&Config>) -> BTreeSet<PathBuf> {
    let mut folders: BTreeSet<PathBuf> = BTreeSet::from([ctx.cwd.clone()]);
    let root = config.map_or(ctx.cwd.as_path(), Config::root);
    folders.insert(root.to_owned());
    folders.extend(config.iter().flat_map(|config| config.plugins().iter().map(|plugin| plugin.source.clone())));
    let below = |dir: &Path| std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    folders.extend(below(root));
    folders.retain(|dir| dir.join(RECIPE).is_file());
    let real = folders.into_iter().map(|dir| dir.canonicalize().unwrap_or(dir));
    real.collect()
}
