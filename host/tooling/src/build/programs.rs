//! Lists the programs that builds of a language use, and their state on this machine. Installs nothing.

use std::path::Path;

use crate::build::install_advice::{NODE, PYTHON, RUST, WITHOUT_RUSTUP};
use crate::build::options::BuildOptions;
use crate::build::recipe::{JsEngine, Lang, Recipe};
use crate::build::run::{command, output_of};
use crate::build::wasm_target::{TARGET, Toolchain};
use crate::build::{c, go, js, python, tools};

/// Kind of build, which decides the required programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BuildKind {
    /// cargo, and a compiler with the Wasm target.
    Rust,
    /// Node.js, and the packages of QuickJS.
    QuickJs,
    /// Node.js, and the packages of StarlingMonkey.
    StarlingMonkey,
    /// Python, and componentize-py.
    Python,
    /// clang, or zig.
    C,
    /// Go.
    Go,
}

impl BuildKind {
    /// Returns the kind of build for a recipe.
    pub fn of(recipe: &Recipe) -> BuildKind {
        match (recipe.lang, recipe.settings.engine) {
            (Lang::Rust, _) => BuildKind::Rust,
            (Lang::Js, JsEngine::QuickJs) => BuildKind::QuickJs,
            (Lang::Js, JsEngine::StarlingMonkey) => BuildKind::StarlingMonkey,
            (Lang::Python, _) => BuildKind::Python,
            (Lang::C, _) => BuildKind::C,
            (Lang::Go, _) => BuildKind::Go,
        }
    }

    /// Returns the name of the language as written in recipes.
    pub fn language_name(self) -> &'static str {
        match self {
            BuildKind::Rust => Lang::Rust.as_str(),
            BuildKind::QuickJs | BuildKind::StarlingMonkey => Lang::Js.as_str(),
            BuildKind::Python => Lang::Python.as_str(),
            BuildKind::C => Lang::C.as_str(),
            BuildKind::Go => Lang::Go.as_str(),
        }
    }
}

/// A program, and its state on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Name of the program, with its version if known.
    pub name: String,
    /// State of the program on this machine.
    pub state: ProgramState,
}

/// State of a program on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgramState {
    /// The program is installed.
    Found,
    /// The first build installs it.
    InstalledByBuild,
    /// The program must be installed by hand. Contains the command.
    Missing(String),
}

impl Program {
    fn found(name: impl Into<String>) -> Self {
        Self { name: name.into(), state: ProgramState::Found }
    }

    fn missing(name: impl Into<String>, install: impl Into<String>) -> Self {
        Self { name: name.into(), state: ProgramState::Missing(install.into()) }
    }
}

/// Returns the programs that builds of this kind use.
pub fn programs(need: BuildKind, dir: &Path, options: &BuildOptions) -> Vec<Program> {
    match need {
        BuildKind::Rust => vec![rust(dir, options)],
        BuildKind::QuickJs => javascript(js::QUICKJS.0, options),
        BuildKind::StarlingMonkey => javascript(js::STARLINGMONKEY.0, options),
        BuildKind::Python => pip(python::COMPONENTIZE, options),
        BuildKind::C => match c::has_wasi_clang(dir) {
            true => vec![program_with_version("clang", "--version", PYTHON.command)],
            false => pip(c::ZIG, options),
        },
        BuildKind::Go => match go::installed_version(dir) {
            Some((major, minor)) => vec![Program::found(format!("go {major}.{minor}"))],
            None => pip(go::PINNED, options),
        },
    }
}

fn rust(dir: &Path, options: &BuildOptions) -> Program {
    let version = |program: &Path| output_of(command(program, dir).arg("--version"));
    if version(Path::new("cargo")).is_none() {
        return Program::missing("cargo", RUST.command);
    }
    // Skips ways 3 and 4 of `wasm_target`, because they install something on this machine.
    let looking = BuildOptions { skipped_ways: [options.skipped_ways.as_slice(), &[3, 4]].concat(), ..options.clone() };
    match Toolchain::find(dir, &looking, &mut |_| ()) {
        Ok(Toolchain { rustc }) => {
            let rustc = rustc.unwrap_or_else(|| "rustc".into());
            Program::found(format!(
                "{} with the target {TARGET}",
                version(&rustc).unwrap_or_else(|| "rustc".to_owned())
            ))
        }
        Err(_) => {
            let without_rustup = match options.installer {
                Some(_) => "latch plugin toolchain, which runs the program of LATCH_WASM_INSTALLER",
                None => WITHOUT_RUSTUP,
            };
            let install = format!("rustup target add {TARGET}, or {without_rustup}");
            Program::missing(format!("the target {TARGET} of rustc"), install)
        }
    }
}

fn javascript(package: &str, options: &BuildOptions) -> Vec<Program> {
    let node = program_with_version("node", "--version", NODE.command);
    let npm = program_with_version("npm", "--version", NODE.command);
    let usable = [&node, &npm].iter().all(|program| program.state == ProgramState::Found);
    let package = package_state(package, usable, NODE.command, options);
    vec![node, npm, package]
}

/// Returns the state of Python and of a PyPI package. pip is listed only if the package is not installed and pip is
/// missing.
fn pip(requirement: &str, options: &BuildOptions) -> Vec<Program> {
    let python = program_with_version("python3", "--version", PYTHON.command);
    let pip = output_of(command("python3", Path::new("/")).args(["-m", "pip", "--version"]));
    let name = tools::pinned_name(requirement);
    let package = package_state(&name, pip.is_some(), PYTHON.command, options);
    let mut programs = vec![python];
    if package.state != ProgramState::Found && pip.is_none() {
        programs.push(Program::missing("pip", PYTHON.command));
    }
    programs.push(package);
    programs
}

/// Returns the state of a package that a build installs when needed.
fn package_state(name: &str, is_installable: bool, install: &str, options: &BuildOptions) -> Program {
    let state = match (tools::is_installed(name, options), is_installable) {
        (true, _) => ProgramState::Found,
        (false, true) => ProgramState::InstalledByBuild,
        (false, false) => ProgramState::Missing(format!("{install}; then latch plugin build installs it, once")),
    };
    Program { name: name.to_owned(), state }
}

fn program_with_version(program: &str, flag: &str, install: &str) -> Program {
    let Some(printed) = output_of(command(program, Path::new("/")).arg(flag)) else {
        return Program::missing(program, install);
    };
    let first = printed.lines().next().unwrap_or_default().trim();
    match first.to_ascii_lowercase().contains(program.trim_end_matches('3')) {
        true => Program::found(first),
        false => Program::found(format!("{program} {first}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_found_where_builds_put_them() {
        let dir = tempfile::tempdir().unwrap();
        let options = BuildOptions { tools_dir: dir.path().to_owned(), ..BuildOptions::default() };
        assert_eq!(package_state("x-1", true, "apt-get install y", &options).state, ProgramState::InstalledByBuild);
        let missing = package_state("x-1", false, "apt-get install y", &options);
        assert!(
            matches!(missing.state, ProgramState::Missing(install) if install.starts_with("apt-get install y; then"))
        );
        std::fs::create_dir(dir.path().join("x-1")).unwrap();
        std::fs::write(dir.path().join("x-1/.complete"), "").unwrap();
        assert_eq!(package_state("x-1", false, "apt-get install y", &options).state, ProgramState::Found);
    }

    #[test]
    fn missing_program_has_an_install_command() {
        let missing = program_with_version("no-such-program", "--version", NODE.command);
        assert_eq!(missing, Program::missing("no-such-program", NODE.command));
    }
}
