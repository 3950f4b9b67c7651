//! The configuration file `latch.toml`.

mod plugins;
mod policy;
mod problems;
mod settings;
mod sources;
mod trust;

use std::path::Path;

use latchwork::config::{Config, ConfigErrors, LoadOptions, SettingSource};

/// A folder with a `latch.toml`.
struct Folder(tempfile::TempDir);

impl Folder {
    fn empty() -> Self {
        Self(tempfile::tempdir().unwrap())
    }
    fn with(text: &str) -> Self {
        let folder = Self::empty();
        std::fs::write(folder.path().join("latch.toml"), text).unwrap();
        folder
    }
    fn path(&self) -> &Path {
        self.0.path()
    }
    fn load(&self) -> Result<Config, ConfigErrors> {
        Config::load(&options(self.path()))
    }
}

fn options(cwd: &Path) -> LoadOptions<'_> {
    LoadOptions { cwd, config: None, db: None, plan_folder: None, env: &|_| None }
}

/// Returns the problems of this `latch.toml`, each as `line:column code key: message`.
fn problems(text: &str) -> Vec<String> {
    let folder = Folder::with(text);
    let errors = folder.load().expect_err("the configuration is refused");
    let show = |problem: &latchwork::config::ConfigProblem| {
        let SettingSource::File { line, column, path } = &problem.origin else { panic!("{problem}: no place") };
        assert_eq!(path, &folder.path().join("latch.toml"));
        format!("{line}:{column} {} {}: {}", problem.code, problem.key, problem.message)
    };
    errors.0.iter().map(show).collect()
}
