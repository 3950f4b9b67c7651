//! The only module that writes to stderr. Keeps an area of redrawn lines at the bottom of the terminal.

use std::io;
use std::io::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};

use console::{Term, measure_text_width};
use serde_json::{Map, Value, json};
use tracing::Level;

use latchwork_core::model::ids::JobId;

use crate::args::LogFormat;
use crate::output::record::RecordFormat;
use crate::text::{Text, TextTarget};

/// Lines of the redrawn area. The cursor is at the start of the line below the area.
static AREA: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn area() -> MutexGuard<'static, Vec<String>> {
    AREA.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Clears the area and everything below the area, such as the echo of pressed keys.
fn clear(area: &[String]) -> io::Result<()> {
    if area.is_empty() {
        return Ok(());
    }
    let term = Term::stderr();
    term.write_str("\r")?;
    let columns = term.size_checked().map_or(usize::MAX, |(_, columns)| usize::from(columns));
    term.move_cursor_up(rows(area, columns))?;
    term.clear_to_end_of_screen()
}

/// Returns the number of rows that the lines occupy now. A terminal that became narrower has wrapped the lines.
fn rows(area: &[String], columns: usize) -> usize {
    let columns = columns.max(1);
    area.iter().map(|line| measure_text_width(line).div_ceil(columns).max(1)).sum()
}

fn draw(area: &[String]) -> io::Result<()> {
    if area.is_empty() { Ok(()) } else { Term::stderr().write_str(&(area.join("\n") + "\n")) }
}

/// Clears the area, runs `put`, and draws the area again. `put` writes to the terminal.
pub(crate) fn with_area_cleared<T>(put: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let area = area();
    clear(&area)?;
    let done = put()?;
    draw(&area)?;
    Ok(done)
}

/// Writes to stderr.
pub(crate) fn write(bytes: &[u8]) -> io::Result<()> {
    with_area_cleared(|| {
        let mut stderr = io::stderr().lock();
        stderr.write_all(bytes).and_then(|()| stderr.flush())
    })
}

/// Format of the lines on stderr. Clones write in the same format.
#[derive(Clone)]
pub(crate) struct StderrLines {
    pub(super) log_format: LogFormat,
    /// Properties of the terminal or file behind stderr.
    pub(super) target: TextTarget,
    pub(super) records: RecordFormat,
}

impl StderrLines {
    /// Writes a text as lines for people or as one JSON object.
    pub(super) fn write_text(&self, level: Level, job_id: Option<&JobId>, text: Text) -> io::Result<()> {
        match self.log_format {
            LogFormat::Json => {
                let fields = job_id.map(|job_id| ("job_id".to_owned(), json!(job_id)));
                self.write_record(level, &text.plain(), fields.into_iter().collect())
            }
            LogFormat::Human => write(text.render(self.target).as_bytes()),
        }
    }

    /// Writes the error of a failed command as one JSON object.
    pub(super) fn write_error_record(&self, message: &str, mut document: Value) -> io::Result<()> {
        let fields = document.as_object_mut().map(std::mem::take).unwrap_or_default();
        self.write_record(Level::ERROR, message, fields)
    }

    fn write_record(&self, level: Level, message: &str, fields: Map<String, Value>) -> io::Result<()> {
        write(format!("{}\n", self.records.line(level, message, fields)).as_bytes())
    }
}

/// Writer for log lines. Each line is written in one piece.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LogWriter;

impl Write for LogWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        write(bytes).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Area of redrawn lines at the bottom of the terminal. Dropping the value clears the area.
pub(crate) struct Area(());

impl Area {
    /// Creates an empty area.
    pub(crate) fn begin() -> Area {
        Area(())
    }

    /// Replaces the lines of the area.
    pub(crate) fn show(&self, lines: Vec<String>) {
        let mut area = area();
        // Errors are ignored: a closed terminal cannot show the area.
        let _ = clear(&area);
        *area = lines;
        let _ = draw(&area);
    }
}

impl Drop for Area {
    fn drop(&mut self) {
        self.show(Vec::new());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// I131: a terminal that became narrower has wrapped the lines of the area. The row count includes the wrapped
    /// rows, so the whole area is cleared.
    #[test]
    fn narrower_terminal_increases_the_row_count() {
        let area =
            ["\x1b[1m0 of 4 steps done, 12.3 s\x1b[0m", "", "  s3  日本  \x1b[2mrunning\x1b[0m"].map(str::to_owned);
        assert_eq!([100, 25, 24, 10, 1].map(|columns| rows(&area, columns)), [3, 3, 4, 6, 45]);
        assert_eq!(rows(&area, 0), 45);
    }
}
