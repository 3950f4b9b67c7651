//! Lists the programs that builds of a language use and whether this machine has them. Installs nothing.

use std::path::Path;

use super::recipe::{JsEngine, Lang, Recipe};
use super::run::{ask, command};
use super::wasm_target::{TARGET, Toolchain};
use super::{Options, c, go, js, python, tools};

/// Kind of build, which decides the required programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
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

impl Need {
    /// Returns the kind of build for a recipe.
    pub fn of(recipe: &Recipe) -> Need {
        match (recipe.lang, recipe.more.engine) {
            (Lang::Rust, _) => Need::Rust,
            (Lang::Js, JsEngine::QuickJs) => Need::QuickJs,
            (Lang::Js, JsEngine::StarlingMonkey) => Need::StarlingMonkey,
            (Lang::Python, _) => Need::Python,
            (Lang::C, _) => Need::C,
            (Lang::Go, _) => Need::Go,
        }
    }

    /// Returns the name of the language as written in recipes.
    pub fn word(self) -> &'static str {
        match self {
            Need::Rust => Lang::Rust.word(),
            Need::QuickJs | Need::StarlingMonkey => Lang::Js.word(),
            Need::Python => Lang::Python.word(),
            Need::C => Lang::C.word(),
            Need::Go => Lang::Go.word(),
        }
    }
}

/// A program, and its state on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Name of the program, with its version if known.
    pub name: String,
    /// State of the program on this machine.
    pub state: State,
}

/// State of a program on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// The program is installed.
    Found,
    /// The first build installs it.
    Installs,
    /// The program must be installed by hand. Contains the command.
    Missing(String),
}

impl Program {
    fn found(name: impl Into<String>) -> Self {
        Self { name: name.into(), state: State::Found }
    }

    fn missing(name: impl Into<String>, install: impl Into<String>) -> Self {
        Self { name: name.into(), state: State::Missing(install.into()) }
    }
}

const INSTALL_NODE: &str = "apt-get install nodejs npm (Node.js 20 or later), or https://nodejs.org";
const INSTALL_PYTHON: &str = "apt-get install python3 python3-pip (3.10 or later), or https://python.org";

/// Returns the programs that builds of a language use.
pub fn programs(need: Need, dir: &Path, options: &Options) -> Vec<Program> {
    match need {
        Need::Rust => vec![rust(dir, options)],
        Need::QuickJs => javascript(js::QUICKJS.0, options),
        Need::StarlingMonkey => javascript(js::STARLINGMONKEY.0, options),
        Need::Python => pip(python::COMPONENTIZE, options),
        Need::C => match c::clang(dir) {
            true => vec![versioned("clang", "--version", INSTALL_PYTHON)],
            false => pip(c::ZIG, options),
        },
        Need::Go => match go::here(dir) {
            Some((major, minor)) => vec![Program::found(format!("go {major}.{minor}"))],
            None => pip(go::PINNED, options),
        },
    }
}

fn rust(dir: &Path, options: &Options) -> Program {
    let version = |program: &Path| ask(command(program, dir).arg("--version"));
    if version(Path::new("cargo")).is_none() {
        return Program::missing("cargo", "curl https://sh.rustup.rs -sSf | sh, or apt-get install cargo");
    }
    // Skips the ways that change the machine.
    let looking = Options { skip: [options.skip.as_slice(), &[3, 4]].concat(), ..options.clone() };
    match Toolchain::find(dir, &looking, &mut |_| ()) {
        Ok(Toolchain { rustc }) => {
            let rustc = rustc.unwrap_or_else(|| "rustc".into());
            Program::found(format!(
                "{} with the target {TARGET}",
                version(&rustc).unwrap_or_else(|| "rustc".to_owned())
            ))
        }
        Err(_) => {
            let install = format!(
                "rustup target add {TARGET}, or latch plugin toolchain, which makes a toolchain without rustup"
            );
            Program::missing(format!("the target {TARGET} of rustc"), install)
        }
    }
}

fn javascript(package: &str, options: &Options) -> Vec<Program> {
    let node = versioned("node", "--version", INSTALL_NODE);
    let npm = versioned("npm", "--version", INSTALL_NODE);
    let usable = [&node, &npm].iter().all(|program| program.state == State::Found);
    let package = installed(package, usable, INSTALL_NODE, options);
    vec![node, npm, package]
}

/// Returns the state of a PyPI package and of Python. pip is listed only if it is missing and needed to
/// install the package.
fn pip(requirement: &str, options: &Options) -> Vec<Program> {
    let python = versioned("python3", "--version", INSTALL_PYTHON);
    let pip = ask(command("python3", Path::new("/")).args(["-m", "pip", "--version"]));
    let name = tools::pinned(requirement);
    let package = installed(&name, pip.is_some(), INSTALL_PYTHON, options);
    let mut programs = vec![python];
    if package.state != State::Found && pip.is_none() {
        programs.push(Program::missing("pip", INSTALL_PYTHON));
    }
    programs.push(package);
    programs
}

/// Returns the state of a package that a build installs when needed.
fn installed(name: &str, is_installable: bool, install: &str, options: &Options) -> Program {
    let state = match (tools::is_installed(name, options), is_installable) {
        (true, _) => State::Found,
        (false, true) => State::Installs,
        (false, false) => State::Missing(format!("{install}; then latch plugin build installs it, once")),
    };
    Program { name: name.to_owned(), state }
}

fn versioned(program: &str, flag: &str, install: &str) -> Program {
    let Some(said) = ask(command(program, Path::new("/")).arg(flag)) else { return Program::missing(program, install) };
    let first = said.lines().next().unwrap_or_default().trim();
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
        let options = Options { tools_dir: dir.path().to_owned(), ..Options::default() };
        assert_eq!(installed("x-1", true, "apt-get install y", &options).state, State::Installs);
        let missing = installed("x-1", false, "apt-get install y", &options);
        assert!(matches!(missing.state, State::Missing(install) if install.starts_with("apt-get install y; then")));
        std::fs::create_dir(dir.path().join("x-1")).unwrap();
        std::fs::write(dir.path().join("x-1/.complete"), "").unwrap();
        assert_eq!(installed("x-1", false, "apt-get install y", &options).state, State::Found);
    }

    #[test]
    fn program_that_is_missing_comes_with_its_command() {
        let missing = versioned("no-such-program", "--version", INSTALL_NODE);
        assert_eq!(missing, Program::missing("no-such-program", INSTALL_NODE));
    }
}
