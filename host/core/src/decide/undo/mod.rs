//! Compensation of the effects of a job.
//!
//! Floors, top first: `compensation`, `undoable`.

pub(super) mod compensation;
pub(super) mod undoable;
