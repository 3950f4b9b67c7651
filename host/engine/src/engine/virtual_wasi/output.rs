//! Standard output and standard error of a step, written as one log record per line, in the order in which
//! the lines end.

use tracing::Level;

use latchwork_core::model::bounds;

use crate::engine::virtual_wasi::handles::StdStream;
use crate::guest::step_calls::StepCalls;

/// Output of a try: the unfinished line of each stream, and the number of bytes kept so far. The guest cannot detect
/// that output beyond the limit is discarded.
#[derive(Debug, Default)]
pub(super) struct StreamOutput {
    out: Vec<u8>,
    err: Vec<u8>,
    kept_bytes: usize,
    is_truncated: bool,
}

impl StreamOutput {
    pub(super) fn write(&mut self, stream: StdStream, bytes: &[u8], calls: &mut dyn StepCalls) {
        let kept = &bytes[..bytes.len().min(bounds::STEP_STREAM_BYTES - self.kept_bytes)];
        self.kept_bytes += kept.len();
        let (line, level) = match stream {
            StdStream::Out => (&mut self.out, Level::INFO),
            StdStream::Err => (&mut self.err, Level::WARN),
        };
        for piece in kept.split_inclusive(|byte| *byte == b'\n') {
            for part in piece.chunks(bounds::LOG_RECORD_BYTES) {
                if line.len() + part.len() > bounds::LOG_RECORD_BYTES {
                    end(line, level, calls);
                }
                line.extend_from_slice(part);
            }
            if piece.ends_with(b"\n") {
                end(line, level, calls);
            }
        }
        if kept.len() < bytes.len() && !self.is_truncated {
            self.is_truncated = true;
            self.finish(calls);
            calls.log(
                Level::WARN,
                &format!("output of the step beyond {} bytes is discarded", bounds::STEP_STREAM_BYTES),
            );
        }
    }

    /// Ends the incomplete lines at the end of the try.
    pub(super) fn finish(&mut self, calls: &mut dyn StepCalls) {
        end(&mut self.out, Level::INFO, calls);
        end(&mut self.err, Level::WARN, calls);
    }
}

fn end(line: &mut Vec<u8>, level: Level, calls: &mut dyn StepCalls) {
    let text = String::from_utf8_lossy(line);
    let text = text.trim_end_matches(['\r', '\n']);
    if !text.is_empty() {
        calls.log(level, text);
    }
    line.clear();
}
