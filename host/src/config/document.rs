//! A TOML document in which each value has its position in the file. All problems are collected in one list. A key of
//! the file that was never read is also a problem.

use std::cell::RefCell;
use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use latchwork_core::encoding::suggest::did_you_mean;
use latchwork_core::model::error_docs;

use super::problem::{ConfigProblem, SettingSource};

/// Collects problems of one file.
pub(super) struct ProblemSink<'d> {
    path: &'d Path,
    text: &'d str,
    problems: RefCell<Vec<ConfigProblem>>,
}

impl<'d> ProblemSink<'d> {
    pub(super) fn new(path: &'d Path, text: &'d str) -> Self {
        Self { path, text, problems: RefCell::default() }
    }

    pub(super) fn problem(&self, span: Range<usize>, key: &str, code: &'static str, message: impl Into<String>) {
        let origin = self.origin(span.start);
        self.problems.borrow_mut().push(ConfigProblem { origin, key: key.to_owned(), code, message: message.into() });
    }

    /// Returns the problems in the order of the file.
    pub(super) fn into_problems(self) -> Vec<ConfigProblem> {
        let mut problems = self.problems.into_inner();
        problems.sort_by(|a, b| (&a.origin, &a.key).cmp(&(&b.origin, &b.key)));
        problems
    }

    fn origin(&self, offset: usize) -> SettingSource {
        let before = self.text.get(..offset).unwrap_or(self.text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        SettingSource::File {
            path: PathBuf::from(self.path),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }
}

/// A table being read. Keys that were not read before [`finish`](TableReader::finish) are reported as
/// unknown.
pub(super) struct TableReader<'d> {
    sink: &'d ProblemSink<'d>,
    path: String,
    span: Range<usize>,
    entries: &'d DeTable<'d>,
    known: Vec<&'static str>,
}

impl<'d> TableReader<'d> {
    pub(super) fn root(sink: &'d ProblemSink<'d>, document: &'d Spanned<DeTable<'d>>) -> Self {
        // A key that is missing at the top level is reported at the first character of the document.
        Self { sink, path: String::new(), span: 0..0, entries: document.get_ref(), known: vec![] }
    }

    /// Returns the value at `key`, if there is one.
    pub(super) fn get(&mut self, key: &'static str) -> Option<ConfigField<'d>> {
        self.known.push(key);
        #[cfg(test)]
        keys_read::record(&join(&self.path, key));
        let value = self.entries.get(key)?;
        Some(ConfigField { sink: self.sink, path: join(&self.path, key), value })
    }

    /// Returns the value at `key`. A missing key is reported as a problem.
    pub(super) fn require(&mut self, key: &'static str) -> Option<ConfigField<'d>> {
        let field = self.get(key);
        if field.is_none() {
            let message = format!("`{key}` is missing");
            self.sink.problem(self.span.clone(), &self.path, error_docs::CONFIG_MISSING_KEY, message);
        }
        field
    }

    /// Returns all entries of the table, including those that were not read.
    pub(super) fn entries(&mut self) -> Vec<(&'d str, ConfigField<'d>)> {
        let (sink, path) = (self.sink, &self.path);
        let field = |(key, value): (&'d Spanned<_>, _)| {
            let name: &'d std::borrow::Cow<'d, str> = key.get_ref();
            (&**name, ConfigField { sink, path: join(path, name), value })
        };
        self.entries.iter().map(field).collect()
    }

    /// Reports every key that was not read.
    pub(super) fn finish(self) {
        for (key, _) in self.entries {
            let name: &str = key.get_ref();
            if self.known.contains(&name) {
                continue;
            }
            let path = join(&self.path, name);
            let message = format!("unknown key{}", did_you_mean(name, self.known.iter().copied()));
            self.sink.problem(key.span(), &path, error_docs::CONFIG_UNKNOWN_KEY, message);
        }
    }
}

/// A value with its position. The reading methods return `None` after they have reported a problem.
pub(super) struct ConfigField<'d> {
    sink: &'d ProblemSink<'d>,
    path: String,
    value: &'d Spanned<DeValue<'d>>,
}

impl<'d> ConfigField<'d> {
    pub(super) fn value(&self) -> &'d DeValue<'d> {
        self.value.get_ref()
    }

