//! Firing of due timers.

use std::time::Duration;

use latchwork_core::storage::StoreError;

use crate::database::handle::Database;
use crate::tables::timers::{self, FireTimers};

/// Pause between two checks while another worker fires the timers.
const RETRY_PAUSE: Duration = Duration::from_millis(5);
/// Maximum number of consecutive checks for due timers. Another worker may keep the row of a job locked. Without this
/// limit, this worker would then check forever.
const CHECKS_MAX: u32 = 20;
/// Time after which locked rows are checked again, in microseconds.
const LOCKED_RETRY_US: i64 = 200_000;

impl Database {
    /// Fires due timers and ends due waits. Returns the time of the next timer or waiting job.
    pub(crate) async fn fire(&self) -> Result<Option<i64>, StoreError> {
        for looked in 0..CHECKS_MAX {
            let (next_us, now_us) = self.next_timer().await?;
            if next_us.is_none_or(|next_us| next_us > now_us) {
                return Ok(next_us);
            }
            if looked > 0 {
                // Some rows are still due after the last pass, because another worker has locked the rows to fire them.
                tokio::time::sleep(RETRY_PAUSE).await;
            }
            self.fire_due().await?;
        }
        // Another worker still keeps the due rows locked, so they are checked again later.
        let (next_us, now_us) = self.next_timer().await?;
        Ok(next_us.map(|next_us| next_us.max(now_us + LOCKED_RETRY_US)))
    }

    /// Returns the time of the next timer or waiting job, and the database's current time.
    pub(crate) async fn next_timer(&self) -> Result<(Option<i64>, i64), StoreError> {
        timers::read_next_timer(&self.readers, self.dialect, self.time_source.local_now().as_ref()).await
    }

    /// Fires all due timers and ends all due waits.
    pub(crate) async fn fire_due(&self) -> Result<(), StoreError> {
        self.generation.begin_use(&self.access()).await?;
        while !self.writer.work(FireTimers).await? {}
        Ok(())
    }
}
