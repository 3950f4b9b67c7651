//! `latch init`: a project with one plugin, a configuration and a plan, which runs at once.

use std::path::{Path, PathBuf};

use latchwork_core::manifest::PluginKind;

use super::{BuildError, Lang, New, sdk, tools};

/// The plugin's name and its folder's.
const PLUGIN: &str = "greeter";
/// The rules of git for what jobs leave behind.
const GITIGNORE: &str = include_str!("../../../guest-sdk/starter/gitignore");

/// A project to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Init {
    /// Its folder, which may be there already.
    pub dir: PathBuf,
    /// Language of its plugin.
    pub lang: Lang,
}

/// A project that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    /// The files and folders, from the project's folder.
    pub entries: Vec<&'static str>,
    /// Whether a `.gitignore` was there, which is left as it is.
    pub kept_gitignore: bool,
    /// The file that the plugin begins with.
    pub main: PathBuf,
}

/// Why no project was made; nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum InitError {
    /// Files of the project are there.
    #[error("{}: nothing was written", list(.0))]
    Exists(Vec<PathBuf>),
    /// The folder's name is that of something else.
    #[error("{} is not a folder: name another", .0.display())]
    NotFolder(PathBuf),
    /// The file system refused.
    #[error(transparent)]
    Write(#[from] BuildError),
}

fn list(paths: &[PathBuf]) -> String {
    let shown: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
    let is = if shown.len() == 1 { "is" } else { "are" };
    format!("{} {is} already there", shown.join(", "))
}

impl Init {
    /// Makes the project.
    ///
    /// # Errors
    /// A file of it exists, or cannot be written. In either case nothing of it is left.
    pub fn write(&self) -> Result<Made, InitError> {
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
        let written = self.written(&entries);
        if written.is_err() && made_dir {
            // It is not empty if another program wrote into it.
            let _ = std::fs::remove_dir(dir);
        }
        written?;
        Ok(Made { entries, kept_gitignore, main: Path::new(PLUGIN).join(self.lang.main()) })
    }

    /// Everything is written beside its place first: a full disk leaves no half of a project.
    fn written(&self, entries: &[&str]) -> Result<(), BuildError> {
        let dir = &self.dir;
        let work = tempfile::Builder::new().prefix(".latch-init-").tempdir_in(dir);
        let work = work.map_err(|error| BuildError::io("make a folder in", dir, error))?;
        self.fill(work.path()).map_err(|error| error.moved(work.path(), dir))?;
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

    /// Writes the project into a folder.
    fn fill(&self, dir: &Path) -> Result<(), BuildError> {
        let new = New { name: PLUGIN.to_owned(), kind: PluginKind::Step, lang: self.lang };
        new.write_plugin(&dir.join(PLUGIN))?;
        for (name, text) in new.starter(PLUGIN) {
            sdk::put(&dir.join(name), &text)?;
        }
        sdk::put(&dir.join(".gitignore"), GITIGNORE)
    }
}

/// The language whose plugins this machine builds with the least to install: JavaScript where Node.js is, else Rust
/// where cargo is, Go, Python. Without any of them Rust, whose error names what to install.
pub fn suggested() -> Lang {
    let is_there = |program: &str, flag: &str| tools::present(program, flag, "").is_ok();
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
    fn a_project_of_each_language_is_whole() {
        let temp = tempfile::tempdir().unwrap();
        for (word, lang) in LANGS {
            let dir = temp.path().join(word);
            let made = Init { dir: dir.clone(), lang }.write().unwrap();
            assert_eq!(names(&dir), [".gitignore", "greeter", "latch.toml", "plan.json"]);
            assert!(dir.join(&made.main).is_file() && !made.kept_gitignore, "{word}");
            let config = std::fs::read_to_string(dir.join("latch.toml")).unwrap();
            assert!(config.contains("source = \"greeter\"") && !config.contains("{{"), "{config}");
            assert!(std::fs::read_to_string(dir.join("plan.json")).unwrap().contains("\"Greeter.Greet\""));
        }
    }

    /// I153
    #[test]
    fn nothing_is_replaced_and_nothing_half_made() {
        let temp = tempfile::tempdir().unwrap();
        let dir = temp.path().to_owned();
        std::fs::write(dir.join("plan.json"), "mine").unwrap();
        std::fs::create_dir(dir.join("greeter")).unwrap();
        let init = Init { dir: dir.clone(), lang: Lang::C };
        let InitError::Exists(there) = init.write().unwrap_err() else { panic!() };
        assert_eq!(there, [dir.join("plan.json"), dir.join("greeter")]);
        assert_eq!(names(&dir), ["greeter", "plan.json"]);
        assert_eq!(std::fs::read_to_string(dir.join("plan.json")).unwrap(), "mine");

        let file = dir.join("plan.json");
        assert!(matches!(Init { dir: file, lang: Lang::C }.write(), Err(InitError::NotFolder(_))));

        let own = dir.join("own");
        std::fs::create_dir(&own).unwrap();
        std::fs::write(own.join(".gitignore"), "mine").unwrap();
        assert!(Init { dir: own.clone(), lang: Lang::C }.write().unwrap().kept_gitignore);
        assert_eq!(std::fs::read_to_string(own.join(".gitignore")).unwrap(), "mine");
    }
}
