//! Compensation of the effects of a job.

pub(super) mod compensation;
pub(super) mod undoable;
