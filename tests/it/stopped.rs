//! A process that stands still past its lease and goes on when another has finished its job:
//! a suspended machine, a debugger, a paused container. It must find that its time has passed.

use std::collections::BTreeSet;
use std::process::{Child, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use latchwork::worker::EXECUTE_POINTS;
use latchwork_store::STATEMENTS;

use crate::crash::check_world;
use crate::place::Place;
use crate::program::{latch, ran};

/// Points are tried side by side: nearly all of the time is waiting for leases and deadlines.
const AT_ONCE: usize = 8;
/// Looks at a process, 5 ms apart: two minutes and more.
const LOOKS: u32 = 24_000;

/// A place where leases and calls are short.
pub(crate) fn hasty() -> Place {
    let place = Place::witness("atomic");
    let file = place.dir.join("latch.toml");
    let config = std::fs::read_to_string(&file).expect("it was written");
    let config = config.replace("grants =", "limits = { timeout = \"5s\" }\ngrants =");
    let lease = "lease = \"1s\"\nheartbeat = \"200ms\"\nclock_margin = \"200ms\"\n";
    std::fs::write(file, format!("{lease}{config}")).expect("writable");
    place
}

/// A run that stops at the point; none where it ended without reaching it.
pub(crate) fn stopped_at(place: &Place, point: &str) -> Option<Child> {
    let mut command = latch(&place.dir, &place.run_args());
    command.env("LATCH_STOP_AT", point).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("latch runs");
    for _ in 0..LOOKS {
        if is_stopped(&child) {
            return Some(child);
        }
        if child.try_wait().expect("our child").is_some() {
            return None;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("{point}: neither stopped nor done");
}

fn is_stopped(child: &Child) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap_or_default();
    // The state follows the name, which is in parentheses and may hold anything.
    stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('T'))
}

pub(crate) fn go_on(child: &Child) {
    let pid = rustix::process::Pid::from_child(child);
    rustix::process::kill_process(pid, rustix::process::Signal::CONT).expect("it is there");
}

/// One point: stopped there, its job finished by another process, then continued. True where the
/// other process could take the job over; false where the one that stands still holds the
/// database's own lock, so that nobody can do anything until it goes on.
fn overtaken(template: &Place, point: &str) -> Option<bool> {
    let place = template.again();
    let child = stopped_at(&place, point)?;
    let row = || place.latch(&["job", "list", "--json"]);
    let taken_over = {
        let first = place.latch(&place.run_args());
        match first.code {
            0 | 3 => {
                place.finish_with_the_truth();
                true
            }
            _ => {
                let code = first.json()["error"]["code"].clone();
                assert_eq!(code, "L0032", "{point}: {} {}", first.stdout, first.stderr);
                false
            }
        }
    };
    // The heartbeat's statement may stop the process while a call is just past its last check, on its
    // way into the system: there a keyed call may land late, and is applied once.
    let world = || {
        let mut world = place.world();
        if point.starts_with("heartbeat:") {
            let keyed: Vec<String> =
                world.keys().filter_map(|label| label.strip_prefix("applied ").map(str::to_owned)).collect();
            world.retain(|label, _| !keyed.contains(label));
        }
        world
    };
    let before = world();
    go_on(&child);
    let late = ran(child.wait_with_output().expect("it ends"));
    assert!(matches!(late.code, 0 | 1 | 3), "{point}: {} {} {}", late.code, late.stdout, late.stderr);
    if taken_over {
        assert_eq!(world(), before, "{point}: it did something when its time had passed: {}", late.stderr);
    } else {
        place.finish_with_the_truth();
    }
    assert_eq!(row().code, 0);
    check_world(&place, &format!("stopped at {point}"));
    Some(taken_over)
}

/// I1, I14: whoever stood still past the lease executes nothing more and writes nothing more.
#[test]
fn who_stands_still_past_the_lease_changes_nothing_when_it_goes_on() {
    let template = hasty();
    // The middle of the job, where calls have been made and more are to come; else the first time.
    let points: Vec<String> = STATEMENTS
        .iter()
        .flat_map(|name| ["before", "after"].map(|side| format!("{name}:{side}:1")))
        .chain(EXECUTE_POINTS.iter().flat_map(|name| {
            let of = move |n: u32| ["before", "after"].map(|side| format!("{name}:{side}:{n}"));
            (1..=9).flat_map(of)
        }))
        .chain(["claim", "events_insert", "ledger_insert", "ledger_update"].iter().flat_map(|name| {
            let of = move |n: u32| ["before", "after"].map(|side| format!("{name}:{side}:{n}"));
            [4, 8].into_iter().flat_map(of)
        }))
        .collect();
    let queue = Mutex::new(points.into_iter());
    let reached: Mutex<BTreeSet<(bool, String)>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let next = queue.lock().unwrap().next();
                    let Some(point) = next else { return };
                    if let Some(taken_over) = overtaken(&template, &point) {
                        reached.lock().unwrap().insert((taken_over, point));
                    }
                }
            });
        }
    });
    let reached = reached.into_inner().unwrap();
    let taken_over: Vec<_> = reached.iter().filter(|(taken, _)| *taken).map(|(_, point)| point).collect();
    assert!(reached.len() >= 40, "few points were reached: {reached:?}");
    assert!(taken_over.len() >= 15, "few jobs could be taken over: {taken_over:?}");
    let calls = taken_over.iter().filter(|point| point.starts_with("execute:")).count();
    assert!(calls >= 14, "every call is stopped before and after: {taken_over:?}");
}
