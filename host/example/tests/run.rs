//! Runs the example as its user does.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

fn example(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_latchwork-example"));
    command.arg(folder).stdin(Stdio::null());
    command
}

fn run(folder: &Path) -> String {
    let output = example(folder).output().expect("the example starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("it prints text")
}

/// The first run completes the job. The second run finds the same job and sends nothing.
#[test]
fn letter_is_sent_once() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(run(folder.path()), "COMPLETED, letters: 1\n");
    assert_eq!(run(folder.path()), "was COMPLETED before, letters: 1\n");
}

fn count_letters(folder: &Path) -> usize {
    let names = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    names.filter(|path| path.extension().is_some_and(|extension| extension == "txt")).count()
}

/// I1: a program with a native tool is killed at different times. The next run completes the job, and the folder
/// contains one letter.
#[test]
fn killed_program_continues_its_job() {
    for after_ms in (0..60).step_by(4) {
        let folder = tempfile::tempdir().unwrap();
        let mut process = example(folder.path()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(after_ms));
        process.kill().unwrap();
        process.wait().unwrap();
        let printed = run(folder.path());
        assert!(printed.ends_with(", letters: 1\n"), "killed after {after_ms} ms: {printed}");
        assert_eq!(run(folder.path()), "was COMPLETED before, letters: 1\n", "killed after {after_ms} ms");
    }
}

/// I1: the program is killed as soon as the letter exists. The test repeats this until a kill comes before the answer
/// of the call is recorded. The call is then in doubt. The next run repeats the call under its key, and the folder
/// contains no second letter.
#[test]
fn letter_of_a_call_in_doubt_is_not_sent_again() {
    let in_doubt = (0..100).any(|_| {
        let folder = tempfile::tempdir().unwrap();
        let mut process = example(folder.path()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        while count_letters(folder.path()) == 0 && process.try_wait().unwrap().is_none() {}
        process.kill().unwrap();
        process.wait().unwrap();
        let printed = run(folder.path());
        assert!(printed.ends_with(", letters: 1\n"), "{printed}");
        printed.starts_with("COMPLETED")
    });
    assert!(in_doubt, "no kill came between the letter and the record of its answer");
}
