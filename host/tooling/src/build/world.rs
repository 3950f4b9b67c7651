//! Generates the WIT world of one plugin: the imports of its kind, and the exports of its recipe.

use std::path::{Path, PathBuf};

use latchwork_core::model::manifest::PluginKind;

use crate::build::error::BuildError;
use crate::build::recipe::Recipe;
use crate::build::sdk;

/// Name of the plugin's world.
pub(super) const WORLD: &str = "latch-plugin";
/// Name of a second world, which has the imports of the plugin's world and no exports.
pub(super) const IMPORTS: &str = "latch-imports";

/// Returns the text of the world's WIT file.
fn world_text(recipe: &Recipe) -> String {
    let (imports, exports): (&[&str], &[&str]) = match recipe.kind {
        PluginKind::Step => (&["context", "clock", "rng", "tools", "events", "log"], &["plugin", "run"]),
        PluginKind::Tool => (
            &[
                "context",
                "invocation",
                "log",
                "kv",
                "secrets",
                "config",
                "real:clocks/wall-clock@0.2.6",
                "real:random/random@0.2.6",
            ],
            &["plugin", "invoke"],
        ),
    };
    let imports = imports.iter().map(|name| format!("  import {name};\n"));
    let exports = exports.iter().copied().chain(recipe.settings.exports.iter().map(String::as_str));
    let exports = exports.map(|name| format!("  export {name};\n"));
    let (imports, exports): (String, String) = (imports.collect(), exports.collect());
    format!(
        "package latchwork:plugin@0.1.0;\n\nworld {WORLD} {{\n{imports}{exports}}}\n\nworld {IMPORTS} {{\n{imports}}}\n"
    )
}

/// Writes the interfaces and the plugin's own world into `dir/wit`, and returns that folder.
pub(super) fn write(dir: &Path, recipe: &Recipe) -> Result<PathBuf, BuildError> {
    let wit = dir.join("wit");
    for (path, text) in latchwork_engine::interfaces::wit::WIT {
        sdk::write_file(&wit.join(path), text)?;
    }
    for file in sdk::REAL_WIT {
        let package = file.path.trim_end_matches(".wit");
        sdk::write_file(&wit.join("deps").join(package).join(file.path), file.text)?;
    }
    sdk::write_file(&wit.join(format!("{WORLD}.wit")), &world_text(recipe))?;
    Ok(wit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::{Lang, LanguageSettings};

    #[test]
    fn step_imports_no_wasi_and_tool_exports_follow_recipe() {
        let dir = tempfile::tempdir().unwrap();
        let more = LanguageSettings { exports: vec!["reconcile".into()], ..LanguageSettings::default() };
        let mut recipe =
            Recipe { name: "x".into(), kind: PluginKind::Tool, lang: Lang::Js, settings: more, exceptions: vec![] };
        for (kind, imports, exports) in [(PluginKind::Tool, 8, 3), (PluginKind::Step, 6, 2)] {
            recipe.kind = kind;
            if kind == PluginKind::Step {
                recipe.settings = LanguageSettings::default();
            }
            let wit = write(dir.path(), &recipe).unwrap();
            let mut resolve = wit_parser::Resolve::default();
            let (package, _) = resolve.push_dir(&wit).unwrap();
            let world = resolve.select_world(&[package], Some(WORLD)).unwrap();
            let world = &resolve.worlds[world];
            // The world has one import more than its text lists, because the listed interfaces use `types`.
            assert_eq!((world.imports.len(), world.exports.len()), (imports + 1, exports));
        }
    }
}
