//! Durable timers of a held job. The main loop sleeps until the next timer and does not poll for it.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::run::{Dropped, Run};

/// Interval between two reads of the inbox, in milliseconds. A notification may be missed or not supported by
/// the store.
const INBOX_MS: u64 = 200;

impl Run {
    /// Returns the time until the next timer of the job is due or the inbox must be read.
    pub(super) fn until_next_look(&self) -> Duration {
        let next_us = self.state().durable.job.timers().into_values().min();
        let left_us = next_us.map(|due_us| due_us.saturating_sub(self.machine().now_us()).max(0));
        let look = Duration::from_millis(INBOX_MS);
        left_us.map_or(look, |left_us| look.min(Duration::from_micros(left_us.unsigned_abs())))
    }

    /// Sleeps until a timer is due, the inbox must be read, or a notification for the job arrives.
    pub(super) async fn next_look(&self) {
        let heard = self.heard.load(Ordering::Acquire);
        tokio::select! {
            biased;
            () = tokio::time::sleep(self.until_next_look()) => {}
            _ = self.worker.parts.journal.news_after(Some(&self.job_id), heard) => {}
        }
    }

    /// Fires the timers that are due, and turns new inbox rows into events.
    pub(super) async fn attend(self: &Arc<Self>) -> Result<(), Dropped> {
        // Read the revision first: later notifications cause another pass.
        self.heard.store(self.worker.parts.journal.news(), Ordering::Release);
        let now_us = self.machine().now_us();
        let due = self.state().durable.job.timers().into_values().any(|due_us| due_us <= now_us);
        if due {
            self.worker.parts.journal.fire_timers().await?;
        }
        self.drain_inbox_if_pending().await
    }
}
