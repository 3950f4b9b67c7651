//! Reads `latch-plugin.toml`, which describes the plugin of a folder.

use std::path::{Path, PathBuf};

use latchwork_core::encoding::suggest::did_you_mean;
use latchwork_core::model::error_docs;
use latchwork_core::model::manifest::PluginKind;

use crate::build::error::BuildError;
use crate::build::recipe_exceptions;
use crate::build::recipe_exceptions::RuleException;
use crate::build::recipe_problem::RecipeProblem;
use latchwork::located_toml::{TableReader, TomlField, TomlProblems};

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
    /// Settings of languages other than Rust. A Rust plugin has the default values.
    pub settings: LanguageSettings,
    /// Findings of a check that the author accepts.
    pub exceptions: Vec<RuleException>,
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
    /// Returns the main source file of a recipe without the key `main`.
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
        let problems = TomlProblems::new(text);
        let document = problems.parse();
        let recipe = recipe(TableReader::root(&problems, &document));
        match recipe {
            Some(recipe) if problems.is_empty() => Ok(recipe),
            _ => Err(problems.into_list().into_iter().map(|problem| RecipeProblem::in_file(file, problem)).collect()),
        }
    }
}

/// Reads the recipe from the document. Returns `None` if a required part is missing or invalid. The caller must also
/// check the reported problems, because some of them do not prevent a result.
fn recipe(mut document: TableReader<'_>) -> Option<Recipe> {
    document.refuse_other_keys(&["plugin", "exception"]);
    let exceptions = recipe_exceptions::exceptions(&mut document);
    let Some(field) = document.get("plugin") else {
        let message = "missing: write [plugin] with name, kind and lang";
        document.problem("plugin", error_docs::CONFIG_MISSING_KEY, message);
        return None;
    };
    if field.value().as_table().is_none() {
        field.problem(error_docs::CONFIG_WRONG_TYPE, "must be a table: [plugin]");
        return None;
    }
    let mut plugin = field.table()?;
    plugin.refuse_other_keys(&["name", "kind", "lang", "version", "main", "sdk", "exports", "engine"]);
    let name = name(&mut plugin);
    let kind = keyword(&mut plugin, "kind", &KINDS);
    let lang = keyword(&mut plugin, "lang", &LANGS);
    let (kind, lang) = (kind?, lang?);
    let settings = language_settings(&mut plugin, kind, lang);
    Some(Recipe { name: name?, kind, lang, settings, exceptions })
}

/// Returns the string at `key` with its field. A missing key is a problem.
fn string<'t>(plugin: &mut TableReader<'t>, key: &'static str) -> Option<(&'t str, TomlField<'t>)> {
    let Some(field) = plugin.get(key) else {
        plugin.problem(key, error_docs::CONFIG_MISSING_KEY, "missing");
        return None;
    };
    match field.value().as_str() {
        Some(text) => Some((text, field)),
        None => {
            field.problem(error_docs::CONFIG_WRONG_TYPE, "must be a string");
            None
        }
    }
}

fn name(plugin: &mut TableReader<'_>) -> Option<String> {
    let (name, field) = string(plugin, "name")?;
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    if (1..=64).contains(&name.len()) && name.chars().all(plain) && !name.starts_with(['-', '_']) {
        return Some(name.to_owned());
    }
    field.invalid(format!(
        "{name:?} is not a valid name: use 1 to 64 characters from a-z 0-9 - _, starting with a letter or digit"
    ))
}

fn keyword<T: Copy>(plugin: &mut TableReader<'_>, key: &'static str, words: &[(&str, T)]) -> Option<T> {
    let (word, field) = string(plugin, key)?;
    let found = words.iter().find(|(known, _)| *known == word).map(|(_, value)| *value);
    found.or_else(|| {
        let known: Vec<_> = words.iter().map(|(known, _)| format!("{known:?}")).collect();
        let meant = did_you_mean(word, words.iter().map(|(known, _)| *known));
        field.invalid(format!("{word:?} is not supported: write {}{meant}", known.join(" or ")))
    })
}

