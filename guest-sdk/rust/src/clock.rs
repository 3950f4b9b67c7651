//! The injected clock of a step. A replay gets the same readings as the live run.

use crate::host;

pub use crate::data::Timestamp;

/// Returns the current time of this step. Two readings without a call between them are equal.
///
/// The current time is the latest of these times:
///
/// * the last reading,
/// * the start of the step,
/// * the finish time of each call whose answer the step has received.
pub fn now() -> Timestamp {
    host::now()
}
