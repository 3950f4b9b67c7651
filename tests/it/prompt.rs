//! Gates at a real terminal: the text shown, and the effect of each answer.

use serde_json::{Value, json};

use crate::place::{Place, step};
use crate::program::latch;
use crate::terminal::{Look, Terminal};

/// Runs the plan at a terminal, and types each answer after its question is shown. Returns the terminal's
/// text and the exit code.
fn at_terminal(place: &Place, answers: &[(&str, &str)]) -> (String, i32) {
    let command = latch(&place.dir, &["run", "plan.json", "--actor", "ada"]);
    let mut terminal = Terminal::start(command, 120, Look::NoColor);
    for (question, answer) in answers {
        terminal.until(question);
        terminal.types(answer);
    }
    let shown = terminal.end();
    (shown.text(), shown.code)
}

fn place() -> Place {
    let payload = json!({ "note": 7, "text": "Dear Ada,\nsecond line\u{1b}[2J" });
    Place::witness("atomic").again().plan(&[step("o", "Effect.Opaque", &[], payload)])
}

fn response(place: &Place) -> Value {
    let id = place.the_job()["job_id"].as_str().unwrap().to_owned();
    place.latch(&["job", "show", &id, "--json"]).json()
}

/// I20: exactly the arguments that would be sent are shown before the question.
#[test]
fn yes_at_the_terminal_executes_what_was_shown() {
    let place = place();
    let (shown, code) = at_terminal(&place, &[("approve? [y]es, [n]o", "y")]);
    assert_eq!((code, &response(&place)["state"]), (0, &json!("COMPLETED")), "{shown}");
    assert_eq!(place.world().get("o"), Some(&1));
    let question = shown.find("approve?").unwrap();
    for part in [
        "o wants to execute Effect.Opaque",
        "plugin witness 1.0.0",
        "gate-o, hash ",
        "  note: 7",
        "    Dear Ada,",
        "    \"second line",
    ] {
        assert!(shown.find(part).is_some_and(|at| at < question), "{part:?} is shown before the question: {shown}");
    }
    assert!(shown.contains("second line\\u001b[2J"), "an argument cannot repaint the screen: {shown}");
}

/// I20: a rejection and its reason are recorded, and nothing is executed.
#[test]
fn no_at_the_terminal_refuses_with_a_reason() {
    let place = place();
    let (shown, code) = at_terminal(&place, &[("approve? [y]es, [n]o", "n"), ("why?", "not to her")]);
    let response = response(&place);
    assert_eq!((code, &response["state"]), (1, &json!("FAILED")), "{shown}");
    assert_eq!(response["failed"][0]["reason_code"], "GATE_REJECTED");
    assert_eq!(response["failed"][0]["message"], "ada refused it: not to her");
    assert!(place.world().is_empty());
}

/// Any other answer decides nothing.
#[test]
fn neither_at_the_terminal_leaves_the_gate_open() {
    let place = place();
    let (shown, code) = at_terminal(&place, &[("approve? [y]es, [n]o", "later")]);
    assert_eq!((code, &response(&place)["state"]), (3, &json!("PARKED")), "{shown}");
    assert!(place.world().is_empty());
}

/// Ctrl-D decides nothing, and the following output starts on a new line.
#[test]
fn the_end_of_the_input_leaves_the_gate_open() {
    let place = place();
    let mut terminal = Terminal::start(latch(&place.dir, &["run", "plan.json", "--actor", "ada"]), 120, Look::NoColor);
    terminal.until("approve? [y]es, [n]o");
    terminal.ends_input();
    let shown = terminal.end();
    let text = shown.text();
    assert_eq!((shown.code, &response(&place)["state"]), (3, &json!("PARKED")), "{text}");
    let question = text.lines().find(|line| line.contains("approve? [y]es, [n]o")).unwrap();
    assert!(question.trim_end().ends_with("later"), "nothing follows the question on its line: {question:?}");
}
