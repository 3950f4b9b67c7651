//! `latch dev`: rounds of build, check and dry run.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use crate::sdk;

/// Looks, 50 ms apart: five minutes, for a machine that others keep busy.
const LOOKS: u32 = 6_000;

/// A project with a greeter in C, and where temporary files of its commands go.
fn project() -> (tempfile::TempDir, PathBuf, PathBuf) {
    let temp = tempfile::tempdir().unwrap();
    let (dir, scratch) = (temp.path().join("hello"), temp.path().join("tmp"));
    std::fs::create_dir(&scratch).unwrap();
    let made = sdk::run(temp.path(), &["init", "hello", "--lang", "c"]);
    assert_eq!(made.code, 0, "{}", made.stderr);
    (temp, dir, scratch)
}

fn entries(dir: &Path) -> usize {
    std::fs::read_dir(dir).unwrap().count()
}

/// I154: one round changes neither the project's database nor anything beside what is built.
#[test]
fn one_round_shows_the_output_and_leaves_no_database() {
    let (_temp, dir, scratch) = project();
    let once = |args: &[&str]| {
        let mut command = sdk::latch(&dir, &[&["dev", "plan.json", "--once"], args].concat());
        crate::program::ran(command.env("TMPDIR", &scratch).output().unwrap())
    };
    let ran = once(&[]);
    assert_eq!(ran.code, 0, "{} {}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("greet succeeded") && ran.stdout.contains("Hello, Ada!"), "{}", ran.stdout);
    assert!(!dir.join("latch.db").exists() && !dir.join(".latch").exists());
    assert_eq!(entries(&scratch), 0, "the scratch database is gone");

    let source = dir.join("greeter/plugin.c");
    let text = std::fs::read_to_string(&source).unwrap();
    std::fs::write(&source, format!("{text}\n#error broken\n")).unwrap();
    let broken = once(&[]);
    assert_eq!(broken.code, 1);
    assert!(broken.stderr.contains("broken"), "{}", broken.stderr);
    let live = once(&["--live"]);
    assert_eq!(live.code, 2, "{}", live.stderr);
}

/// I154: errors are shown and watched on; a change shows what differs; ctrl-c leaves nothing.
#[test]
fn a_change_is_built_and_shown_and_errors_end_nothing() {
    let (_temp, dir, scratch) = project();
    let (out, err) = (scratch.with_extension("out"), scratch.with_extension("err"));
    let file = |path: &Path| Stdio::from(std::fs::File::create(path).unwrap());
    let mut child = sdk::latch(&dir, &["dev", "plan.json"])
        .env("TMPDIR", &scratch)
        .stdout(file(&out))
        .stderr(file(&err))
        .spawn()
        .unwrap();
    let shown = |path: &Path| std::fs::read_to_string(path).unwrap();
    let until = |path: &Path, wanted: &str| {
        for _ in 0..LOOKS {
            if shown(path).contains(wanted) {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("{wanted:?} was never shown: {} {}", shown(&out), shown(&err));
    };
    until(&out, "Hello, Ada!");
    until(&err, "ctrl-c ends");
    let source = dir.join("greeter/plugin.c");
    let text = std::fs::read_to_string(&source).unwrap();
    std::fs::write(&source, format!("{text}\n#error broken\n")).unwrap();
    until(&err, "broken");
    std::fs::write(&source, text.replace("Hello, %s!", "Goodbye, %s!")).unwrap();
    until(&out, "Goodbye, Ada!");
    let shown = shown(&out);
    let line = |mark: &str, text: &str| shown.lines().any(|line| line.starts_with(mark) && line.contains(text));
    assert!(line("-", "Hello, Ada!") && line("+", "Goodbye, Ada!"), "{shown}");
    let pid = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(entries(&scratch), 0, "the scratch database is gone");
    assert!(!dir.join("latch.db").exists());
}
