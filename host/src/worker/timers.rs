//! Durable times of a job in hand: the loop sleeps until the next one, never polls for it.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::run::{Dropped, Run};

/// Between two looks at the inbox: the bell of a store may be missing, or missed.
const INBOX_MS: u64 = 200;

impl Run {
    /// How long the loop may sleep: until a timer of the job is due, or the inbox is looked at.
    pub(super) fn until_next_look(&self) -> Duration {
        let next_us = self.state().durable.job.timers().into_values().min();
        let left_us = next_us.map(|due_us| due_us.saturating_sub(self.machine().now_us()).max(0));
        let look = Duration::from_millis(INBOX_MS);
        left_us.map_or(look, |left_us| look.min(Duration::from_micros(left_us.unsigned_abs())))
    }

    /// Sleeps until there is something to look at: a time has come, or somebody rang.
    pub(super) async fn next_look(&self) {
        let heard = self.heard.load(Ordering::Acquire);
        tokio::select! {
            biased;
            () = tokio::time::sleep(self.until_next_look()) => {}
            _ = self.worker.parts.journal.news_after(Some(&self.job_id), heard) => {}
        }
    }

    /// Fires the job's timers that are due, and turns what has come into events.
    pub(super) async fn attend(self: &Arc<Self>) -> Result<(), Dropped> {
        // What is rung from here on is looked at again.
        self.heard.store(self.worker.parts.journal.news(), Ordering::Release);
        let now_us = self.machine().now_us();
        let due = self.state().durable.job.timers().into_values().any(|due_us| due_us <= now_us);
        if due {
            self.worker.parts.journal.fire_timers().await?;
        }
        self.drain_inbox_if_pending().await
    }
}
