//! Reads answers of a person at the terminal to questions that can be withdrawn.

use std::io;
use std::io::BufRead as _;

use rustix::termios::{QueueSelector, tcflush};
use tokio::task::JoinHandle;

/// Reads one answer at a time.
///
/// A blocking read cannot be cancelled, so the read for a withdrawn question stays pending. The next question uses the
/// pending read. A second read would compete with the pending read for the input.
#[derive(Default)]
pub(super) struct Question {
    read: Option<JoinHandle<io::Result<String>>>,
}

impl Question {
    /// Returns the next line that is typed. Text typed before the question is discarded.
    pub(super) async fn answer(&mut self) -> io::Result<String> {
        // Flushing fails on a closed terminal; the read below reports that error.
        let _ = tcflush(io::stdin(), QueueSelector::IFlush);
        let read = match self.read.take_if(|read| !read.is_finished()) {
            Some(read) => read,
            None => tokio::task::spawn_blocking(line),
        };
        let answer = self.read.insert(read).await;
        self.read = None;
        answer.map_err(io::Error::other)?
    }
}

fn line() -> io::Result<String> {
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    Ok(line)
}
