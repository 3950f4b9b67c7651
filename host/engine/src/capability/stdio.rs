//! Standard output and standard error of a tool, written as one log record per line.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use tokio::io::AsyncWrite;
use tracing::Level;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};

use crate::capability::log;
use crate::capability::log::RECORD_BYTES_MAX;
use crate::guest::last_words::LastWords;
use crate::guest::limits::RECORD_BYTES;

/// Number of bytes of one stream that a call logs.
const STREAM_BYTES_MAX: usize = 1 << 20;

/// One stream of one call. Clones share the incomplete line.
#[derive(Clone)]
pub(crate) struct LogStream(Arc<Mutex<Line>>);

struct Line {
    plugin: String,
    slot: String,
    level: Level,
    text: Vec<u8>,
    /// Number of bytes that are still logged.
    left: usize,
    /// Also receives the bytes. `None` for standard output.
    last_words: Option<LastWords>,
}

impl LogStream {
    pub(crate) fn new(plugin: &str, slot: &str, level: Level) -> Self {
        let (plugin, slot) = (plugin.to_owned(), slot.to_owned());
        let line = Line { plugin, slot, level, text: Vec::new(), left: STREAM_BYTES_MAX, last_words: None };
        Self(Arc::new(Mutex::new(line)))
    }

    /// Adds everything that is written to the last words of the guest, too.
    pub(crate) fn with_last_words(self, last_words: LastWords) -> Self {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).last_words = Some(last_words);
        self
    }
}

impl Line {
    fn push(&mut self, bytes: &[u8]) {
        if let Some(last_words) = &self.last_words {
            last_words.add(bytes);
        }
        if self.left == 0 {
            return;
        }
        let taken = bytes.len().min(self.left);
        self.left -= taken;
        self.push_lines(&bytes[..taken]);
        if self.left == 0 {
            self.end();
            let message = format!("it wrote more than {STREAM_BYTES_MAX} bytes; the rest is left out");
            log::record(&self.plugin, &self.slot, Level::WARN, &message);
        }
    }

    fn push_lines(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.text.extend_from_slice(piece);
            if piece.ends_with(b"\n") || self.text.len() >= RECORD_BYTES_MAX {
                self.end();
            }
        }
    }

    fn end(&mut self) {
        let text = String::from_utf8_lossy(&self.text);
        let text = text.trim_end_matches(['\r', '\n']);
        for line in log::lines(text).filter(|line| !line.is_empty()) {
            self.left = self.left.saturating_sub(RECORD_BYTES);
            log::record(&self.plugin, &self.slot, self.level, &line);
        }
        self.text.clear();
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.end();
    }
}

impl IsTerminal for LogStream {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for LogStream {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(self.clone())
    }
}

impl AsyncWrite for LogStream {
    fn poll_write(self: Pin<&mut Self>, _cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(buf);
        Poll::Ready(Ok(buf.len()))
    }
    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
    fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
