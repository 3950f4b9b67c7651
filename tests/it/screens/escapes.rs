//! Styles reach the terminal as styles. Escape sequences from plans and arguments never do.

use serde_json::json;

use crate::place::{Place, step};
use crate::program::latch;
use crate::terminal::{Look, Shown, Terminal};

fn at(dir: &std::path::Path, args: &[&str], columns: u16, look: Look) -> Shown {
    Terminal::start(latch(dir, args), columns, look).end()
}

/// I130: an error, a warning and an approval are coloured, and no escape sequence is printed as text.
#[test]
fn styles_are_not_shown_as_text() {
    let dir = tempfile::tempdir().unwrap();
    for columns in [60, 80, 120] {
        let shown = at(dir.path(), &["run", "nofile"], columns, Look::Color);
        assert_eq!(shown.code, 2);
        assert!(shown.styled().starts_with("<bold red>error[L0011]:</> nofile cannot be read:"), "{}", shown.styled());
        assert!(!shown.text().contains("u{1b}"), "{}", shown.text());
    }
    let place = Place::witness("atomic").plan(&[step("o", "Effect.Opaque", &[], json!({ "note": 1 }))]);
    let mut terminal = Terminal::start(latch(&place.dir, &["run", "plan.json", "--priority", "3"]), 80, Look::Color);
    terminal.until("approve? [y]es, [n]o");
    terminal.types("later");
    let parked = terminal.end();
    assert!(!parked.text().contains("u{1b}"), "{}", parked.text());
    // A known job keeps its priority, so the command prints a warning.
    let mut terminal = Terminal::start(latch(&place.dir, &["run", "plan.json", "--priority", "4"]), 80, Look::Color);
    terminal.until("approve? [y]es, [n]o");
    terminal.types("y");
    let approved = terminal.end();
    assert_eq!(approved.code, 0, "{}", approved.text());
    assert!(approved.styled().contains("<bold yellow>warning:</>"), "{}", approved.styled());
    assert!(!approved.text().contains("u{1b}"), "{}", approved.text());
}

/// I130: without colours nothing is styled, and a dumb terminal gets no escape sequence.
#[test]
fn no_color_and_dumb_terminals_get_plain_text() {
    let dir = tempfile::tempdir().unwrap();
    for look in [Look::NoColor, Look::Dumb] {
        let shown = at(dir.path(), &["run", "nofile"], 80, look);
        assert!(!shown.bytes.contains(&0x1b), "{look:?}: {}", String::from_utf8_lossy(&shown.bytes));
    }
}

/// I130: an escape sequence in a plan or an argument is printed as text.
#[test]
fn escape_sequences_of_others_are_shown_as_text() {
    let hostile = "\u{1b}[2J\u{1b}]0;owned\u{7}\u{1b}[31mred";
    let payload = json!({ "note": 1, "text": hostile });
    let place = Place::witness("atomic").plan(&[step("o", "Effect.Opaque", &[], payload)]);
    let mut terminal = Terminal::start(latch(&place.dir, &["run", "plan.json"]), 80, Look::Color);
    terminal.until("approve? [y]es, [n]o");
    terminal.types("later");
    let shown = terminal.end();
    assert!(shown.text().contains(r#"text: "\u001b[2J\u001b]0;owned\u0007\u001b[31mred""#), "{}", shown.text());
    assert!(!shown.styled().contains("<red>red"), "{}", shown.styled());
}
