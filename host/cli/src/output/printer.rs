//! Printing. Only this module writes to stdout. The module `stderr` writes to stderr.
//!
//! Answers go to stdout, progress and errors to stderr. With `--json`, stdout holds only JSON. Text for
//! people is a [`Text`]: escaped when it is created, styled and wrapped when it is written. A closed pipe, as
//! in `latch … | head`, is not an error.

use std::io;
use std::io::{BufRead, IsTerminal, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use anstream::{AutoStream, ColorChoice};
use console::Term;
use serde_json::{Value, json};
use tracing::Level;

use latchwork::runtime::TraceIds;
use latchwork_core::model::error_docs;
use latchwork_core::model::ids::JobId;
use latchwork_engine::os::Machine;

use crate::args::LogFormat;
use crate::error::CliError;
use crate::output::record::RecordFormat;
use crate::output::stderr;
use crate::output::stderr::StderrLines;
use crate::text::{Text, TextTarget, Tone};

/// Writes text for people or JSON for programs.
pub struct Printer {
    json: bool,
    stdout: TextTarget,
    stderr: StderrLines,
    /// True if a command reads its input from stdin. A person then cannot answer questions on stdin.
    stdin_is_input: AtomicBool,
    first_write_error: Mutex<Option<io::Error>>,
    started_us: i64,
}

/// Minimum line width in columns. Lines for a narrower terminal also have this width.
const LEAST_WIDTH: usize = 20;

impl Printer {
    /// Creates a printer. Only terminals get styles and wrapped lines. Terminals get no styles if `NO_COLOR` is set or
    /// the terminal is `dumb`. If `log_format` is [`LogFormat::Json`], `records` formats the lines on stderr.
    pub(crate) fn new(json: bool, log_format: LogFormat, records: RecordFormat) -> Self {
        let color = |choice| choice != ColorChoice::Never;
        let stdout = AutoStream::choice(&io::stdout());
        let stderr = AutoStream::choice(&io::stderr());
        let target = TextTarget { color: color(stderr), width: width(&Term::stderr()) };
        let started_us = records.machine.now_us();
        Self {
            json,
            stdout: TextTarget { color: color(stdout), width: width(&Term::stdout()) },
            stderr: StderrLines { log_format, target, records },
            stdin_is_input: AtomicBool::new(false),
            first_write_error: Mutex::default(),
            started_us,
        }
    }

    /// Clock and entropy of the command.
    pub(crate) fn machine(&self) -> &Machine {
        &self.stderr.records.machine
    }

    /// Returns the time in microseconds since 1970 UTC.
    pub(crate) fn now_us(&self) -> i64 {
        self.machine().now_us()
    }

    /// Returns the list of trace ids for the lines on stderr. Each host of the command adds the trace ids of its jobs.
    pub(crate) fn trace_ids(&self) -> &TraceIds {
        &self.stderr.records.trace_ids
    }

    /// Format of the lines on stderr.
    pub(crate) fn stderr_lines(&self) -> &StderrLines {
        &self.stderr
    }

    /// Returns the start time of the command.
    pub(crate) fn started_us(&self) -> i64 {
        self.started_us
    }

    /// Reserves stdin for the input of a command. From then on, no questions are asked.
    pub fn reserve_stdin(&self) {
        self.stdin_is_input.store(true, Ordering::Relaxed);
    }

    /// Returns true if lines on stderr can be redrawn in place. The terminal must be able to move its cursor, and the
    /// lines must be for people. Returns false with `--json`.
    pub(crate) fn redraws(&self) -> bool {
        let can_move = std::env::var_os("TERM").is_some_and(|term| term != "dumb");
        self.writes_for_people()
            && !self.json
            && can_move
            && Term::stderr().is_term()
            && self.stderr.target.width.is_some()
    }

    /// Returns true if answers go to a terminal.
    pub(crate) fn is_stdout_terminal(&self) -> bool {
        self.stdout.width.is_some()
    }

    /// Returns the current rows and columns of the terminal.
    pub(crate) fn stderr_size(&self) -> Option<(usize, usize)> {
        let size = Term::stderr().size_checked()?;
        Some((size.0.into(), usize::from(size.1).max(LEAST_WIDTH)))
    }

    /// Returns true if the lines on stderr are for people.
    pub(crate) fn writes_for_people(&self) -> bool {
        self.stderr.log_format == LogFormat::Human
    }

    /// Returns true if stderr accepts styles.
    pub fn colors_stderr(&self) -> bool {
        self.stderr.target.color
    }

    /// Returns true if a person can be asked: stdin and stderr are terminals, the command does not read its input from
    /// stdin, and the answer is not JSON.
    pub fn can_ask(&self) -> bool {
        !self.json
            && self.writes_for_people()
            && !self.stdin_is_input.load(Ordering::Relaxed)
            && io::stdin().is_terminal()
            && io::stderr().is_terminal()
    }

    /// Prints a part of the answer for people. Prints nothing with `--json`.
    pub fn print_text(&self, text: impl Into<Text>) {
        if !self.json {
            self.raw(&text.into().render(self.stdout));
        }
    }

    /// Prints a part of the answer for people, with lines cut at the edge of a terminal. Without a terminal
    /// the lines are complete.
    pub fn print_truncated(&self, text: impl Into<Text>) {
        match self.stdout.width {
            Some(width) if !self.json => {
                let lines = text.into().truncate(self.stdout.color, width);
                self.raw(&lines.iter().map(|line| format!("{line}\n")).collect::<String>());
            }
            _ => self.print_text(text),
        }
    }

    /// Returns the width of the terminal that answers go to, or `None` without a terminal.
    pub fn width(&self) -> Option<usize> {
        self.stdout.width
    }

    /// Prints the result of the command for programs, as one JSON document.
    pub fn document(&self, document: &Value) {
        self.raw(&format!("{document:#}\n"));
    }

    /// Prints one of several JSON documents on its own line.
    pub fn line(&self, document: &Value) {
        self.raw(&format!("{document}\n"));
    }

    /// Prints text to stdout unchanged, with and without `--json`.
    pub fn raw(&self, text: &str) {
        self.bytes(text.as_bytes());
    }

    /// Prints bytes to stdout unchanged, with and without `--json`.
    pub fn bytes(&self, bytes: &[u8]) {
        self.check_write(stderr::with_area_cleared(|| {
            let mut stdout = io::stdout().lock();
            stdout.write_all(bytes).and_then(|()| stdout.flush())
        }));
    }

    /// Prints progress to stderr.
    pub fn note(&self, text: impl Into<Text>) {
        self.check_write(self.stderr.write_text(Level::INFO, None, text.into()));
    }

    /// Prints a warning to stderr.
    pub fn warn(&self, text: impl Into<Text>) {
        self.warn_about(None, text.into());
    }

    /// Prints progress of a job to stderr.
    pub(crate) fn note_of(&self, job_id: &JobId, text: impl Into<Text>) {
        self.job_line(Level::INFO, job_id, text.into());
    }

    /// Prints a warning about a job to stderr.
    pub(crate) fn warn_of(&self, job_id: &JobId, text: impl Into<Text>) {
        self.warn_about(Some(job_id), text.into());
    }

    /// Prints a line about a job to stderr.
    pub(crate) fn job_line(&self, level: Level, job_id: &JobId, text: Text) {
        self.check_write(self.stderr.write_text(level, Some(job_id), text));
    }

    fn warn_about(&self, job_id: Option<&JobId>, text: Text) {
        let text = if self.writes_for_people() { Tone::Attention.of("warning:") + " " + text } else { text };
        self.check_write(self.stderr.write_text(Level::WARN, job_id, text));
    }

    /// Prints the error of a failed command. With `--json`, prints a document to stdout. Otherwise prints to stderr.
    pub fn error(&self, error: &CliError) {
        if self.json {
            return self.document(&error.to_json());
        }
        if !self.writes_for_people() {
            let mut document = error.to_json()["error"].take();
            if let Some(job_id) = &error.job_id {
                document["job_id"] = json!(job_id);
            }
            return self.check_write(self.stderr.write_error_record(&error.full_message(), document));
        }
        let mut text = Tone::Bad.of(format!("error[{}]:", error.code)) + " " + error.message.as_str();
        if let Some(command) = &error.next_command {
            text = text.with_command(command);
        }
        for problem in &error.problems {
            let line = Text::from("  ") + Tone::Title.of(&problem.location) + ": " + problem.message.as_str() + " ";
            text = text.under(line + Tone::Quiet.of(format!("[{}]", problem.code)));
        }
        self.note(text.under(Tone::Quiet.of(format!("`latch explain {}` tells more", error.code))));
    }

    /// Prints an error of the argument parser, with the colours of the parser.
    pub fn clap_error(&self, error: &clap::Error) {
        let text = error.render();
        let text = match self.stderr.target.color {
            true => text.ansi().to_string(),
            false => Text::from(text.to_string().trim_end()).render(TextTarget { width: None, ..self.stderr.target }),
        };
        let text = text.replacen("error:", &format!("error[{}]:", error_docs::USAGE), 1);
        self.check_write(stderr::write(text.as_bytes()));
    }

    /// Asks a person and waits for a line. Returns `None` if there is no person to ask or no answer.
    pub async fn ask(&self, question: &str) -> Option<String> {
        if !self.can_ask() {
            return None;
        }
        self.check_write(stderr::write(format!("{} ", Text::from(question).plain()).as_bytes()));
        // Reads on a separate thread, because a blocking read cannot be cancelled. The program ends without waiting for
        // this thread.
        let read = tokio::task::spawn_blocking(|| {
            let mut answer = String::new();
            match io::stdin().lock().read_line(&mut answer) {
                Ok(0) | Err(_) => None,
                Ok(_) => Some(answer.trim().to_owned()),
            }
        });
        let answer = read.await.ok().flatten();
        if answer.is_none() {
            // Ends the line of the question. Without an answer, the cursor is still on this line.
            self.check_write(stderr::write(b"\n"));
        }
        answer
    }

    /// Returns an error if any output could not be written.
    pub fn finish(&self) -> Result<(), CliError> {
        if let Err(error) = io::stdout().flush() {
            self.record_write_error(error);
        }
        match self.first_write_error.lock().expect("no thread panics while it holds the lock").take() {
            None => Ok(()),
            Some(error) => Err(CliError::failed(
                error_docs::OUTPUT_UNWRITABLE,
                format!("the output could not be written: {error}"),
            )),
        }
    }

    fn check_write(&self, written: io::Result<()>) {
        if let Err(error) = written {
            self.record_write_error(error);
        }
    }

    fn record_write_error(&self, error: io::Error) {
        if error.kind() != io::ErrorKind::BrokenPipe {
            self.first_write_error.lock().expect("no thread panics while it holds the lock").get_or_insert(error);
        }
    }
}

/// Returns the width of a terminal in columns.
fn width(term: &Term) -> Option<usize> {
    // A terminal that does not report its size has no width limit.
    let columns = term.size_checked().map(|(_, columns)| usize::from(columns)).filter(|columns| *columns > 0);
    columns.filter(|_| term.is_term()).map(|columns| columns.max(LEAST_WIDTH))
}
