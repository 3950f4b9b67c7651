//! `latchwork:plugin/log`: log records for human readers. Replay never compares them.

use tracing::Level;
use wasmtime::component::HasData;

use latchwork_core::encoding::truncate;
use latchwork_core::model::bounds;

use crate::capability::host_call_gate::HostCallGate;
use crate::capability::step_call_view::StepCallView;
use crate::guest::bindings::import::log;
use crate::guest::limits::LogRecord;

/// Returns the last record of a try that logs too much.
fn log_is_full() -> String {
    format!("it logged more than {} MiB in this try; the rest is left out", bounds::LOG_BYTES >> 20)
}

impl log::Host for StepCallView<'_> {
    fn write(&mut self, level: log::Level, message: String) -> wasmtime::Result<()> {
        self.guard.count_host_call()?;
        if is_of_last_words(level) {
            self.guard.last_words.add_record(&message);
        }
        for line in lines(&message) {
            match self.guard.take_log_bytes(line.len()) {
                LogRecord::Write => self.calls.log(tracing_level(level), &line),
                LogRecord::WriteLast => self.calls.log(Level::WARN, &log_is_full()),
                LogRecord::LeaveOut => break,
            }
        }
        Ok(())
    }
}

/// The names that identify the records of a tool.
pub(crate) struct ToolLogView<'a> {
    pub(crate) gate: HostCallGate<'a>,
    pub(crate) plugin: &'a str,
    pub(crate) slot: &'a str,
}

/// Type of [`ToolLogView`] for the linker.
pub(crate) struct ToolLogViewData;

impl HasData for ToolLogViewData {
    type Data<'a> = ToolLogView<'a>;
}

impl log::Host for ToolLogView<'_> {
    fn write(&mut self, level: log::Level, message: String) -> wasmtime::Result<()> {
        self.gate.pass()?;
        if is_of_last_words(level) {
            self.gate.guard.last_words.add_record(&message);
        }
        for line in lines(&message) {
            match self.gate.guard.take_log_bytes(line.len()) {
                LogRecord::Write => record(self.plugin, self.slot, tracing_level(level), &line),
                LogRecord::WriteLast => record(self.plugin, self.slot, Level::WARN, &log_is_full()),
                LogRecord::LeaveOut => break,
            }
        }
        Ok(())
    }
}

/// Returns true if the last words of a guest contain records of this level. The SDK of C writes standard error as warnings.
fn is_of_last_words(level: log::Level) -> bool {
    matches!(level, log::Level::Warn | log::Level::Error)
}

/// Splits a message into lines, because each line becomes a separate record. A line break in a record could imitate a
/// record of the host.
pub(crate) fn lines(message: &str) -> impl Iterator<Item = String> {
    let message = truncate::at_bytes(message, bounds::LOG_RECORD_BYTES).start;
    let breaks = ['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'];
    let lines = message.split(breaks).filter(|line| !line.is_empty());
    // A message without text is a record, too.
    lines.chain(message.is_empty().then_some("")).map(without_reordering)
}

/// Replaces characters that change the order in which a terminal shows text.
fn without_reordering(line: &str) -> String {
    let reorders = |c: char| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let escape = |c: char| if reorders(c) { c.escape_unicode().to_string() } else { c.to_string() };
    if line.contains(reorders) { line.chars().map(escape).collect() } else { line.to_owned() }
}

/// Writes a line of a tool to the host's own log.
pub(crate) fn record(plugin: &str, slot: &str, level: Level, message: &str) {
    let message = without_reordering(truncate::at_bytes(message, bounds::LOG_RECORD_BYTES).start);
    match level {
        Level::ERROR => tracing::error!(target: "plugin", plugin, slot, "{message}"),
        Level::WARN => tracing::warn!(target: "plugin", plugin, slot, "{message}"),
        Level::INFO => tracing::info!(target: "plugin", plugin, slot, "{message}"),
        Level::DEBUG => tracing::debug!(target: "plugin", plugin, slot, "{message}"),
        Level::TRACE => tracing::trace!(target: "plugin", plugin, slot, "{message}"),
    }
}

fn tracing_level(level: log::Level) -> Level {
    match level {
        log::Level::Trace => Level::TRACE,
        log::Level::Debug => Level::DEBUG,
        log::Level::Info => Level::INFO,
        log::Level::Warn => Level::WARN,
        log::Level::Error => Level::ERROR,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// I207: bound `log_record_bytes`. A message cannot imitate a record of the host, and does not reorder a line.
    #[test]
    fn each_line_of_a_message_is_a_record() {
        let of = |message: &str| lines(message).collect::<Vec<_>>();
        assert_eq!(of("plain"), ["plain"]);
        assert_eq!(of(""), [""]);
        assert_eq!(of("a\r\nb\n\nc\u{2028}d\u{85}e"), ["a", "b", "c", "d", "e"]);
        assert_eq!(of("\n"), [""; 0]);
        assert_eq!(of("a\u{202e}b"), ["a\\u{202e}b"]);
        let longest = "x".repeat(bounds::LOG_RECORD_BYTES);
        assert_eq!(of(&longest), [longest.as_str()]);
        assert_eq!(of(&format!("{longest}x")), [longest.as_str()]);
    }
}
