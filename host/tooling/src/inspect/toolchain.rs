//! Detects the tools that built a file, from its `producers` sections or, without these sections, from other
//! characteristics.

use std::collections::BTreeSet;

use wasm_metadata::Producers;
use wasmparser::{ComponentName, KnownCustom, Name, Parser, Payload};

use crate::inspect::file_kind::FileKind;

/// One entry of a `producers` section.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct Producer {
    /// `language`, `processed-by` or `sdk`.
    pub field: String,
    /// Name of the tool or language.
    pub name: String,
    /// Version as stated in the file.
    pub version: String,
}

/// Language in which a plugin is written, derived from its compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Language {
    /// Rust, through wit-bindgen or wasm32-wasip2.
    Rust,
    /// Python through componentize-py.
    Python,
    /// JavaScript in QuickJS, through componentize-qjs.
    JavascriptQuickjs,
    /// JavaScript in StarlingMonkey, through componentize-js.
    JavascriptStarlingmonkey,
    /// Go with the standard compiler.
    Go,
    /// TinyGo.
    TinyGo,
    /// C or C++ through clang or zig.
    C,
    /// The file does not identify the language.
    Unknown,
}

/// Tools that built a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProducerToolchain {
    /// Language of the source code.
    pub language: Language,
    /// Tools listed in the file, without duplicates.
    pub producers: Vec<Producer>,
    /// True if the file contains names of functions. Names in small name sections do not count, because they may belong
    /// to adapters.
    pub has_names: bool,
    /// Names of the core modules that have names.
    pub(super) modules: Vec<String>,
}

impl Language {
    /// Returns the name of the language for human readers.
    pub fn name(self) -> &'static str {
        match self {
            Language::Rust => "Rust",
            Language::Python => "Python (componentize-py)",
            Language::JavascriptQuickjs => "JavaScript (componentize-qjs, QuickJS)",
            Language::JavascriptStarlingmonkey => "JavaScript (componentize-js, StarlingMonkey)",
            Language::Go => "Go",
            Language::TinyGo => "Go (TinyGo)",
            Language::C => "C or C++",
            Language::Unknown => "unknown (the file does not name its toolchain)",
        }
    }
}

/// Names of tools that wrap a component instead of compiling code.
const WRAPPERS: [&str; 2] = ["wit-component", "component-init-transform"];
/// Maximum number of core module names that are read.
const MODULES_MAX: usize = 1_000;

pub(super) fn detect(bytes: &[u8], form: &FileKind) -> ProducerToolchain {
    let mut producers = BTreeSet::new();
    let mut modules = Vec::new();
    let (mut has_names, mut has_go) = (false, false);
    if matches!(form, FileKind::Component | FileKind::CoreModule) {
        for payload in Parser::new(0).parse_all(bytes).map_while(Result::ok) {
            let Payload::CustomSection(section) = payload else { continue };
            has_go |= matches!(section.name(), "go:buildid" | "go.buildid");
            match section.as_known() {
                KnownCustom::Producers(_) => {
                    // Ignores a damaged section, because the file is usable without it.
                    let section = Producers::from_bytes(section.data(), section.data_offset()).unwrap_or_default();
                    for (field, values) in section.iter() {
                        producers.extend(values.iter().map(|(name, version)| Producer {
                            field: field.clone(),
                            name: name.clone(),
                            version: version.clone(),
                        }));
                    }
                }
                KnownCustom::Name(names) => {
                    has_names |= names.into_iter().map_while(Result::ok).any(|name| {
                        // Small name sections are ignored, because the adapters that wit-component adds contain
                        // function names of their own.
                        matches!(name, Name::Function(map) if map.count() > 0) && section.data().len() > 4_096
                    });
                }
                KnownCustom::ComponentName(names) => {
                    for name in names.into_iter().map_while(Result::ok) {
                        if let ComponentName::CoreModules(map) = name {
                            let room = MODULES_MAX.saturating_sub(modules.len());
                            modules.extend(
                                map.into_iter().map_while(Result::ok).take(room).map(|naming| naming.name.to_owned()),
                            );
                        }
                    }
                }
                _ => {}
            }
        }
    }
    let producers: Vec<_> = producers.into_iter().collect();
    let language = language(&producers, &modules, has_go);
    ProducerToolchain { language, producers, has_names, modules }
}

