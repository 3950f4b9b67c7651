//! Reports each job that a pool has claimed. The report is sent after the job is loaded, because only then are the
//! trace id and the configuration changes since the job's acceptance known.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tracing::Level;

use latchwork_core::event::Event;
use latchwork_core::model::ids::JobId;
use latchwork_core::response::ChangedPluginView;
use latchwork_core::state::Durable;

use super::observer::{NoObserver, Observer};
use super::pool_event::PoolEvent;

/// Function that lists the differences between the plugins that a job pinned and the current configuration.
pub type ChangeDetector = Arc<dyn Fn(&Durable) -> Vec<ChangedPluginView> + Send + Sync>;

/// Maximum number of jobs in `reported`. If the set is full, the next report clears it first.
const REMEMBERED: usize = 1024;

type LoadedJob = (JobId, Vec<ChangedPluginView>);

/// Claimed jobs that are not reported yet, and jobs whose configuration changes were already reported.
pub(crate) struct ClaimReports {
    attempts: BTreeMap<JobId, u32>,
    /// Jobs whose configuration changes were already reported.
    reported: BTreeSet<JobId>,
    detect_changes: ChangeDetector,
    loaded_tx: UnboundedSender<LoadedJob>,
    loaded_rx: UnboundedReceiver<LoadedJob>,
}

impl ClaimReports {
    pub(crate) fn new(look: ChangeDetector) -> ClaimReports {
        let (tells, begun) = unbounded_channel();
        ClaimReports {
            attempts: BTreeMap::new(),
            reported: BTreeSet::new(),
            detect_changes: look,
            loaded_tx: tells,
            loaded_rx: begun,
        }
    }

    /// Notes a claimed job. Returns the observer that the worker must use for the job.
    pub(crate) fn note_claim(&mut self, job_id: &JobId, attempt: u32) -> Arc<dyn Observer> {
        self.attempts.insert(job_id.clone(), attempt);
        Arc::new(ClaimObserver { look: self.detect_changes.clone(), tells: self.loaded_tx.clone() })
    }

    /// Waits until a claimed job is loaded, and returns its event.
    pub(crate) async fn next(&mut self) -> PoolEvent {
        loop {
            let begun = self.loaded_rx.recv().await.expect("a sender is held here");
            if let Some(event) = self.report(begun) {
                return event;
            }
        }
    }

    /// Returns the events that must precede the event about the end of this job's run. If the claim of this job was not
    /// reported yet, because the job could not be loaded, the claim is among these events.
    pub(crate) fn reports_before_end(&mut self, job_id: &JobId) -> Vec<PoolEvent> {
        let mut events = Vec::new();
        while let Ok(begun) = self.loaded_rx.try_recv() {
            events.extend(self.report(begun));
        }
        events.extend(self.report((job_id.clone(), Vec::new())));
        events
    }

    /// Creates the event of a claimed job. Returns `None` if the claim was already reported.
    fn report(&mut self, (job_id, changed): LoadedJob) -> Option<PoolEvent> {
        let attempt = self.attempts.remove(&job_id)?;
        if self.reported.len() >= REMEMBERED {
            self.reported.clear();
        }
        let is_news = !changed.is_empty() && self.reported.insert(job_id.clone());
        Some(PoolEvent::Claimed(job_id, attempt, if is_news { changed } else { Vec::new() }))
    }
}

/// Notifies the pool when a job is loaded.
struct ClaimObserver {
    look: ChangeDetector,
    tells: UnboundedSender<LoadedJob>,
}

impl Observer for ClaimObserver {
    fn is_watching(&self) -> bool {
        NoObserver.is_watching()
    }
    fn job_loaded(&self, durable: &Durable) {
        // Sending fails only if the pool was dropped. The report is then not needed.
        let _ = self.tells.send((durable.job.header.job_id.clone(), (self.look)(durable)));
    }
    fn event(&self, job_id: &JobId, event: &Event) {
        NoObserver.event(job_id, event);
    }
    fn log(&self, job_id: &JobId, place: &str, level: Level, message: &str) {
        NoObserver.log(job_id, place, level, message);
    }
}
