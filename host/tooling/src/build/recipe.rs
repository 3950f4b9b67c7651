//! Reads `latch-plugin.toml`, which describes the plugin of a folder.

use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use latchwork_core::encoding::suggest::did_you_mean;
use latchwork_core::model::manifest::PluginKind;

use crate::build::error::BuildError;
use crate::build::recipe_problem::RecipeProblem;

/// File name of the recipe.
pub const RECIPE: &str = "latch-plugin.toml";

/// Languages by their name in the recipe.
pub(super) const LANGS: [(&str, Lang); 5] =
    [("rust", Lang::Rust), ("js", Lang::Js), ("python", Lang::Python), ("c", Lang::C), ("go", Lang::Go)];
/// Kinds by their name in the recipe.
const KINDS: [(&str, PluginKind); 2] = [("step", PluginKind::Step), ("tool", PluginKind::Tool)];

/// Description of the plugin that a folder builds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipe {
    /// Name of the component.
    pub name: String,
    /// Kind of the plugin. The kind decides the world of the component.
    pub kind: PluginKind,
    /// Language of the plugin.
    pub lang: Lang,
    /// Settings of languages other than Rust. They have their default values for a Rust plugin.
    pub settings: LanguageSettings,
}

/// Settings of a recipe beyond name, kind and language. A Rust plugin states these settings in Cargo.toml and
/// in its code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LanguageSettings {
    /// The plugin's version (semver).
    pub version: String,
    /// Main source file, relative to the plugin's folder.
    pub main: PathBuf,
    /// Folder of the language's SDK, relative to the plugin's folder.
    pub sdk: PathBuf,
    /// Optional exports of the component: any of `reconcile`, `verify` and `compensate`.
    pub exports: Vec<String>,
    /// JavaScript only: engine that runs the plugin.
    pub engine: JsEngine,
}

/// Languages that plugins are built from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lang {
    /// Built with cargo.
    Rust,
    /// Built with esbuild. The component contains a JavaScript engine.
    Js,
    /// Built with componentize-py. The component contains CPython.
    Python,
    /// Built with clang or zig.
    C,
    /// Built with Go. An adapter implements the system interface that Go's runtime expects.
    Go,
}

impl Lang {
    /// Returns the language's name as written in recipes.
    pub fn as_str(self) -> &'static str {
        LANGS.iter().find(|(_, lang)| *lang == self).map_or("", |(word, _)| word)
    }
    /// Returns the main source file of a recipe that names none.
    pub(super) fn default_main_file(self) -> &'static str {
        match self {
            Lang::Rust => "src/lib.rs",
            Lang::Js => "src/plugin.js",
            Lang::Python => "plugin.py",
            Lang::C => "plugin.c",
            Lang::Go => "plugin.go",
        }
    }
}

/// JavaScript engines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JsEngine {
    /// A small engine that starts quickly.
    #[default]
    QuickJs,
    /// A large engine with more language features and the APIs of browsers.
    StarlingMonkey,
}

/// Engines by their name in the recipe.
const ENGINES: [(&str, JsEngine); 2] = [("quickjs", JsEngine::QuickJs), ("starlingmonkey", JsEngine::StarlingMonkey)];
/// Optional exports of a tool: they answer questions about earlier calls, check recorded effects, and undo calls.
const OPTIONAL_EXPORTS: [&str; 3] = ["reconcile", "verify", "compensate"];
/// Folder of the SDK in a project that `latch plugin new` created.
const SDK: &str = "latchwork";

impl Recipe {
    /// Reads the recipe in `dir`.
    pub fn read(dir: &Path) -> Result<Self, BuildError> {
        let file = dir.join(RECIPE);
        match std::fs::read_to_string(&file) {
            Ok(text) => Self::parse(&text, &file).map_err(BuildError::Recipe),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(BuildError::NoRecipe(dir.to_owned())),
            Err(error) => Err(BuildError::io("read", &file, error)),
        }
    }

    /// Parses a recipe.
    ///
    /// # Errors
    /// Returns every problem in the recipe.
    pub fn parse(text: &str, file: &Path) -> Result<Self, Vec<RecipeProblem>> {
        let mut reader = RecipeReader { text, file, problems: Vec::new() };
        let (document, errors) = DeTable::parse_recoverable(text);
        for error in errors {
            reader.add_problem(error.span().unwrap_or_default(), "", error.message().to_owned());
        }
        let plugin = reader.plugin(document.get_ref());
        let name = plugin.and_then(|plugin| reader.name(plugin));
        let kind = plugin.and_then(|plugin| reader.keyword(plugin, "kind", &KINDS));
        let lang = plugin.and_then(|plugin| reader.keyword(plugin, "lang", &LANGS));
        let more = plugin.and_then(|plugin| reader.language_settings(plugin, kind?, lang?));
        match (name, kind, lang, more) {
            (Some(name), Some(kind), Some(lang), Some(more)) if reader.problems.is_empty() => {
                Ok(Self { name, kind, lang, settings: more })
            }
            _ => Err(reader.problems),
        }
    }
}

