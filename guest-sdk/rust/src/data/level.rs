//! Severity of a log record.

/// Severity of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Fine-grained detail.
    Trace,
    /// Information for debugging.
    Debug,
    /// Normal events.
    Info,
    /// Unexpected events that the plugin handled.
    Warn,
    /// Failures.
    Error,
}
