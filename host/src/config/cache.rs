//! Location of the cache of compiled code: a directory of the user, never inside the project.
//!
//! A value of `LATCH_CACHE_DIR` inside the project is refused. A project may come from another person (`git clone`),
//! and compiled code runs unchecked, with all rights of this process.

use std::path::{Path, PathBuf};

use latchwork_core::model::error_docs;

use super::CACHE_VARIABLE;
use super::problem::{ConfigProblem, SettingSource};

/// Returns the cache directory: `LATCH_CACHE_DIR`, else a directory in the user's cache. Returns `None` if the user has
/// no home directory or if the user's cache is inside the project. Code is then compiled at each start.
///
/// # Errors
/// `LATCH_CACHE_DIR` is a relative path, or names a directory inside the project.
pub(super) fn cache_dir(
    env: &dyn Fn(&str) -> Option<String>,
    project: &Path,
) -> Result<Option<PathBuf>, ConfigProblem> {
    if let Some(named) = env(CACHE_VARIABLE).filter(|value| !value.is_empty()) {
        let refuse = |why: String| ConfigProblem {
            origin: SettingSource::Environment(CACHE_VARIABLE),
            key: String::new(),
            code: error_docs::CONFIG_INVALID_VALUE,
            message: why,
        };
        let dir = PathBuf::from(named);
        if !dir.is_absolute() {
            return Err(refuse(format!("{} is a relative path: use an absolute path", dir.display())));
        }
        if is_inside(&dir, project) {
            return Err(refuse(format!(
                "{} is inside the project {}: the project could contain compiled code there, and it would be executed; \
                 name a folder outside the project",
                dir.display(),
                project.display()
            )));
        }
        return Ok(Some(dir));
    }
    // A relative path in `XDG_CACHE_HOME` or `HOME` is ignored, as in the XDG convention.
    let absolute = |name| env(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")));
    Ok(base.map(|base| base.join("latchwork/compiled")).filter(|dir| !is_inside(dir, project)))
}

/// Returns true if `dir` is inside `project`. `dir` need not exist yet.
fn is_inside(dir: &Path, project: &Path) -> bool {
    let real = |path: &Path| {
        let there = path.ancestors().find_map(|near| Some((near, near.canonicalize().ok()?)));
        there.map_or_else(
            || path.to_owned(),
            |(near, real)| real.join(path.strip_prefix(near).expect("an ancestor is a prefix")),
        )
    };
    // A path that is written as inside the project is refused even if a link in the project leads it outside. The link
    // could be replaced later.
    dir.starts_with(project) || real(dir).starts_with(real(project))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(variables: &[(&str, &str)], project: &Path) -> Result<Option<PathBuf>, ConfigProblem> {
        let found =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        cache_dir(&found, project)
    }

    #[test]
    fn cache_is_in_the_users_directory() {
        let project = Path::new("/srv/project");
        let at = |variables: &[(&str, &str)]| placed(variables, project).unwrap().map(|dir| dir.display().to_string());
        let (home, xdg, own) = (("HOME", "/home/ada"), ("XDG_CACHE_HOME", "/cache"), (CACHE_VARIABLE, "/own"));
        assert_eq!(at(&[home]).unwrap(), "/home/ada/.cache/latchwork/compiled");
        assert_eq!(at(&[home, xdg]).unwrap(), "/cache/latchwork/compiled");
        assert_eq!(at(&[home, xdg, own]).unwrap(), "/own");
        assert_eq!(at(&[home, ("XDG_CACHE_HOME", "relative")]).unwrap(), "/home/ada/.cache/latchwork/compiled");
        assert_eq!(at(&[]), None, "no home folder");
        assert_eq!(at(&[("HOME", "")]), None);
    }

    #[test]
    fn cache_is_never_inside_the_project() {
        let temp = tempfile::tempdir().unwrap();
        let project = temp.path().join("project");
        std::fs::create_dir(&project).unwrap();
        let text = |path: PathBuf| path.to_str().unwrap().to_owned();
        assert_eq!(placed(&[("HOME", &text(project.clone()))], &project).unwrap(), None);
        // Creates two links. `link` lies outside the project and points to the project. `out` lies inside the project
        // and points to its parent folder.
        std::os::unix::fs::symlink(&project, temp.path().join("link")).unwrap();
        std::os::unix::fs::symlink(temp.path(), project.join("out")).unwrap();
        for named in [project.join("cache"), temp.path().join("link/cache"), project.join("out/cache"), "cache".into()]
        {
            let problem = placed(&[(CACHE_VARIABLE, &text(named.clone()))], &project).unwrap_err();
            assert_eq!(problem.code, error_docs::CONFIG_INVALID_VALUE, "{}", named.display());
        }
        assert!(placed(&[(CACHE_VARIABLE, &text(temp.path().join("mine")))], &project).unwrap().is_some());
    }
}
