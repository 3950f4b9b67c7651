//! Python plugins: combined with CPython by componentize-py.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use latchwork_core::model::manifest::PluginKind;

use crate::build::error::BuildError;
use crate::build::install_advice::PYTHON_BRIEF;
use crate::build::options::BuildOptions;
use crate::build::recipe::{Lang, Recipe};
use crate::build::run::run;
use crate::build::{layout, pip_packages, sdk, tools, world};

pub(super) const COMPONENTIZE: &str = include_str!("pip/componentize-py.txt");
/// Name of the module that the build generates around the plugin. The plugin must not import a module with this name.
const APP: &str = "latchwork_app";

/// Result of the scan of the plugin's modules.
#[derive(Deserialize)]
struct ModuleScan {
    /// Modules that the plugin would import only at run time. A component cannot load modules from files, so the build
    /// imports them in advance.
    preload: Vec<String>,
    problems: Vec<ScanProblem>,
}

#[derive(Deserialize)]
struct ScanProblem {
    file: String,
    line: u32,
    message: String,
}

/// Script that reads the modules of a plugin.
const SCAN: &str = "_scan.py";

/// Builds the plugin in `dir` and returns the path of the component.
pub(super) fn build(
    dir: &Path,
    recipe: &Recipe,
    options: &BuildOptions,
    progress: &mut dyn FnMut(&str),
) -> Result<PathBuf, BuildError> {
    let layout = layout::prepare(dir, recipe)?;
    let main = layout.main_file()?;
    let sdk = layout.sdk_dir("_host.py")?;
    let site = tools::pip(COMPONENTIZE, options, progress)?;
    let wit = world::write(&layout.obj, recipe)?;

    let mut paths = vec![main.parent().unwrap_or(dir).to_owned()];
    // Copies the SDK into a folder with the name of the package. Python finds a package by its folder's name, and the
    // SDK's folder may have another name.
    let package = layout.obj.join("sdk/latchwork");
    copy_modules(&sdk, &package)?;
    paths.push(layout.obj.join("sdk"));
    if let Some(packages) = pip_packages::install(dir, &layout.obj, options, progress)? {
        paths.push(packages);
    }

    let scan = scan(&layout.obj, &main, &paths, progress)?;
    let kind = match recipe.kind {
        PluginKind::Step => "_step",
        PluginKind::Tool => "_tool",
    };
    let module = main.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let preload: String = scan.preload.iter().map(|name| format!("import {name}\n")).collect();
    let exports = serde_json::to_string(&recipe.settings.exports).expect("a list of strings is JSON");
    let version = &recipe.settings.version;
    let app = format!(
        "# Written by `latch plugin build`: the host is bound first, then the plugin is read.\n\
         import latchwork.{kind} as _kind\n\n_kind.bind()\n{preload}import {module}\n\n\
         globals().update(_kind.exports({version:?}, {exports}))\n"
    );
    sdk::write_file(&layout.obj.join("app").join(format!("{APP}.py")), &app)?;

    let made = layout.obj.join("component.wasm");
    let mut componentize =
        tools::python_program(&site, "import sys, componentize_py; sys.exit(componentize_py.script())", &layout.obj);
    componentize.arg("--quiet").arg("--wit-path").arg(&wit).args(["--world", world::WORLD, "componentize"]);
    componentize.args(["--stub-wasi", "--python-path", "app"]);
    for path in &paths {
        componentize.arg("--python-path").arg(path);
    }
    componentize.arg(APP).arg("--output").arg(&made);
    run("making a component with componentize-py", PYTHON_BRIEF, &mut componentize, progress)?;
    Ok(made)
}

/// Scans every module of the plugin without running it. Uses the script that is embedded in this program, because the
/// copy of the SDK in the project could be changed.
fn scan(obj: &Path, main: &Path, paths: &[PathBuf], progress: &mut dyn FnMut(&str)) -> Result<ModuleScan, BuildError> {
    let script = obj.join(SCAN);
    let text = sdk::files(Lang::Python).iter().find(|file| file.path == SCAN).expect("a file of the SDK").text;
    sdk::write_file(&script, text)?;
    let mut python = tools::python(obj);
    python.arg(&script).arg(main).args(paths);
    let printed = run("reading the plugin's modules", PYTHON_BRIEF, &mut python, progress)?;
    let scan: ModuleScan = serde_json::from_slice(&printed).map_err(|error| BuildError::Failed {
        what: "reading the plugin's modules".to_owned(),
        status: error.to_string(),
        output: String::from_utf8_lossy(&printed).into_owned(),
    })?;
    if scan.problems.is_empty() {
        return Ok(scan);
    }
    let line = |problem: &ScanProblem| format!("{}:{}: {}", problem.file, problem.line, problem.message);
    Err(BuildError::Sources(scan.problems.iter().map(line).collect()))
}

/// Copies only the package's own modules. Files that Python created beside them are skipped.
fn copy_modules(from: &Path, to: &Path) -> Result<(), BuildError> {
    let entries = std::fs::read_dir(from).map_err(|error| BuildError::io("read", from, error))?;
    for entry in entries.flatten().filter(|entry| entry.path().extension().is_some_and(|kind| kind == "py")) {
        let text =
            std::fs::read_to_string(entry.path()).map_err(|error| BuildError::io("read", &entry.path(), error))?;
        sdk::write_file(&to.join(entry.file_name()), &text)?;
    }
    Ok(())
}