/// Reads the settings of languages other than Rust.
fn language_settings(plugin: &mut TableReader<'_>, kind: PluginKind, lang: Lang) -> LanguageSettings {
    let fields = plugin.entries();
    for (name, field) in &fields {
        let is_more = ["version", "main", "sdk", "exports", "engine"].contains(name);
        if is_more && lang == Lang::Rust {
            field.invalid::<()>("a Rust plugin sets this in Cargo.toml and in its code: remove the key");
        }
        if *name == "engine" && lang != Lang::Js {
            field.invalid::<()>("only lang = \"js\" has a choice of engines: remove the key");
        }
        if *name == "exports" && kind == PluginKind::Step {
            field.invalid::<()>("only tools have these exports: remove the key");
        }
    }
    if lang == Lang::Rust {
        return LanguageSettings::default();
    }
    let mut more =
        LanguageSettings { main: lang.default_main_file().into(), sdk: SDK.into(), ..LanguageSettings::default() };
    let is_given = |key: &str| fields.iter().any(|(name, _)| *name == key);
    if let Some((version, field)) = string(plugin, "version") {
        version.clone_into(&mut more.version);
        if semver::Version::parse(version).is_err() {
            let message = format!("{version:?} is not a semantic version: write one such as \"1.0.0\"");
            field.invalid::<()>(message);
        }
    }
    for (key, path) in [("main", &mut more.main), ("sdk", &mut more.sdk)] {
        if let Some((text, _)) = is_given(key).then(|| string(plugin, key)).flatten() {
            *path = text.into();
        }
    }
    if lang == Lang::Js && is_given("engine") {
        more.engine = keyword(plugin, "engine", &ENGINES).unwrap_or_default();
    }
    more.exports = plugin.get("exports").map(|field| optional_exports(&field)).unwrap_or_default();
    more
}

fn optional_exports(field: &TomlField<'_>) -> Vec<String> {
    let known = OPTIONAL_EXPORTS.map(|word| format!("{word:?}")).join(", ");
    if field.value().as_array().is_none() {
        field.problem(error_docs::CONFIG_WRONG_TYPE, format!("must be a list of {known}"));
        return Vec::new();
    }
    let mut exports = Vec::new();
    for item in field.array().unwrap_or_default() {
        match item.value().as_str() {
            Some(word) if OPTIONAL_EXPORTS.contains(&word) => exports.push(word.to_owned()),
            _ => field.invalid_part(&item, format!("each entry must be one of {known}")),
        }
    }
    exports.sort();
    exports.dedup();
    exports
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
        assert_eq!(
            recipe,
            Recipe {
                name: "mail".into(),
                kind: PluginKind::Tool,
                lang: Lang::Rust,
                settings: more,
                exceptions: vec![]
            }
        );
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
        for message in
            ["5: plugin.engine: only lang", "plugin.version: missing", "6: plugin.exports: each entry must be one of"]
        {
            assert!(wrong.iter().any(|problem| problem.contains(message)), "{message}: {wrong:#?}");
        }
        let rust = parse(&format!("{head}lang = \"rust\"\nversion = \"1.0.0\"\n")).unwrap_err();
        assert!(rust[0].contains("plugin.version: a Rust plugin sets this"), "{rust:#?}");
    }

    #[test]
    fn exceptions_need_an_operator_or_a_function_and_a_reason() {
        let head = "[plugin]\nname = \"mail\"\nkind = \"tool\"\nlang = \"rust\"\n";
        let whole = "[[exception]]\nrule = \"D064\"\noperator = \"A.B\"\nreason = \"told\"\n";
        let one =
            RuleException { rule: "D064".into(), operator: Some("A.B".into()), function: None, reason: "told".into() };
        assert_eq!(parse(&format!("{head}{whole}")).unwrap().exceptions, [one]);
        let wrong =
            "[[exception]]\nrule = \"64\"\nreason = \" \"\n[[exception]]\nrule = \"D1\"\nfunction = \"f\"\nwhy = 1\n";
        let problems = parse(&format!("{head}{wrong}")).unwrap_err();
        for part in [
            "6: exception[0].rule: \"64\" is not the id of a rule",
            "exception[0].operator: missing: name the operator or the function",
            "7: exception[0].reason: must not be empty",
            "8: exception[1]: `reason` is missing",
            "exception[1].why: unknown key",
        ] {
            assert!(problems.iter().any(|problem| problem.contains(part)), "{part}: {problems:#?}");
        }
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
