//! Shows a job that another process executes.

use std::time::Duration;

use latchwork::host::Host;
use latchwork_core::event::Event;
use latchwork_core::model::ids::JobId;
use latchwork_core::storage::Journal;

use crate::context::CommandContext;
use crate::interrupt;
use crate::live::screen::Screen;

/// Interval in milliseconds between two reads of a job that another process executes.
pub(crate) const FOLLOW_MS: u64 = 200;

/// Screen of a job that another process executes.
pub(crate) struct FollowedJob<'p> {
    screen: Screen<'p>,
    job_id: JobId,
    next_seq: u64,
}

impl<'p> FollowedJob<'p> {
    pub(crate) async fn new(ctx: &CommandContext<'p>, host: &Host, job_id: &JobId) -> anyhow::Result<Self> {
        let past = recorded_events(&**host.journal(), job_id).await?;
        let next_seq = past.last().map_or(0, |event| event.seq + 1);
        Ok(FollowedJob { screen: Screen::new(ctx.printer, job_id, &past), job_id: job_id.clone(), next_seq })
    }

    /// Prints the events that were appended since the last call, then waits for the polling interval. Returns true
    /// if ctrl-c was pressed.
    pub(crate) async fn poll(&mut self, journal: &dyn Journal) -> anyhow::Result<bool> {
        let events = recorded_events(journal, &self.job_id).await?;
        for event in events.iter().filter(|event| event.seq >= self.next_seq) {
            self.screen.event(event);
        }
        self.next_seq = events.last().map_or(0, |event| event.seq + 1);
        self.screen.draw();
        tokio::select! {
            () = tokio::time::sleep(Duration::from_millis(FOLLOW_MS)) => Ok(false),
            () = interrupt::pressed_times(1) => Ok(true),
        }
    }
}

/// Returns the events of a job.
pub(crate) async fn recorded_events(journal: &dyn Journal, job_id: &JobId) -> anyhow::Result<Vec<Event>> {
    Ok(journal.load(job_id).await?.map(|record| record.events).unwrap_or_default())
}
