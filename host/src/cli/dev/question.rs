//! Answers of a person at the terminal, to questions that may be withdrawn.

use std::io::{self, BufRead as _};

use rustix::termios::{QueueSelector, tcflush};
use tokio::task::JoinHandle;

/// Reads one answer at a time. A read that a withdrawn question has begun is kept for the next question: it cannot be
/// ended, and a second one would compete with it.
#[derive(Default)]
pub(super) struct Question {
    read: Option<JoinHandle<io::Result<String>>>,
}

impl Question {
    /// The next line that is typed from now on; what was typed before the question is no answer to it.
    pub(super) async fn answer(&mut self) -> io::Result<String> {
        // A terminal that is gone has nothing to forget; reading says so.
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
