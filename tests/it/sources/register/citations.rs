//! Tests in the sources, and the guarantees that they cite.
//!
//! A test cites a guarantee by its number in the documentation comment, as in `I14: the store keeps earlier claims`.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

use crate::sources::text_files::{TextFile, rust_files};

/// Test function, with the guarantees that it cites.
pub(super) struct SourceTest {
    /// Path of the file, relative to the root.
    pub(super) path: String,
    /// Name of the function.
    pub(super) name: String,
    pub(super) cited: BTreeSet<u32>,
}

impl SourceTest {
    /// Returns true if `name` names the test. `name` is the name of the function, or a path that ends with module and
    /// function. The module may also be a folder of the test's file.
    pub(super) fn is_named(&self, name: &str) -> bool {
        let (module, function) = name.rsplit_once("::").unwrap_or(("", name));
        let module = module.trim_end_matches("::tests");
        // The conformance suite runs once for each store, in a module of this store. The name may contain this module,
        // but the tests are in the folder `conformance`.
        let module = if module.starts_with("conformance::") { "conformance" } else { module };
        let module = module.rsplit("::").next().unwrap_or_default();
        let is_in =
            |module: &str| self.path.contains(&format!("/{module}.rs")) || self.path.contains(&format!("/{module}/"));
        self.name == function && (module.is_empty() || is_in(module))
    }
}

/// Returns the tests of all sources, sorted by file.
pub(super) fn source_tests() -> Vec<SourceTest> {
    let files = rust_files("");
    let cases: BTreeSet<(String, String)> = files.iter().flat_map(suite_cases).collect();
    files.iter().flat_map(|file| tests_of_file(&file.path, &file.text, &cases)).collect()
}

/// Returns the tests of one file. `cases` are the files and names of functions that a suite runs as tests.
pub(super) fn tests_of_file(path: &str, text: &str, cases: &BTreeSet<(String, String)>) -> Vec<SourceTest> {
    let mut scan = Scan { path, cases, tests: Vec::new() };
    scan.visit(tokens(path, text), &BTreeSet::new());
    scan.tests
}

/// Returns the numbers of guarantees in all comments of a test file, or in the comments after `#[cfg(test)]` of another
/// file.
pub(super) fn mentioned_numbers(file: &TextFile) -> Vec<u32> {
    let comments = file.tests().lines().filter_map(|line| line.find("//").map(|at| &line[at..]));
    comments.flat_map(numbers_in).collect()
}

/// Returns the numbers of guarantees in a text, such as 9 for the word I9.
pub(super) fn numbers_in(text: &str) -> Vec<u32> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    words.filter_map(|word| word.strip_prefix('I')?.parse().ok()).collect()
}

fn tokens(path: &str, text: &str) -> TokenStream {
    text.parse().unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns the functions that the file lists in `suite! { module::function; … }`, each with the path of its file.
fn suite_cases(file: &TextFile) -> Vec<(String, String)> {
    if !file.text.contains("suite! {") {
        return Vec::new();
    }
    let folder = file.path.trim_end_matches("/mod.rs");
    let tokens: Vec<TokenTree> = tokens(&file.path, &file.text).into_iter().collect();
    let list = tokens.windows(3).find_map(|three| match three {
        [TokenTree::Ident(name), TokenTree::Punct(_), TokenTree::Group(list)] if name == "suite" => Some(list.stream()),
        _ => None,
    });
    let list: Vec<String> = list.into_iter().flatten().map(|token| token.to_string()).collect();
    let cases = list.split(|token| token == ";").filter_map(|case| Some((case.first()?, case.last()?)));
    cases.map(|(module, name)| (format!("{folder}/{module}.rs"), name.clone())).collect()
}

/// Scan of one file for tests.
struct Scan<'a> {
    path: &'a str,
    cases: &'a BTreeSet<(String, String)>,
    tests: Vec<SourceTest>,
}

impl Scan<'_> {
    /// Visits the content of a file or of a group. `outer` has the guarantees that the enclosing module cites.
    fn visit(&mut self, stream: TokenStream, outer: &BTreeSet<u32>) {
        let tokens: Vec<TokenTree> = stream.into_iter().collect();
        let head = head_citations(&tokens);
        let head = if head.is_empty() { outer.clone() } else { head };
        let mut attributes: Vec<&Group> = Vec::new();
        for (at, token) in tokens.iter().enumerate() {
            match token {
                TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket && follows_hash(&tokens, at) => {
                    attributes.push(group);
                }
                TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                    self.visit(group.stream(), &head);
                    attributes.clear();
                }
                TokenTree::Punct(punct) if punct.as_char() == ';' => attributes.clear(),
                TokenTree::Ident(word) if word == "fn" => {
                    if let Some(TokenTree::Ident(name)) = tokens.get(at + 1) {
                        self.add_function(name.to_string(), &attributes, &head);
                    }
                }
                _ => {}
            }
        }
    }

    /// Adds the function if it is a test.
    fn add_function(&mut self, name: String, attributes: &[&Group], head: &BTreeSet<u32>) {
        let is_case = self.cases.contains(&(self.path.to_owned(), name.clone()));
        if is_case || attributes.iter().any(|attribute| is_test_attribute(attribute)) {
            let own: BTreeSet<u32> = attributes.iter().flat_map(|attribute| cited_in_doc(attribute)).collect();
            let cited = if own.is_empty() { head.clone() } else { own };
            self.tests.push(SourceTest { path: self.path.to_owned(), name, cited });
        }
    }
}

/// Returns the guarantees cited at the head of a file or module, in `//!` comments.
fn head_citations(tokens: &[TokenTree]) -> BTreeSet<u32> {
    let inner = tokens.windows(3).filter_map(|three| match three {
        [TokenTree::Punct(hash), TokenTree::Punct(inner), TokenTree::Group(group)]
            if hash.as_char() == '#' && inner.as_char() == '!' =>
        {
            Some(group)
        }
        _ => None,
    });
    inner.flat_map(cited_in_doc).collect()
}

/// Returns true if the token at `at` follows the `#` of an outer attribute.
fn follows_hash(tokens: &[TokenTree], at: usize) -> bool {
    at > 0 && matches!(&tokens[at - 1], TokenTree::Punct(punct) if punct.as_char() == '#')
}

/// Returns true for `#[test]` and attributes such as `#[tokio::test(…)]`.
fn is_test_attribute(attribute: &Group) -> bool {
    let words = attribute.stream().into_iter().filter_map(|token| match token {
        TokenTree::Ident(word) => Some(word.to_string()),
        _ => None,
    });
    words.last().is_some_and(|word| word == "test")
}

/// Returns the guarantees in a documentation comment, which is an attribute `doc = "…"`. Other attributes cite no
/// guarantee.
fn cited_in_doc(attribute: &Group) -> Vec<u32> {
    let mut tokens = attribute.stream().into_iter();
    let is_doc = matches!(tokens.next(), Some(TokenTree::Ident(word)) if word == "doc");
    if is_doc { tokens.flat_map(|token| numbers_in(&token.to_string())).collect() } else { Vec::new() }
}
