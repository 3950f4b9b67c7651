//! Files of the project that git tracks, and a copy of them to build in.
//!
//! Tests check only tracked files, because a checkout also contains files that its user created, such as
//! delivered messages. Builds write beside their sources, so tests build in the copy and leave the checkout
//! unchanged.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::support::program;

/// Name of the file that lists the files of the last copy, one name per line.
const COPIED: &str = ".copied";

/// Returns the root of the checkout. Tests read the checkout and never write to it.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests lie in the root")
}

/// Returns the tracked files that exist in the work tree, as paths relative to the root.
pub(crate) fn tracked_files() -> BTreeSet<String> {
    let mut git = Command::new("git");
    // A git hook sets variables that name its own repository and index. The tests may run in a hook, so these variables
    // are removed. Git then lists the files of this checkout.
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.as_encoded_bytes().starts_with(b"GIT_")) {
        git.env_remove(name);
    }
    // The checkout may belong to another user, and git refuses such a checkout. Here git only lists the
    // files, so this check of the owner is turned off.
    git.args(["-c", "safe.directory=*", "-C"]).arg(root()).args(["ls-files", "-z"]);
    let listed = git.output().expect("git runs");
    assert!(listed.status.success(), "tests need a git checkout: {}", String::from_utf8_lossy(&listed.stderr));
    let names = String::from_utf8(listed.stdout).expect("names of files are plain");
    let present = |name: &&str| !name.is_empty() && root().join(name).is_file();
    names.split('\0').filter(present).map(str::to_owned).collect()
}

/// Returns the root of a copy of the tracked files, below the target folder. Build results of earlier runs
/// stay in the copy.
pub(crate) fn copy() -> &'static Path {
    static COPY: OnceLock<PathBuf> = OnceLock::new();
    COPY.get_or_init(|| {
        let copy = program::target_dir().join("checkout");
        fs::create_dir_all(&copy).expect("the target folder is writable");
        let lock = fs::File::create(copy.join(".lock")).expect("the copy is writable");
        lock.lock().expect("the file system has locks");
        refresh(&copy);
        copy
    })
}

/// Makes the files of `copy` equal to the files of the checkout. An unchanged file keeps its modification time, so
/// cargo does not rebuild it.
fn refresh(copy: &Path) {
    let names = tracked_files();
    let before = fs::read_to_string(copy.join(COPIED)).unwrap_or_default();
    for gone in before.lines().filter(|name| !names.contains(*name)) {
        // An earlier run may have removed the file already.
        let _ = fs::remove_file(copy.join(gone));
    }
    for name in &names {
        let (from, to) = (root().join(name), copy.join(name));
        let bytes = fs::read(&from).expect("a tracked file is readable");
        if fs::read(&to).is_ok_and(|present| present == bytes) {
            continue;
        }
        fs::create_dir_all(to.parent().expect("below the root")).expect("the copy is writable");
        fs::copy(&from, &to).expect("the copy is writable");
    }
    let list: Vec<&str> = names.iter().map(String::as_str).collect();
    fs::write(copy.join(COPIED), list.join("\n")).expect("the copy is writable");
}
