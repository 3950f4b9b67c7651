//! `latchwork:plugin/log`: log records for human readers. Replay never compares them.

use tracing::Level;
use wasmtime::component::HasData;

use latchwork_core::encoding::truncate;

use crate::capability::host_call_gate::HostCallGate;
use crate::capability::step_view::StepView;
use crate::guest::bindings::import::log;

/// Maximum length of one record, in bytes. Longer records are truncated.
pub(crate) const RECORD_BYTES_MAX: usize = 8 << 10;

impl log::Host for StepView<'_> {
    fn write(&mut self, level: log::Level, message: String) -> wasmtime::Result<()> {
        self.guard.count_host_call()?;
        self.calls.log(tracing_level(level), truncate::at_bytes(&message, RECORD_BYTES_MAX).start);
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
        record(self.plugin, self.slot, tracing_level(level), &message);
        Ok(())
    }
}

/// Writes a tool's record to the host's own log.
pub(crate) fn record(plugin: &str, slot: &str, level: Level, message: &str) {
    let message = truncate::at_bytes(message, RECORD_BYTES_MAX).start;
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
