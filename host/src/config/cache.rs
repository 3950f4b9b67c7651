//! Where compiled code is kept: with the user, never with the project.
//!
//! Compiled code is run as it is, with all the rights of this process. A project comes from
//! others (`git clone`), and so does every file in it; so no place inside the project will do,
//! however it was named.

use std::path::{Path, PathBuf};

use latchwork_core::pages;

use super::CACHE_VARIABLE;
use super::problem::{Origin, Problem};

/// The directory: `LATCH_CACHE_DIR`, else in the user's cache; none where the user has no home,
/// or keeps the project around it: then code is compiled at each start.
pub(super) fn place(env: &dyn Fn(&str) -> Option<String>, project: &Path) -> Result<Option<PathBuf>, Problem> {
    if let Some(named) = env(CACHE_VARIABLE).filter(|value| !value.is_empty()) {
        let refuse = |why: String| Problem {
            origin: Origin::Environment(CACHE_VARIABLE),
            key: String::new(),
            code: pages::CONFIG_INVALID_VALUE,
            message: why,
        };
        let dir = PathBuf::from(named);
        if !dir.is_absolute() {
            return Err(refuse(format!("{} is relative: write the whole path", dir.display())));
        }
        if is_inside(&dir, project) {
            return Err(refuse(format!(
                "{} lies in the project {}: whoever wrote the project could have put code there, and it would be run; \
                 name a folder of your own",
                dir.display(),
                project.display()
            )));
        }
        return Ok(Some(dir));
    }
    // The convention for these two: a relative path counts as none.
    let absolute = |name| env(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")));
    Ok(base.map(|base| base.join("latchwork/compiled")).filter(|dir| !is_inside(dir, project)))
}

/// Whether a folder, which need not be there yet, is or will be within another.
fn is_inside(dir: &Path, project: &Path) -> bool {
    let real = |path: &Path| {
        let there = path.ancestors().find_map(|near| Some((near, near.canonicalize().ok()?)));
        there.map_or_else(
            || path.to_owned(),
            |(near, real)| real.join(path.strip_prefix(near).expect("an ancestor is a prefix")),
        )
    };
    // As written as well: a link inside the project is the project's to change.
    dir.starts_with(project) || real(dir).starts_with(real(project))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(variables: &[(&str, &str)], project: &Path) -> Result<Option<PathBuf>, Problem> {
        let found =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        place(&found, project)
    }

    #[test]
    fn it_is_the_users_own() {
        let project = Path::new("/srv/project");
        let at = |variables: &[(&str, &str)]| placed(variables, project).unwrap().map(|dir| dir.display().to_string());
        let (home, xdg, own) = (("HOME", "/home/ada"), ("XDG_CACHE_HOME", "/cache"), (CACHE_VARIABLE, "/own"));
        assert_eq!(at(&[home]).unwrap(), "/home/ada/.cache/latchwork/compiled");
        assert_eq!(at(&[home, xdg]).unwrap(), "/cache/latchwork/compiled");
        assert_eq!(at(&[home, xdg, own]).unwrap(), "/own");
        assert_eq!(at(&[home, ("XDG_CACHE_HOME", "relative")]).unwrap(), "/home/ada/.cache/latchwork/compiled");
        assert_eq!(at(&[]), None, "nobody's");
        assert_eq!(at(&[("HOME", "")]), None);
    }

    #[test]
    fn it_is_never_in_the_project() {
        let temp = tempfile::tempdir().unwrap();
        let project = temp.path().join("project");
        std::fs::create_dir(&project).unwrap();
        let text = |path: PathBuf| path.to_str().unwrap().to_owned();
        assert_eq!(placed(&[("HOME", &text(project.clone()))], &project).unwrap(), None);
        // A link from elsewhere into it, and one in it that leads elsewhere.
        std::os::unix::fs::symlink(&project, temp.path().join("link")).unwrap();
        std::os::unix::fs::symlink(temp.path(), project.join("out")).unwrap();
        for named in [project.join("cache"), temp.path().join("link/cache"), project.join("out/cache"), "cache".into()]
        {
            let problem = placed(&[(CACHE_VARIABLE, &text(named.clone()))], &project).unwrap_err();
            assert_eq!(problem.code, pages::CONFIG_INVALID_VALUE, "{}", named.display());
        }
        assert!(placed(&[(CACHE_VARIABLE, &text(temp.path().join("mine")))], &project).unwrap().is_some());
    }
}
