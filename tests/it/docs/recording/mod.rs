//! The recording in README: a real session at two terminals, as an animated SVG.
//!
//! With `LATCH_UPDATE_SCREENS=1`, the test writes `docs/images/recording.svg`. Look at the picture before committing
//! it. Without this variable, the test compares the file with a new session. Times, ids and process numbers differ
//! between two sessions, so they are replaced before the comparison.

mod frame;
mod session;
mod svg;

use std::process::Command;
use std::time::Duration;

use latchwork_engine::os::clock::now_us;

use self::frame::styled_text;
use self::session::{COLUMNS, Session};
use self::svg::Window;
use crate::screens::snapshot::stabilize;
use crate::support::test_env::{TestEnv, build_plugin};
use crate::support::{checkout, program};

const FILE: &str = "docs/images/recording.svg";
const TITLE: &str =
    "The process of a job is killed with kill -9. latch resume completes the job, and one mail is sent.";
/// Maximum size of the file in bytes.
const MAX_BYTES: usize = 200 * 1024;
/// Time after which the wait in `letter.json` is over, with a tolerance for the job's clocks. The session resumes the
/// job after this time.
const WAIT: Duration = Duration::from_millis(10_500);

/// Creates the project of the recording, with built plugins.
fn project() -> TestEnv {
    let copy = checkout::copy();
    let source = copy.join("tests/it/docs/recording/project");
    let mut config = std::fs::read_to_string(source.join("latch.toml")).expect("the project has a configuration");
    for plugin in ["mail-maildir-rust", "requests-rust"] {
        let component = build_plugin(&copy.join("example-plugins").join(plugin));
        let known = format!("\"../../../../example-plugins/{plugin}\"");
        assert!(config.contains(&known), "the configuration names {plugin}");
        config = config.replace(&known, &format!("{component:?}"));
    }
    let place = TestEnv::configured(&config, vec![]);
    std::fs::copy(source.join("letter.json"), place.dir.join("letter.json")).expect("a fresh folder");
    place.compile_plugins()
}

/// Returns the command that starts a shell, with the built program in its search path.
fn shell() -> Command {
    let mut command = Command::new("setsid");
    program::clear_environment(&mut command);
    command.env("PATH", program::search_path()).env("USER", "ada").env("LOGNAME", "ada").env("LC_ALL", "C.UTF-8");
    command
}

/// Runs the session and returns its terminals.
fn record() -> [Window; 2] {
    const JOB: usize = 0;
    const OTHER: usize = 1;
    let look = Duration::from_millis;
    let place = project();
    let mut session = Session::start(2, shell, &place.dir);
    session.rest(look(600));
    session.type_line(JOB, "latch run letter.json");
    session.wait_until(JOB, "the question", |text| text.ends_with("anything else: later"));
    session.rest(look(3_000));
    session.type_line(JOB, "y");
    session.wait_until(JOB, "the wait", |text| text.contains("Pause  waits, "));
    let due_us = now_us() + i64::try_from(WAIT.as_micros()).expect("a short time");
    session.watch(look(900));
    let process = session.foreground_process(JOB);
    session.type_line(OTHER, &format!("kill -9 {process}"));
    session.wait_for_prompt(OTHER);
    session.wait_for_prompt(JOB);
    session.rest(look(1_600));
    while now_us() < due_us {
        std::thread::sleep(look(50));
    }
    session.type_line(JOB, "latch resume");
    session.wait_for_prompt(JOB);
    session.rest(look(2_000));
    session.type_line(JOB, "ls outbox/new");
    session.wait_for_prompt(JOB);
    let mut frames = session.end().into_iter();
    ["terminal 1", "terminal 2"].map(|name| {
        let frames = frames.next().expect("each shell has frames");
        Window { name: name.to_owned(), columns: COLUMNS.into(), frames }
    })
}

/// Returns the text of the last frames of a rendered file, with stable values in place of times, ids and process
/// numbers.
fn comparable_text(svg: &str) -> String {
    let windows = svg::last_rows(svg);
    let text: Vec<String> = windows.iter().map(|rows| stabilize(&styled_text(rows))).collect();
    let text = text.join("\n\n");
    let (before, killed) = text.split_once("kill -9 ").expect("a process is killed");
    format!("{before}kill -9 PID{}", killed.trim_start_matches(|c: char| c.is_ascii_digit()))
}

/// The recording in README shows the same lines in the same colours as a new session.
#[test]
fn recording_in_readme_shows_what_a_session_shows() {
    let windows = record();
    let fresh = svg::render(TITLE, &windows);
    let drawn = windows.each_ref().map(|window| window.frames.last().expect("a frame").picture.rows.clone());
    for (read, drawn) in svg::last_rows(&fresh).iter().zip(drawn) {
        assert_eq!(styled_text(read), styled_text(&drawn).trim_end(), "the rendered file has every row");
    }
    let file = checkout::root().join(FILE);
    if std::env::var_os("LATCH_UPDATE_SCREENS").is_some_and(|value| value == "1") {
        std::fs::write(&file, &fresh).expect("the checkout is writable");
    }
    let known = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{FILE}: {error}"));
    let hint = "LATCH_UPDATE_SCREENS=1 writes the recording";
    assert!(known.len() <= MAX_BYTES, "{FILE} has {} bytes", known.len());
    assert!(known.starts_with(&svg::head(TITLE, &windows)), "styles or sizes of {FILE} differ; {hint}");
    assert_eq!(comparable_text(&known), comparable_text(&fresh), "lines of {FILE} differ; {hint}");
}
