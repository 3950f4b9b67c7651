//! Tables and values of a TOML text, with their positions.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use latchwork_core::encoding::suggest::did_you_mean;
use latchwork_core::model::error_docs;

#[cfg(test)]
use super::keys_read;
use super::problem::TomlProblems;

/// A table being read. Keys that were not read before [`finish`](TableReader::finish) are reported as
/// unknown.
pub struct TableReader<'d> {
    problems: &'d TomlProblems<'d>,
    path: String,
    span: Range<usize>,
    entries: &'d DeTable<'d>,
    known: Vec<&'static str>,
}

impl<'d> TableReader<'d> {
    /// Returns a reader of the whole document.
    pub fn root(problems: &'d TomlProblems<'d>, document: &'d Spanned<DeTable<'d>>) -> Self {
        // A key that is missing at the top level is reported at the first character of the document.
        Self { problems, path: String::new(), span: 0..0, entries: document.get_ref(), known: vec![] }
    }

    /// Returns the value at `key`, if there is one.
    pub fn get(&mut self, key: &'static str) -> Option<TomlField<'d>> {
        self.known.push(key);
        #[cfg(test)]
        keys_read::record(&join(&self.path, key));
        let value = self.entries.get(key)?;
        Some(TomlField { problems: self.problems, path: join(&self.path, key), value })
    }

    /// Returns the value at `key`. A missing key is reported as a problem.
    pub fn require(&mut self, key: &'static str) -> Option<TomlField<'d>> {
        let field = self.get(key);
        if field.is_none() {
            let message = format!("`{key}` is missing");
            self.problems.report(self.span.clone(), &self.path, error_docs::CONFIG_MISSING_KEY, message);
        }
        field
    }

    /// Reports a problem with a missing key, at the position of the table.
    pub fn problem(&self, key: &str, code: &'static str, message: impl Into<String>) {
        self.problems.report(self.span.clone(), &join(&self.path, key), code, message);
    }

    /// Returns all entries of the table, including those that were not read.
    pub fn entries(&mut self) -> Vec<(&'d str, TomlField<'d>)> {
        let (problems, path) = (self.problems, &self.path);
        let field = |(key, value): (&'d Spanned<_>, _)| {
            let name: &'d std::borrow::Cow<'d, str> = key.get_ref();
            (&**name, TomlField { problems, path: join(path, name), value })
        };
        self.entries.iter().map(field).collect()
    }

    /// Reports every key that was not read.
    pub fn finish(self) {
        self.refuse_other_keys(&self.known);
    }

    /// Reports every key that is not in `known`.
    pub fn refuse_other_keys(&self, known: &[&str]) {
        for (key, _) in self.entries {
            let name: &str = key.get_ref();
            if known.contains(&name) {
                continue;
            }
            let message = format!("unknown key{}", did_you_mean(name, known.iter().copied()));
            self.problems.report(key.span(), &join(&self.path, name), error_docs::CONFIG_UNKNOWN_KEY, message);
        }
    }
}

/// A value with its position. The reading methods return `None` after they have reported a problem.
pub struct TomlField<'d> {
    problems: &'d TomlProblems<'d>,
    path: String,
    value: &'d Spanned<DeValue<'d>>,
}

impl<'d> TomlField<'d> {
    /// Returns the value as it was parsed.
    pub fn value(&self) -> &'d DeValue<'d> {
        self.value.get_ref()
    }

    /// Reports a problem of this value.
    pub fn problem(&self, code: &'static str, message: impl Into<String>) {
        self.problems.report(self.value.span(), &self.path, code, message);
    }

    /// Reports that the value is invalid, and returns `None`.
    pub fn invalid<T>(&self, message: impl Into<String>) -> Option<T> {
        self.problem(error_docs::CONFIG_INVALID_VALUE, message);
        None
    }

    /// Reports an invalid part of this value, at the position of the part and under the key of this value.
    pub fn invalid_part(&self, part: &Self, message: impl Into<String>) {
        self.problems.report(part.value.span(), &self.path, error_docs::CONFIG_INVALID_VALUE, message);
    }

    /// Returns the string, or reports that the value is not a string.
    pub fn string(&self) -> Option<&'d str> {
        self.value().as_str().or_else(|| self.wrong_type("a string"))
    }

    /// Returns the boolean, or reports that the value is not a boolean.
    pub fn boolean(&self) -> Option<bool> {
        self.value().as_bool().or_else(|| self.wrong_type("true or false"))
    }

    /// Reads a whole number within `range`.
    pub fn integer(&self, range: std::ops::RangeInclusive<u64>) -> Option<u64> {
        let Some(number) = self.value().as_integer() else { return self.wrong_type("a whole number") };
        let value = i128::from_str_radix(number.as_str(), number.radix()).ok();
        match value.and_then(|value| u64::try_from(value).ok()).filter(|value| range.contains(value)) {
            Some(value) => Some(value),
            None => self.invalid(format!("{number} is not between {} and {}", range.start(), range.end())),
        }
    }

    /// Returns a reader of the table, or reports that the value is not a table.
    pub fn table(&self) -> Option<TableReader<'d>> {
        let Some(entries) = self.value().as_table() else { return self.wrong_type("a table") };
        let span = self.value.span();
        Some(TableReader { problems: self.problems, path: self.path.clone(), span, entries, known: vec![] })
    }

    /// Returns the elements, or reports that the value is not an array.
    pub fn array(&self) -> Option<Vec<TomlField<'d>>> {
        let Some(items) = self.value().as_array() else { return self.wrong_type("an array") };
        let field = |(i, value)| TomlField { problems: self.problems, path: format!("{}[{i}]", self.path), value };
        Some(items.iter().enumerate().map(field).collect())
    }

    /// Reads a string that `parse` accepts. The error of `parse` becomes the message.
    pub fn parse<T>(&self, parse: impl FnOnce(&str) -> Result<T, String>) -> Option<T> {
        match parse(self.string()?) {
            Ok(value) => Some(value),
            Err(message) => self.invalid(message),
        }
    }

    /// Reads a string that must be one of `words`.
    pub fn choice<T: Clone>(&self, words: &[(&'static str, T)]) -> Option<T> {
        self.parse(|text| match words.iter().find(|(word, _)| *word == text) {
            Some((_, value)) => Ok(value.clone()),
            None => {
                let all: Vec<_> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
                let meant = did_you_mean(text, words.iter().map(|(word, _)| *word));
                Err(format!("`{text}` is not one of {}{meant}", all.join(", ")))
            }
        })
    }

    /// Reads an array and returns every item that `read` accepts.
    pub fn list<T>(&self, read: impl FnMut(TomlField<'d>) -> Option<T>) -> Vec<T> {
        self.array().unwrap_or_default().into_iter().filter_map(read).collect()
    }

    fn wrong_type<T>(&self, wanted: &str) -> Option<T> {
        let found = match self.value().type_str() {
            kind @ ("integer" | "array") => format!("an {kind}"),
            kind => format!("a {kind}"),
        };
        self.problem(error_docs::CONFIG_WRONG_TYPE, format!("expected {wanted}, found {found}"));
        None
    }
}

fn join(path: &str, key: &str) -> String {
    let plain = !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    let key = if plain { key.to_owned() } else { format!("{key:?}") };
    if path.is_empty() { key } else { format!("{path}.{key}") }
}
