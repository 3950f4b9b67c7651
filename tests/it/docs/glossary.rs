//! The glossary: one row for each term, one term for each concept, and no other word for it on the pages.

use crate::support::checkout::{root, tracked_files};

const GLOSSARY: &str = "docs/reference/glossary.md";

/// Words that the pages do not use, each with the term of the glossary. Names in code, commands and formats stay: text
/// between backquotes is not read.
const OTHER_WORDS: [(&str, &str); 8] = [
    ("invocation", "call"),
    ("invocations", "call"),
    ("untyped", "plain component"),
    ("compensating call", "compensation"),
    ("outcome is unknown", "effect"),
    ("outcome of a call", "effect"),
    ("late effect", "late answer"),
    ("verdicts", "resolution, or answer of `reconcile`"),
];

/// Pages that may contain the words: the glossary itself, and the page about other systems.
const EXEMPT: [&str; 2] = [GLOSSARY, "docs/comparison.md"];

/// Returns the rows of the glossary as pairs of term and meaning.
fn terms(page: &str) -> Vec<(&str, &str)> {
    let rows = page.lines().filter_map(|line| line.strip_prefix("| ")).skip(1);
    rows.filter_map(|row| row.split(" | ").next().zip(row.split(" | ").nth(1))).collect()
}

/// Returns the terms that are out of order or listed twice, and those that only refer to another term.
fn problems(page: &str) -> Vec<String> {
    let key = |term: &str| term.to_lowercase().replace('-', " ");
    let terms = terms(page);
    let unsorted = terms.windows(2).filter(|pair| key(pair[0].0) >= key(pair[1].0)).map(|pair| pair[1].0.to_owned());
    let synonyms = terms.iter().filter(|(_, meaning)| meaning.starts_with("See ")).map(|(term, _)| (*term).to_owned());
    unsorted.chain(synonyms).collect()
}

/// Returns the lines of a page that use another word than the glossary.
fn other_words(path: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut is_code = false;
    for (number, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        }
        let prose = if is_code { String::new() } else { line.split('`').step_by(2).collect::<Vec<_>>().join("`") };
        let words: Vec<&str> =
            prose.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty()).collect();
        let prose = format!(" {} ", words.join(" ").to_lowercase());
        let used = OTHER_WORDS.iter().filter(|(word, _)| prose.contains(&format!(" {word} ")));
        found.extend(used.map(|(word, term)| format!("{path}:{}: `{word}`: use {term}", number + 1)));
    }
    found
}

#[test]
fn glossary_has_each_term_once() {
    let page = std::fs::read_to_string(root().join(GLOSSARY)).unwrap();
    assert!(terms(&page).len() > 100, "the terms are there");
    assert_eq!(problems(&page), Vec::<String>::new(), "in order, once each, and no term for another term");
    assert_eq!(
        problems("| term | meaning |\n|---|---|\n| b | B. | |\n| a-c | A. | |\n| a c | See b. | |"),
        ["a-c", "a c", "a c"]
    );
}

#[test]
fn pages_use_the_terms_of_the_glossary() {
    let is_page = |path: &String| {
        let folders = ["docs/", "host/core/errors/", "host/tooling/src/check/rules/"];
        let is_read = folders.iter().any(|folder| path.starts_with(folder)) || !path.contains('/');
        path.ends_with(".md") && is_read && !EXEMPT.contains(&path.as_str())
    };
    let pages = tracked_files().into_iter().filter(is_page);
    let read = |path: &str| std::fs::read_to_string(root().join(path)).unwrap();
    let found: Vec<String> = pages.flat_map(|path| other_words(&path, &read(&path))).collect();
    assert!(found.is_empty(), "one word per concept:\n  {}", found.join("\n  "));
    assert_eq!(other_words("a.md", "An invocation, `invocation`.\n```\nuntyped\n```\nUntyped parts").len(), 2);
}
