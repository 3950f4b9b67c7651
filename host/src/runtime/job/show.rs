//! Shows the calls and log records of a run to its observer.

use tracing::Level;

use latchwork_core::model::ids::{Operator, Slot};

use super::run::Run;

impl Run {
    /// Passes a log record of a guest to the observer, after the events that were written before the record.
    pub(crate) fn log(&self, place: &str, level: Level, message: &str) {
        match &self.live_view {
            Some(view) => view.queue_log(place, level, message),
            None => self.observer.log(&self.job_id, place, level, message),
        }
    }

    /// Shows in the live view that a call begins. The barrier of a world-changing call is already durable.
    pub(crate) fn announce_call(&self, slot: &Slot, operator: &Operator) {
        if let Some(view) = &self.live_view {
            view.queue_call(slot.clone(), operator.clone());
        }
    }
}
