//! Comments and string literals of a source, read without a parser of its language.

/// A comment: whole lines that follow each other, a comment between marks, or a comment after code.
pub(super) struct Comment {
    /// Number of the first line.
    pub(super) line: usize,
    /// The text as a single line, without the marks.
    pub(super) text: String,
    /// Number of the last line, for a comment of whole lines. The next line may continue it.
    open: Option<usize>,
}

/// Comments of a source, and its string literals with the numbers of their first lines.
#[derive(Default)]
pub(super) struct Parts {
    pub(super) comments: Vec<Comment>,
    pub(super) literals: Vec<(usize, String)>,
}

#[derive(Clone, Copy, PartialEq)]
enum Syntax {
    Rust,
    /// C, Go, JavaScript, TypeScript, WIT.
    Slashes,
    Python,
    Toml,
    Shell,
}

impl Syntax {
    /// Returns the syntax of a file by its path. The scripts in `.ci` have no ending.
    fn of(path: &str) -> Option<Syntax> {
        let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
        match ending {
            _ if path.starts_with(".ci/") => Some(Syntax::Shell),
            "rs" => Some(Syntax::Rust),
            "wit" | "js" | "ts" | "go" | "c" | "h" => Some(Syntax::Slashes),
            "py" => Some(Syntax::Python),
            "toml" => Some(Syntax::Toml),
            "sh" => Some(Syntax::Shell),
            _ => None,
        }
    }

    fn has_slashes(self) -> bool {
        matches!(self, Syntax::Rust | Syntax::Slashes)
    }

    /// Returns the mark that ends the string literal at the beginning of `text`, with true if it may end on another
    /// line.
    fn string(self, text: &str) -> Option<(&'static str, bool)> {
        let marks: &[(&str, bool)] = match self {
            Syntax::Rust => &[("\"", true)],
            // The strings of JavaScript and Go between backquotes have several lines.
            Syntax::Slashes => &[("\"", false), ("'", false), ("`", true)],
            Syntax::Python | Syntax::Toml => &[("\"\"\"", true), ("'''", true), ("\"", false), ("'", false)],
            Syntax::Shell => &[("\"", true), ("'", true)],
        };
        marks.iter().copied().find(|(mark, _)| text.starts_with(mark))
    }

    /// Returns true if a backslash in a literal with this mark begins an escape.
    fn has_escapes(self, mark: &str) -> bool {
        !(matches!(self, Syntax::Shell | Syntax::Toml) && mark.starts_with('\''))
    }
}

/// Returns true if the comments of a file can be read.
pub(super) fn is_source(path: &str) -> bool {
    Syntax::of(path).is_some()
}

/// Reads a file. A file of an unknown kind has no parts.
pub(super) fn scan(path: &str, text: &str) -> Parts {
    let Some(syntax) = Syntax::of(path) else { return Parts::default() };
    let mut scanner = Scanner { syntax, text, at: 0, line: 1, has_code: false, parts: Parts::default() };
    while scanner.at < text.len() {
        scanner.step();
    }
    scanner.parts
}

struct Scanner<'a> {
    syntax: Syntax,
    text: &'a str,
    at: usize,
    line: usize,
    /// True if the line has code before the position.
    has_code: bool,
    parts: Parts,
}

