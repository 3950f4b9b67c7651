//! Reports the jobs that a pool begins to drive. A job is reported after it is loaded, with its trace id and
//! the configuration changes since it was accepted.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use latchwork_core::event::Event;
use latchwork_core::ids::JobId;
use latchwork_core::response::ChangedView;
use latchwork_core::state::Durable;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tracing::Level;

use super::{NoObserver, Observer, PoolEvent};

/// Compares the pins of a job with the configuration.
pub type Look = Arc<dyn Fn(&Durable) -> Vec<ChangedView> + Send + Sync>;

/// Number of jobs whose changes are remembered as reported.
const REMEMBERED: usize = 1024;

type Begun = (JobId, Vec<ChangedView>);

/// Claimed jobs that are not reported yet.
pub(super) struct Beginnings {
    attempts: BTreeMap<JobId, u32>,
    /// Jobs whose changes were reported.
    told: BTreeSet<JobId>,
    look: Look,
    tells: UnboundedSender<Begun>,
    begun: UnboundedReceiver<Begun>,
}

impl Beginnings {
    pub(super) fn new(look: Look) -> Beginnings {
        let (tells, begun) = unbounded_channel();
        Beginnings { attempts: BTreeMap::new(), told: BTreeSet::new(), look, tells, begun }
    }

    /// Notes a claimed job, and returns the observer to drive it with.
    pub(super) fn claimed(&mut self, job_id: &JobId, attempt: u32) -> Arc<dyn Observer> {
        self.attempts.insert(job_id.clone(), attempt);
        Arc::new(Beginning { look: self.look.clone(), tells: self.tells.clone() })
    }

    /// Waits until a job begins.
    pub(super) async fn next(&mut self) -> PoolEvent {
        loop {
            let begun = self.begun.recv().await.expect("a sender is held here");
            if let Some(event) = self.event(begun) {
                return event;
            }
        }
    }

    /// Reports that precede the end of a job. A job that could not be loaded is reported here.
    pub(super) fn before_end_of(&mut self, job_id: &JobId) -> Vec<PoolEvent> {
        let mut events = Vec::new();
        while let Ok(begun) = self.begun.try_recv() {
            events.extend(self.event(begun));
        }
        events.extend(self.event((job_id.clone(), Vec::new())));
        events
    }

    /// Creates the event of a job. Returns `None` if the job was reported before.
    fn event(&mut self, (job_id, changed): Begun) -> Option<PoolEvent> {
        let attempt = self.attempts.remove(&job_id)?;
        if self.told.len() >= REMEMBERED {
            self.told.clear();
        }
        let is_news = !changed.is_empty() && self.told.insert(job_id.clone());
        Some(PoolEvent::Claimed(job_id, attempt, if is_news { changed } else { Vec::new() }))
    }
}

/// Notifies the pool when a job is loaded.
struct Beginning {
    look: Look,
    tells: UnboundedSender<Begun>,
}

impl Observer for Beginning {
    fn watches(&self) -> bool {
        NoObserver.watches()
    }
    fn begins(&self, durable: &Durable) {
        // The receiver is dropped with the pool, which then reports nothing.
        let _ = self.tells.send((durable.job.header.job_id.clone(), (self.look)(durable)));
    }
    fn event(&self, job_id: &JobId, event: &Event) {
        NoObserver.event(job_id, event);
    }
    fn log(&self, job_id: &JobId, place: &str, level: Level, message: &str) {
        NoObserver.log(job_id, place, level, message);
    }
}
