//! Packages of a Python plugin: installed from a lock file with the version and the hash of each package.
//!
//! `requirements.txt` lists the packages that a plugin needs. `requirements.lock` beside it lists the packages that pip
//! chose, with one file for each package. If `requirements.txt` contains hashes, no lock file is needed. The package
//! index comes from the user's configuration of pip, because a lock file names no index.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use latchwork_core::model::ids::Hash;

use crate::build::error::BuildError;
use crate::build::install_advice::PYTHON_BRIEF;
use crate::build::options::BuildOptions;
use crate::build::run::run;
use crate::build::{layout, publish, tools};

const REQUIREMENTS: &str = "requirements.txt";
const LOCK: &str = "requirements.lock";
/// Beginning of the line with the hash of the requirements in a lock file.
const FINGERPRINT: &str = "# requirements sha256:";
/// Maximum depth of requirements files that name each other.
const MAX_DEPTH: usize = 8;

/// pip's report on the packages that it would install.
#[derive(Deserialize)]
struct Report {
    install: Vec<Chosen>,
}

#[derive(Deserialize)]
struct Chosen {
    #[serde(default)]
    is_direct: bool,
    metadata: Metadata,
    download_info: Download,
}

#[derive(Deserialize)]
struct Metadata {
    name: String,
    version: String,
}

#[derive(Deserialize)]
struct Download {
    url: String,
    archive_info: Option<Archive>,
}

#[derive(Deserialize)]
struct Archive {
    #[serde(default)]
    hashes: std::collections::BTreeMap<String, String>,
}

/// Installs the packages that the plugin in `dir` requires into `obj/packages`, and returns this folder. Returns `None`
/// if the plugin requires none.
pub(super) fn install(
    dir: &Path,
    obj: &Path,
    options: &BuildOptions,
    progress: &mut dyn FnMut(&str),
) -> Result<Option<PathBuf>, BuildError> {
    let requirements = dir.join(REQUIREMENTS);
    if !requirements.is_file() {
        return Ok(None);
    }
    let mut lines = Vec::new();
    significant_lines(&requirements, 0, &mut lines)?;
    if lines.is_empty() {
        return Ok(None);
    }
    let packages = obj.join("packages");
    let from = match lines.iter().any(|line| line.contains("--hash=")) {
        true => requirements,
        false => locked(dir, obj, &lines, options, progress)?,
    };
    let mut pip = pip(obj);
    pip.args(["--no-compile", "--require-hashes", "--target"]).arg(&packages).arg("-r").arg(&from);
    let what = format!("installing {} with pip", file_name(&from));
    run(&what, PYTHON_BRIEF, &mut pip, progress)?;
    Ok(Some(packages))
}

/// Returns the lock file. If the lock file is missing or must be updated, writes it. Otherwise checks that the lock
/// file belongs to these requirements.
fn locked(
    dir: &Path,
    obj: &Path,
    lines: &[String],
    options: &BuildOptions,
    progress: &mut dyn FnMut(&str),
) -> Result<PathBuf, BuildError> {
    let lock = dir.join(LOCK);
    let fingerprint = format!("{FINGERPRINT}{}", Hash::of(&[lines.join("\n").as_bytes()]));
    if lock.is_file() && !options.update {
        let text = std::fs::read_to_string(&lock).map_err(|error| BuildError::io("read", &lock, error))?;
        if text.lines().any(|line| line == fingerprint) {
            return Ok(lock);
        }
        let at = text.lines().position(|line| line.starts_with(FINGERPRINT)).unwrap_or(0) + 1;
        let place = format!("{}:{at}", lock.display());
        let message = "it was not written for this requirements.txt".to_owned();
        return Err(BuildError::LockFile { place, message, dir: dir.to_owned() });
    }
    layout::refuse_link(&lock)?;
    let mut pip = pip(obj);
    // pip reports what it would install into an empty folder.
    pip.args(["--dry-run", "--ignore-installed", "--report", "-", "--target"]).arg(obj.join("packages"));
    pip.arg("-r").arg(dir.join(REQUIREMENTS));
    let printed = run("choosing versions with pip", PYTHON_BRIEF, &mut pip, progress)?;
    let report: Report = serde_json::from_slice(&printed).map_err(|error| BuildError::Failed {
        what: "reading pip's report".to_owned(),
        status: error.to_string(),
        output: String::from_utf8_lossy(&printed).into_owned(),
    })?;
    publish::replace(&lock, lock_text(&report, &fingerprint, dir)?.as_bytes())?;
    progress(&format!("wrote {}: keep it in version control", lock.display()));
    Ok(lock)
}

