//! Modes of the files that the host creates.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::support::test_env::TestEnv;

/// Returns all files and folders below a path, the path included.
fn all_below(path: &Path) -> Vec<PathBuf> {
    let entries = path.is_dir().then(|| std::fs::read_dir(path).unwrap());
    let below = entries.into_iter().flatten().flat_map(|entry| all_below(&entry.unwrap().path()));
    std::iter::once(path.to_owned()).chain(below).collect()
}

/// I205: other users can neither read nor list the files that the host writes for itself. The host does not change the
/// mode of files that a tool writes.
#[test]
fn files_of_the_host_are_private_and_files_of_tools_are_not_changed() {
    for commit in ["atomic", "staged"] {
        let place = TestEnv::witness(commit).fresh_copy();
        let ran = place.latch(&place.run_args());
        assert_eq!(ran.code, 0, "{} {}", ran.stdout, ran.stderr);
        let names: Vec<_> = std::fs::read_dir(&place.dir).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        let ours = names.iter().filter(|name| {
            let name = name.to_string_lossy();
            name.contains(".db") || name == ".latch"
        });
        let files: Vec<_> = ours.flat_map(|name| all_below(&place.dir.join(name))).collect();
        assert!(files.len() > 4, "{files:?}");
        for file in files {
            let mode = file.metadata().unwrap().permissions().mode() & 0o7777;
            assert_eq!(mode & 0o077, 0, "{commit}: {} has the mode {mode:o}", file.display());
        }
        let effect = std::fs::read_dir(place.dir.join("effects")).unwrap().next().unwrap().unwrap();
        let plain = place.dir.join("plain");
        std::fs::write(&plain, "").unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode();
        assert_eq!(mode(&effect.path()), mode(&plain), "the mode of the process applies");
    }
}
