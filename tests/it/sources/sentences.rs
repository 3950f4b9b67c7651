//! Length of sentences in comments and pages: at most the number of words that CONTRIBUTING.md allows.

use super::scan::is_source;
use super::text_files::{TextFile, assert_none, text_files};

/// Maximum number of words in a sentence. CONTRIBUTING.md has the same number.
const MAX_WORDS: usize = 30;

/// Generated sources, and plugins that other authors wrote.
const EXEMPT: [&str; 3] = ["guest-sdk/rust/src/bindings/", "tests/corpus/", "tests/guests-stock/"];

/// Text between two ends: a paragraph, an item of a list or a cell of a table.
#[derive(Default)]
struct Paragraphs {
    done: Vec<(usize, String)>,
    open: Option<(usize, String)>,
    fenced: bool,
}

impl Paragraphs {
    /// Reads the next line of a comment or a page. `None` is a line outside of comments.
    fn line(&mut self, number: usize, line: Option<&str>) {
        let Some(line) = line.map(str::trim) else {
            self.fenced = false;
            return self.end();
        };
        if line.starts_with("```") || line.starts_with("~~~") {
            self.fenced = !self.fenced;
            return self.end();
        }
        let is_numbered = line.split_once(". ").is_some_and(|(n, _)| n.chars().all(|c| c.is_ascii_digit()));
        if line.is_empty() || is_numbered || line.starts_with(['|', '#', '-', '*', '+', '·', '>']) {
            self.end();
        }
        match (&mut self.open, line.is_empty() || self.fenced) {
            (_, true) => {}
            (Some((_, text)), _) => {
                text.push(' ');
                text.push_str(line);
            }
            (open, _) => *open = Some((number, line.to_owned())),
        }
    }

    fn end(&mut self) {
        self.done.extend(self.open.take());
    }
}

/// Returns the comment on a line of a source, without its marks.
fn comment<'a>(path: &str, line: &'a str) -> Option<&'a str> {
    let line = line.trim_start();
    match [".py", ".toml", ".sh"].iter().any(|ending| path.ends_with(ending)) || path.starts_with(".ci/") {
        true => line.strip_prefix('#').filter(|rest| !rest.starts_with('!')),
        false => line.strip_prefix("//").map(|rest| rest.trim_start_matches(['/', '!'])),
    }
}

fn paragraphs(file: &TextFile) -> Vec<(usize, String)> {
    let is_page = file.path.ends_with(".md");
    let mut found = Paragraphs::default();
    for (index, line) in file.text.lines().enumerate() {
        found.line(index + 1, if is_page { Some(line) } else { comment(&file.path, line) });
    }
    found.end();
    found.done
}

/// Returns the number of words of the longest sentence. A colon, a semicolon and the end of a cell also end a sentence.
/// Code between backquotes is no word, so a list of names may be long.
fn longest_sentence(paragraph: &str) -> usize {
    let prose: String = paragraph.split('`').step_by(2).collect::<Vec<_>>().join(" ");
    let (mut longest, mut words) = (0, 0);
    for word in prose.split_whitespace() {
        words += usize::from(word.contains(char::is_alphanumeric));
        longest = longest.max(words);
        let end = word.trim_end_matches([')', '"', '*', '_', ']']);
        if end.ends_with(['.', '!', '?', ':', ';']) || word == "|" {
            words = 0;
        }
    }
    longest
}

fn long_sentences(file: &TextFile) -> Vec<String> {
    let of = |(line, text): (usize, String)| {
        let words = longest_sentence(&text);
        (words > MAX_WORDS).then(|| format!("{}:{line}: a sentence of {words} words: {text}", file.path))
    };
    paragraphs(file).into_iter().filter_map(of).collect()
}

#[test]
fn sentences_have_at_most_thirty_words() {
    let is_read = |file: &TextFile| {
        (is_source(&file.path) || file.path.ends_with(".md"))
            && !EXEMPT.iter().any(|exempt| file.path.starts_with(exempt))
    };
    let files: Vec<TextFile> = text_files().into_iter().filter(is_read).collect();
    let page = files.iter().find(|file| file.path == "CONTRIBUTING.md").expect("the style is a page");
    assert!(page.text.contains(&format!("at most {MAX_WORDS} words")));
    assert_none("split the sentences", files.iter().flat_map(long_sentences).collect());
}

#[test]
fn long_sentence_is_found_in_comment_and_page() {
    let words = |count: usize| vec!["word"; count].join(" ");
    let found = |path: &str, text: String| long_sentences(&TextFile { path: path.to_owned(), text }).len();
    assert_eq!(found("a.md", words(31)), 1);
    assert_eq!(found("a.md", words(30)), 0);
    assert_eq!(found("a.md", format!("{}. {}", words(20), words(20))), 0);
    assert_eq!(found("a.md", format!("{}\n{}", words(20), words(20))), 1, "a sentence over two lines");
    assert_eq!(found("a.md", format!("{}\n- {}", words(20), words(20))), 0, "an item");
    assert_eq!(found("a.md", format!("```\n{}\n```\n", words(40))), 0, "code");
    assert_eq!(found("a.md", format!("| {} | {} |", words(20), words(20))), 0, "cells");
    assert_eq!(found("a.md", format!("`{}`", words(40))), 0, "names");
    assert_eq!(found("a.rs", format!("/// {}\n/// {}\nfn a() {{}}", words(20), words(20))), 1);
    assert_eq!(found("a.rs", format!("// {}\nlet a = 1;\n// {}", words(20), words(20))), 0, "two comments");
    assert_eq!(found("a.py", format!("# {}", words(31))), 1);
}
