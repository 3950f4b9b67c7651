//! Durable timers of a held job. The main loop sleeps until the next timer is due and does not poll for due
//! timers.

use std::sync::atomic::Ordering;
use std::time::Duration;

use super::run::Run;

/// Longest interval between two reads of the inbox, in milliseconds. Notifications alone are not enough: a notification
/// may be missed, and some stores send no notifications.
const INBOX_MS: u64 = 200;

impl Run {
    /// Returns the time until the next timer of the job is due or the inbox must be read.
    pub(crate) fn next_wakeup_in(&self) -> Duration {
        let next_us = self.state().durable.job.timers().into_values().min();
        let left_us = next_us.map(|due_us| due_us.saturating_sub(self.machine().now_us()).max(0));
        let look = Duration::from_millis(INBOX_MS);
        left_us.map_or(look, |left_us| look.min(Duration::from_micros(left_us.unsigned_abs())))
    }

    /// Sleeps until a timer is due, the inbox must be read, or a notification for the job arrives.
    pub(crate) async fn wait_for_wakeup(&self) {
        let heard = self.seen_revision.load(Ordering::Acquire);
        tokio::select! {
            biased;
            () = tokio::time::sleep(self.next_wakeup_in()) => {}
            _ = self.worker.parts.journal.wait_for_change(Some(&self.job_id), heard) => {}
        }
    }
}