/// Returns the text of a lock file.
fn lock_text(report: &Report, fingerprint: &str, dir: &Path) -> Result<String, BuildError> {
    let mut entries = Vec::new();
    for Chosen { is_direct, metadata: Metadata { name, version }, download_info } in &report.install {
        let hash = download_info.archive_info.as_ref().and_then(|archive| archive.hashes.get("sha256"));
        let Some(hash) = hash else {
            let message = format!("{name} is not a file that has a hash: require a released version of it");
            return Err(BuildError::Source { place: dir.join(REQUIREMENTS).display().to_string(), message });
        };
        // A package whose requirement is an address is installed from this address. pip finds every other package by
        // its name.
        let wanted = if *is_direct { format!("{name} @ {}", download_info.url) } else { format!("{name}=={version}") };
        entries.push(format!("{wanted} --hash=sha256:{hash}\n"));
    }
    entries.sort();
    Ok(format!(
        "# Written by latch plugin build --update. Keep this file in version control.\n{fingerprint}\n{}",
        entries.concat()
    ))
}

/// Returns a `pip install` command for pure Python packages. Each caller adds its own options.
fn pip(obj: &Path) -> std::process::Command {
    // Python looks for modules in the folder in which it starts. This one contains no file of the project.
    let mut pip = tools::python(obj);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]);
    pip.args(["--only-binary", ":all:", "--platform", "any"]);
    pip
}

/// Collects the lines of a requirements file, and of the files that it names. Skips empty lines and comments.
fn significant_lines(file: &Path, depth: usize, lines: &mut Vec<String>) -> Result<(), BuildError> {
    if depth > MAX_DEPTH {
        let message = "requirements files name each other too deeply".to_owned();
        return Err(BuildError::Source { place: file.display().to_string(), message });
    }
    let text = std::fs::read_to_string(file).map_err(|error| BuildError::io("read", file, error))?;
    for line in text.lines() {
        let line = line.split(" #").next().unwrap_or_default().trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        lines.push(line.to_owned());
        let options = ["-r", "--requirement", "-c", "--constraint"];
        if let Some(rest) = options.iter().find_map(|option| line.strip_prefix(option)) {
            let named = file.parent().unwrap_or(Path::new(".")).join(rest.trim_start_matches([' ', '=']));
            significant_lines(&named, depth + 1, lines)?;
        }
    }
    Ok(())
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requirements_are_compared_without_comments_and_with_named_files() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join(REQUIREMENTS);
        std::fs::write(&file, "# a\n\n dep==1 # why\n-r more.txt\n-c=limits.txt\n").unwrap();
        std::fs::write(dir.path().join("more.txt"), "other\n").unwrap();
        std::fs::write(dir.path().join("limits.txt"), "other<2\n").unwrap();
        let mut lines = Vec::new();
        significant_lines(&file, 0, &mut lines).unwrap();
        assert_eq!(lines, ["dep==1", "-r more.txt", "other", "-c=limits.txt", "other<2"]);
        std::fs::write(dir.path().join("more.txt"), "-r requirements.txt\n").unwrap();
        let endless = significant_lines(&file, 0, &mut Vec::new()).unwrap_err().to_string();
        assert!(endless.contains("too deeply"), "{endless}");
    }

    /// I227.
    #[test]
    fn lock_file_has_a_hash_for_each_package_and_an_address_only_where_one_is_required() {
        let chosen = |name: &str, is_direct: bool, archive: serde_json::Value| {
            serde_json::json!({
                "is_direct": is_direct, "metadata": { "name": name, "version": "1.0" },
                "download_info": { "url": format!("https://files.example/{name}.whl"), "archive_info": archive },
            })
        };
        let hashed = serde_json::json!({ "hashes": { "sha256": "ab" } });
        let report = |install: &[serde_json::Value]| -> Report {
            serde_json::from_value(serde_json::json!({ "install": install })).unwrap()
        };
        let good = report(&[chosen("b", false, hashed.clone()), chosen("a", true, hashed)]);
        let text = lock_text(&good, "# f", Path::new("p")).unwrap();
        let lines: Vec<_> = text.lines().skip(1).collect();
        assert_eq!(lines, ["# f", "a @ https://files.example/a.whl --hash=sha256:ab", "b==1.0 --hash=sha256:ab"]);
        let folder = lock_text(&report(&[chosen("c", true, serde_json::Value::Null)]), "# f", Path::new("p"));
        assert!(folder.unwrap_err().to_string().contains("p/requirements.txt: c is not a file that has a hash"));
    }
}