struct RecipeReader<'r> {
    text: &'r str,
    file: &'r Path,
    problems: Vec<RecipeProblem>,
}

impl RecipeReader<'_> {
    fn add_problem(&mut self, span: Range<usize>, key: &str, message: String) {
        let line = self.text.bytes().take(span.start).filter(|byte| *byte == b'\n').count() + 1;
        self.problems.push(RecipeProblem { file: self.file.to_owned(), line, key: key.to_owned(), message });
    }

    fn unknown_keys(&mut self, table: &DeTable<'_>, path: &str, known: &[&str]) {
        for key in table.keys().filter(|key| !known.contains(&key.get_ref().as_ref())) {
            let name = key.get_ref().as_ref();
            let meant = did_you_mean(name, known.iter().copied());
            self.add_problem(key.span(), &format!("{path}{name}"), format!("unknown key{meant}"));
        }
    }

    fn plugin<'t>(&mut self, document: &'t DeTable<'t>) -> Option<(&'t DeTable<'t>, usize)> {
        self.unknown_keys(document, "", &["plugin"]);
        let Some(value) = document.get("plugin") else {
            self.add_problem(0..0, "plugin", "missing: write [plugin] with name, kind and lang".into());
            return None;
        };
        let DeValue::Table(table) = value.get_ref() else {
            self.add_problem(value.span(), "plugin", "must be a table: [plugin]".into());
            return None;
        };
        self.unknown_keys(table, "plugin.", &["name", "kind", "lang", "version", "main", "sdk", "exports", "engine"]);
        Some((table, value.span().start))
    }

    fn text<'t>(&mut self, (table, start): (&'t DeTable<'t>, usize), key: &str) -> Option<(&'t str, Range<usize>)> {
        let path = format!("plugin.{key}");
        let value: &Spanned<DeValue<'_>> = match table.get(key) {
            Some(value) => value,
            None => {
                self.add_problem(start..start, &path, "missing".into());
                return None;
            }
        };
        let DeValue::String(text) = value.get_ref() else {
            self.add_problem(value.span(), &path, "must be a string".into());
            return None;
        };
        let text: &DeString<'t> = text;
        Some((text.as_ref(), value.span()))
    }

    fn name(&mut self, plugin: (&DeTable<'_>, usize)) -> Option<String> {
        let (name, span) = self.text(plugin, "name")?;
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
        let valid = (1..=64).contains(&name.len()) && name.chars().all(plain) && !name.starts_with(['-', '_']);
        if !valid {
            let message = format!(
                "{name:?} is not a valid name: use 1 to 64 characters from a-z 0-9 - _, starting with a letter or digit"
            );
            self.add_problem(span, "plugin.name", message);
        }
        valid.then(|| name.to_owned())
    }

    fn keyword<T: Copy>(&mut self, plugin: (&DeTable<'_>, usize), key: &str, words: &[(&str, T)]) -> Option<T> {
        let (word, span) = self.text(plugin, key)?;
        let found = words.iter().find(|(known, _)| *known == word).map(|(_, value)| *value);
        if found.is_none() {
            let known: Vec<_> = words.iter().map(|(known, _)| format!("{known:?}")).collect();
            let meant = did_you_mean(word, words.iter().map(|(known, _)| *known));
            let message = format!("{word:?} is not supported: write {}{meant}", known.join(" or "));
            self.add_problem(span, &format!("plugin.{key}"), message);
        }
        found
    }
}

impl RecipeReader<'_> {
    /// Reads the settings of languages other than Rust.
    fn language_settings(
        &mut self,
        plugin: (&DeTable<'_>, usize),
        kind: PluginKind,
        lang: Lang,
    ) -> Option<LanguageSettings> {
        let mut more =
            LanguageSettings { main: lang.default_main_file().into(), sdk: SDK.into(), ..LanguageSettings::default() };
        for (key, value) in plugin.0.iter() {
            let (name, path) = (key.get_ref().as_ref(), format!("plugin.{}", key.get_ref()));
            let is_more = ["version", "main", "sdk", "exports", "engine"].contains(&name);
            if is_more && lang == Lang::Rust {
                self.add_problem(
                    key.span(),
                    &path,
                    "a Rust plugin sets this in Cargo.toml and in its code: remove the key".into(),
                );
            }
            if name == "engine" && lang != Lang::Js {
                self.add_problem(
                    value.span(),
                    &path,
                    "only lang = \"js\" has a choice of engines: remove the key".into(),
                );
            }
            if name == "exports" && kind == PluginKind::Step {
                self.add_problem(value.span(), &path, "only tools have these exports: remove the key".into());
            }
        }
        if lang == Lang::Rust {
            return Some(LanguageSettings::default());
        }
        let given = |key: &str| plugin.0.contains_key(key);
        if let Some((version, span)) = self.text(plugin, "version") {
            version.clone_into(&mut more.version);
            if semver::Version::parse(version).is_err() {
                self.add_problem(
                    span,
                    "plugin.version",
                    format!("{version:?} is not a semantic version: write one such as \"1.0.0\""),
                );
            }
        }
        for key in ["main", "sdk"] {
            let Some((text, _)) = given(key).then(|| self.text(plugin, key)).flatten() else { continue };
            *(if key == "main" { &mut more.main } else { &mut more.sdk }) = PathBuf::from(text);
        }
        if lang == Lang::Js && given("engine") {
            more.engine = self.keyword(plugin, "engine", &ENGINES).unwrap_or_default();
        }
        if let Some(value) = plugin.0.get("exports") {
            more.exports = self.optional_exports(value);
        }
        Some(more)
    }

    fn optional_exports(&mut self, value: &Spanned<DeValue<'_>>) -> Vec<String> {
        let known = OPTIONAL_EXPORTS.map(|word| format!("{word:?}")).join(", ");
        let DeValue::Array(items) = value.get_ref() else {
            self.add_problem(value.span(), "plugin.exports", format!("must be a list of {known}"));
            return Vec::new();
        };
        let mut exports = Vec::new();
        for item in items.iter() {
            match item.get_ref() {
                DeValue::String(word) if OPTIONAL_EXPORTS.contains(&word.as_ref()) => exports.push(word.to_string()),
                _ => self.add_problem(item.span(), "plugin.exports", format!("each entry must be one of {known}")),
            }
        }
        exports.sort();
        exports.dedup();
        exports
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Recipe, Vec<String>> {
        let file = Path::new("p/latch-plugin.toml");
        Recipe::parse(text, file).map_err(|problems| problems.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn rust_recipe_is_parsed() {
        let recipe = parse("[plugin]\nname = \"mail\"\nkind = \"tool\"\nlang = \"rust\"\n").unwrap();
        let more = LanguageSettings::default();
        assert_eq!(recipe, Recipe { name: "mail".into(), kind: PluginKind::Tool, lang: Lang::Rust, settings: more });
    }

    #[test]
    fn language_settings_are_parsed_and_checked() {
        let head = "[plugin]\nname = \"x\"\nkind = \"tool\"\n";
        let recipe = parse(&format!(
            "{head}lang = \"js\"\nversion = \"1.2.0\"\nengine = \"starlingmonkey\"\nexports = [\"verify\", \"reconcile\"]\n"
        ));
        let more = recipe.unwrap().settings;
        assert_eq!((more.version.as_str(), more.engine), ("1.2.0", JsEngine::StarlingMonkey));
        assert_eq!(more.exports, ["reconcile", "verify"]);
        assert_eq!((more.main, more.sdk), (PathBuf::from("src/plugin.js"), PathBuf::from("latchwork")));

        let wrong = parse(&format!("{head}lang = \"python\"\nengine = \"v8\"\nexports = [\"undo\"]\n")).unwrap_err();
        assert_eq!(wrong.len(), 3, "{wrong:#?}");
        for said in
            ["5: plugin.engine: only lang", "plugin.version: missing", "6: plugin.exports: each entry must be one of"]
        {
            assert!(wrong.iter().any(|problem| problem.contains(said)), "{said}: {wrong:#?}");
        }
        let rust = parse(&format!("{head}lang = \"rust\"\nversion = \"1.0.0\"\n")).unwrap_err();
        assert!(rust[0].contains("plugin.version: a Rust plugin sets this"), "{rust:#?}");
    }

    #[test]
    fn every_problem_is_listed_with_its_line() {
        let found =
            parse("[plugin]\nname = \"../x\"\nkind = 1\nlang = \"cobol\"\nlangs = \"x\"\n[plugins]\n").unwrap_err();
        assert_eq!(
            found,
            [
                "p/latch-plugin.toml:6: plugins: unknown key (did you mean `plugin`?)",
                "p/latch-plugin.toml:5: plugin.langs: unknown key (did you mean `lang`?)",
                "p/latch-plugin.toml:2: plugin.name: \"../x\" is not a valid name: use 1 to 64 characters from a-z 0-9 - _, starting with a letter or digit",
                "p/latch-plugin.toml:3: plugin.kind: must be a string",
                "p/latch-plugin.toml:4: plugin.lang: \"cobol\" is not supported: write \"rust\" or \"js\" or \"python\" or \"c\" or \"go\"",
            ]
        );
        assert_eq!(
            parse("").unwrap_err(),
            ["p/latch-plugin.toml:1: plugin: missing: write [plugin] with name, kind and lang"]
        );
        assert_eq!(parse("\n[plugin]\n").unwrap_err().len(), 3);
        assert!(parse("plugin = ").unwrap_err()[0].starts_with("p/latch-plugin.toml:1: "));
    }

    #[test]
    fn folder_without_recipe_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        assert!(matches!(Recipe::read(dir.path()), Err(BuildError::NoRecipe(_))));
    }
}
