//! Styles reach the terminal as escape sequences. Escape sequences from plans and arguments reach the terminal only as
//! printed text.

use serde_json::json;

use crate::support::program::latch_command;
use crate::support::terminal::{Terminal, TerminalKind, TerminalOutput};
use crate::support::test_env::{TestEnv, step};

fn screen_at(dir: &std::path::Path, args: &[&str], columns: u16, look: TerminalKind) -> TerminalOutput {
    Terminal::start(latch_command(dir, args), columns, look).wait_for_end()
}

/// I130: an error, a warning and an approval are coloured, and no escape sequence is printed as text.
#[test]
fn styles_are_not_printed_as_text() {
    let dir = tempfile::tempdir().unwrap();
    for columns in [60, 80, 120] {
        let screen = screen_at(dir.path(), &["run", "nofile"], columns, TerminalKind::Color);
        assert_eq!(screen.code, 2);
        assert!(
            screen.styled().starts_with("<bold red>error[L0011]:</> nofile cannot be read:"),
            "{}",
            screen.styled()
        );
        assert!(!screen.text().contains("u{1b}"), "{}", screen.text());
    }
    let place = TestEnv::witness("atomic").with_plan(&[step("o", "Effect.Opaque", &[], json!({ "note": 1 }))]);
    let mut terminal =
        Terminal::start(latch_command(&place.dir, &["run", "plan.json", "--priority", "3"]), 80, TerminalKind::Color);
    terminal.wait_until_contains("approve? [y]es, [n]o");
    terminal.type_line("later");
    let parked = terminal.wait_for_end();
    assert!(!parked.text().contains("u{1b}"), "{}", parked.text());
    // The job exists already and keeps its priority, so `--priority` causes a warning.
    let mut terminal =
        Terminal::start(latch_command(&place.dir, &["run", "plan.json", "--priority", "4"]), 80, TerminalKind::Color);
    terminal.wait_until_contains("approve? [y]es, [n]o");
    terminal.type_line("y");
    let approved = terminal.wait_for_end();
    assert_eq!(approved.code, 0, "{}", approved.text());
    assert!(approved.styled().contains("<bold yellow>warning:</>"), "{}", approved.styled());
    assert!(!approved.text().contains("u{1b}"), "{}", approved.text());
}

/// I130: without colours nothing is styled, and a dumb terminal gets no escape sequence.
#[test]
fn no_color_and_dumb_terminals_get_plain_text() {
    let dir = tempfile::tempdir().unwrap();
    for look in [TerminalKind::NoColor, TerminalKind::Dumb] {
        let screen = screen_at(dir.path(), &["run", "nofile"], 80, look);
        assert!(!screen.bytes.contains(&0x1b), "{look:?}: {}", String::from_utf8_lossy(&screen.bytes));
    }
}

/// I130: an escape sequence in a plan or an argument is printed as text.
#[test]
fn foreign_escape_sequences_are_printed_as_text() {
    let hostile = "\u{1b}[2J\u{1b}]0;owned\u{7}\u{1b}[31mred";
    let payload = json!({ "note": 1, "text": hostile });
    let place = TestEnv::witness("atomic").with_plan(&[step("o", "Effect.Opaque", &[], payload)]);
    let mut terminal = Terminal::start(latch_command(&place.dir, &["run", "plan.json"]), 80, TerminalKind::Color);
    terminal.wait_until_contains("approve? [y]es, [n]o");
    terminal.type_line("later");
    let screen = terminal.wait_for_end();
    assert!(screen.text().contains(r#"text: "\u001b[2J\u001b]0;owned\u0007\u001b[31mred""#), "{}", screen.text());
    assert!(!screen.styled().contains("<red>red"), "{}", screen.styled());
}
