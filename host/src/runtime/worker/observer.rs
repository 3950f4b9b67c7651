//! Observes jobs for the live view. An event is shown only after everything that the event depends on is
//! durable.

use tracing::Level;

use latchwork_core::event::Event;
use latchwork_core::model::ids::{JobId, Operator, Slot};
use latchwork_core::state::Durable;

/// Observer of jobs.
pub trait Observer: Send + Sync {
    /// Returns true if the observer shows events. If false, the worker keeps no events for the observer.
    fn is_watching(&self) -> bool {
        true
    }
    /// Called when a job has been loaded, before the worker continues the job.
    fn job_loaded(&self, _durable: &Durable) {}
    /// Called for each event once it is durable.
    fn event(&self, job_id: &JobId, event: &Event);
    /// Called when the execution of a call begins. Everything that the job wrote before the call is durable. The start
    /// of the call itself is durable only if the call can change the world and therefore has a barrier.
    fn call(&self, _job_id: &JobId, _slot: &Slot, _operator: &Operator) {}
    /// Called for each log record of a guest.
    fn log(&self, job_id: &JobId, place: &str, level: Level, message: &str);
}

/// Observer that shows no events. Log records of guests go to the host's own log.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoObserver;

impl Observer for NoObserver {
    fn is_watching(&self) -> bool {
        false
    }
    fn event(&self, _: &JobId, _: &Event) {}
    fn log(&self, job_id: &JobId, place: &str, level: Level, message: &str) {
        match level {
            Level::ERROR => tracing::error!(target: "guest", %job_id, place, "{message}"),
            Level::WARN => tracing::warn!(target: "guest", %job_id, place, "{message}"),
            Level::INFO => tracing::info!(target: "guest", %job_id, place, "{message}"),
            _ => tracing::debug!(target: "guest", %job_id, place, "{message}"),
        }
    }
}
