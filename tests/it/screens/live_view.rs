//! The live view, and ctrl-c in the live view.

use serde_json::json;

use crate::support::program::latch_command;
use crate::support::terminal::{Terminal, TerminalKind, TerminalOutput};
use crate::support::test_env::{TestEnv, step, wait};

/// Returns the text of a screen with all line breaks replaced by blanks.
fn text_without_line_breaks(output: &TerminalOutput) -> String {
    output.text().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Environment with a call that only reads and lasts almost until its timeout.
fn with_slow_read() -> TestEnv {
    let call = json!({ "operator": "Effect.Read", "args": { "note": 1, "before_ms": 25_000 } });
    let mut place = TestEnv::witness("atomic").with_plan(&[step("d", "Driver.Run", &[], json!({ "calls": [call] }))]);
    place.skip_replay_of_many_jobs();
    place
}

/// I131: a call that only reads is shown with its operator while it is in flight. The second ctrl-c ends the
/// command immediately.
#[test]
fn calls_in_flight_are_displayed_and_a_second_ctrl_c_ends_the_command() {
    for (look, shows) in
        [(TerminalKind::Color, "d/0  Effect.Read  called"), (TerminalKind::Dumb, "d/0  Effect.Read  called")]
    {
        let place = with_slow_read();
        let mut terminal = Terminal::start(latch_command(&place.dir, &["run", "plan.json"]), 80, look);
        terminal.wait_until_contains(shows);
        terminal.interrupt();
        terminal.wait_until_contains("ctrl-c again to stop immediately");
        terminal.interrupt();
        let output = terminal.wait_for_end();
        assert_eq!(output.code, 3, "{}", output.text());
        let screen = text_without_line_breaks(&output);
        assert!(screen.contains("stopped immediately") && screen.contains("continue: latch resume job_"), "{screen}");
        assert!(!output.text().contains("running"), "the redrawn area is cleared: {}", output.text());
    }
}

/// I135: with JSON log lines, the line of the second ctrl-c names the job.
#[test]
fn json_line_of_a_second_ctrl_c_names_the_job() {
    let place = with_slow_read();
    let command = latch_command(&place.dir, &["run", "plan.json", "--log-format", "json"]);
    // The terminal is wide enough for a line of JSON.
    let mut terminal = Terminal::start(command, 2_000, TerminalKind::Dumb);
    terminal.wait_until_contains("Effect.Read  called");
    terminal.interrupt();
    terminal.wait_until_contains("ctrl-c again to stop immediately");
    terminal.interrupt();
    let output = terminal.wait_for_end();
    let text = output.text();
    let line = text.lines().find(|line| line.contains("L0063")).unwrap_or_else(|| panic!("{text}"));
    let line: serde_json::Value = serde_json::from_str(line).unwrap();
    let job = line["job_id"].as_str().unwrap_or_default();
    assert_eq!((output.code, line["trace_id"].as_str().map(str::len)), (3, Some(32)), "{line}");
    let message = line["message"].as_str().unwrap();
    assert!(message.ends_with(&format!("continue: latch resume {job}")), "{message}");
}

/// I133: after ctrl-c during a timer wait or at a question, the command prints the job's state and the
/// command that resumes the job.
#[test]
fn ctrl_c_prints_the_job_state_and_how_to_resume() {
    let mut place = TestEnv::witness("atomic")
        .with_plan(&[wait("w", json!({ "wait_kind": "timer", "duration": "40s", "park": false }))]);
    place.skip_replay_of_many_jobs();
    let mut terminal = Terminal::start(latch_command(&place.dir, &["run", "plan.json"]), 80, TerminalKind::Color);
    terminal.wait_until_contains("waits, 3");
    terminal.interrupt();
    let output = terminal.wait_for_end();
    assert_eq!(output.code, 3, "{}", output.text());
    let screen = text_without_line_breaks(&output);
    assert!(screen.contains("WAITING_TIMER until") && screen.contains("next: latch resume job_"), "{screen}");

    let mut place = TestEnv::witness("atomic").with_plan(&[step("o", "Effect.Opaque", &[], json!({ "note": 1 }))]);
    place.skip_replay_of_many_jobs();
    let mut terminal = Terminal::start(latch_command(&place.dir, &["run", "plan.json"]), 80, TerminalKind::Color);
    terminal.wait_until_contains("approve? [y]es, [n]o");
    terminal.interrupt();
    let output = terminal.wait_for_end();
    assert_eq!(output.code, 3, "{}", output.text());
    assert!(
        output.text().contains("is parked at o, which needs approval; continue:\n  latch resume job_"),
        "{}",
        output.text()
    );
}

/// I131: a job that another process executes is shown in the same view, and ctrl-c does not stop the job.
#[test]
fn job_of_another_process_can_be_followed() {
    let place = with_slow_read();
    let mut runs = Terminal::start(latch_command(&place.dir, &["run", "plan.json"]), 80, TerminalKind::Dumb);
    runs.wait_until_contains("d/0  Effect.Read  called");
    let job = place.only_job()["job_id"].as_str().unwrap().to_owned();
    let follow = latch_command(&place.dir, &["job", "events", &job, "--follow"]);
    let mut terminal = Terminal::start(follow, 80, TerminalKind::Color);
    terminal.wait_until_contains("d  Driver.Run  running");
    terminal.interrupt();
    let output = terminal.wait_for_end();
    assert_eq!(output.code, 0, "{}", output.text());
    // The printed command contains no line break. Only the terminal breaks it, at its edge.
    let screen = output.text().replace('\n', "");
    assert!(screen.contains(&format!("next:  latch job events {job} --follow")), "{screen}");
}

/// I131: after the terminal becomes narrower, the view clears as many rows as its lines occupy at the new
/// width.
#[test]
fn narrowed_terminal_is_redrawn_completely() {
    let place = with_slow_read();
    let mut terminal = Terminal::start(latch_command(&place.dir, &["run", "plan.json"]), 100, TerminalKind::NoColor);
    terminal.wait_until_contains("d/0  Effect.Read  called");
    // At a width of six columns, each of the three lines occupies several rows.
    terminal.resize(6, |sent| (6..=20).any(|rows| sent.contains(&format!("\x1b[{rows}A"))));
    terminal.interrupt();
    terminal.interrupt();
    terminal.wait_for_end();
}

/// I131: a job that no worker has claimed is shown as waiting for a worker.
#[test]
fn unclaimed_job_shows_that_it_waits_for_a_worker() {
    let place = with_slow_read();
    let job = place.latch(&["run", "plan.json", "--detach", "--json"]).json()["job_id"].as_str().unwrap().to_owned();
    let mut terminal =
        Terminal::start(latch_command(&place.dir, &["job", "events", &job, "--follow"]), 80, TerminalKind::Color);
    terminal.wait_until_contains("waits for a worker");
    terminal.interrupt();
    let output = terminal.wait_for_end();
    assert_eq!(output.code, 0, "{}", output.text());
}

/// I134: a line announces each compilation before it starts, with the size of the component and the number of remaining
/// compilations.
#[test]
fn compilations_are_announced_in_advance() {
    let place = with_slow_read();
    let cache = tempfile::tempdir().unwrap();
    let list = |json: &str| {
        let mut command = latch_command(&place.dir, &["plugin", "list", "--log-format", json]);
        command.env("LATCH_CACHE_DIR", cache.path().join(json));
        String::from_utf8(command.output().unwrap().stderr).unwrap()
    };
    let screen = list("human");
    let lines: Vec<&str> = screen.lines().collect();
    assert!(lines[0].starts_with("compiling witness (") && lines[0].ends_with(", 2 left"), "{screen}");
    assert!(lines[1].starts_with("compiling witness-queryable (") && lines[1].ends_with(", 1 left"), "{screen}");
    assert!(lines[2].starts_with("compiling witness-step (") && lines[2].ends_with("B)"), "{screen}");
    let screen = list("json");
    let line: serde_json::Value = serde_json::from_str(screen.lines().next().unwrap()).unwrap();
    assert!(line["message"].as_str().unwrap().starts_with("compiling witness ("), "{screen}");
    assert!(!list("human").contains("compiling"), "compiled code is kept");
}
