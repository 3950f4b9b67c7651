//! Packages of a JavaScript plugin: installed by `npm ci` from `package-lock.json`, without their scripts.

use std::path::Path;
use std::process::Command;

use serde_json::{Map, Value};

use crate::build::error::BuildError;
use crate::build::install_advice::NODE_BRIEF;
use crate::build::layout;
use crate::build::options::BuildOptions;
use crate::build::run::{command, run};

const MANIFEST: &str = "package.json";
const LOCK: &str = "package-lock.json";
/// Record of npm about the packages in a folder.
const INSTALLED: &str = "node_modules/.package-lock.json";
/// Lock files of other programs. A project with one of them installs its packages with that program.
const FOREIGN: [&str; 5] = ["npm-shrinkwrap.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock", "bun.lockb"];
/// Keys of a manifest whose packages can be part of a component.
const BUNDLED: [&str; 2] = ["dependencies", "optionalDependencies"];
/// Keys of a manifest that the lock file repeats.
const REPEATED: [&str; 4] = ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"];

/// Installs the packages that the plugin in `dir` depends on, if a package is missing or differs from the lock file.
pub(super) fn install(dir: &Path, options: &BuildOptions, progress: &mut dyn FnMut(&str)) -> Result<(), BuildError> {
    let manifest = dir.join(MANIFEST);
    if !manifest.is_file() {
        return Ok(());
    }
    let wanted = read_json(&manifest)?;
    let lock = dir.join(LOCK);
    let is_foreign = !lock.is_file() && FOREIGN.iter().any(|name| dir.join(name).is_file());
    if is_foreign
        || is_member_of_workspace(dir)
        || BUNDLED.iter().all(|key| packages(&wanted, key).is_none_or(Map::is_empty))
    {
        return Ok(());
    }
    let writes_lock = !lock.is_file() || options.update;
    if writes_lock {
        layout::refuse_link(&lock)?;
        let mut npm = npm(dir, "install");
        npm.args(["--package-lock-only", "--omit-lockfile-registry-resolved"]);
        run("choosing versions with npm", NODE_BRIEF, &mut npm, progress)?;
        progress(&format!("wrote {}: keep it in version control", lock.display()));
    }
    let locked = read_json(&lock)?;
    if let Some(key) = REPEATED.iter().find(|key| differs(&wanted, &locked["packages"][""], key)) {
        let message = format!("its {key} differ from those of {MANIFEST}");
        return Err(BuildError::LockFile { place: lock.display().to_string(), message, dir: dir.to_owned() });
    }
    let installed = read_json(&dir.join(INSTALLED)).unwrap_or_default();
    // A run of npm that only writes a lock file also changes npm's record of installed packages, but installs nothing.
    // The check therefore also compares the version in the manifest of each installed package.
    let version = |path: &str| Some(read_json(&dir.join(path).join(MANIFEST)).ok()?["version"].clone());
    if writes_lock || !is_installed(&locked["packages"], &installed["packages"], version) {
        layout::refuse_link(&dir.join("node_modules"))?;
        run(&format!("installing {LOCK} with npm"), NODE_BRIEF, &mut npm(dir, "ci"), progress)?;
    }
    Ok(())
}

/// Returns true if a folder above `dir` is the root of a workspace. In a workspace, the package manager of the
/// workspace installs the packages of all members.
fn is_member_of_workspace(dir: &Path) -> bool {
    let is_workspace = |above: &Path| {
        let has_members = |manifest: Value| manifest.get("workspaces").is_some();
        above.join("pnpm-workspace.yaml").is_file() || read_json(&above.join(MANIFEST)).is_ok_and(has_members)
    };
    dir.canonicalize().is_ok_and(|dir| dir.ancestors().skip(1).any(is_workspace))
}

/// Returns an npm command for the project in `dir` alone. Install scripts of packages are not run.
fn npm(dir: &Path, verb: &str) -> Command {
    let mut npm = command("npm", dir);
    npm.args([verb, "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error"]);
    npm.args(["--prefix", "."]);
    npm
}

