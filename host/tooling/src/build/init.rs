//! `latch init`: creates a project with one plugin, a configuration and a plan. The project runs as created.

use std::path::{Path, PathBuf};

use latchwork_core::model::manifest::PluginKind;

use crate::build::error::BuildError;
use crate::build::new::NewPlugin;
use crate::build::recipe::Lang;
use crate::build::{sdk, tools};

/// Name of the plugin and of its folder.
const PLUGIN: &str = "greeter";
/// `.gitignore` rules for files that running jobs create.
const GITIGNORE: &str = include_str!("../../../../guest-sdk/starter/gitignore");

/// A project to create.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewProject {
    /// Folder of the project, which may already exist.
    pub dir: PathBuf,
    /// Language of the project's plugin.
    pub lang: Lang,
}

/// A project that was created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreatedProject {
    /// The created files and folders, relative to the project's folder.
    pub entries: Vec<&'static str>,
    /// True if a `.gitignore` already existed. An existing `.gitignore` is not changed.
    pub gitignore_existed: bool,
    /// Main source file of the plugin, relative to the project's folder.
    pub main: PathBuf,
}

/// Reason why no project was created. In every case nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum InitError {
    /// Files of the project already exist.
    #[error("{}; nothing was written", already_exist(.0))]
    Exists(Vec<PathBuf>),
    /// The given path exists and is not a folder.
    #[error("{} is not a folder: choose another path", .0.display())]
    NotFolder(PathBuf),
    /// The file system refused an operation.
    #[error(transparent)]
    Write(#[from] BuildError),
}

fn already_exist(paths: &[PathBuf]) -> String {
    let displayed: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
    let is = if displayed.len() == 1 { "exists" } else { "exist" };
    format!("{} already {is}", displayed.join(", "))
}

impl NewProject {
    /// Creates the project.
    ///
    /// # Errors
    /// Returns an error if a file of the project exists or cannot be written. All files created so far are
    /// removed.
    pub fn write(&self) -> Result<CreatedProject, InitError> {
        let dir = &self.dir;
        if dir.exists() && !dir.is_dir() {
            return Err(InitError::NotFolder(dir.clone()));
        }
        let mut entries = vec!["latch.toml", "plan.json", PLUGIN];
        let there: Vec<_> = entries.iter().map(|entry| dir.join(entry)).filter(|path| path.exists()).collect();
        if !there.is_empty() {
            return Err(InitError::Exists(there));
        }
        let kept_gitignore = dir.join(".gitignore").exists();
        if !kept_gitignore {
            entries.push(".gitignore");
        }
        let made_dir = !dir.exists();
        std::fs::create_dir_all(dir).map_err(|error| BuildError::io("make", dir, error))?;
        let written = self.write_atomically(&entries);
        if written.is_err() && made_dir {
            // The removal fails if another program has written into the new folder. The folder then stays.
            let _ = std::fs::remove_dir(dir);
        }
        written?;
        Ok(CreatedProject {
            entries,
            gitignore_existed: kept_gitignore,
            main: Path::new(PLUGIN).join(self.lang.default_main_file()),
        })
    }

    /// Writes all files to a temporary folder, then moves them into place. Otherwise a full disk could leave a partial
    /// project.
    fn write_atomically(&self, entries: &[&str]) -> Result<(), BuildError> {
        let dir = &self.dir;
        let work = tempfile::Builder::new().prefix(".latch-init-").tempdir_in(dir);
        let work = work.map_err(|error| BuildError::io("make a folder in", dir, error))?;
        self.write_files(work.path()).map_err(|error| error.with_moved_paths(work.path(), dir))?;
        for (n, entry) in entries.iter().enumerate() {
            let to = dir.join(entry);
            if let Err(error) = std::fs::rename(work.path().join(entry), &to) {
                for entry in &entries[..n] {
                    let _ = std::fs::rename(dir.join(entry), work.path().join(entry));
                }
                return Err(BuildError::io("write", &to, error));
            }
        }
        Ok(())
    }

    /// Writes the project's files into a folder.
    fn write_files(&self, dir: &Path) -> Result<(), BuildError> {
        let new = NewPlugin { name: PLUGIN.to_owned(), kind: PluginKind::Step, lang: self.lang };
        new.write_plugin(&dir.join(PLUGIN))?;
        for (name, text) in new.starter(PLUGIN) {
            sdk::write_file(&dir.join(name), &text)?;
        }
        sdk::write_file(&dir.join(".gitignore"), GITIGNORE)
    }
}

/// Returns the language that needs the fewest additional installations on this machine.
///
/// The result is the first language whose programs are installed, in the order JavaScript (Node.js and npm), Rust, Go,
/// Python. If no language has its programs, the result is Rust, and the error of the first build names the programs to
/// install.
pub fn suggested_language() -> Lang {
    let is_there = |program: &str, flag: &str| tools::check_installed(program, flag, "").is_ok();
    if is_there("node", "--version") && is_there("npm", "--version") {
        Lang::Js
    } else if is_there("cargo", "--version") {
        Lang::Rust
    } else if is_there("go", "version") {
        Lang::Go
    } else if is_there("python3", "--version") {
        Lang::Python
    } else {
        Lang::Rust
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::recipe::LANGS;

    fn names(dir: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = entries.collect();
        names.sort();
        names
    }

    #[test]
    fn project_of_each_language_is_complete() {
        let temp = tempfile::tempdir().unwrap();
        for (word, lang) in LANGS {
            let dir = temp.path().join(word);
            let made = NewProject { dir: dir.clone(), lang }.write().unwrap();
            assert_eq!(names(&dir), [".gitignore", "greeter", "latch.toml", "plan.json"]);
            assert!(dir.join(&made.main).is_file() && !made.gitignore_existed, "{word}");
            let config = std::fs::read_to_string(dir.join("latch.toml")).unwrap();
            assert!(config.contains("source = \"greeter\"") && !config.contains("{{"), "{config}");
            assert!(std::fs::read_to_string(dir.join("plan.json")).unwrap().contains("\"Greeter.Greet\""));
        }
    }

    /// I153: existing files are never replaced, and a failure leaves no partial project.
    #[test]
    fn project_creation_replaces_nothing_and_is_atomic() {
        let temp = tempfile::tempdir().unwrap();
        let dir = temp.path().to_owned();
        std::fs::write(dir.join("plan.json"), "mine").unwrap();
        std::fs::create_dir(dir.join("greeter")).unwrap();
        let init = NewProject { dir: dir.clone(), lang: Lang::C };
        let InitError::Exists(there) = init.write().unwrap_err() else { panic!() };
        assert_eq!(there, [dir.join("plan.json"), dir.join("greeter")]);
        assert_eq!(names(&dir), ["greeter", "plan.json"]);
        assert_eq!(std::fs::read_to_string(dir.join("plan.json")).unwrap(), "mine");

        let file = dir.join("plan.json");
        assert!(matches!(NewProject { dir: file, lang: Lang::C }.write(), Err(InitError::NotFolder(_))));

        let own = dir.join("own");
        std::fs::create_dir(&own).unwrap();
        std::fs::write(own.join(".gitignore"), "mine").unwrap();
        assert!(NewProject { dir: own.clone(), lang: Lang::C }.write().unwrap().gitignore_existed);
        assert_eq!(std::fs::read_to_string(own.join(".gitignore")).unwrap(), "mine");
    }
}
