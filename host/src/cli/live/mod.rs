//! The live view: what happens to a job as soon as it is durable, and what goes on now.
//!
//! On a terminal, ends and problems are lines that stay, and what goes on is redrawn below them. Elsewhere every
//! beginning and end is a line.

mod screen;
mod view;
mod words;

use latchwork_core::event::Event;
use latchwork_core::ids::{JobId, Operator, Slot};
use tokio::sync::mpsc;
use tracing::Level;

use crate::worker::Observer;

pub(super) use screen::Screen;

/// One thing to show.
#[derive(Debug)]
pub(super) enum Seen {
    /// An event, durable.
    Event(Box<Event>),
    /// A call is under way.
    Call(Slot, Operator),
    /// A log record of a guest.
    Log(String, Level, String),
}

/// Collects what is to be shown.
pub(super) struct Live(mpsc::UnboundedSender<Seen>);

impl Live {
    /// An observer, and what it sees.
    pub(super) fn new() -> (Live, mpsc::UnboundedReceiver<Seen>) {
        let (send, seen) = mpsc::unbounded_channel();
        (Live(send), seen)
    }

    fn tell(&self, seen: Seen) {
        // After the end of the command there is no receiver any more.
        drop(self.0.send(seen));
    }
}

impl Observer for Live {
    fn event(&self, _: &JobId, event: &Event) {
        self.tell(Seen::Event(Box::new(event.clone())));
    }

    fn call(&self, _: &JobId, slot: &Slot, operator: &Operator) {
        self.tell(Seen::Call(slot.clone(), operator.clone()));
    }

    fn log(&self, _: &JobId, place: &str, level: Level, message: &str) {
        self.tell(Seen::Log(place.to_owned(), level, message.to_owned()));
    }
}
