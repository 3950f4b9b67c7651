//! Observer that sends events, calls and log records to the live view.

use tokio::sync::mpsc;
use tracing::Level;

use latchwork::runtime::Observer;
use latchwork_core::event::Event;
use latchwork_core::model::ids::{JobId, Operator, Slot};

/// One item to show.
#[derive(Debug)]
pub(crate) enum LiveItem {
    /// A durable event.
    Event(Box<Event>),
    /// A call is in flight.
    Call(Slot, Operator),
    /// A log record of a guest: its place, level and message.
    Log(String, Level, String),
}

/// Observer that sends items to the live view.
pub(crate) struct LiveObserver(mpsc::UnboundedSender<LiveItem>);

impl LiveObserver {
    /// Returns an observer and the receiver of its items.
    pub(crate) fn new() -> (LiveObserver, mpsc::UnboundedReceiver<LiveItem>) {
        let (send, seen) = mpsc::unbounded_channel();
        (LiveObserver(send), seen)
    }

    fn send_item(&self, seen: LiveItem) {
        // Drops the item if the command has already ended and the channel has no receiver.
        drop(self.0.send(seen));
    }
}

impl Observer for LiveObserver {
    fn event(&self, _: &JobId, event: &Event) {
        self.send_item(LiveItem::Event(Box::new(event.clone())));
    }

    fn call(&self, _: &JobId, slot: &Slot, operator: &Operator) {
        self.send_item(LiveItem::Call(slot.clone(), operator.clone()));
    }

    fn log(&self, _: &JobId, place: &str, level: Level, message: &str) {
        self.send_item(LiveItem::Log(place.to_owned(), level, message.to_owned()));
    }
}
