//! Language of the project: openings and phrases that CONTRIBUTING.md does not allow.

use super::scan::scan;
use crate::support::checkout::{root, tracked_files};

/// Generated sources, and the two files that contain the phrases as data.
const EXEMPT: [&str; 3] = ["guest-sdk/rust/src/bindings/", "tests/it/sources/words.rs", "CONTRIBUTING.md"];

/// Headings that Rust's conventions define for doc comments.
const HEADINGS: [&str; 3] = ["Errors", "Panics", "Safety"];

/// Lists of the style section of CONTRIBUTING.md.
struct Style {
    openings: Vec<String>,
    phrases: Vec<String>,
}

impl Style {
    fn read() -> Style {
        let page = std::fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
        let openings = block(&page, "openings").split_whitespace().map(str::to_owned).collect();
        let phrases = block(&page, "phrases").lines().map(str::to_owned).collect();
        Style { openings, phrases }
    }

    /// Returns the violations in one comment block. `text` is the block as a single line.
    fn in_comment(&self, text: &str) -> Vec<String> {
        let first = text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        let opening = self.openings.iter().find(|opening| *opening == first);
        opening.map(|opening| format!("opens with `{opening}`")).into_iter().chain(self.in_text(text)).collect()
    }

    /// Returns the forbidden phrases in a text. The text may be a comment, a message or a page.
    fn in_text(&self, text: &str) -> Vec<String> {
        let text = text.to_lowercase();
        self.phrases.iter().filter(|phrase| has_phrase(&text, phrase)).map(|phrase| format!("`{phrase}`")).collect()
    }
}

/// Returns the content of the fenced block of `page` that is labelled `text <label>`.
fn block<'a>(page: &'a str, label: &str) -> &'a str {
    let (_, rest) = page.split_once(&format!("```text {label}\n")).expect("CONTRIBUTING.md has the list");
    rest.split_once("\n```").expect("the list ends").0
}

/// Returns true if `phrase` occurs in `text` between word boundaries.
fn has_phrase(text: &str, phrase: &str) -> bool {
    let letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    text.match_indices(phrase)
        .any(|(at, _)| !letter(text[..at].chars().next_back()) && !letter(text[at + phrase.len()..].chars().next()))
}

/// Returns the numbers of the lines of a Rust source where a heading of a doc comment has its text on the same line.
/// Rustdoc shows such a text as a part of the heading.
fn headings_with_text(text: &str) -> Vec<usize> {
    let is_wrong = |line: &str| {
        let heading = line.trim_start().trim_start_matches("//!").trim_start_matches("///").strip_prefix(" # ");
        heading.is_some_and(|heading| HEADINGS.iter().any(|name| heading.starts_with(name) && heading != *name))
    };
    text.lines().enumerate().filter(|(_, line)| is_wrong(line)).map(|(number, _)| number + 1).collect()
}

/// Returns the lines of a page outside fenced blocks, with their numbers and without the text between
/// backquotes.
fn prose(text: &str) -> Vec<(usize, String)> {
    let mut fenced = false;
    let mut lines = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            lines.push((number + 1, line.split('`').step_by(2).collect::<Vec<_>>().join("`")));
        }
    }
    lines
}

/// Returns the violations in one tracked file.
fn violations(style: &Style, path: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut add =
        |line: usize, what: Vec<String>| found.extend(what.into_iter().map(|w| format!("{path}:{line}: {w}")));
    let parts = scan(path, text);
    parts.comments.iter().for_each(|comment| add(comment.line, style.in_comment(&comment.text)));
    if path.ends_with(".rs") && path.starts_with("host/") {
        parts.literals.iter().for_each(|(line, literal)| add(*line, style.in_text(literal)));
    }
    if path.ends_with(".rs") {
        headings_with_text(text).into_iter().for_each(|line| add(line, vec!["text on the line of a heading".into()]));
    }
    if path.ends_with(".md") {
        prose(text).into_iter().for_each(|(line, words)| add(line, style.in_text(&words)));
    }
    found
}

#[test]
fn sources_and_pages_follow_the_style_of_contributing() {
    let style = Style::read();
    assert!(style.openings.len() > 10 && style.phrases.len() > 20, "CONTRIBUTING.md has both lists");
    let mut found = Vec::new();
    for path in tracked_files().iter().filter(|path| !EXEMPT.iter().any(|exempt| path.starts_with(exempt))) {
        if let Ok(text) = std::fs::read_to_string(root().join(path)) {
            found.extend(violations(&style, path, &text));
        }
    }
    assert!(found.is_empty(), "{} violations of CONTRIBUTING.md:\n  {}", found.len(), found.join("\n  "));
}

#[test]
fn forbidden_words_are_found_in_comments_messages_and_pages() {
    let style = Style::read();
    let check = |path: &str, text: &str| violations(&style, path, text).len();
    assert_eq!(check("host/src/a.rs", "/// What a claim\n/// passes over.\nfn a() {}"), 1);
    assert_eq!(check("host/src/a.rs", "// A phrase over two\n// lines: none\n// where it is."), 1);
    assert_eq!(check("host/src/a.rs", "fn a() { bail!(\"nobody has it\") }"), 1);
    assert_eq!(check("host/src/a.rs", "fn a() { nobody(); } // somebody"), 1, "a comment after code");
    assert_eq!(check("host/src/a.rs", "fn a() { bail!(\"a phrase \\\n    is \\\n    gone\") }"), 1);
    assert_eq!(check("host/src/a.rs", "let a = \"a://nobody\"; let b = 1; // A word."), 1, "a literal, no comment");
    assert_eq!(check(".ci/run", "# Whether it is so.\nx=1 # nobody"), 2);
    assert_eq!(check("a.sh", "x='nobody' # A word."), 0);
    assert_eq!(check("docs/a.md", "A worker that is gone.\n\n```\nis gone\n```\n`is gone`"), 1);
    assert_eq!(check("host/src/a.rs", "/// # Errors\n/// If it fails.\n/// # Panics If not.\nfn a() {}"), 1);
    assert_eq!(check("guest-sdk/a.c", "/* Returns it.\n * It is where\n * nobody looks. */\nint nobody;"), 1);
    assert_eq!(check("guest-sdk/a.c", "/* Whether it is so. */\nint a; /* nobody */"), 2);
    assert_eq!(check("guest-sdk/a.py", "# Whether it is so.\nx = 1"), 1);
    assert_eq!(check("host/src/a.rs", "/// Whatsoever, a word that only begins like one.\nfn a() {}"), 0);
}
