//! Page of the register: its tables, and the column that is generated.

use std::collections::{BTreeMap, BTreeSet};

use crate::support::checkout::root;

/// Page that lists every guarantee, the files that enforce it, and the files of its tests.
pub(super) const REGISTER: &str = "docs/internals/guarantees.md";

/// Tables of the register.
pub(super) struct Register {
    /// Text of the page.
    pub(super) text: String,
    /// Guarantees of each group, in the order of the page.
    pub(super) groups: Vec<Vec<Guarantee>>,
    /// Fences of all groups.
    pub(super) fences: Vec<Fence>,
}

/// Row of a table of guarantees, without the generated column.
pub(super) struct Guarantee {
    pub(super) number: u32,
    pub(super) statement: String,
    /// Paths of the files that enforce the guarantee.
    pub(super) files: Vec<String>,
}

/// Row of a table of fences.
pub(super) struct Fence {
    pub(super) name: String,
    pub(super) condition: String,
    pub(super) tests: Vec<String>,
}

/// Kind of the table that is being read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Table {
    Guarantees,
    Fences,
    /// No table, or a table of another kind.
    Other,
}

/// Line of the page.
enum Line<'a> {
    /// First row of a table of guarantees.
    FirstOfGroup,
    Guarantee {
        number: u32,
        statement: &'a str,
        files: &'a str,
    },
    Fence {
        name: &'a str,
        condition: &'a str,
        tests: &'a str,
    },
    Other,
}

impl Register {
    pub(super) fn read() -> Register {
        let text = std::fs::read_to_string(root().join(REGISTER)).expect("there is a register of guarantees");
        let (mut groups, mut fences) = (Vec::new(), Vec::new());
        for (_, line) in lines(&text) {
            match line {
                Line::FirstOfGroup => groups.push(Vec::new()),
                Line::Guarantee { number, statement, files } => {
                    let files = quoted(files).map(str::to_owned).collect();
                    let group = groups.last_mut().expect("the table has begun");
                    group.push(Guarantee { number, statement: statement.to_owned(), files });
                }
                Line::Fence { name, condition, tests } => fences.push(Fence {
                    name: name.to_owned(),
                    condition: condition.to_owned(),
                    tests: quoted(tests).map(str::to_owned).collect(),
                }),
                Line::Other => {}
            }
        }
        Register { text, groups, fences }
    }

    /// Returns the text of the page with these files in the column of tests.
    pub(super) fn with_tests(&self, tests: &BTreeMap<u32, BTreeSet<&str>>) -> String {
        let mut page = String::new();
        for (text, line) in lines(&self.text) {
            match line {
                Line::Guarantee { number, statement, files } => {
                    let tests = tests.get(&number).into_iter().flatten();
                    let tests: Vec<String> = tests.map(|path| format!("`{path}`")).collect();
                    page.push_str(&format!("| I{number} | {statement} | {files} | {} |\n", tests.join(", ")));
                }
                _ => page.push_str(&format!("{text}\n")),
            }
        }
        page
    }
}

/// Returns each line of the page, as text and as a parsed `Line`.
fn lines(page: &str) -> impl Iterator<Item = (&str, Line<'_>)> {
    let mut table = Table::Other;
    page.lines().map(move |text| {
        let (now, line) = read_line(table, text);
        table = now;
        (text, line)
    })
}

/// Parses a line of the page. `table` is the kind of the table to which the previous line belongs. Returns the kind of
/// the table after this line, and the parsed line.
fn read_line(table: Table, text: &str) -> (Table, Line<'_>) {
    let Some(row) = text.strip_prefix('|') else { return (Table::Other, Line::Other) };
    let cells: Vec<&str> = row.trim_end().trim_end_matches('|').split('|').map(str::trim).collect();
    match (table, cells.as_slice()) {
        (_, [dashes, ..]) if dashes.starts_with("---") => (table, Line::Other),
        (Table::Other, ["no", "guarantee", "enforced by", "tests"]) => (Table::Guarantees, Line::FirstOfGroup),
        (Table::Other, ["fence", "condition", "fails without it"]) => (Table::Fences, Line::Other),
        (Table::Guarantees, [no, statement, files, _]) => {
            (table, Line::Guarantee { number: number(no), statement, files })
        }
        (Table::Fences, [fence, condition, tests]) => {
            let (no, name) = fence.split_once(": ").unwrap_or_else(|| panic!("{REGISTER}: no number: {text}"));
            number(no);
            (table, Line::Fence { name, condition, tests })
        }
        (Table::Other, _) => (table, Line::Other),
        (Table::Guarantees | Table::Fences, _) => panic!("{REGISTER}: a row with other cells: {text}"),
    }
}

/// Returns the number of a guarantee, such as 9 for I9.
fn number(text: &str) -> u32 {
    let number = text.strip_prefix('I').and_then(|digits| digits.parse().ok());
    number.unwrap_or_else(|| panic!("{REGISTER}: {text} is not the number of a guarantee"))
}

/// Returns the text between backquotes.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}