fn language(producers: &[Producer], modules: &[String], has_go: bool) -> Language {
    let made_by = |word: &str| producers.iter().any(|producer| producer.name.eq_ignore_ascii_case(word));
    let has_module = |part: &str| modules.iter().any(|name| name.contains(part));
    // Interpreters are checked first, because they are themselves written in C and Rust.
    if has_module("componentize_py") || has_module("libpython") || made_by("componentize-py") {
        Language::Python
    } else if has_module("componentize_qjs") || made_by("componentize-qjs") {
        Language::JavascriptQuickjs
    } else if made_by("ComponentizeJS") || made_by("JavaScript") {
        Language::JavascriptStarlingmonkey
    } else if made_by("TinyGo") {
        Language::TinyGo
    } else if has_go || made_by("Go") {
        Language::Go
    } else if made_by("wit-bindgen-rust") || made_by("Rust") && !made_by("wit-bindgen-c") {
        // A component in C may also name Rust, because wit-component adds adapters that are written in Rust. Only the
        // component in C names `wit-bindgen-c`.
        Language::Rust
    } else if producers.iter().any(|producer| {
        let name = producer.name.to_ascii_lowercase();
        ["clang", "zig", "c11", "c17", "c99"].contains(&name.as_str()) || name.starts_with("c_plus_plus")
    }) || made_by("wit-bindgen-c")
    {
        Language::C
    } else {
        Language::Unknown
    }
}

impl ProducerToolchain {
    /// Lists the tools and their versions in one line. Tools that only wrap a component are left out
    /// (`WRAPPERS`).
    pub fn tools(&self) -> String {
        let tools = self.producers.iter().filter(|producer| producer.field == "processed-by");
        let first_word = |version: &str| version.split(' ').next().unwrap_or_default().to_owned();
        let named = tools.filter(|tool| !WRAPPERS.contains(&tool.name.as_str()));
        named.map(|tool| format!("{} {}", tool.name, first_word(&tool.version))).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use wasm_encoder::{Component, CustomSection, Module, ModuleSection, ProducersField, ProducersSection};

    use super::*;

    #[test]
    fn tools_of_the_file_and_its_modules_are_listed_without_damaged_sections() {
        let section = |tool: &str, version: &str| {
            let (mut field, mut section) = (ProducersField::new(), ProducersSection::new());
            field.value(tool, version);
            section.field("processed-by", &field);
            section
        };
        let mut module = Module::new();
        module.section(&section("clang", "19.1 (abc)"));
        module.section(&CustomSection { name: "producers".into(), data: b"\x02\x0cprocessed-by"[..].into() });
        let mut component = Component::new();
        component.section(&ModuleSection(&module));
        component.section(&section("wit-component", "0.1"));
        component.section(&section("wit-bindgen-c", "0.2"));
        let found = detect(&component.finish(), &FileKind::Component);
        assert_eq!((found.tools().as_str(), found.language), ("clang 19.1, wit-bindgen-c 0.2", Language::C));
        assert_eq!(found.producers.len(), 3, "{:?}", found.producers);
    }

    #[test]
    fn source_language_is_distinguished_from_interpreter_language() {
        let by = |names: &[&str]| {
            let producer =
                |name: &&str| Producer { field: "processed-by".into(), name: (*name).into(), version: "1".into() };
            names.iter().map(producer).collect::<Vec<_>>()
        };
        let none: Vec<String> = vec![];
        assert_eq!(language(&by(&["rustc", "Rust", "wit-bindgen-rust"]), &none, false), Language::Rust);
        assert_eq!(
            language(&by(&["Rust", "clang", "ComponentizeJS"]), &none, false),
            Language::JavascriptStarlingmonkey
        );
        assert_eq!(language(&by(&["rustc", "Rust"]), &["libpython3.14.so".into()], false), Language::Python);
        assert_eq!(
            language(&by(&["Rust"]), &["componentize_qjs_runtime.wasm".into()], false),
            Language::JavascriptQuickjs
        );
        assert_eq!(language(&by(&["TinyGo", "Go"]), &none, false), Language::TinyGo);
        assert_eq!(language(&by(&["clang", "Rust"]), &none, true), Language::Go);
        assert_eq!(language(&by(&["clang"]), &none, false), Language::C);
        assert_eq!(language(&by(&["wit-component"]), &none, false), Language::Unknown);
    }
}
