//! State of a job for the live view, folded from its events and from the calls in flight.

mod progress;

#[cfg(test)]
mod tests;

pub(super) use progress::JobProgressView;
