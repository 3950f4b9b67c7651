//! Group commit: the queue, the task that processes it, and the decision about each batch.

pub(crate) mod commit;
pub(crate) mod group;
pub(crate) mod log_positions;
pub(crate) mod queue;
pub(crate) mod slow_transaction;
pub(crate) mod unanswered;
pub(crate) mod writer;
pub(crate) mod writes;
