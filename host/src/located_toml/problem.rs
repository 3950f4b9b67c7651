//! Problems of a TOML text, with their positions.

use std::cell::RefCell;
use std::ops::Range;

use toml::Spanned;
use toml::de::DeTable;

use latchwork_core::model::error_docs;

/// A problem at a position of a TOML text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TomlProblem {
    /// Line number, from 1.
    pub line: usize,
    /// Column number, in characters, from 1.
    pub column: usize,
    /// Path of the key from the top, such as `plugin[0].grants.http[1]`. Empty if the problem concerns no key.
    pub key: String,
    /// Code of the error page, such as `L0003`.
    pub code: &'static str,
    /// Description of the problem and of a valid value.
    pub message: String,
}

/// A TOML text and its problems.
pub struct TomlProblems<'t> {
    text: &'t str,
    found: RefCell<Vec<TomlProblem>>,
}

impl<'t> TomlProblems<'t> {
    /// Returns an empty list for a file with this text.
    pub fn new(text: &'t str) -> Self {
        Self { text, found: RefCell::default() }
    }

    /// Parses the text and reports its syntax errors. After a syntax error, the parser only guesses the rest of the
    /// document.
    pub fn parse(&self) -> Spanned<DeTable<'t>> {
        let (document, errors) = DeTable::parse_recoverable(self.text);
        for error in errors {
            self.report(error.span().unwrap_or_default(), "", error_docs::CONFIG_SYNTAX, error.message());
        }
        document
    }

    /// Reports a problem at the beginning of `span`, a range of bytes of the text.
    pub fn report(&self, span: Range<usize>, key: &str, code: &'static str, message: impl Into<String>) {
        let before = self.text.get(..span.start).unwrap_or(self.text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        self.found.borrow_mut().push(TomlProblem {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            key: key.to_owned(),
            code,
            message: message.into(),
        });
    }

    /// Returns true if no problem was reported.
    pub fn is_empty(&self) -> bool {
        self.found.borrow().is_empty()
    }

    /// Returns the problems in the order in which they were reported.
    pub fn into_list(self) -> Vec<TomlProblem> {
        self.found.into_inner()
    }
}
