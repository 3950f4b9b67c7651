//! `latch plugin new`: creates a project that builds, tests itself and runs in any folder.
//!
//! `latch init` creates the same plugin as a folder of a larger project ([`crate::build::init`]).

use std::path::{Path, PathBuf};

use latchwork_core::model::manifest::PluginKind;

use crate::build::error::BuildError;
use crate::build::recipe::{LANGS, Lang};
use crate::build::sdk;
use crate::build::sdk::EmbeddedFile;

/// A project to create.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewPlugin {
    /// Name of the plugin and of its folder.
    pub name: String,
    /// Kind of the plugin.
    pub kind: PluginKind,
    /// Language of the plugin.
    pub lang: Lang,
}

/// Reason why no project was created.
#[derive(Debug, thiserror::Error)]
pub enum NewError {
    /// The name is not a valid plugin name.
    #[error("invalid plugin name {0:?}: use 1 to 64 characters from a-z 0-9 - _, starting with a letter")]
    Name(String),
    /// A file or folder with this name already exists.
    #[error("{} already exists; nothing was written: choose another name", .0.display())]
    Exists(PathBuf),
    /// The file system refused an operation.
    #[error(transparent)]
    Write(#[from] BuildError),
}

macro_rules! template {
    ($root:literal: $($path:literal)*) => {
        &[$(EmbeddedFile { path: $path, text: include_str!(concat!("../../../../guest-sdk/", $root, "/", $path)) }),*]
    };
}

/// Template files that have one name in the SDK's folder and another name in a project. Under its name in a project,
/// such a file would affect git or a build tool in the SDK's folder.
const RENAMED_FILES: [(&str, &str); 3] =
    [("gitignore", ".gitignore"), ("cargo-config.toml", ".cargo/config.toml"), ("go.mod.template", "go.mod")];

fn template_files(lang: Lang, kind: PluginKind) -> &'static [EmbeddedFile] {
    match (lang, kind) {
        (Lang::Rust, PluginKind::Step) => {
            template!("rust/template/step": "Cargo.toml" "README.md" "cargo-config.toml" "cases.jsonl" "gitignore" "src/lib.rs")
        }
        (Lang::Rust, PluginKind::Tool) => {
            template!("rust/template/tool": "Cargo.toml" "README.md" "cargo-config.toml" "gitignore" "src/lib.rs")
        }
        (Lang::Js, PluginKind::Step) => {
            template!("js/template/step": "README.md" "cases.jsonl" "gitignore" "package.json" "src/plugin.js" "test/plugin.test.js")
        }
        (Lang::Js, PluginKind::Tool) => {
            template!("js/template/tool": "README.md" "gitignore" "package.json" "src/plugin.js" "test/plugin.test.js")
        }
        (Lang::C, PluginKind::Step) => {
            template!("c/template/step": "README.md" "cases.jsonl" "gitignore" "plugin.c" "test_plugin.c")
        }
        (Lang::C, PluginKind::Tool) => template!("c/template/tool": "README.md" "gitignore" "plugin.c" "test_plugin.c"),
        (Lang::Go, PluginKind::Step) => {
            template!("go/template/step": "README.md" "cases.jsonl" "gitignore" "go.mod.template" "plugin.go" "plugin_test.go")
        }
        (Lang::Go, PluginKind::Tool) => {
            template!("go/template/tool": "README.md" "gitignore" "go.mod.template" "plugin.go" "plugin_test.go")
        }
        (Lang::Python, PluginKind::Step) => {
            template!("python/template/step": "README.md" "cases.jsonl" "gitignore" "plugin.py" "test_plugin.py")
        }
        (Lang::Python, PluginKind::Tool) => {
            template!("python/template/tool": "README.md" "gitignore" "plugin.py" "test_plugin.py")
        }
    }
}

/// Files that run a new plugin: a configuration that loads the plugin, and a plan that calls it once.
const STEP_STARTER: &[EmbeddedFile] = template!("starter/step": "latch.toml" "plan.json");
const TOOL_STARTER: &[EmbeddedFile] = template!("starter/tool": "latch.toml" "plan.json");
/// Check cases of a tool, the same in every language.
const TOOL_CASES: &[EmbeddedFile] = template!("starter/tool": "cases.jsonl");
/// `.gitignore` rules for files that running jobs create.
const GITIGNORE: &str = include_str!("../../../../guest-sdk/starter/gitignore");

