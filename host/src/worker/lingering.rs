//! Writes that nobody waited for: they go along with the next flush. Where one of them fails, every later
//! write of the job is refused for what it lacks, and the reason is that of the first.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};

use latchwork_core::storage::WriteError;

use super::write::Written;

/// Those whose answers were not heard yet, the oldest first, and the first that was a failure.
#[derive(Default)]
pub(super) struct Lingering(Mutex<Heard>);

#[derive(Default)]
struct Heard {
    /// How many writes of the job were queued, those that somebody waits for included.
    queued: u64,
    open: VecDeque<(u64, Written)>,
    failed: Option<(u64, WriteError)>,
    /// What was queued until then is told about no more.
    looked_at: u64,
}

impl Heard {
    /// Hears what was answered meanwhile: answers come in the order of the writes.
    fn listen(&mut self) {
        while let Some((number, oldest)) = self.open.front_mut() {
            let Poll::Ready(result) = oldest.as_mut().poll(&mut Context::from_waker(Waker::noop())) else { return };
            let number = *number;
            self.open.pop_front();
            if let Err(error) = result {
                self.failed.get_or_insert((number, error));
            }
        }
    }
}

impl Lingering {
    fn heard(&self) -> MutexGuard<'_, Heard> {
        self.0.lock().expect("nothing panics while it holds the list")
    }

    /// The number of the write that is queued now.
    pub(super) fn number(&self) -> u64 {
        let mut heard = self.heard();
        heard.queued += 1;
        heard.queued
    }

    /// Nobody waits for this one.
    pub(super) fn add(&self, number: u64, written: Written) {
        let mut heard = self.heard();
        heard.listen();
        heard.open.push_back((number, written));
    }

    /// One of them failed, as somebody else has heard.
    pub(super) fn failed(&self, number: u64, error: WriteError) {
        let mut heard = self.heard();
        if number > heard.looked_at {
            heard.failed.get_or_insert((number, error));
        }
    }

    /// Why the first of them failed, if that was before this write.
    pub(super) fn failure_before(&self, number: u64) -> Option<WriteError> {
        let mut heard = self.heard();
        heard.listen();
        heard.failed.as_ref().filter(|(first, _)| *first < number).map(|(_, error)| error.clone())
    }

    /// What is stored has been looked at.
    pub(super) fn forget(&self) {
        let mut heard = self.heard();
        let queued = heard.queued;
        *heard = Heard { queued, looked_at: queued, ..Heard::default() };
    }
}
