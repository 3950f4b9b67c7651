//! Writes that no caller waits for. The next flush commits these writes. If one of these writes fails, the store
//! refuses every later write of the job. The later writes then return the error of the first failed write.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};

use latchwork_core::storage::WriteError;

pub(crate) type PendingWrite = Pin<Box<dyn Future<Output = Result<(), WriteError>> + Send>>;

/// Writes that are not acknowledged yet, oldest first, and the first error of a write.
#[derive(Default)]
pub(crate) struct DeferredWrites(Mutex<DeferredState>);

#[derive(Default)]
struct DeferredState {
    /// Number of writes of the job queued so far, including writes that a caller waits for.
    queued: u64,
    unacknowledged: VecDeque<(u64, PendingWrite)>,
    failed: Option<(u64, WriteError)>,
    /// Number of the last write that was queued before the most recent reload. The failure of a write with this or a
    /// lower number is ignored, because the job was loaded again after the write was queued.
    ignored_up_to: u64,
}

impl DeferredState {
    /// Polls the oldest writes for their results. Results arrive in the order of the writes.
    fn poll_results(&mut self) {
        while let Some((number, oldest)) = self.unacknowledged.front_mut() {
            let Poll::Ready(result) = oldest.as_mut().poll(&mut Context::from_waker(Waker::noop())) else { return };
            let number = *number;
            self.unacknowledged.pop_front();
            if let Err(error) = result {
                self.failed.get_or_insert((number, error));
            }
        }
    }
}

impl DeferredWrites {
    fn lock_state(&self) -> MutexGuard<'_, DeferredState> {
        self.0.lock().expect("nothing panics while it holds the list")
    }

    /// Assigns a number to the next write, and returns the number.
    pub(crate) fn next_number(&self) -> u64 {
        let mut heard = self.lock_state();
        heard.queued += 1;
        heard.queued
    }

    /// Adds a write that no caller waits for.
    pub(crate) fn add(&self, number: u64, written: PendingWrite) {
        let mut heard = self.lock_state();
        heard.poll_results();
        heard.unacknowledged.push_back((number, written));
    }

    /// Records that a write failed, unless the write was queued before the last reload. The live view calls this
    /// function after it has awaited the write.
    pub(crate) fn note_failure(&self, number: u64, error: WriteError) {
        let mut heard = self.lock_state();
        if number > heard.ignored_up_to {
            heard.failed.get_or_insert((number, error));
        }
    }

    /// Returns the error of the first failed write, if the failed write was queued before write `number`.
    pub(crate) fn first_error_before(&self, number: u64) -> Option<WriteError> {
        let mut heard = self.lock_state();
        heard.poll_results();
        heard.failed.as_ref().filter(|(first, _)| *first < number).map(|(_, error)| error.clone())
    }

    /// Forgets all writes queued so far, after the job was loaded again.
    pub(crate) fn reset(&self) {
        let mut heard = self.lock_state();
        let queued = heard.queued;
        *heard = DeferredState { queued, ignored_up_to: queued, ..DeferredState::default() };
    }
}
