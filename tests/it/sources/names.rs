//! Names in the sources: a type has one meaning in all crates, and declarations use the words of the field.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::text_files::{assert_none, rust_files};

/// Names that two types of the crates under `host` may have, each with the reason.
const DEFINED_TWICE: [(&str, &str); 0] = [];

/// Words that name nothing exactly, each with words to use instead.
const WORDS: [(&str, &str); 4] = [
    ("said", "reported, message, or the name of the thing"),
    ("shown", "displayed, rendered"),
    ("told", "described, reported"),
    ("cut", "truncated, interrupted"),
];

/// Folders whose identifiers must not contain a word of `WORDS`.
const FOLDERS: [&str; 5] = ["host/", "guest-sdk/rust/src/", "tests/it/", "tests/model/", "tests/sim/"];

/// Keywords that define a named type.
const DEFINITIONS: [&str; 5] = ["struct", "enum", "trait", "union", "type"];

/// Kind of the item that a group in braces belongs to.
#[derive(Clone, Copy, PartialEq)]
enum Scope {
    /// An `impl` or a `trait`. A `type` in it is associated.
    Associated,
    Other,
}

fn parse(path: &str, text: &str) -> TokenStream {
    text.parse().unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn is_test_attribute(tokens: &[TokenTree]) -> bool {
    let [TokenTree::Punct(mark), TokenTree::Group(group), ..] = tokens else { return false };
    let text = group.stream().to_string();
    mark.as_char() == '#' && group.delimiter() == Delimiter::Bracket && text.starts_with("cfg") && text.contains("test")
}

/// Returns the number of tokens of the item at the beginning of `tokens`: up to its group in braces or its semicolon.
fn item_length(tokens: &[TokenTree]) -> usize {
    let ends = |token: &TokenTree| match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        TokenTree::Punct(mark) => mark.as_char() == ';',
        _ => false,
    };
    tokens.iter().position(ends).map_or(tokens.len(), |at| at + 1)
}

/// Collects the names of the types that a stream of tokens defines, at any depth and without tests.
fn defined_types(stream: TokenStream, scope: Scope, found: &mut Vec<String>) {
    let tokens: Vec<TokenTree> = stream.into_iter().collect();
    let (mut at, mut item) = (0, None);
    while at < tokens.len() {
        if is_test_attribute(&tokens[at..]) {
            at += item_length(&tokens[at..]);
            continue;
        }
        match &tokens[at] {
            TokenTree::Ident(word) => {
                let word = word.to_string();
                if let Some(TokenTree::Ident(name)) = tokens.get(at + 1)
                    && DEFINITIONS.contains(&word.as_str())
                    && !(word == "type" && scope == Scope::Associated)
                {
                    found.push(name.to_string());
                }
                // The first keyword decides: in `fn f() -> impl Trait {`, the group belongs to the function.
                match word.as_str() {
                    "impl" | "trait" => _ = item.get_or_insert(Scope::Associated),
                    "fn" | "mod" | "struct" | "enum" | "type" => _ = item.get_or_insert(Scope::Other),
                    _ => {}
                }
            }
            TokenTree::Group(group) => {
                let is_body = group.delimiter() == Delimiter::Brace;
                let inner = if is_body { item.take() } else { None };
                defined_types(group.stream(), inner.unwrap_or(Scope::Other), found);
            }
            TokenTree::Punct(mark) if mark.as_char() == ';' => item = None,
            _ => {}
        }
        at += 1;
    }
}

/// Collects the identifiers that contain a word of `WORDS` as a part.
fn vague_identifiers(stream: TokenStream, found: &mut BTreeSet<String>) {
    let is_vague = |name: &str| name.split('_').any(|part| WORDS.iter().any(|(word, _)| *word == part));
    for token in stream {
        match token {
            TokenTree::Group(group) => vague_identifiers(group.stream(), found),
            TokenTree::Ident(name) => found.extend(Some(name.to_string()).filter(|name| is_vague(name))),
            _ => {}
        }
    }
}

fn types_of(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    defined_types(parse("a text", text), Scope::Other, &mut found);
    found
}

#[test]
fn no_two_types_under_host_share_a_name() {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in rust_files("host/") {
        if !file.path.ends_with("/tests.rs") && !file.path.contains("/tests/") {
            let mut found = Vec::new();
            defined_types(parse(&file.path, &file.text), Scope::Other, &mut found);
            found.into_iter().for_each(|name| places.entry(name).or_default().push(file.path.clone()));
        }
    }
    assert!(places.len() > 1_000, "{} types are found", places.len());
    let is_allowed = |name: &str| DEFINED_TWICE.iter().any(|(allowed, _)| *allowed == name);
    let twice = |name: &str| places.get(name).is_some_and(|places| places.len() > 1);
    let unlisted = places.iter().filter(|(name, _)| twice(name) && !is_allowed(name));
    assert_none(
        "give each type a name that states its concept, or merge the types",
        unlisted.map(|(name, places)| format!("{name}: {}", places.join(", "))).collect(),
    );
    let unused = DEFINED_TWICE.iter().filter(|(name, _)| !twice(name));
    assert_none("remove from the list", unused.map(|(name, _)| (*name).to_owned()).collect());
}

#[test]
fn identifiers_use_the_words_of_the_field() {
    let mut found = Vec::new();
    for file in FOLDERS.iter().flat_map(|folder| rust_files(folder)) {
        let mut vague = BTreeSet::new();
        vague_identifiers(parse(&file.path, &file.text), &mut vague);
        found.extend(vague.into_iter().map(|name| format!("{}: `{name}`", file.path)));
    }
    let advice: Vec<String> = WORDS.iter().map(|(word, instead)| format!("{word}: {instead}")).collect();
    assert_none(&format!("use another word ({})", advice.join("; ")), found);
}

#[test]
fn definitions_of_types_are_found() {
    for (text, names) in [
        (
            "pub struct A(u8); enum B { C, D { e: u8 } } trait F { type G; } union H { i: u8 }",
            &["A", "B", "F", "H"][..],
        ),
        ("pub(crate) type A = u8; impl B for C { type D = u8; fn f() { struct E; } }", &["A", "E"]),
        ("fn f() -> impl A { type B = u8; } mod m { impl<T> C for T {} type D = u8; }", &["B", "D"]),
        ("#[cfg(test)] mod tests { struct A; } #[cfg(test)] use b::B; struct C;", &["C"]),
        (
            "// struct A\nconst B: &str = \"struct C\"; macro_rules! m { ($n:ident) => { struct $n; struct D; } }",
            &["D"],
        ),
        ("#[derive(Debug)] struct A { r#type: u8, union: u8 } fn f(a: B) { a.union(b); }", &["A"]),
    ] {
        assert_eq!(types_of(text), names, "{text}");
    }
}

#[test]
fn vague_words_are_found_in_identifiers() {
    for (text, names) in [
        ("fn print_cut() {}", &["print_cut"][..]),
        ("struct A { is_shown: u8 }", &["is_shown"]),
        ("fn f(said: u8) { let g = |told: u8| told; }", &["said", "told"]),
        ("fn f() { let Some(shown_name) = g() else { return }; }", &["shown_name"]),
        ("// said\nfn executed(shortcut: u8) { println!(\"told\"); }", &[]),
    ] {
        let mut found = BTreeSet::new();
        vague_identifiers(parse("a text", text), &mut found);
        assert_eq!(found.iter().collect::<Vec<_>>(), names, "{text}");
    }
}
