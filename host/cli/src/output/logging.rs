//! Log output on stderr. Stdout holds only answers.

use serde_json::{Map, json};
use tracing::Level;
use tracing_subscriber::EnvFilter;

use crate::args::LogFormat;
use crate::output::record::RecordFormat;
use crate::output::stderr;
use crate::output::stderr::LogWriter;

/// Environment variable with log filters, such as `latchwork=debug,sqlx=warn`.
const VARIABLE: &str = "LATCH_LOG";

/// Filter that hides the warnings of the HTTP library. It logs one warning for each failed request of a tool, so a tool
/// could fill the log.
const HTTP_LIBRARY: (&str, &str) = ("wasmtime_wasi_http", "wasmtime_wasi_http=error");

/// Starts logging. `LATCH_LOG` overrides `-v`. By default, warnings and errors are shown.
pub(crate) fn start_logging(verbose: u8, format: LogFormat, color: bool, records: RecordFormat) {
    let level = match verbose {
        0 => "warn",
        1 => "warn,latchwork=info,latchwork_core=info,latchwork_store=info",
        2 => "info,latchwork=debug,latchwork_core=debug,latchwork_store=debug",
        _ => "trace",
    };
    let filter = std::env::var(VARIABLE).ok().filter(|text| !text.is_empty());
    let is_asked = filter.as_ref().is_some_and(|text| text.contains(HTTP_LIBRARY.0));
    // If the filter is invalid, the default filter applies and the error is logged.
    let (filter, refused) = match filter.map(EnvFilter::try_new) {
        None => (EnvFilter::new(level), None),
        Some(Ok(filter)) => (filter, None),
        Some(Err(error)) => (EnvFilter::new(level), Some(error)),
    };
    let filter = match is_asked {
        true => filter,
        false => filter.add_directive(HTTP_LIBRARY.1.parse().expect("a directive")),
    };
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(LogWriter::default).with_ansi(color);
    // Keeps a subscriber that a test or an embedding program has already installed.
    let _started = match format {
        LogFormat::Human => builder.try_init(),
        LogFormat::Json => builder.event_format(records).try_init(),
    };
    if let Some(error) = refused {
        tracing::warn!("{VARIABLE} is invalid and was ignored: {error}");
    }
}

/// Installs a panic hook that writes the panic as one record.
pub(crate) fn install_panic_hook(records: RecordFormat) {
    std::panic::set_hook(Box::new(move |panic| {
        let text = panic.payload_as_str().unwrap_or("it panicked");
        let mut fields = Map::new();
        fields.insert("panicked_at".into(), json!(panic.location().map(ToString::to_string)));
        // If stderr is closed, only the exit code reports the panic.
        let _ = stderr::write(format!("{}\n", records.line(Level::ERROR, text, fields)).as_bytes());
    }));
}
