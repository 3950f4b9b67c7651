//! The only place that prints.
//!
//! Answers go to stdout, progress and errors to stderr. With `--json` stdout carries JSON and
//! nothing else. Text that others wrote may be in all of it: what would deceive on a terminal is
//! shown as an escape. A reader that went away (`latch … | head`) is not an error.

use std::io::{self, BufRead, IsTerminal, Write};
use std::sync::Mutex;

use clap::builder::styling::{AnsiColor, Style};
use latchwork_core::pages;
use serde_json::Value;

use super::error::CliError;
use super::visible::{visible, visible_lines};

/// How a piece of text stands out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// A heading.
    Title,
    /// It went well.
    Good,
    /// It needs attention.
    Attention,
    /// It went wrong.
    Bad,
    /// It matters less.
    Quiet,
}

impl Tone {
    fn style(self) -> Style {
        match self {
            Tone::Title => Style::new().bold(),
            Tone::Good => AnsiColor::Green.on_default(),
            Tone::Attention => AnsiColor::Yellow.on_default().bold(),
            Tone::Bad => AnsiColor::Red.on_default().bold(),
            Tone::Quiet => Style::new().dimmed(),
        }
    }
}

/// Writes for people or for programs.
pub struct Printer {
    json: bool,
    color_stdout: bool,
    color_stderr: bool,
    lost: Mutex<Option<io::Error>>,
}

impl Printer {
    /// Colours go to terminals, unless `NO_COLOR` is set or the terminal is `dumb`.
    pub fn new(json: bool) -> Self {
        let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let wanted = !set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb");
        Self {
            json,
            color_stdout: wanted && !json && io::stdout().is_terminal(),
            color_stderr: wanted && io::stderr().is_terminal(),
            lost: Mutex::default(),
        }
    }

    /// Whether stderr takes colours.
    pub fn colors_stderr(&self) -> bool {
        self.color_stderr
    }

    /// Whether a person can be asked: both stdin and stderr are a terminal, and nobody wants JSON.
    pub fn can_ask(&self) -> bool {
        !self.json && io::stdin().is_terminal() && io::stderr().is_terminal()
    }

    /// A line of the answer for people; nothing with `--json`.
    pub fn say(&self, text: impl AsRef<str>) {
        if !self.json {
            self.raw(&format!("{}\n", safe(text.as_ref())));
        }
    }

    /// The answer for programs: one JSON document.
    pub fn document(&self, document: &Value) {
        self.raw(&format!("{document:#}\n"));
    }

    /// One of many JSON documents, each on a line of its own.
    pub fn line(&self, document: &Value) {
        self.raw(&format!("{document}\n"));
    }

    /// Text for stdout exactly as it is, with and without `--json`.
    pub fn raw(&self, text: &str) {
        self.write(&mut io::stdout().lock(), text.as_bytes());
    }

    /// Progress: a line to stderr.
    pub fn note(&self, text: impl AsRef<str>) {
        self.write(&mut io::stderr().lock(), format!("{}\n", safe(text.as_ref())).as_bytes());
    }

    /// Progress in a tone: a line to stderr.
    pub fn progress(&self, tone: Tone, text: &str) {
        self.note(paint(self.color_stderr, tone, text));
    }

    /// Something that is worth attention and stops nothing.
    pub fn warn(&self, text: impl AsRef<str>) {
        let label = paint(self.color_stderr, Tone::Attention, "warning:");
        self.note(format!("{label} {}", text.as_ref()));
    }

    /// Why the command failed: to stderr for people, a document on stdout for programs.
    pub fn error(&self, error: &CliError) {
        if self.json {
            self.document(&error.to_json());
            return;
        }
        let color = self.color_stderr;
        let mut text = format!("{} {}\n", paint(color, Tone::Bad, &format!("error[{}]:", error.code)), error.message);
        for problem in &error.problems {
            let place = paint(color, Tone::Title, &problem.place);
            text += &format!(
                "  {place}: {} {}\n",
                problem.message,
                paint(color, Tone::Quiet, &format!("[{}]", problem.code))
            );
        }
        text += &paint(color, Tone::Quiet, &format!("`latch explain {}` tells more", error.code));
        self.note(text);
    }

    /// What the parser of the command line has to say, in its own colours.
    pub fn clap_error(&self, error: &clap::Error) {
        let text = error.render();
        let text = if self.color_stderr { text.ansi().to_string() } else { safe(&text.to_string()) };
        let text = text.replacen("error:", &format!("error[{}]:", pages::USAGE), 1);
        self.write(&mut io::stderr().lock(), text.as_bytes());
    }

    /// `text` in a tone, for [`say`](Self::say).
    pub fn tone(&self, tone: Tone, text: &str) -> String {
        paint(self.color_stdout, tone, text)
    }

    /// Ask a person and wait for a line; none where nobody can be asked, or answered.
    pub fn ask(&self, question: &str) -> Option<String> {
        if !self.can_ask() {
            return None;
        }
        self.write(&mut io::stderr().lock(), format!("{question} ").as_bytes());
        let mut answer = String::new();
        match io::stdin().lock().read_line(&mut answer) {
            Ok(0) | Err(_) => None,
            Ok(_) => Some(answer.trim().to_owned()),
        }
    }

    /// Whether everything that was said has been taken.
    pub fn finish(&self) -> Result<(), CliError> {
        if let Err(error) = io::stdout().flush() {
            self.keep(error);
        }
        match self.lost.lock().expect("nobody panics while holding it").take() {
            None => Ok(()),
            Some(error) => {
                Err(CliError::failed(pages::OUTPUT_UNWRITABLE, format!("the output could not be written: {error}")))
            }
        }
    }

    fn write(&self, to: &mut impl Write, bytes: &[u8]) {
        if let Err(error) = to.write_all(bytes).and_then(|()| to.flush()) {
            self.keep(error);
        }
    }

    fn keep(&self, error: io::Error) {
        if error.kind() != io::ErrorKind::BrokenPipe {
            self.lost.lock().expect("nobody panics while holding it").get_or_insert(error);
        }
    }
}

/// Lines of a table, its columns aligned; the last one runs free.
pub fn table<const N: usize>(head: [&str; N], rows: &[[String; N]]) -> Vec<String> {
    let head = head.map(str::to_owned);
    let mut widths = [0; N];
    for row in std::iter::once(&head).chain(rows) {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let line = |row: &[String; N]| {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    std::iter::once(&head).chain(rows).map(line).collect()
}

/// Text as it may go to a terminal: line ends and our own tones, nothing else that acts there.
fn safe(text: &str) -> String {
    let tones = [Tone::Title, Tone::Good, Tone::Attention, Tone::Bad, Tone::Quiet];
    let styles = tones.iter().flat_map(|tone| [format!("{}", tone.style()), format!("{:#}", tone.style())]);
    visible_lines(text, &styles.collect::<Vec<_>>())
}

/// One line in a tone.
fn paint(color: bool, tone: Tone, text: &str) -> String {
    let text = visible(text);
    if !color {
        return text;
    }
    let style = tone.style();
    format!("{style}{text}{style:#}")
}
