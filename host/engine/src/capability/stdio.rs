//! Standard output and standard error of a tool, written as one log record per line.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use tokio::io::AsyncWrite;
use tracing::Level;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};

use latchwork_core::model::bounds;

use crate::capability::log;
use crate::guest::last_words::LastWords;
use crate::guest::limits::RECORD_BYTES;

/// One stream of one call. Clones share the incomplete line.
#[derive(Clone)]
pub(crate) struct LogStream(Arc<Mutex<LogLine>>);

struct LogLine {
    plugin: String,
    slot: String,
    level: Level,
    text: Vec<u8>,
    /// Number of bytes that the stream may still log.
    left: usize,
    /// True if bytes were left out. A last record says so.
    is_full: bool,
    /// Last words of the guest, to which the bytes are added too. `None` for standard output.
    last_words: Option<LastWords>,
}

impl LogStream {
    pub(crate) fn new(plugin: &str, slot: &str, level: Level) -> Self {
        let (plugin, slot) = (plugin.to_owned(), slot.to_owned());
        let left = bounds::TOOL_STREAM_BYTES;
        let line = LogLine { plugin, slot, level, text: Vec::new(), left, is_full: false, last_words: None };
        Self(Arc::new(Mutex::new(line)))
    }

    /// Returns the stream, which from then on also adds its bytes to the last words of the guest.
    pub(crate) fn with_last_words(self, last_words: LastWords) -> Self {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).last_words = Some(last_words);
        self
    }
}

impl LogLine {
    fn push(&mut self, bytes: &[u8]) {
        if let Some(last_words) = &self.last_words {
            last_words.add(bytes);
        }
        if self.is_full {
            return;
        }
        let taken = bytes.len().min(self.left);
        self.left -= taken;
        self.push_lines(&bytes[..taken]);
        if taken < bytes.len() {
            self.is_full = true;
            self.end();
            let message = format!("it wrote more than {} bytes; the rest is left out", bounds::TOOL_STREAM_BYTES);
            log::record(&self.plugin, &self.slot, Level::WARN, &message);
        }
    }

    fn push_lines(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.text.extend_from_slice(piece);
            if piece.ends_with(b"\n") || self.text.len() >= bounds::LOG_RECORD_BYTES {
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

impl Drop for LogLine {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// I225: bound `tool_stream_bytes`. The first byte beyond it, and every later one, is left out.
    #[test]
    fn output_of_a_tool_is_left_out_beyond_its_limit() {
        let stream = LogStream::new("p", "s1", Level::INFO);
        let mut line = stream.0.lock().unwrap();
        // Each record takes more bytes than its text. The last text is too short for a record.
        let record = bounds::LOG_RECORD_BYTES + RECORD_BYTES;
        for _ in 0..bounds::TOOL_STREAM_BYTES / record {
            line.push(&vec![b'x'; bounds::LOG_RECORD_BYTES]);
        }
        let rest = bounds::TOOL_STREAM_BYTES % record;
        line.push(&vec![b'x'; rest]);
        assert_eq!((line.is_full, line.left, line.text.len()), (false, 0, rest));
        line.push(b"");
        assert!(!line.is_full);
        line.push(b"x");
        assert!(line.is_full && line.text.is_empty());
        line.push(b"more");
        assert!(line.text.is_empty());
    }
}
