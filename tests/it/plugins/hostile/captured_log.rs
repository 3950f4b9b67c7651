//! Captures log output of the host.

use std::io;
use std::sync::{Arc, Mutex};

use tracing::subscriber::DefaultGuard;
use tracing_subscriber::fmt::MakeWriter;

/// Captures everything that this thread logs, until the value is dropped.
pub(crate) struct CapturedLog {
    bytes: Sink,
    _guard: DefaultGuard,
}

#[derive(Clone, Default)]
struct Sink(Arc<Mutex<Vec<u8>>>);

impl CapturedLog {
    pub(crate) fn capture() -> Self {
        let bytes = Sink::default();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(tracing::Level::TRACE)
            .with_ansi(false)
            .with_writer(bytes.clone())
            .finish();
        Self { bytes, _guard: tracing::subscriber::set_default(subscriber) }
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes.0.lock().unwrap()).into_owned()
    }
}

impl io::Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Sink {
    type Writer = Sink;
    fn make_writer(&self) -> Sink {
        self.clone()
    }
}