fn read_json(path: &Path) -> Result<Value, BuildError> {
    let text = std::fs::read_to_string(path).map_err(|error| BuildError::io("read", path, error))?;
    serde_json::from_str(&text).map_err(|error| BuildError::Source {
        place: format!("{}:{}", path.display(), error.line()),
        message: error.to_string(),
    })
}

fn packages<'v>(manifest: &'v Value, key: &str) -> Option<&'v Map<String, Value>> {
    manifest.get(key).and_then(Value::as_object)
}

/// Returns true if the manifest and the lock file list different packages under this key.
fn differs(manifest: &Value, root: &Value, key: &str) -> bool {
    let none = Map::new();
    packages(manifest, key).unwrap_or(&none) != packages(root, key).unwrap_or(&none)
}

/// Returns true if the installed packages are those of the lock file. Packages for other platforms may be missing.
/// `version` returns the version in a package's own manifest.
fn is_installed(locked: &Value, installed: &Value, version: impl Fn(&str) -> Option<Value>) -> bool {
    let (Some(locked), Some(installed)) = (locked.as_object(), installed.as_object()) else { return false };
    let same = |one: &Value, other: &Value| ["version", "integrity", "link"].iter().all(|key| one[key] == other[key]);
    let may_miss = |entry: &Value| ["dev", "optional", "devOptional", "peer"].iter().any(|key| entry[key] == true);
    locked.iter().filter(|(path, _)| !path.is_empty()).all(|(path, entry)| match installed.get(path) {
        Some(found) => same(entry, found) && (entry["link"] == true || version(path).as_ref() == entry.get("version")),
        // For a package that is a folder of the project, npm's record of installed packages has only the link in
        // `node_modules`, not the folder.
        None => may_miss(entry) || !path.contains("node_modules"),
    }) && installed.keys().all(|path| locked.contains_key(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn installed_packages_are_compared_with_the_lock_file() {
        let locked = json!({
            "": {}, "node_modules/a": { "version": "1.0.0", "integrity": "sha512-x" },
            "node_modules/b": { "version": "1.0.0", "optional": true },
        });
        let a = json!({ "version": "1.0.0", "integrity": "sha512-x" });
        let one = |_: &str| Some(json!("1.0.0"));
        assert!(is_installed(&locked, &json!({ "node_modules/a": a }), one));
        assert!(!is_installed(&locked, &json!({ "node_modules/a": a }), |_| Some(json!("1.0.1"))));
        for (what, installed) in [
            ("none", json!({})),
            ("another version", json!({ "node_modules/a": { "version": "1.0.1", "integrity": "sha512-x" } })),
            ("other content", json!({ "node_modules/a": { "version": "1.0.0", "integrity": "sha512-y" } })),
            ("one more", json!({ "node_modules/a": a, "node_modules/c": a })),
            ("no record", json!(null)),
        ] {
            assert!(!is_installed(&locked, &installed, one), "{what}");
        }
    }

    #[test]
    fn members_of_a_workspace_are_recognized() {
        let dir = tempfile::tempdir().unwrap();
        let member = dir.path().join("packages/mail");
        std::fs::create_dir_all(&member).unwrap();
        std::fs::write(dir.path().join(MANIFEST), "{}").unwrap();
        assert!(!is_member_of_workspace(&member));
        std::fs::write(dir.path().join(MANIFEST), r#"{"workspaces": ["packages/*"]}"#).unwrap();
        assert!(is_member_of_workspace(&member) && !is_member_of_workspace(dir.path()));
    }

    #[test]
    fn changed_manifest_differs_from_its_lock_file() {
        let root = json!({ "dependencies": { "a": "^1" } });
        assert!(!differs(&json!({ "dependencies": { "a": "^1" }, "devDependencies": {} }), &root, "devDependencies"));
        assert!(differs(&json!({ "dependencies": { "a": "^2" } }), &root, "dependencies"));
        assert!(differs(&json!({}), &root, "dependencies"));
    }
}
