//! Suspends a process at a crash point and continues it.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::support::program::latch_command;
use crate::support::test_env::TestEnv;

/// Maximum number of checks while a test waits for a process. Checks are 5 ms apart, so together they take at
/// least two minutes.
pub(crate) const MAX_CHECKS: u32 = 24_000;

/// Creates an environment with short leases and short call timeouts.
pub(crate) fn env_with_short_lease(commit: &str) -> TestEnv {
    let lease = "lease = \"1s\"\nheartbeat = \"200ms\"\nclock_margin = \"200ms\"";
    TestEnv::witness(commit).with_call_timeout("5s").configure_first(lease)
}

/// Starts a run that is suspended at the point. Returns `None` if the run ended before the point.
pub(crate) fn run_until_suspended(place: &TestEnv, point: &str) -> Option<Child> {
    let mut command = latch_command(&place.dir, &place.run_args());
    command.env("LATCH_STOP_AT", point);
    suspended(command)
}

/// Starts the command and returns the process once it is suspended. Returns `None` if the process ended first.
pub(crate) fn suspended(mut command: Command) -> Option<Child> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("latch runs");
    for _ in 0..MAX_CHECKS {
        if is_suspended(&child) {
            return Some(child);
        }
        if child.try_wait().expect("our child").is_some() {
            return None;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("{command:?}: neither stopped nor done");
}

pub(crate) fn is_suspended(child: &Child) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap_or_default();
    // The state follows the process name. The name is in parentheses and may contain any character.
    stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('T'))
}

pub(crate) fn continue_process(child: &Child) {
    let pid = rustix::process::Pid::from_child(child);
    rustix::process::kill_process(pid, rustix::process::Signal::CONT).expect("the process exists");
}
