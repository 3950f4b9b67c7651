//! Writing to stdout and stderr: answers, progress, errors, the live area and log lines.
//!
//! Floors, top first: `compilation`, `logging`, `printer` · `stderr` · `record`.

mod compilation;
mod logging;
mod printer;
mod record;
mod stderr;

pub use printer::Printer;

pub(crate) use compilation::announce_compilation;
pub(crate) use logging::{install_panic_hook, start_logging};
pub(crate) use record::RecordFormat;
pub(crate) use stderr::{Area, StderrLines};
