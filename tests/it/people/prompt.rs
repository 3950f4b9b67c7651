//! Gates at a real terminal: the text shown, and the effect of each answer.

use serde_json::{Value, json};

use crate::support::program::latch_command;
use crate::support::terminal::{Terminal, TerminalKind};
use crate::support::test_env::{TestEnv, step};

/// Runs the plan at a terminal. Each answer is typed when its question is shown. Returns the terminal's text
/// and the exit code.
fn run_at_terminal(place: &TestEnv, answers: &[(&str, &str)]) -> (String, i32) {
    let command = latch_command(&place.dir, &["run", "plan.json", "--actor", "ada"]);
    let mut terminal = Terminal::start(command, 120, TerminalKind::NoColor);
    for (question, answer) in answers {
        terminal.wait_until_contains(question);
        terminal.type_line(answer);
    }
    let screen = terminal.wait_for_end();
    (screen.text(), screen.code)
}

fn env_with_gated_call() -> TestEnv {
    let payload = json!({ "note": 7, "text": "Dear Ada,\nsecond line\u{1b}[2J" });
    TestEnv::witness("atomic").fresh_copy().with_plan(&[step("o", "Effect.Opaque", &[], payload)])
}

fn show_job(place: &TestEnv) -> Value {
    let id = place.only_job()["job_id"].as_str().unwrap().to_owned();
    place.latch(&["job", "show", &id, "--json"]).json()
}

/// I20: before the question, the terminal shows exactly the arguments that would be sent.
#[test]
fn yes_at_the_terminal_executes_the_displayed_call() {
    let place = env_with_gated_call();
    let (screen, code) = run_at_terminal(&place, &[("approve? [y]es, [n]o", "y")]);
    assert_eq!((code, &show_job(&place)["state"]), (0, &json!("COMPLETED")), "{screen}");
    assert_eq!(place.effect_counts().get("o"), Some(&1));
    let question = screen.find("approve?").unwrap();
    for part in [
        "o wants to execute Effect.Opaque",
        "plugin witness 1.0.0",
        "gate-o, hash ",
        "  note: 7",
        "    Dear Ada,",
        "    \"second line",
    ] {
        assert!(screen.find(part).is_some_and(|at| at < question), "{part:?} is shown before the question: {screen}");
    }
    assert!(screen.contains("second line\\u001b[2J"), "an argument cannot repaint the screen: {screen}");
}

/// I20: a rejection and its reason are recorded, and nothing is executed.
#[test]
fn no_at_the_terminal_rejects_with_a_reason() {
    let place = env_with_gated_call();
    let (screen, code) = run_at_terminal(&place, &[("approve? [y]es, [n]o", "n"), ("why?", "not to her")]);
    let response = show_job(&place);
    assert_eq!((code, &response["state"]), (1, &json!("FAILED")), "{screen}");
    assert_eq!(response["failed"][0]["reason_code"], "GATE_REJECTED");
    assert_eq!(response["failed"][0]["message"], "ada refused it: not to her");
    assert!(place.effect_counts().is_empty());
}

/// An answer other than yes or no leaves the gate undecided.
#[test]
fn other_answer_at_the_terminal_leaves_the_gate_open() {
    let place = env_with_gated_call();
    let (screen, code) = run_at_terminal(&place, &[("approve? [y]es, [n]o", "later")]);
    assert_eq!((code, &show_job(&place)["state"]), (3, &json!("PARKED")), "{screen}");
    assert!(place.effect_counts().is_empty());
}

/// Ctrl-D leaves the gate undecided, and the following output starts on a new line.
#[test]
fn end_of_input_leaves_the_gate_open() {
    let place = env_with_gated_call();
    let mut terminal =
        Terminal::start(latch_command(&place.dir, &["run", "plan.json", "--actor", "ada"]), 120, TerminalKind::NoColor);
    terminal.wait_until_contains("approve? [y]es, [n]o");
    terminal.type_end_of_input();
    let screen = terminal.wait_for_end();
    let text = screen.text();
    assert_eq!((screen.code, &show_job(&place)["state"]), (3, &json!("PARKED")), "{text}");
    let question = text.lines().find(|line| line.contains("approve? [y]es, [n]o")).unwrap();
    assert!(question.trim_end().ends_with("later"), "nothing follows the question on its line: {question:?}");
}
