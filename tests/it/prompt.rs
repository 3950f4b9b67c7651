//! Gates at a real terminal: what is shown, and what an answer does.

use std::fs::File;
use std::io::{Read, Write};
use std::process::Stdio;
use std::sync::mpsc;
use std::time::Duration;

use rustix::ioctl::{Getter, Setter, ioctl};
use serde_json::{Value, json};

use crate::place::{Place, step};
use crate::program::latch;

/// Both ends of a new pseudo-terminal: the person's, and the program's.
#[expect(unsafe_code, reason = "the two controls of pseudo-terminals have no safe form without more of rustix")]
fn pseudo_terminal() -> (File, File) {
    const UNLOCK: rustix::ioctl::Opcode = 0x4004_5431;
    const NUMBER: rustix::ioctl::Opcode = 0x8004_5430;
    let open = |path: &str| File::options().read(true).write(true).open(path).unwrap();
    let person = open("/dev/ptmx");
    // SAFETY: TIOCSPTLCK reads an int, TIOCGPTN writes an unsigned one; both leave memory alone otherwise.
    let number: u32 = unsafe {
        ioctl(&person, Setter::<UNLOCK, i32>::new(0)).unwrap();
        ioctl(&person, Getter::<NUMBER, u32>::new()).unwrap()
    };
    (person, open(&format!("/dev/pts/{number}")))
}

/// Runs the plan at a terminal and types each answer when its question has been asked; what the
/// terminal showed, and the response.
fn at_terminal(place: &Place, answers: &[(&str, &str)]) -> (String, i32) {
    let (mut keyboard, terminal) = pseudo_terminal();
    let mut child = latch(&place.dir, &["run", "plan.json", "--actor", "ada"])
        .env("NO_COLOR", "1")
        .stdin(Stdio::from(terminal.try_clone().unwrap()))
        .stderr(Stdio::from(terminal))
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut screen = keyboard.try_clone().unwrap();
    let (seen, lines) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = [0; 4096];
        // Reading fails once nobody has the terminal open any more.
        while let Ok(n) = screen.read(&mut bytes) {
            if n == 0 || seen.send(bytes[..n].to_vec()).is_err() {
                break;
            }
        }
    });
    let mut shown = Vec::new();
    let read_until = |wanted: &str, shown: &mut Vec<u8>| {
        while !String::from_utf8_lossy(shown).contains(wanted) {
            match lines.recv_timeout(Duration::from_secs(60)) {
                Ok(bytes) => shown.extend(bytes),
                Err(_) => panic!("{wanted:?} was never shown: {}", String::from_utf8_lossy(shown)),
            }
        }
    };
    for (question, answer) in answers {
        read_until(question, &mut shown);
        keyboard.write_all(format!("{answer}\n").as_bytes()).unwrap();
    }
    let code = child.wait().unwrap().code().unwrap();
    while let Ok(bytes) = lines.recv_timeout(Duration::from_millis(200)) {
        shown.extend(bytes);
    }
    (String::from_utf8_lossy(&shown).replace("\r\n", "\n"), code)
}

fn place() -> Place {
    let payload = json!({ "note": 7, "text": "Dear Ada,\nsecond line\u{1b}[2J" });
    Place::witness("atomic").again().plan(&[step("o", "Effect.Opaque", &[], payload)])
}

fn response(place: &Place) -> Value {
    let id = place.the_job()["job_id"].as_str().unwrap().to_owned();
    place.latch(&["job", "show", &id, "--json"]).json()
}

/// I20: exactly what would be sent is shown before anybody is asked.
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
        "    second line",
    ] {
        assert!(shown.find(part).is_some_and(|at| at < question), "{part:?} is shown before the question: {shown}");
    }
    assert!(!shown.contains('\u{1b}'), "an argument cannot repaint the screen: {shown:?}");
}

/// I20: a refusal and its reason are recorded, and nothing is executed.
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

/// Anything else decides nothing.
#[test]
fn neither_at_the_terminal_leaves_the_gate_open() {
    let place = place();
    let (shown, code) = at_terminal(&place, &[("approve? [y]es, [n]o", "later")]);
    assert_eq!((code, &response(&place)["state"]), (3, &json!("PARKED")), "{shown}");
    assert!(place.world().is_empty());
}
