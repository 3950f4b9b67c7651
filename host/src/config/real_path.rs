//! Paths without links.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

/// Number of links after which a path counts as a circle. Linux has the same limit.
const LINKS_MAX: usize = 40;

/// A path without links, and the links that lead there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RealPath {
    /// The path without links.
    pub(crate) path: PathBuf,
    /// Places of the links, without links themselves. A replaced link changes the path.
    pub(crate) links: Vec<PathBuf>,
}

impl RealPath {
    /// Follows the links of a path. The path need not exist: links in the part that exists are followed. In a circle,
    /// the link at the limit counts as the end of the path.
    pub(crate) fn of(path: &Path) -> Self {
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let mut real = Self { path: PathBuf::from("/"), links: vec![] };
        let mut left = parts(&absolute);
        while let Some(part) = left.pop_front() {
            match Path::new(&part).components().next() {
                Some(Component::RootDir) => real.path = PathBuf::from("/"),
                Some(Component::ParentDir) => {
                    real.path.pop();
                }
                Some(Component::Normal(name)) => {
                    let next = real.path.join(name);
                    match std::fs::read_link(&next) {
                        Ok(target) if real.links.len() < LINKS_MAX => {
                            real.links.push(next);
                            left = parts(&target).into_iter().chain(left).collect();
                        }
                        _ => real.path = next,
                    }
                }
                Some(Component::CurDir | Component::Prefix(_)) | None => {}
            }
        }
        real
    }
}

fn parts(path: &Path) -> VecDeque<OsString> {
    path.components().map(|part| part.as_os_str().to_owned()).collect()
}

/// Returns the path without links. The path need not exist.
pub(super) fn real_path(path: &Path) -> PathBuf {
    RealPath::of(path).path
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn real_path_follows_links_and_parents() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("there")).unwrap();
        symlink(root.join("there"), root.join("link")).unwrap();
        symlink("there/../link", root.join("relative")).unwrap();
        symlink("none/x", root.join("dangling")).unwrap();
        for (path, real) in [
            ("there", "there"),
            ("link", "there"),
            ("link/new/x", "there/new/x"),
            ("new/../there", "there"),
            ("link/../there", "there"),
            ("new/x/../../y", "y"),
            ("relative/x", "there/x"),
            ("dangling/y", "none/x/y"),
        ] {
            assert_eq!(real_path(&root.join(path)), root.join(real), "{path}");
        }
        symlink("circle", root.join("circle")).unwrap();
        assert_eq!(real_path(&root.join("circle/x")), root.join("circle/x"));
    }

    #[test]
    fn links_of_a_path_are_named() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("there")).unwrap();
        symlink(root.join("there"), root.join("first")).unwrap();
        symlink("first", root.join("second")).unwrap();
        assert_eq!(RealPath::of(&root.join("second/x")).links, [root.join("second"), root.join("first")]);
        assert_eq!(RealPath::of(&root.join("there/x")).links, Vec::<PathBuf>::new());
    }
}
