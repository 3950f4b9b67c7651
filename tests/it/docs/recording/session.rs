//! Shells at pseudo-terminals, with the frames that their user would see.
//!
//! The recorded times are idealized: each key takes the same time, and a long pause of a program is shortened.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use latchwork_engine::os::clock::now_us;

use super::frame::{Frame, Picture};
use crate::support::terminal::{Terminal, TerminalKind};

/// Width of a terminal in columns.
pub(super) const COLUMNS: u16 = 80;
/// Prompt of the shells.
const PROMPT: &str = "$";
/// Longest pause of the programs in the recording, in microseconds.
const LONGEST_PAUSE_US: i64 = 400_000;
/// Shortest time for which a picture is kept, in milliseconds. A picture that is shown for less time is part of a
/// redraw that arrived in several pieces.
const SHORTEST_PICTURE_MS: u64 = 40;
/// Time that typing one key takes.
const KEY: Duration = Duration::from_millis(55);
/// Maximum wait for output in one read of a terminal.
const LOOK: Duration = Duration::from_millis(5);
/// Longest wait for a text, long enough for a busy machine.
const TIMEOUT_US: i64 = 300_000_000;

/// Shells that are recorded with one clock.
pub(super) struct Session {
    shells: Vec<Shell>,
    /// Current time of the recording.
    clock_us: i64,
    /// Time since the last output.
    quiet_us: i64,
}

struct Shell {
    terminal: Terminal,
    frames: Vec<Frame>,
}

impl Session {
    /// Starts `shells` shells in a folder. `command` returns a call of `setsid` with the environment of a shell, and
    /// this function adds the arguments that start the shell.
    pub(super) fn start(shells: usize, command: impl Fn() -> Command, folder: &Path) -> Session {
        let start = || {
            let mut command = command();
            // The shell gets a session and a terminal of its own, because it needs both to control its jobs.
            command.args(["--ctty", "--wait", "bash", "--norc", "--noprofile", "-i"]).current_dir(folder);
            command.env("PS1", format!("\\[\\e[1;36m\\]{PROMPT}\\[\\e[0m\\] ")).env_remove("HISTFILE");
            let terminal = Terminal::start(command, COLUMNS, TerminalKind::Color);
            Shell { terminal, frames: Vec::new() }
        };
        let shells = (0..shells).map(|_| start()).collect();
        let mut session = Session { shells, clock_us: 0, quiet_us: 0 };
        for shell in 0..session.shells.len() {
            session.wait_for_prompt(shell);
        }
        // The recording begins with the prompts.
        for shell in &mut session.shells {
            shell.frames = vec![Frame { at_ms: 0, picture: shell.picture() }];
        }
        session.clock_us = 0;
        session
    }

    /// Advances the clock of the recording without new output, so that viewers can read the screen.
    pub(super) fn rest(&mut self, time: Duration) {
        self.clock_us += microseconds(time);
    }

    /// Records the output that arrives within this time.
    pub(super) fn watch(&mut self, time: Duration) {
        let end = now_us() + microseconds(time);
        while now_us() < end {
            self.look();
        }
    }

    /// Waits until `fits` accepts the text of a shell's screen. `wanted` describes this text in the error message.
    pub(super) fn wait_until(&mut self, shell: usize, wanted: &str, fits: impl Fn(&str) -> bool) {
        let begin = now_us();
        loop {
            let text = self.shells[shell].terminal.screen().contents();
            if fits(text.trim_end()) {
                return;
            }
            assert!(now_us() < begin + TIMEOUT_US, "{wanted} was never shown:\n{text}");
            self.look();
        }
    }

    /// Waits until a shell shows its prompt and no text after the prompt.
    pub(super) fn wait_for_prompt(&mut self, shell: usize) {
        self.wait_until(shell, "the prompt", |text| text.lines().last() == Some(PROMPT));
    }

    /// Types a line and its end, one key after another.
    pub(super) fn type_line(&mut self, shell: usize, line: &str) {
        for key in line.chars() {
            let before = self.shells[shell].terminal.screen().cursor_position();
            self.shells[shell].terminal.type_keys(&key.to_string());
            self.watch(KEY);
            while self.shells[shell].terminal.screen().cursor_position() == before {
                self.look();
            }
        }
        self.watch(4 * KEY);
        self.shells[shell].terminal.type_keys("\r");
    }

    /// Returns the id of the process that a shell runs in the foreground.
    pub(super) fn foreground_process(&self, shell: usize) -> u32 {
        let child = |process: u32| -> u32 {
            let children = std::fs::read_to_string(format!("/proc/{process}/task/{process}/children"));
            let children = children.expect("the process runs");
            children.split_whitespace().next().and_then(|id| id.parse().ok()).expect("the process has a child")
        };
        // The process of the terminal is `setsid`. Its child is the shell.
        child(child(self.shells[shell].terminal.process()))
    }

    /// Ends the shells and returns their frames.
    pub(super) fn end(self) -> Vec<Vec<Frame>> {
        let end = |mut shell: Shell| {
            shell.terminal.type_end_of_input();
            shell.terminal.wait_for_end();
            shell.frames
        };
        self.shells.into_iter().map(end).collect()
    }

    /// Receives output and adds a frame for each screen that changed.
    fn look(&mut self) {
        let begin = now_us();
        let changed: Vec<bool> = self.shells.iter_mut().map(|shell| shell.terminal.receive_output(LOOK)).collect();
        let passed = now_us() - begin;
        self.quiet_us = if changed.contains(&true) { 0 } else { self.quiet_us + passed };
        if self.quiet_us < LONGEST_PAUSE_US {
            self.clock_us += passed;
        }
        let at_ms = u64::try_from(self.clock_us / 1_000).expect("the clock does not go back");
        for (shell, _) in self.shells.iter_mut().zip(changed).filter(|(_, changed)| *changed) {
            let picture = shell.picture();
            match shell.frames.last_mut() {
                Some(last) if last.picture == picture => {}
                Some(last) if at_ms - last.at_ms < SHORTEST_PICTURE_MS => last.picture = picture,
                _ => shell.frames.push(Frame { at_ms, picture }),
            }
        }
    }
}

impl Shell {
    fn picture(&self) -> Picture {
        Picture::of(&self.terminal.screen())
    }
}

fn microseconds(time: Duration) -> i64 {
    i64::try_from(time.as_micros()).expect("a short time")
}
