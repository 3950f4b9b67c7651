//! JavaScript plugins: bundled by esbuild, then combined with a JavaScript engine.

use std::path::{Path, PathBuf};

use latchwork_core::model::manifest::PluginKind;

use crate::build::error::BuildError;
use crate::build::install_advice::NODE_BRIEF;
use crate::build::options::BuildOptions;
use crate::build::recipe::{JsEngine, Recipe};
use crate::build::run::{command, run};
use crate::build::{layout, npm_packages, source_lines, tools, world};

/// Pinned packages of an engine: name of their installation folder, `package.json` and `package-lock.json`.
pub(super) const QUICKJS: (&str, (&str, &str)) = (
    "js-quickjs-0.4.5",
    (
        include_str!("../../../../guest-sdk/js/tools/quickjs/package.json"),
        include_str!("../../../../guest-sdk/js/tools/quickjs/package-lock.json"),
    ),
);
pub(super) const STARLINGMONKEY: (&str, (&str, &str)) = (
    "js-starlingmonkey-0.23.0",
    (
        include_str!("../../../../guest-sdk/js/tools/starlingmonkey/package.json"),
        include_str!("../../../../guest-sdk/js/tools/starlingmonkey/package-lock.json"),
    ),
);

/// Builds the plugin in `dir` and returns the path of the component.
pub(super) fn build(
    dir: &Path,
    recipe: &Recipe,
    options: &BuildOptions,
    progress: &mut dyn FnMut(&str),
) -> Result<PathBuf, BuildError> {
    let layout = layout::prepare(dir, recipe)?;
    let main = layout.main_file()?;
    let sdk = layout.sdk_dir("index.js")?;
    let (name, packages) = match recipe.settings.engine {
        JsEngine::QuickJs => QUICKJS,
        JsEngine::StarlingMonkey => STARLINGMONKEY,
    };
    let programs = tools::npm(name, packages, options, progress)?.join("node_modules/.bin");
    npm_packages::install(dir, options, progress)?;
    let wit = world::write(&layout.obj, recipe)?;

    let bundle = layout.obj.join("bundle.js");
    let entry = match recipe.kind {
        PluginKind::Step => "step.js",
        PluginKind::Tool => "tool.js",
    };
    let engine = match recipe.settings.engine {
        JsEngine::QuickJs => "quickjs",
        JsEngine::StarlingMonkey => "starlingmonkey",
    };
    let mut esbuild = command(programs.join("esbuild"), dir);
    esbuild.arg(sdk.join("component").join(entry)).args([
        "--bundle",
        "--format=esm",
        "--platform=neutral",
        "--main-fields=module,main",
        "--conditions=module,import",
        "--target=es2022",
        "--keep-names",
        "--legal-comments=none",
        "--sourcemap=external",
        "--log-level=warning",
        "--external:latchwork:*",
        "--external:real:*",
    ]);
    esbuild.arg(format!("--alias:latchwork-plugin-main={}", main.display()));
    esbuild.arg(format!("--define:LATCHWORK_VERSION={}", json(&recipe.settings.version)));
    esbuild.arg(format!("--define:LATCHWORK_EXPORTS={}", json(&recipe.settings.exports)));
    esbuild.arg(format!("--define:LATCHWORK_ENGINE={}", json(&engine)));
    esbuild.arg(format!("--outfile={}", bundle.display()));
    run("bundling with esbuild", NODE_BRIEF, &mut esbuild, progress)?;
    add_source_lines(&bundle, &layout.obj, dir, &sdk)?;

    let made = layout.obj.join("component.wasm");
    let mut componentize = match recipe.settings.engine {
        JsEngine::QuickJs => {
            let mut qjs = command(programs.join("componentize-qjs"), &layout.obj);
            qjs.args(["--sync", "--stub-wasi", "--module-root", ".", "--js", "bundle.js", "--world", world::WORLD]);
            qjs.arg("--wit").arg(&wit).arg("--output").arg(&made);
            qjs
        }
        JsEngine::StarlingMonkey => {
            let mut sm = command(programs.join("componentize-js"), &layout.obj);
            sm.args(["bundle.js", "--world-name", world::WORLD, "--disable"]);
            sm.args(["stdio", "random", "clocks", "http", "fetch-event"]);
            sm.arg("--wit").arg(&wit).arg("--out").arg(&made);
            sm
        }
    };
    let what = format!("making a component with {engine}");
    // A typical failure: a top-level statement of a module throws an error or reads the time.
    run(&what, NODE_BRIEF, &mut componentize, progress)?;
    Ok(made)
}

/// Appends a table of source positions to the bundle. The SDK uses the table for the stacks of exceptions. If no table
/// can be made, the bundle stays as it is.
fn add_source_lines(bundle: &Path, obj: &Path, dir: &Path, sdk: &Path) -> Result<(), BuildError> {
    let map = bundle.with_extension("js.map");
    let Some(statement) = std::fs::read(&map).ok().and_then(|map| source_lines::statement(&map, obj, dir, sdk)) else {
        return Ok(());
    };
    let mut text = std::fs::read_to_string(bundle).map_err(|error| BuildError::io("read", bundle, error))?;
    text.push_str(&statement);
    std::fs::write(bundle, text).map_err(|error| BuildError::io("write", bundle, error))
}

/// Encodes a value as a JavaScript literal.
fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("a string or a list of strings is JSON")
}
