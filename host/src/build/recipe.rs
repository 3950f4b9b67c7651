//! `latch-plugin.toml`: what a plugin's folder makes.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use latchwork_core::manifest::PluginKind;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::BuildError;
use crate::suggest::did_you_mean;

/// The name of the file.
pub const RECIPE: &str = "latch-plugin.toml";

/// Languages by the word in the file.
const LANGS: [(&str, Lang); 1] = [("rust", Lang::Rust)];
/// Kinds by the word in the file.
const KINDS: [(&str, PluginKind); 2] = [("step", PluginKind::Step), ("tool", PluginKind::Tool)];

/// What a plugin's folder makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipe {
    /// Name of the component.
    pub name: String,
    /// The world it is for.
    pub kind: PluginKind,
    /// What it is written in.
    pub lang: Lang,
}

/// Languages that plugins are built from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lang {
    /// With cargo.
    Rust,
}

/// Something in the file that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file.
    pub file: PathBuf,
    /// Line, from 1.
    pub line: usize,
    /// `plugin.lang`; empty for the text as a whole.
    pub key: String,
    /// What is wrong, and what to do.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, key, message } = self;
        let between = if key.is_empty() { "" } else { ": " };
        write!(f, "{}:{line}: {key}{between}{message}", file.display())
    }
}

impl Recipe {
    /// Read the recipe in `dir`.
    pub fn read(dir: &Path) -> Result<Self, BuildError> {
        let file = dir.join(RECIPE);
        match std::fs::read_to_string(&file) {
            Ok(text) => Self::parse(&text, &file).map_err(BuildError::Recipe),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(BuildError::NoRecipe(dir.to_owned())),
            Err(error) => Err(BuildError::io("read", &file, error)),
        }
    }

    /// Read a recipe, or list every problem in it.
    pub fn parse(text: &str, file: &Path) -> Result<Self, Vec<Problem>> {
        let mut reader = Reader { text, file, problems: Vec::new() };
        let (document, errors) = DeTable::parse_recoverable(text);
        for error in errors {
            reader.problem(error.span().unwrap_or_default(), "", error.message().to_owned());
        }
        let plugin = reader.plugin(document.get_ref());
        let name = plugin.and_then(|plugin| reader.name(plugin));
        let kind = plugin.and_then(|plugin| reader.word(plugin, "kind", &KINDS));
        let lang = plugin.and_then(|plugin| reader.word(plugin, "lang", &LANGS));
        match (name, kind, lang) {
            (Some(name), Some(kind), Some(lang)) if reader.problems.is_empty() => Ok(Self { name, kind, lang }),
            _ => Err(reader.problems),
        }
    }
}

struct Reader<'r> {
    text: &'r str,
    file: &'r Path,
    problems: Vec<Problem>,
}

impl Reader<'_> {
    fn problem(&mut self, span: Range<usize>, key: &str, message: String) {
        let line = self.text.bytes().take(span.start).filter(|byte| *byte == b'\n').count() + 1;
        self.problems.push(Problem { file: self.file.to_owned(), line, key: key.to_owned(), message });
    }

    fn unknown_keys(&mut self, table: &DeTable<'_>, path: &str, known: &[&str]) {
        for key in table.keys().filter(|key| !known.contains(&key.get_ref().as_ref())) {
            let name = key.get_ref().as_ref();
            let meant = did_you_mean(name, known.iter().copied());
            self.problem(key.span(), &format!("{path}{name}"), format!("unknown key{meant}"));
        }
    }

    fn plugin<'t>(&mut self, document: &'t DeTable<'t>) -> Option<(&'t DeTable<'t>, usize)> {
        self.unknown_keys(document, "", &["plugin"]);
        let Some(value) = document.get("plugin") else {
            self.problem(0..0, "plugin", "missing: write [plugin] with name, kind and lang".into());
            return None;
        };
        let DeValue::Table(table) = value.get_ref() else {
            self.problem(value.span(), "plugin", "must be a table: [plugin]".into());
            return None;
        };
        self.unknown_keys(table, "plugin.", &["name", "kind", "lang"]);
        Some((table, value.span().start))
    }

    fn text<'t>(&mut self, (table, start): (&'t DeTable<'t>, usize), key: &str) -> Option<(&'t str, Range<usize>)> {
        let path = format!("plugin.{key}");
        let value: &Spanned<DeValue<'_>> = match table.get(key) {
            Some(value) => value,
            None => {
                self.problem(start..start, &path, "missing".into());
                return None;
            }
        };
        let DeValue::String(text) = value.get_ref() else {
            self.problem(value.span(), &path, "must be a string".into());
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
            let message = format!("{name:?} is no name: 1 to 64 of a-z 0-9 - _, a letter or digit first");
            self.problem(span, "plugin.name", message);
        }
        valid.then(|| name.to_owned())
    }

    fn word<T: Copy>(&mut self, plugin: (&DeTable<'_>, usize), key: &str, words: &[(&str, T)]) -> Option<T> {
        let (word, span) = self.text(plugin, key)?;
        let found = words.iter().find(|(known, _)| *known == word).map(|(_, value)| *value);
        if found.is_none() {
            let known: Vec<_> = words.iter().map(|(known, _)| format!("{known:?}")).collect();
            let message = format!("{word:?} is not supported: write {}", known.join(" or "));
            self.problem(span, &format!("plugin.{key}"), message);
        }
        found
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
    fn a_recipe() {
        let recipe = parse("[plugin]\nname = \"mail\"\nkind = \"tool\"\nlang = \"rust\"\n").unwrap();
        assert_eq!(recipe, Recipe { name: "mail".into(), kind: PluginKind::Tool, lang: Lang::Rust });
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
                "p/latch-plugin.toml:2: plugin.name: \"../x\" is no name: 1 to 64 of a-z 0-9 - _, a letter or digit first",
                "p/latch-plugin.toml:3: plugin.kind: must be a string",
                "p/latch-plugin.toml:4: plugin.lang: \"cobol\" is not supported: write \"rust\"",
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
    fn a_folder_without_a_recipe() {
        let dir = tempfile::tempdir().unwrap();
        assert!(matches!(Recipe::read(dir.path()), Err(BuildError::NoRecipe(_))));
    }
}