    pub(super) fn problem(&self, code: &'static str, message: impl Into<String>) {
        self.sink.problem(self.value.span(), &self.path, code, message);
    }

    pub(super) fn invalid<T>(&self, message: impl Into<String>) -> Option<T> {
        self.problem(error_docs::CONFIG_INVALID_VALUE, message);
        None
    }

    pub(super) fn string(&self) -> Option<&'d str> {
        self.value().as_str().or_else(|| self.wrong_type("a string"))
    }

    pub(super) fn boolean(&self) -> Option<bool> {
        self.value().as_bool().or_else(|| self.wrong_type("true or false"))
    }

    /// Reads a whole number within `range`.
    pub(super) fn integer(&self, range: std::ops::RangeInclusive<u64>) -> Option<u64> {
        let Some(number) = self.value().as_integer() else { return self.wrong_type("a whole number") };
        let value = i128::from_str_radix(number.as_str(), number.radix()).ok();
        match value.and_then(|value| u64::try_from(value).ok()).filter(|value| range.contains(value)) {
            Some(value) => Some(value),
            None => self.invalid(format!("{number} is not between {} and {}", range.start(), range.end())),
        }
    }

    pub(super) fn table(&self) -> Option<TableReader<'d>> {
        let Some(entries) = self.value().as_table() else { return self.wrong_type("a table") };
        let span = self.value.span();
        Some(TableReader { sink: self.sink, path: self.path.clone(), span, entries, known: vec![] })
    }

    pub(super) fn array(&self) -> Option<Vec<ConfigField<'d>>> {
        let Some(items) = self.value().as_array() else { return self.wrong_type("an array") };
        let field = |(i, value)| ConfigField { sink: self.sink, path: format!("{}[{i}]", self.path), value };
        Some(items.iter().enumerate().map(field).collect())
    }

    /// Reads a string that `parse` accepts. The error of `parse` becomes the message.
    pub(super) fn parse<T>(&self, parse: impl FnOnce(&str) -> Result<T, String>) -> Option<T> {
        match parse(self.string()?) {
            Ok(value) => Some(value),
            Err(message) => self.invalid(message),
        }
    }

    /// Reads a string that must be one of `words`.
    pub(super) fn choice<T: Copy>(&self, words: &[(&'static str, T)]) -> Option<T> {
        self.parse(|text| match words.iter().find(|(word, _)| *word == text) {
            Some((_, value)) => Ok(*value),
            None => {
                let all: Vec<_> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
                let meant = did_you_mean(text, words.iter().map(|(word, _)| *word));
                Err(format!("`{text}` is not one of {}{meant}", all.join(", ")))
            }
        })
    }

    /// Reads an array and returns every item that `read` accepts.
    pub(super) fn list<T>(&self, read: impl FnMut(ConfigField<'d>) -> Option<T>) -> Vec<T> {
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

/// Record of the keys that were read. A test compares these keys with the schema.
#[cfg(test)]
pub(super) mod keys_read {
    use std::cell::RefCell;
    use std::collections::BTreeSet;

    thread_local!(static KEYS_READ: RefCell<BTreeSet<String>> = const { RefCell::new(BTreeSet::new()) });

    pub(super) fn record(path: &str) {
        KEYS_READ.with_borrow_mut(|asked| asked.insert(path.to_owned()));
    }

    /// Returns the keys read by this thread, as JSON pointers.
    pub(crate) fn keys() -> BTreeSet<String> {
        let pointer = |path: &String| {
            // A quoted key may contain any character and forms one part of the pointer.
            let quoted = path.split('"').enumerate();
            let parts = quoted.map(|(n, part)| match n % 2 {
                0 => part.replace('[', ".").replace(']', "").replace('.', "/"),
                _ => part.replace('~', "~0").replace('/', "~1"),
            });
            format!("/{}", parts.collect::<String>())
        };
        KEYS_READ.with_borrow(|asked| asked.iter().map(pointer).collect())
    }
}
