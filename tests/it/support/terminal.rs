//! Runs `latch` in a real pseudo-terminal and renders the screen that a user would see.

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use rustix::ioctl::{Getter, Setter, ioctl};
use rustix::process::{Pid, Signal, kill_process};
use rustix::termios::{Winsize, tcsetwinsize};

/// Rows of the screen, enough that nothing scrolls away.
const ROWS: u16 = 400;
/// Longest time without output, long enough for a busy machine.
const OUTPUT_TIMEOUT: Duration = Duration::from_secs(300);

/// Returns both sides of a new pseudo-terminal: the side of the user and the side of the program.
#[expect(unsafe_code, reason = "the two controls of pseudo-terminals have no safe form without more of rustix")]
fn pseudo_terminal() -> (File, File) {
    const UNLOCK: rustix::ioctl::Opcode = 0x4004_5431;
    const NUMBER: rustix::ioctl::Opcode = 0x8004_5430;
    let open = |path: &str| File::options().read(true).write(true).open(path).unwrap();
    let person = open("/dev/ptmx");
    // SAFETY: TIOCSPTLCK reads an int and TIOCGPTN writes an unsigned int. Neither accesses other memory.
    let number: u32 = unsafe {
        ioctl(&person, Setter::<UNLOCK, i32>::new(0)).unwrap();
        ioctl(&person, Getter::<NUMBER, u32>::new()).unwrap()
    };
    (person, open(&format!("/dev/pts/{number}")))
}

/// Capability of the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TerminalKind {
    Color,
    NoColor,
    Dumb,
}

/// A program that runs at a terminal.
pub(crate) struct Terminal {
    child: Child,
    keyboard: File,
    output: mpsc::Receiver<Vec<u8>>,
    bytes: Vec<u8>,
    columns: u16,
}

/// Output of an ended program at a terminal.
pub(crate) struct TerminalOutput {
    pub(crate) code: i32,
    /// All bytes that were sent to the terminal.
    pub(crate) bytes: Vec<u8>,
    columns: u16,
}