impl NewPlugin {
    /// Returns the command that runs the project's tests.
    pub fn test_command(&self) -> &'static str {
        match self.lang {
            Lang::Rust => "cargo test",
            Lang::Js => "node --test",
            Lang::Python => "python3 -m unittest",
            Lang::Go => "go test ./...",
            Lang::C => "cc -Ilatchwork -o test test_plugin.c -lm && ./test",
        }
    }

    /// Creates the project as a folder in `parent` and returns this folder. The project contains the plugin, and a
    /// configuration and a plan that run the plugin.
    ///
    /// # Errors
    /// Returns an error if the folder already exists or cannot be written. All files created so far are
    /// removed.
    pub fn write(&self, parent: &Path) -> Result<PathBuf, NewError> {
        self.check_name()?;
        let dir = parent.join(&self.name);
        if dir.exists() {
            return Err(NewError::Exists(dir));
        }
        let made_parent = !parent.exists();
        std::fs::create_dir_all(parent).map_err(|error| BuildError::io("make", parent, error))?;
        if let Err(error) = self.write_atomically(parent, &dir) {
            if made_parent {
                // The removal fails if another program has written into the new folder. The folder then stays.
                let _ = std::fs::remove_dir(parent);
            }
            return Err(error.into());
        }
        Ok(dir)
    }

    /// Writes all files to a temporary folder, then moves them into place. Otherwise a full disk could leave a partial
    /// project.
    fn write_atomically(&self, parent: &Path, dir: &Path) -> Result<(), BuildError> {
        let work = tempfile::Builder::new().prefix(".latch-new-").tempdir_in(parent);
        let work = work.map_err(|error| BuildError::io("make a folder in", parent, error))?;
        let made = work.path().join(&self.name);
        self.write_files(&made).map_err(|error| error.with_moved_paths(work.path(), parent))?;
        std::fs::rename(&made, dir).map_err(|error| BuildError::io("write", dir, error))
    }

    fn write_files(&self, dir: &Path) -> Result<(), BuildError> {
        self.write_plugin(dir)?;
        for (name, text) in self.starter(".") {
            sdk::write_file(&dir.join(name), &text)?;
        }
        let ignore = dir.join(".gitignore");
        let ignored = std::fs::read_to_string(&ignore).map_err(|error| BuildError::io("read", &ignore, error))?;
        sdk::write_file(&ignore, &format!("{ignored}{GITIGNORE}"))
    }

    /// Checks that the name is a valid plugin name. The part of the operators' names before the dot is made from this
    /// name.
    pub(super) fn check_name(&self) -> Result<(), NewError> {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
        let starts = self.name.starts_with(|c: char| c.is_ascii_lowercase());
        match starts && self.name.len() <= 64 && self.name.chars().all(plain) {
            true => Ok(()),
            false => Err(NewError::Name(self.name.clone())),
        }
    }

    /// Writes the plugin: its template, its recipe and the SDK of its language.
    pub(super) fn write_plugin(&self, dir: &Path) -> Result<(), BuildError> {
        let cases = if self.kind == PluginKind::Tool { TOOL_CASES } else { &[] };
        for file in template_files(self.lang, self.kind).iter().chain(cases) {
            let path = RENAMED_FILES.iter().find(|(there, _)| *there == file.path).map_or(file.path, |(_, here)| here);
            sdk::write_file(&dir.join(path), &self.fill_placeholders(file.text))?;
        }
        sdk::write_file(&dir.join(crate::build::RECIPE), &self.recipe())?;
        sdk::write_files(&dir.join("latchwork"), sdk::files(self.lang))
    }

    /// Returns `latch.toml` and `plan.json`. `source` is the plugin's folder as written in `latch.toml`.
    pub(super) fn starter(&self, source: &str) -> Vec<(&'static str, String)> {
        let files = match self.kind {
            PluginKind::Step => STEP_STARTER,
            PluginKind::Tool => TOOL_STARTER,
        };
        files.iter().map(|file| (file.path, self.fill_placeholders(file.text).replace("{{source}}", source))).collect()
    }

    fn recipe(&self) -> String {
        let kind = match self.kind {
            PluginKind::Step => "step",
            PluginKind::Tool => "tool",
        };
        let lang = LANGS.iter().find(|(_, lang)| *lang == self.lang).map_or("", |(word, _)| word);
        let mut recipe = format!("[plugin]\nname = {:?}\nkind = {kind:?}\nlang = {lang:?}\n", self.name);
        if self.lang != Lang::Rust {
            recipe.push_str("version = \"0.1.0\"\n");
            if self.kind == PluginKind::Tool {
                recipe.push_str("exports = [\"reconcile\"]\n");
            }
        }
        recipe
    }

    /// Replaces the placeholders of a template: `{{name}}` by the plugin's name, and `{{Noun}}` by the part of the
    /// operators' names before the dot. For the plugin `my-mail`, this part is `MyMail`.
    fn fill_placeholders(&self, text: &str) -> String {
        let parts = self.name.split(['-', '_']).filter(|part| !part.is_empty());
        let capital = |part: &str| format!("{}{}", part[..1].to_ascii_uppercase(), &part[1..]);
        let noun: String = parts.map(capital).collect();
        text.replace("{{name}}", &self.name).replace("{{Noun}}", &noun)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn project_names_its_operators_and_replaces_nothing() {
        let dir = tempfile::tempdir().unwrap();
        for (_, lang) in LANGS {
            for kind in [PluginKind::Step, PluginKind::Tool] {
                let name = format!("my-{}-{kind:?}", lang.as_str()).to_lowercase();
                let new = NewPlugin { name: name.clone(), kind, lang };
                let made = new.write(dir.path()).unwrap();
                let recipe = crate::build::Recipe::read(&made).unwrap();
                assert_eq!((recipe.name, recipe.kind, recipe.lang), (name, kind, lang));
                for file in ["latch.toml", "plan.json", "cases.jsonl", ".gitignore"] {
                    let text = std::fs::read_to_string(made.join(file)).unwrap();
                    assert!(!text.is_empty() && !text.contains("{{"), "{file}: {text}");
                }
                assert!(matches!(new.write(dir.path()), Err(NewError::Exists(_))));
            }
        }
        let text = std::fs::read_to_string(dir.path().join("my-js-step/src/plugin.js")).unwrap();
        assert!(text.contains("'MyJsStep.Greet'") && !text.contains("{{"), "{text}");
    }

    #[test]
    fn invalid_plugin_name_creates_nothing() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["", "../x", "Upper", "1st", "-x"] {
            let new = NewPlugin { name: name.into(), kind: PluginKind::Step, lang: Lang::Js };
            assert!(matches!(new.write(dir.path()), Err(NewError::Name(_))), "{name:?}");
        }
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