impl<'a> Scanner<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Moves the position and returns the text that is passed.
    fn take(&mut self, bytes: usize) -> &'a str {
        let taken = &self.rest()[..bytes];
        self.at += bytes;
        self.line += taken.matches('\n').count();
        taken
    }

    fn step(&mut self) {
        let rest = self.rest();
        let first = rest.chars().next().expect("the text has not ended");
        let after_blank = self.text[..self.at].chars().next_back().is_none_or(char::is_whitespace);
        if first == '\n' {
            self.has_code = false;
            self.take(1);
        } else if first.is_whitespace() {
            self.take(first.len_utf8());
        } else if self.syntax.has_slashes() && rest.starts_with("//") {
            self.line_comment(&['/', '!']);
        } else if self.syntax.has_slashes() && rest.starts_with("/*") {
            self.block_comment();
        } else if !self.syntax.has_slashes() && first == '#' && after_blank {
            self.line_comment(&['#']);
        } else {
            self.has_code = true;
            self.code(first);
        }
    }

    fn line_comment(&mut self, marks: &[char]) {
        let line = self.line;
        let end = self.rest().find('\n').unwrap_or(self.rest().len());
        let comment = self.take(end);
        // The first line of a script names its interpreter.
        if comment.starts_with("#!") {
            return;
        }
        let words = comment.trim_start_matches(marks).trim();
        match self.parts.comments.last_mut() {
            Some(block) if !self.has_code && block.open == Some(line - 1) => {
                block.text.push(' ');
                block.text.push_str(words);
                block.open = Some(line);
            }
            _ => self.parts.comments.push(Comment {
                line,
                text: words.to_owned(),
                open: (!self.has_code).then_some(line),
            }),
        }
    }

    /// Reads a comment between `/*` and `*/`.
    fn block_comment(&mut self) {
        let line = self.line;
        let end = self.rest()[2..].find("*/").map_or(self.rest().len(), |end| end + 4);
        let comment = self.take(end);
        let words = |line: &str| {
            line.trim().trim_start_matches("/*").trim_end_matches("*/").trim_matches(['*', '!', ' ']).to_owned()
        };
        let text = comment.lines().map(words).collect::<Vec<_>>().join(" ");
        self.parts.comments.push(Comment { line, text: text.trim().to_owned(), open: None });
    }

    /// Reads a literal, a word or a single character of code.
    fn code(&mut self, first: char) {
        let rest = self.rest();
        if let Some((mark, lines)) = self.syntax.string(rest) {
            self.literal(mark, self.syntax.has_escapes(mark), lines);
        } else if self.syntax == Syntax::Rust && first == '\'' {
            self.take(character(rest));
        } else if self.syntax == Syntax::Shell && first == '\\' {
            self.take(1 + rest[1..].chars().next().map_or(0, char::len_utf8));
        } else if first.is_alphanumeric() || first == '_' {
            let word = self.take(rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len()));
            self.raw_literal(word);
        } else {
            self.take(first.len_utf8());
        }
    }

    /// Reads a raw string of Rust after its prefix, such as `r#"…"#`.
    fn raw_literal(&mut self, prefix: &str) {
        let rest = self.rest();
        let hashes = rest.len() - rest.trim_start_matches('#').len();
        if self.syntax != Syntax::Rust || !["r", "br", "cr"].contains(&prefix) || !rest[hashes..].starts_with('"') {
            return;
        }
        self.take(hashes);
        self.literal(&format!("\"{}", &rest[..hashes]), false, true);
    }

    /// Reads a literal that begins with the first character of `mark`, or with `mark` as a whole, and ends with `mark`.
    fn literal(&mut self, mark: &str, has_escapes: bool, lines: bool) {
        let line = self.line;
        let begin = if self.rest().starts_with(mark) { mark.len() } else { 1 };
        self.take(begin);
        let rest = self.rest();
        let (mut end, mut is_escaped) = (rest.len(), false);
        for (at, c) in rest.char_indices() {
            // A mark without an end is no literal, but a part of a regular expression for example.
            if !is_escaped && rest[at..].starts_with(mark) || c == '\n' && !lines && !is_escaped {
                end = at;
                break;
            }
            is_escaped = has_escapes && c == '\\' && !is_escaped;
        }
        let content = self.take(end);
        if self.rest().starts_with(mark) {
            self.take(mark.len());
        }
        // A backslash at the end of a line joins it with the next line.
        let joined: Vec<&str> = content.lines().map(|line| line.trim().trim_end_matches('\\').trim_end()).collect();
        self.parts.literals.push((line, joined.join(" ")));
    }
}

/// Returns the length of the character literal of Rust at the beginning of `text`, or of the mark of a lifetime.
fn character(text: &str) -> usize {
    let mut chars = text.char_indices().skip(1);
    match (chars.next(), chars.next()) {
        (Some((_, '\\')), Some((_, escaped))) => {
            let begin = 2 + escaped.len_utf8();
            text[begin..].find('\'').map_or(1, |end| begin + end + 1)
        }
        (Some(_), Some((end, '\''))) => end + 1,
        _ => 1,
    }
}

#[test]
fn comments_and_literals_are_distinguished() {
    let parts = |path: &str, text: &str| {
        let parts = scan(path, text);
        let comments: Vec<String> = parts.comments.iter().map(|c| format!("{} {}", c.line, c.text)).collect();
        (comments, parts.literals.into_iter().map(|(line, text)| format!("{line} {text}")).collect::<Vec<_>>())
    };
    let strings = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let check = |path: &str, text: &str, comments: &[&str], literals: &[&str]| {
        assert_eq!(parts(path, text), (strings(comments), strings(literals)), "{text}");
    };
    check("a.rs", "let a = \"http://x\"; // one\n// two\n// three\n", &["1 one", "2 two three"], &["1 http://x"]);
    check("a.rs", "let a = \"one \\\n    two // no\\\"\"; // b\n", &["2 b"], &["1 one two // no\\\""]);
    check("a.rs", "r#\"a \"b\" // c\"#; '\"'; '\\''; '\\u{22}'; <'a> // d", &["1 d"], &["1 a \"b\" // c"]);
    check("a.rs", "/* one\n * two */ let a = 1; //! three", &["1 one two", "2 three"], &[]);
    check("a.js", "const a = /\"/;\nf('b', `c\nd`); // e", &["3 e"], &["1 /;", "2 b", "2 c d"]);
    check("a.py", "#!/bin/x\nx = '#' # one\n# two\n", &["2 one", "3 two"], &["2 #"]);
    check("a.sh", "n=$# # one\nawk '# no\n' \\' \"${x#y}\"\n", &["1 one"], &["2 # no", "3 ${x#y}"]);
    check(".ci/run", "# one\nx", &["1 one"], &[]);
    check("a.toml", "a = 'b\\' # c\n", &["1 c"], &["1 b"]);
    check("a.md", "# one", &[], &[]);
}
