//! Watching a job: what the live view is drawn from. Nothing is shown before what it depends on is durable.

use latchwork_core::event::Event;
use latchwork_core::ids::{JobId, Operator, Slot};
use latchwork_core::state::Durable;
use tracing::Level;

/// Somebody who watches.
pub trait Observer: Send + Sync {
    /// Whether anybody does: where not, nothing is kept for showing.
    fn watches(&self) -> bool {
        true
    }
    /// A job was loaded, and is driven from here.
    fn begins(&self, _durable: &Durable) {}
    /// An event that is durable now.
    fn event(&self, job_id: &JobId, event: &Event);
    /// A call whose execution begins. It is not durable unless it may change the world: then its barrier is.
    /// Whatever the job wrote before it is durable.
    fn call(&self, _job_id: &JobId, _slot: &Slot, _operator: &Operator) {}
    /// A log record of a guest.
    fn log(&self, job_id: &JobId, place: &str, level: Level, message: &str);
}

/// Nobody watches; log records go to the host's own log.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoObserver;

impl Observer for NoObserver {
    fn watches(&self) -> bool {
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
