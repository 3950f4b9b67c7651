//! Texts of many parts: with many separators, or with many lines of which each is indented deeper.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::check::variations::change::ValueChange;
use crate::check::variations::numbering::numbered_text;

/// Numbers of parts of a text. The first one that is allowed is used. A result with a level for each part has no
/// canonical form.
const PARTS: [usize; 3] = [200, 100, 70];

/// Number of lines that are added to a text: more than the host calls of a run.
const LINES: usize = 12_000;
/// Maximum number of lines of which copies are added.
const KINDS_MAX: usize = 2;

/// Returns texts of many parts. Of each group, the first change that is allowed is made.
pub(super) fn of_parts(text: &str) -> Vec<Vec<ValueChange<'static>>> {
    separated(text).into_iter().chain(many_lines(text)).chain(indented_text(text)).collect()
}

/// Returns texts with many separators: one of the text's own parts, and one of single letters, which is shorter.
fn separated(text: &str) -> Vec<Vec<ValueChange<'static>>> {
    let Some(separator) = separator(text) else { return vec![] };
    let own: Vec<&str> = text.split(separator).filter(|part| !part.trim().is_empty()).collect();
    let letters: Vec<String> = ('a'..='z').map(String::from).collect();
    let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
    let before = if text.starts_with(separator) { separator.to_string() } else { String::new() };
    let of = |parts: &[&str], what: &str| -> Vec<ValueChange<'static>> {
        let many = |count: usize| {
            let parts: Vec<&str> = parts.iter().copied().cycle().take(count).collect();
            let text = format!("{before}{}", parts.join(&separator.to_string()));
            ValueChange::to(format!("a text of {count} {what} with {separator:?} between them"), text)
        };
        PARTS.into_iter().map(many).collect()
    };
    if own.is_empty() { vec![of(&letters, "letters")] } else { vec![of(&own, "parts"), of(&letters, "letters")] }
}

/// Returns the most frequent character that is neither a letter, nor a digit, nor blank. Of equally frequent ones,
/// returns the first.
fn separator(text: &str) -> Option<char> {
    // The number of a separator and its first place. The text can be long, so it is read only once.
    let mut found = BTreeMap::<char, (usize, usize)>::new();
    for (at, c) in text.char_indices().filter(|(_, c)| !c.is_alphanumeric() && !c.is_whitespace()) {
        found.entry(c).or_insert((0, at)).0 += 1;
    }
    found.into_iter().max_by_key(|(_, (count, first))| (*count, Reverse(*first))).map(|(separator, _)| separator)
}

/// If the text has several lines, returns it with many more lines: copies of a line, one text for each number of cells that
/// its lines have, and lines that have no cells.
fn many_lines(text: &str) -> Vec<Vec<ValueChange<'static>>> {
    let own: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let (Some(separator), true) = (separator(text), own.len() > 1) else { return vec![] };
    let cells = |line: &str| line.matches(separator).count();
    let mut seen = BTreeSet::new();
    let kinds = own.iter().copied().filter(|line| seen.insert(cells(line))).take(KINDS_MAX);
    let many = |line: &str| {
        let lines = std::iter::once(text.trim_end()).chain(std::iter::repeat_n(line, LINES)).collect::<Vec<_>>();
        vec![ValueChange::large(&format!("{LINES} more lines {line:?}"), lines.join("\n"))]
    };
    kinds.chain(["x"]).map(many).collect()
}

/// Returns a text of many lines if lines of the text are indented.
fn indented_text(text: &str) -> Option<Vec<ValueChange<'static>>> {
    let lines: Vec<&str> = text.lines().collect();
    let many = |count: &usize| {
        let lines = indented(&lines, *count)?;
        Some(ValueChange::to(format!("a text of {count} lines, each indented deeper"), lines.join("\n")))
    };
    PARTS.iter().map(many).collect()
}

/// Returns an array of many lines if the elements are lines and some of them are indented.
pub(super) fn of_lines(elements: &[Value]) -> Option<Vec<ValueChange<'static>>> {
    let lines: Vec<&str> = elements.iter().map(Value::as_str).collect::<Option<_>>()?;
    let many = |count: &usize| {
        Some(ValueChange::to(format!("{count} lines, each indented deeper"), indented(&lines, *count)?))
    };
    PARTS.iter().map(many).collect()
}

/// Returns copies of the first line, with other numbers. Each copy has one indentation more than the copy before.
/// Returns `None` if no line is indented.
fn indented(lines: &[&str], count: usize) -> Option<Vec<String>> {
    let blank = |line: &&str| line.len() - line.trim_start().len();
    let lines = || lines.iter().filter(|line| !line.trim().is_empty());
    let indentation = lines().map(|line| &line[..blank(line)]).filter(|blank| !blank.is_empty());
    let indentation = indentation.min_by_key(|blank| blank.len())?;
    let first = lines().next()?.trim();
    Some((0..count).map(|n| format!("{}{}", indentation.repeat(n), numbered_text(first, n))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first_allowed(groups: Vec<Vec<ValueChange<'static>>>, length_max: usize) -> Vec<String> {
        let text = |change: ValueChange<'static>| change.into_value().unwrap().as_str().unwrap().to_owned();
        let allowed =
            |group: Vec<ValueChange<'static>>| group.into_iter().map(text).find(|text| text.len() <= length_max);
        groups.into_iter().filter_map(allowed).collect()
    }

    #[test]
    fn texts_have_many_parts_and_keep_their_separator() {
        let texts = first_allowed(of_parts("/hall b/row 3, left/shelf"), 400);
        assert_eq!(texts.len(), 1, "the own parts are too long: {texts:?}");
        assert!(texts[0].starts_with("/a/b/c/") && texts[0].len() == 400, "{texts:?}");
        let texts = first_allowed(of_parts("a.b-c-d"), 10_000);
        assert!(texts[0].starts_with("a.b-c-d-a.b-c-") && texts[1].starts_with("a-b-"), "{texts:?}");
        assert!(of_parts("two words").is_empty());
    }

    #[test]
    fn lines_of_each_kind_are_added() {
        let texts = first_allowed(of_parts("tea;4\nrye\nend\n"), 1_000_000);
        let added = &texts[texts.len() - 3..];
        for (text, line) in added.iter().zip(["tea;4", "rye", "x"]) {
            let added = text.strip_prefix("tea;4\nrye\nend\n").unwrap();
            assert!(added.lines().count() == LINES && added.lines().all(|one| one == line), "{line}");
        }
        assert!(first_allowed(of_parts("one;line"), 1_000_000).iter().all(|text| text.lines().count() < 2));
    }

    #[test]
    fn each_line_is_indented_deeper() {
        let texts = first_allowed(of_parts("\n100: clay\n  101: pit\n    102"), 30_000);
        assert!(texts.last().unwrap().starts_with("100: clay\n  101: clay\n    102: clay\n"), "{texts:?}");
        let lines = of_lines(&["a".into(), "\tb".into()]).unwrap().remove(0).into_value().unwrap();
        assert_eq!((&lines[0], &lines[2], lines[199].as_str().unwrap().len()), (&"a0".into(), &"\t\ta2".into(), 203));
        assert!(of_lines(&["a".into(), "b".into()]).is_none());
    }
}