impl Terminal {
    /// Starts the program with stdin, stdout and stderr at a terminal with this number of columns.
    pub(crate) fn start(mut command: Command, columns: u16, look: TerminalKind) -> Terminal {
        let (person, program) = pseudo_terminal();
        tcsetwinsize(&program, Winsize { ws_row: ROWS, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
        for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLORTERM", "COLUMNS", "LINES", "CI"] {
            command.env_remove(name);
        }
        command.env("TERM", if look == TerminalKind::Dumb { "dumb" } else { "xterm-256color" });
        if look == TerminalKind::NoColor {
            command.env("NO_COLOR", "1");
        }
        let end = || Stdio::from(program.try_clone().unwrap());
        let child = command.stdin(end()).stdout(end()).stderr(end()).process_group(0).spawn().unwrap();
        // Closes this process's copies of the program's side of the pseudo-terminal. Reading the other side
        // then fails as soon as the program has closed its copies.
        drop((command, program));
        let mut screen = person.try_clone().unwrap();
        let (seen, output) = mpsc::channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(n) = screen.read(&mut bytes) {
                if n == 0 || seen.send(bytes[..n].to_vec()).is_err() {
                    break;
                }
            }
        });
        Terminal { child, keyboard: person, output, bytes: Vec::new(), columns }
    }

    /// Waits until the screen contains `wanted`.
    pub(crate) fn wait_until_contains(&mut self, wanted: &str) {
        self.wait_until(wanted, |screen| screen.contains(wanted));
    }

    /// Waits until the screen's text ends with `wanted`.
    pub(crate) fn wait_until_ends_with(&mut self, wanted: &str) {
        self.wait_until(wanted, |screen| screen.ends_with(wanted));
    }

    /// Waits until `is_there` accepts the screen's text.
    fn wait_until(&mut self, wanted: &str, is_there: impl Fn(&str) -> bool) {
        while !is_there(&screen_text_of(&self.bytes, self.columns)) {
            match self.output.recv_timeout(OUTPUT_TIMEOUT) {
                Ok(bytes) => self.bytes.extend(bytes),
                Err(_) => panic!("{wanted:?} was never shown:\n{}", screen_text_of(&self.bytes, self.columns)),
            }
        }
    }

    /// Changes the terminal's width, and waits until `is_wanted` accepts the output after the change.
    pub(crate) fn resize(&mut self, columns: u16, is_wanted: impl Fn(&str) -> bool) {
        tcsetwinsize(&self.keyboard, Winsize { ws_row: ROWS, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
        let from = self.bytes.len();
        while !is_wanted(&String::from_utf8_lossy(&self.bytes[from..])) {
            self.bytes.extend(self.output.recv_timeout(OUTPUT_TIMEOUT).expect("the program continues"));
        }
    }

    /// Returns the current text of the screen.
    fn screen_text(&self) -> String {
        screen_text_of(&self.bytes, self.columns)
    }

    /// Receives the next output. Returns false if no output arrives within `time`, or if the program has ended.
    pub(crate) fn receive_output(&mut self, time: Duration) -> bool {
        let received = self.output.recv_timeout(time);
        self.bytes.extend(received.iter().flatten());
        received.is_ok()
    }

    /// Returns the current screen.
    pub(crate) fn screen(&self) -> vt100::Screen {
        parse_screen(&self.bytes, self.columns).screen().clone()
    }

    /// Returns the id of the started process.
    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    /// Types a line.
    pub(crate) fn type_line(&mut self, line: &str) {
        self.type_keys(&format!("{line}\n"));
    }

    /// Types these keys without the end of a line.
    pub(crate) fn type_keys(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    /// Types Ctrl-D on an empty line.
    pub(crate) fn type_end_of_input(&mut self) {
        self.keyboard.write_all(b"\x04").unwrap();
    }

    /// Sends the signal that Ctrl-C sends at a terminal.
    pub(crate) fn interrupt(&self) {
        kill_process(Pid::from_child(&self.child), Signal::INT).unwrap();
    }

    /// Waits for the program's end.
    pub(crate) fn wait_for_end(mut self) -> TerminalOutput {
        loop {
            match self.output.recv_timeout(OUTPUT_TIMEOUT) {
                Ok(bytes) => self.bytes.extend(bytes),
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
                Err(mpsc::RecvTimeoutError::Timeout) => panic!("the program does not end:\n{}", self.screen_text()),
            }
        }
        let code = self.child.wait().unwrap().code().expect("the program exits without a signal");
        TerminalOutput { code, bytes: std::mem::take(&mut self.bytes), columns: self.columns }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // If the test failed, the program may still run.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl TerminalOutput {
    /// Returns the screen's text without blanks at the ends of lines.
    pub(crate) fn text(&self) -> String {
        screen_text_of(&self.bytes, self.columns)
    }

    /// Returns the text with styles as tags, such as `<bold red>error</>`.
    pub(crate) fn styled(&self) -> String {
        let parser = parse_screen(&self.bytes, self.columns);
        let screen = parser.screen();
        let mut lines: Vec<String> = Vec::new();
        for row in 0..ROWS {
            let (mut line, mut tag) = (String::new(), String::new());
            for column in 0..self.columns {
                let Some(cell) = screen.cell(row, column) else { continue };
                let style = style_name(cell);
                if style != tag {
                    let end = if tag.is_empty() { "" } else { "</>" };
                    line += &if style.is_empty() { end.to_owned() } else { format!("{end}<{style}>") };
                    tag = style;
                }
                line += if cell.has_contents() { cell.contents() } else { " " };
            }
            lines.push(line.trim_end().to_owned());
        }
        lines.join("\n").trim_end().to_owned()
    }
}

/// Returns the style of a cell as words, such as `bold red`. The default style has no words.
pub(crate) fn style_name(cell: &vt100::Cell) -> String {
    let color = match cell.fgcolor() {
        vt100::Color::Default => "",
        vt100::Color::Idx(1) => "red",
        vt100::Color::Idx(2) => "green",
        vt100::Color::Idx(3) => "yellow",
        vt100::Color::Idx(6) => "cyan",
        _ => "other",
    };
    let is = [(cell.bold(), "bold"), (cell.dim(), "dim"), (cell.underline(), "underline"), (cell.inverse(), "inverse")];
    let words = is.iter().filter(|(is, _)| *is).map(|(_, word)| *word).chain([color]).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

fn parse_screen(bytes: &[u8], columns: u16) -> vt100::Parser {
    let mut parser = vt100::Parser::new(ROWS, columns, 0);
    parser.process(bytes);
    parser
}

fn screen_text_of(bytes: &[u8], columns: u16) -> String {
    let parser = parse_screen(bytes, columns);
    let lines: Vec<_> = parser.screen().rows(0, columns).map(|line| line.trim_end().to_owned()).collect();
    lines.join("\n").trim_end().to_owned()
}
