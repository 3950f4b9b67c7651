//! `docs/reference/wit.md` against the files of `wit`.

use std::collections::BTreeSet;

use super::{assert_none, code_spans, differences, read, rows};
use crate::support::checkout::tracked_files;

/// Interfaces of WIT files: their functions with signatures, and the names of fields and cases.
#[derive(Default)]
struct Interfaces {
    functions: BTreeSet<String>,
    names: BTreeSet<String>,
}

impl Interfaces {
    /// Reads one file. Each function, field and case is on a line of its own.
    fn read(&mut self, text: &str) {
        let mut interface = "";
        for line in text.lines().map(str::trim).filter(|line| !line.starts_with("//")) {
            if let Some(name) = line.strip_prefix("interface ") {
                interface = name.trim_end_matches(" {");
            } else if line.starts_with("world ") {
                interface = "";
            } else if let Some((name, _)) = line.split_once(": func(") {
                let signature = line.trim_end_matches(';').replace('%', "");
                assert!(line.ends_with(';') && !interface.is_empty(), "{name} is on one line, in an interface");
                self.functions.insert(format!("{interface}: {signature}"));
            } else if line.ends_with(',') {
                let name = line.trim_start_matches('%').split([':', '(', ',']).next();
                self.names.extend(name.map(str::to_owned));
            }
        }
    }
}

/// Returns the functions of the page. A row with an empty first cell belongs to the interface above.
fn functions_of_page(page: &str) -> BTreeSet<String> {
    let mut interface = "";
    let mut found = BTreeSet::new();
    for cells in rows(page).iter().filter(|cells| cells.len() == 3) {
        if let Some(name) = code_spans(cells[0]).first() {
            interface = *name;
        }
        if let Some(signature) = code_spans(cells[1]).first().filter(|code| code.contains(": func(")) {
            found.insert(format!("{interface}: {signature}"));
        }
    }
    found
}

fn differences_of(interfaces: &Interfaces, page: &str) -> Vec<String> {
    let mut found = differences(&interfaces.functions, &functions_of_page(page), "functions");
    let part = |c: char| c.is_alphanumeric() || c == '-';
    let words: BTreeSet<&str> = code_spans(page).into_iter().flat_map(|span| span.split(|c| !part(c))).collect();
    let missing = interfaces.names.iter().filter(|name| !words.contains(name.as_str()));
    found.extend(missing.map(|name| format!("{name} is not on the page")));
    found
}

#[test]
fn page_of_interfaces_lists_every_function_field_and_case() {
    let mut interfaces = Interfaces::default();
    for path in tracked_files().iter().filter(|path| path.starts_with("wit/") && path.ends_with(".wit")) {
        interfaces.read(&read(path));
    }
    assert!(interfaces.functions.len() > 15 && interfaces.names.len() > 50, "the interfaces are there");
    assert_none("docs/reference/wit.md", &differences_of(&interfaces, &read("docs/reference/wit.md")));
}

#[test]
fn missing_function_and_field_are_found() {
    let mut interfaces = Interfaces::default();
    interfaces.read("interface a {\n  record r {\n    one: u32,\n  }\n  /// Text: func()\n  f: func(%x: u32);\n}\n");
    let check = |page: &str| differences_of(&interfaces, page);
    assert_eq!(check("| `a` | `f: func(x: u32)` | `one` |\n"), Vec::<String>::new());
    assert_eq!(check("| `a` | `f: func(x: u64)` | `one` |\n").len(), 2);
    assert_eq!(check("| `a` | `f: func(x: u32)` | one |\n"), ["one is not on the page"]);
}
