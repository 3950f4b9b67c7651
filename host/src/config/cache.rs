//! Locations of the user's directories: the cache of compiled code, the secret of this cache, and the tools that `latch
//! plugin build` runs. The cache and its secret are never inside the project.
//!
//! A value of `LATCH_CACHE_DIR` inside the project is refused. A project may come from another person (`git clone`),
//! and compiled code runs unchecked, with all rights of this process.

use std::path::{Path, PathBuf};

use latchwork_core::model::error_docs;

use super::CACHE_VARIABLE;
use super::problem::{ConfigProblem, SettingSource};
use super::real_path::real_path;

/// Directories of compiled code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CacheDirs {
    /// Directory of the entries.
    pub(super) code: PathBuf,
    /// Directory of the secret that authenticates the entries. `None` if it is the directory of the entries.
    pub(super) secret: Option<PathBuf>,
}

/// Returns the directories of compiled code. If `LATCH_CACHE_DIR` is set, the entries and their secret are both in that
/// directory, so that the user can keep the directory as a whole. By default the entries are in the user's cache, and
/// the secret is in the directory of the user's state. With the default, a program that can write only to the cache
/// cannot forge an entry.
///
/// Returns `None` if the user has no home directory or if one of the two directories is inside the project. Code is
/// then compiled at each start.
///
/// # Errors
/// `LATCH_CACHE_DIR` is a relative path, or names a directory inside the project.
pub(super) fn cache_dirs(
    env: &dyn Fn(&str) -> Option<String>,
    project: &Path,
) -> Result<Option<CacheDirs>, ConfigProblem> {
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
        return Ok(Some(CacheDirs { code: dir, secret: None }));
    }
    let placed = |base: Option<PathBuf>| Some(base?.join("latchwork/compiled")).filter(|dir| !is_inside(dir, project));
    Ok(match (placed(user_cache(env)), placed(user_state(env))) {
        (Some(code), Some(secret)) => Some(CacheDirs { code, secret: Some(secret) }),
        _ => None,
    })
}

/// Returns the cache directory of the user. A relative path in `XDG_CACHE_HOME` or `HOME` is ignored, as in the XDG
/// convention.
fn user_cache(env: &dyn Fn(&str) -> Option<String>) -> Option<PathBuf> {
    user_dir(env, "XDG_CACHE_HOME", ".cache")
}

/// Returns the directory of the user's state. A relative path in `XDG_STATE_HOME` or `HOME` is ignored.
fn user_state(env: &dyn Fn(&str) -> Option<String>) -> Option<PathBuf> {
    user_dir(env, "XDG_STATE_HOME", ".local/state")
}

fn user_dir(env: &dyn Fn(&str) -> Option<String>, variable: &str, in_home: &str) -> Option<PathBuf> {
    let absolute = |name: &str| env(name).map(PathBuf::from).filter(|path| path.is_absolute());
    absolute(variable).or_else(|| Some(absolute("HOME")?.join(in_home)))
}

/// Returns the directories of the programs that `latch plugin build` installs and runs. `LATCH_TOOLS_DIR` and
/// `LATCH_WASM_DIR` name the two directories. Without these variables, both are in the user's cache.
pub(super) fn tools_dirs(env: &dyn Fn(&str) -> Option<String>, cwd: &Path) -> Vec<PathBuf> {
    let named = |(variable, default): (&str, &str)| {
        let set = env(variable).filter(|value| !value.is_empty()).map(|value| cwd.join(value));
        set.or_else(|| Some(user_cache(env)?.join(default)))
    };
    let dirs = [("LATCH_TOOLS_DIR", "latchwork/tools"), ("LATCH_WASM_DIR", "latchwork/wasm-rust")];
    dirs.into_iter().filter_map(named).collect()
}

/// Returns the directories of the user in which `latch` keeps files for all projects. They need not be in use here: a
/// project inside the home directory has no cache, but other projects of the user execute the code of that cache. A
/// variable of the XDG convention may be set in some sessions of the user only, so the directories without it count too.
pub(super) fn user_dirs(env: &dyn Fn(&str) -> Option<String>) -> Vec<(&'static str, PathBuf)> {
    let home =
        |inner: &str| env("HOME").map(PathBuf::from).filter(|home| home.is_absolute()).map(|home| home.join(inner));
    let dirs = [
        ("user's cache directory", user_cache(env)),
        ("user's cache directory", home(".cache")),
        ("user's state directory", user_state(env)),
        ("user's state directory", home(".local/state")),
    ];
    dirs.into_iter().filter_map(|(what, base)| Some((what, base?.join("latchwork")))).collect()
}

/// Returns true if `dir` is inside `project`. `dir` need not exist yet.
fn is_inside(dir: &Path, project: &Path) -> bool {
    // A path that begins with the path of the project counts as inside, even if a link in the project leads to a
    // directory outside. The link could be replaced later.
    dir.starts_with(project) || real_path(dir).starts_with(real_path(project))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(variables: &[(&str, &str)], project: &Path) -> Result<Option<CacheDirs>, ConfigProblem> {
        let found =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        cache_dirs(&found, project)
    }

    #[test]
    fn cache_is_in_the_users_directory() {
        let project = Path::new("/srv/project");
        let at = |variables: &[(&str, &str)]| {
            placed(variables, project).unwrap().map(|dirs| dirs.code.display().to_string())
        };
        let (home, xdg, own) = (("HOME", "/home/ada"), ("XDG_CACHE_HOME", "/cache"), (CACHE_VARIABLE, "/own"));
        assert_eq!(at(&[home]).unwrap(), "/home/ada/.cache/latchwork/compiled");
        assert_eq!(at(&[home, xdg]).unwrap(), "/cache/latchwork/compiled");
        assert_eq!(at(&[home, xdg, own]).unwrap(), "/own");
        assert_eq!(at(&[home, ("XDG_CACHE_HOME", "relative")]).unwrap(), "/home/ada/.cache/latchwork/compiled");
        assert_eq!(at(&[]), None, "no home folder");
        assert_eq!(at(&[("HOME", "")]), None);
    }

    /// I229.
    #[test]
    fn secret_of_the_cache_is_with_the_users_state() {
        let project = Path::new("/srv/project");
        let secret = |variables: &[(&str, &str)]| placed(variables, project).unwrap().unwrap().secret;
        let home = ("HOME", "/home/ada");
        assert_eq!(secret(&[home]), Some("/home/ada/.local/state/latchwork/compiled".into()));
        assert_eq!(secret(&[home, ("XDG_STATE_HOME", "/state")]), Some("/state/latchwork/compiled".into()));
        assert_eq!(secret(&[home, (CACHE_VARIABLE, "/own")]), None, "with the entries");
        assert_eq!(placed(&[home, ("XDG_STATE_HOME", "/srv/project/x")], project).unwrap(), None);
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
