//! The promises P1 to P8. One page states them; other pages quote their names.

use crate::support::checkout::{root, tracked_files};

/// The page that states the promises.
const STATED: &str = "docs/reference/semantics.md";

const COUNT: usize = 8;

/// Returns the names of the promises, from the lines `- **P1 Resumable.** …` of the page that states them.
fn names(page: &str) -> Vec<String> {
    let name = |number: usize| {
        let mark = format!("\n- **P{number} ");
        let (_, rest) = page.split_once(&mark).unwrap_or_else(|| panic!("{STATED} states P{number}"));
        rest.split_once(".**").map_or_else(|| panic!("P{number} has a name"), |(name, _)| name.to_owned())
    };
    (1..=COUNT).map(name).collect()
}

/// Returns the lines of another page that state a promise, or give a promise another name. A row of a table may begin
/// with the number and the name of a promise.
fn violations(names: &[String], path: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        for (promise, name) in (1..).zip(names) {
            let row = format!("| P{promise}");
            let is_quoted = line.starts_with(&format!("{row} {name} |"));
            let is_row = line.starts_with(&row) && !line[row.len()..].starts_with(|c: char| c.is_ascii_digit());
            if line.contains(&format!("**P{promise} ")) || is_row && !is_quoted {
                found.push(format!("{path}:{}: {line}", number + 1));
            }
        }
    }
    found
}

#[test]
fn one_page_states_the_promises() {
    let read = |path: &str| std::fs::read_to_string(root().join(path)).unwrap();
    let names = names(&read(STATED));
    let pages = tracked_files().into_iter().filter(|path| path.ends_with(".md") && path != STATED);
    let found: Vec<String> = pages.flat_map(|path| violations(&names, &path, &read(&path))).collect();
    assert!(found.is_empty(), "only {STATED} states the promises:\n  {}", found.join("\n  "));
    for page in ["README.md", "docs/internals/guarantees.md"] {
        let text = read(page);
        let missing = (1..).zip(&names).find(|(number, name)| !text.contains(&format!("\n| P{number} {name} |")));
        assert_eq!(missing, None, "{page} quotes every promise");
    }
}

#[test]
fn second_statement_and_other_name_are_found() {
    let names = ["Resumable".to_owned(), "At most once".to_owned()];
    let check = |text: &str| violations(&names, "a.md", text).len();
    assert_eq!(check("| P1 Resumable | I1 |\n| P2 At most once | I2 |\nP1 holds.\n| P12 pump |"), 0);
    assert_eq!(check("- **P1 Resumable.** A job continues."), 1);
    assert_eq!(check("| P1 | **Resumable.** A job continues. |"), 1);
    assert_eq!(check("| P2 Resumable | I1 |"), 1);
}
