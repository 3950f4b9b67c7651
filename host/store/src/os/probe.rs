//! Crash points: a probe is called at every statement. In tests, the probe may kill the process there.

/// Side of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The statement has not been sent yet.
    Before,
    /// The statement was executed, and its answer or failure has arrived.
    After,
}

/// Called at every statement with its name, one of [`crate::STATEMENTS`].
pub trait Probe: Send + Sync {
    /// Called when the store reaches this point.
    fn at(&self, point: &str, side: Side);

    /// Returns true if the answer of the statement just executed is to be discarded, as if the connection had
    /// broken. Only tests return true.
    fn loses_answer(&self, point: &str) -> bool {
        let _ = point;
        false
    }
}

/// Probe that does nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProbe;

impl Probe for NoProbe {
    fn at(&self, _: &str, _: Side) {}
}
